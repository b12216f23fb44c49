/* SPDX-License-Identifier: PostgreSQL */
/* From a run to a baseline: defaults, directions, what is kept of the old one. */
#include "evidence/baseline.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/predicate.h"

/*
 * Default tolerances, the first row that fits. Exact figures and events have none. A counter of
 * one load differs by checkpoints and background records that fell into it: 5 % where nobody has
 * measured how far (keylab baseline --spread), and less than a handful of blocks is never a change.
 * A timing differs by 10 % between two good runs on a quiet machine; `keylab aa` says what it is on
 * this one.
 */
static const struct {
	const char *type, *unit; /* "" fits every unit */
	double rel_tol, abs_floor;
} defaults[] = {
        {"exact", "", 0, 0},
        {"event", "", 0, 0},
        {"counter", "bytes", 0.05, 65536},
        {"counter", "pages", 0.05, 8},
        {"counter", "images", 0.05, 8},
        {"counter", "percent", 0.05, 1},
        {"counter", "points", 0.05, 1},
        {"counter", "rows", 0.05, 1},
        {"counter", "ids", 0.05, 1},
        {"counter", "", 0.05, 0},
        {"timing", "", 0.10, 0},
};

const char *direction_word(enum direction direction)
{
	static const char *const words[] = {
#define X(name, word) [DIRECTION_##name] = word,
	        DIRECTIONS(X)
#undef X
	};
	return words[direction];
}

/* A predicate with bounds on one side says which way is worse. */
static enum direction direction_of(const struct claim_fact *claim)
{
	struct predicate predicate;
	bool up = false, down = false;

	if (!predicate_parse(claim->predicate, &predicate, NULL))
		return DIRECTION_BOTH;
	for (size_t i = 0; i < predicate.count; i++) {
		enum predicate_op op = predicate.terms[i].op;
		bool above = op == PREDICATE_GT || op == PREDICATE_GE;
		bool below = op == PREDICATE_LT || op == PREDICATE_LE;

		down = down || !below;
		up = up || !above;
	}
	return up && down ? DIRECTION_BOTH : up ? DIRECTION_UP : DIRECTION_DOWN;
}

static bool is_timing(const struct claim_fact *claim)
{
	return !strcmp(claim->metric_type, "timing");
}

/* Does the claim go into a file of timings, or of the rest? */
static bool belongs(const struct claim_fact *claim, bool timings)
{
	return claim->in_scope && is_timing(claim) == timings;
}

bool baseline_applies(const struct facts *facts, bool timings)
{
	for (size_t i = 0; i < facts->claims_count; i++)
		if (belongs(&facts->claims[i], timings))
			return true;
	return false;
}

static int compare_names(const char *document, const char *scenario, const char *claim,
                         const struct metric *b)
{
	int order = strcmp(document, b->document);

	if (!order)
		order = strcmp(scenario, b->scenario);
	return order ? order : strcmp(claim, b->claim);
}

static int compare_metrics(const void *a, const void *b)
{
	const struct metric *x = a;

	return compare_names(x->document, x->scenario, x->claim, b);
}

const struct metric *baseline_find(const struct baseline *baseline, const char *scenario,
                                   const char *claim)
{
	for (size_t i = 0; baseline && i < baseline->metrics_count; i++)
		if (!strcmp(baseline->metrics[i].scenario, scenario) &&
		    !strcmp(baseline->metrics[i].claim, claim))
			return &baseline->metrics[i];
	return NULL;
}

static struct fact_value copy_value(struct arena *arena, const struct fact_value *value)
{
	struct fact_value copy = *value;

	copy.text = arena_strdup(arena, value->text);
	return copy;
}

static struct metric copy_metric(struct arena *arena, const struct metric *metric)
{
	struct metric copy = *metric;

	copy.document = arena_strdup(arena, metric->document);
	copy.scenario = arena_strdup(arena, metric->scenario);
	copy.claim = arena_strdup(arena, metric->claim);
	copy.type = arena_strdup(arena, metric->type);
	copy.unit = arena_strdup(arena, metric->unit);
	copy.run = arena_strdup(arena, metric->run);
	copy.why = arena_strdup(arena, metric->why);
	copy.value = copy_value(arena, &metric->value);
	copy.low = copy_value(arena, &metric->low);
	copy.high = copy_value(arena, &metric->high);
	return copy;
}

static bool same_value(const struct fact_value *a, const struct fact_value *b)
{
	return a->kind == b->kind && !strcmp(a->text, b->text);
}

/* Nothing that was measured differs: the line stays as it is, and a diff shows the others. */
static bool is_same(const struct metric *a, const struct metric *b)
{
	return same_value(&a->value, &b->value) && same_value(&a->low, &b->low) &&
	       same_value(&a->high, &b->high) && a->n == b->n && a->verdict == b->verdict &&
	       !strcmp(a->unit, b->unit);
}

static struct metric metric_of(struct arena *arena, const struct facts *facts,
                               const struct claim_fact *claim, const struct metric *old)
{
	struct metric metric = {
	        .document = claim->document,
	        .scenario = claim->scenario,
	        .claim = claim->name,
	        .type = claim->metric_type,
	        .unit = claim->unit,
	        .value = claim->value,
	        .n = claim->n,
	        .verdict = claim->verdict,
	        .direction = direction_of(claim),
	        .low = {.text = ""},
	        .high = {.text = ""},
	        .why = "",
	        .run = facts->started_at,
	};

	if (claim->low.kind != FACT_NONE && claim->low.number < claim->high.number) {
		metric.low = claim->low;
		metric.high = claim->high;
	}
	for (size_t i = COUNT_OF(defaults); i-- > 0;) {
		if (strcmp(defaults[i].type, claim->metric_type) != 0 ||
		    (defaults[i].unit[0] && strcmp(defaults[i].unit, claim->unit) != 0))
			continue;
		metric.rel_tol = defaults[i].rel_tol;
		metric.abs_floor = defaults[i].abs_floor;
		if (defaults[i].unit[0])
			break;
	}
	if (old && !strcmp(old->type, claim->metric_type)) {
		metric.rel_tol = old->rel_tol;
		metric.abs_floor = old->abs_floor;
		metric.by_predicate = old->by_predicate;
		metric.why = old->why;
		metric.direction = old->direction;
		metric.has_noise = old->has_noise;
		metric.noise = old->noise;
		if (is_same(&metric, old))
			metric.run = old->run;
	}
	return copy_metric(arena, &metric);
}

static bool has_scenario(const struct facts *facts, const char *scenario)
{
	for (size_t i = 0; i < facts->claims_count; i++)
		if (!strcmp(facts->claims[i].scenario, scenario))
			return true;
	return false;
}

static void add_acceptance(struct baseline *to, const struct acceptance *acceptance)
{
	size_t count = to->acceptances_count;

	to->acceptances =
	        arena_grow(&to->arena, to->acceptances, count, count + 1, sizeof(*to->acceptances));
	if (to->arena.failed)
		return;
	to->acceptances[to->acceptances_count++] = (struct acceptance){
	        .run = arena_strdup(&to->arena, acceptance->run),
	        .commit = arena_strdup(&to->arena, acceptance->commit),
	        .reason = arena_strdup(&to->arena, acceptance->reason),
	};
}

/* Timings of identical arms: a tolerance is below 100 %; a machine noisier than that gates nothing.
 */
static void widen_timing(struct metric *metric, const struct facts *identical)
{
	const struct claim_fact *fact = facts_find(identical, metric->scenario, metric->claim);
	double least;

	if (!fact || !noise_of_timing(fact, &least))
		return;
	metric->has_noise = true;
	metric->noise = fmin(least, 0.99);
	metric->rel_tol = fmax(metric->rel_tol, metric->noise);
}

/* Another machine may add a little to a counter that hardly moves on one. */
#define LEAST_COUNTER_TOLERANCE 0.01

/*
 * Counters of runs in a row. The accepted value may be at one end of what was seen, and the next
 * run is not bound to stay within it: hence twice. What a reviewer allowed stays if it is enough.
 */
static void widen_counter(struct arena *arena, struct metric *metric, bool stands,
                          const struct spread *spread)
{
	double share = spread_share(spread);

	if (metric->by_predicate)
		return;
	if (isnan(share)) {
		if (metric->abs_floor < spread->highest - spread->lowest)
			metric->abs_floor = 2 * (spread->highest - spread->lowest);
	} else if (2 * share >= 1) {
		metric->by_predicate = true;
		metric->has_noise = false;
		metric->rel_tol = 0;
		metric->why =
		        arena_printf(arena, "In %lld runs in a row it was %.5g to %.5g.",
		                     (long long)spread->runs, spread->lowest, spread->highest);
	} else {
		metric->has_noise = true;
		metric->noise = share;
		if (!stands || metric->rel_tol < share)
			metric->rel_tol = fmax(2 * share, LEAST_COUNTER_TOLERANCE);
	}
}

static void widen(struct arena *arena, struct metric *metric, const struct metric *old,
                  const struct claim_fact *claim, const struct noise *noise)
{
	bool stands = old && !strcmp(old->type, claim->metric_type);
	const struct spread *spread = spreads_find(noise->spreads, claim);

	if (noise->identical && is_timing(claim))
		widen_timing(metric, noise->identical);
	if (spread)
		widen_counter(arena, metric, stands, spread);
}

static bool accept_metrics(const struct baseline *old, const struct facts *facts, bool timings,
                           const struct noise *noise, struct baseline *to, struct err *err)
{
	size_t most = facts->claims_count + (old ? old->metrics_count : 0);

	to->metrics = arena_alloc(&to->arena, (most + 1) * sizeof(*to->metrics));
	for (size_t i = 0; to->metrics && old && i < old->metrics_count; i++)
		if (!has_scenario(facts, old->metrics[i].scenario))
			to->metrics[to->metrics_count++] =
			        copy_metric(&to->arena, &old->metrics[i]);
	for (size_t i = 0; to->metrics && i < facts->claims_count; i++) {
		const struct claim_fact *claim = &facts->claims[i];

		if (!belongs(claim, timings))
			continue;
		if ((claim->verdict == VERDICT_NOT_RUN || claim->verdict == VERDICT_ERROR) &&
		    claim->verdict != claim->expected)
			return err_set(err, ERR_INPUT,
			               "%s/%s is %s in run %lld (%s); a baseline needs a measured "
			               "value of each claim",
			               claim->scenario, claim->name, verdict_name(claim->verdict),
			               (long long)facts->run_id, claim->reason);
		struct metric *metric = &to->metrics[to->metrics_count++];
		const struct metric *before = baseline_find(old, claim->scenario, claim->name);
		*metric = metric_of(&to->arena, facts, claim, before);
		if (noise)
			widen(&to->arena, metric, before, claim, noise);
	}
	return true;
}

bool baseline_accept(const struct baseline *old, const struct facts *facts, bool timings,
                     const char *reason, const struct noise *noise, struct baseline *ret,
                     struct err *err)
{
	struct baseline to = {.pg_major = facts->version_num / 10000};
	json_t *text = json_string(reason);

	/* What is no JSON could not be read again. */
	if (!text)
		return err_set(err, ERR_USAGE, "the reason is not UTF-8");
	json_decref(text);
	arena_init(&to.arena, 0);
	to.profile = arena_strdup(&to.arena, facts->profile);
	to.fingerprint = arena_strdup(&to.arena, timings ? facts->fingerprint : BASELINE_ANY);
	for (size_t i = 0; old && i < old->acceptances_count; i++)
		add_acceptance(&to, &old->acceptances[i]);
	add_acceptance(&to, &(struct acceptance){facts->started_at, facts->keylab_commit, reason});
	bool ok = accept_metrics(old, facts, timings, noise, &to, err);
	if (ok && to.arena.failed)
		ok = err_set(err, ERR_SYSTEM, "out of memory");
	if (!ok) {
		baseline_finish(&to);
		return false;
	}
	qsort(to.metrics, to.metrics_count, sizeof(*to.metrics), compare_metrics);
	*ret = to;
	return true;
}

void baseline_finish(struct baseline *baseline)
{
	arena_finish(&baseline->arena);
	*baseline = (struct baseline){0};
}

char *baseline_path(const char *dir, const struct facts *facts, bool timings, struct err *err)
{
	return fs_printf(err, "%s/%d/%s-%s.json", dir, facts->version_num / 10000, facts->profile,
	                 timings ? facts->fingerprint : BASELINE_ANY);
}
