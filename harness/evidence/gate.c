/* SPDX-License-Identifier: PostgreSQL */
/* Judging each metric by its type. */
#include "evidence/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *change_word(enum change change)
{
	static const char *const words[] = {
#define X(name, word) [CHANGE_##name] = word,
	        CHANGES(X)
#undef X
	};
	return words[change];
}

void gate_init(struct gate *gate)
{
	*gate = (struct gate){0};
	arena_init(&gate->arena, 0);
}

void gate_finish(struct gate *gate)
{
	arena_finish(&gate->arena);
	*gate = (struct gate){0};
}

static bool is_wanted(const struct gate_filter *filter, const char *document, const char *scenario)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!strcmp(filter->names[i], document) || !strcmp(filter->names[i], scenario))
			return true;
	return !filter->count;
}

static void add_line(struct gate *gate, const struct gate_line *line)
{
	size_t count = gate->lines_count;

	if (!(count & (count - 1)))
		gate->lines = arena_grow(&gate->arena, gate->lines, count, count ? count * 2 : 1,
		                         sizeof(*gate->lines));
	if (gate->arena.failed)
		return;
	gate->lines[gate->lines_count++] = *line;
	gate->counts[line->change]++;
}

/* What a comparison says, before it becomes a line. */
struct finding {
	enum change change;
	struct buf text;
};

static void both_numbers(struct finding *finding, const struct metric *was,
                         const struct claim_fact *now)
{
	buf_add(&finding->text, "was ");
	fact_print(&was->value, was->unit, &finding->text);
	buf_add(&finding->text, ", is ");
	fact_print(&now->value, now->unit, &finding->text);
}

/* "+27 % (allowed: +5 %)"; a difference from nothing has no percentage. */
static void difference(struct finding *finding, const struct metric *was, double now)
{
	double off = now - was->value.number;
	const char *sign = was->direction == DIRECTION_UP     ? "+"
	                   : was->direction == DIRECTION_DOWN ? "-"
	                                                      : "±";

	if (was->value.number != 0)
		buf_printf(&finding->text, ": %+.3g %%", 100 * off / fabs(was->value.number));
	else
		buf_printf(&finding->text, ": %+.6g", off);
	buf_printf(&finding->text, " (allowed: %s%.3g %%", sign, 100 * was->rel_tol);
	if (was->abs_floor > 0)
		buf_printf(&finding->text, " or %.6g %s", was->abs_floor, was->unit);
	buf_add(&finding->text, ")");
}

static bool same_value(const struct fact_value *a, const struct fact_value *b)
{
	bool text_a = a->kind == FACT_TEXT, text_b = b->kind == FACT_TEXT;

	if (a->kind == FACT_NONE || b->kind == FACT_NONE)
		return a->kind == b->kind;
	return text_a || text_b ? text_a && text_b && !strcmp(a->text, b->text)
	                        : a->number == b->number;
}

static void judge_exact(struct finding *finding, const struct metric *was,
                        const struct claim_fact *now)
{
	if (same_value(&was->value, &now->value))
		return;
	finding->change = CHANGE_REGRESSED;
	both_numbers(finding, was, now);
	buf_add(&finding->text, ": an exact figure must not change");
}

/* Beyond the relative tolerance and the absolute floor, and which way? */
static enum change beyond(const struct metric *was, double off, double tolerance)
{
	if (!(fabs(off) > tolerance))
		return isnan(off) ? CHANGE_REGRESSED : CHANGE_SAME;
	if (was->direction == DIRECTION_BOTH)
		return CHANGE_REGRESSED;
	return (off > 0) == (was->direction == DIRECTION_UP) ? CHANGE_REGRESSED : CHANGE_IMPROVED;
}

static void judge_counter(struct finding *finding, const struct metric *was,
                          const struct claim_fact *now)
{
	double allowed = fmax(was->rel_tol * fabs(was->value.number), was->abs_floor);

	if (was->value.kind == FACT_TEXT || now->value.kind == FACT_TEXT) {
		judge_exact(finding, was, now);
		return;
	}
	/* The verdict, judged after this, says whether the predicate still holds. */
	if (was->by_predicate)
		return;
	finding->change = beyond(was, now->value.number - was->value.number, allowed);
	if (finding->change == CHANGE_SAME)
		return;
	both_numbers(finding, was, now);
	difference(finding, was, now->value.number);
}

/*
 * The interval of now/was: from the lowest now over the highest was to the reverse. It must
 * lie wholly beyond the tolerance.
 */
static void judge_timing(struct finding *finding, const struct metric *was,
                         const struct claim_fact *now, bool same_machine)
{
	bool intervals = was->low.kind != FACT_NONE && now->low.kind != FACT_NONE &&
	                 was->low.number > 0 && now->low.number > 0;
	double low = now->low.number / was->high.number, high = now->high.number / was->low.number;
	double ratio = now->value.number / was->value.number;

	if (intervals && low > 1 + was->rel_tol)
		finding->change =
		        was->direction == DIRECTION_DOWN ? CHANGE_IMPROVED : CHANGE_REGRESSED;
	else if (intervals && high < 1 - was->rel_tol)
		finding->change =
		        was->direction == DIRECTION_UP ? CHANGE_IMPROVED : CHANGE_REGRESSED;
	else if (!intervals && fabs(ratio - 1) > was->rel_tol)
		finding->change = CHANGE_WARNED;
	if (finding->change == CHANGE_SAME)
		return;
	if (!same_machine)
		finding->change = CHANGE_WARNED;
	both_numbers(finding, was, now);
	difference(finding, was, now->value.number);
	if (intervals)
		buf_printf(&finding->text, ", the ratio's interval is %.3g to %.3g", low, high);
	else
		buf_add(&finding->text,
		        "; without an interval on both sides a timing does not fail");
	if (!same_machine)
		buf_add(&finding->text, "; another machine, so it is a warning only");
}

/* Numbers within their tolerance may still turn a verdict. */
static void judge_verdict(struct finding *finding, const struct metric *was,
                          const struct claim_fact *now, bool timing)
{
	if (now->verdict == was->verdict || finding->change == CHANGE_REGRESSED)
		return;
	bool better = now->verdict == now->expected;
	bool unclear = now->verdict == VERDICT_INCONCLUSIVE;

	if (timing && (unclear || was->verdict == VERDICT_INCONCLUSIVE))
		finding->change = better ? CHANGE_IMPROVED : CHANGE_WARNED;
	else
		finding->change = better    ? CHANGE_IMPROVED
		                  : unclear ? CHANGE_MISSING
		                            : CHANGE_REGRESSED;
	if (!finding->text.len)
		both_numbers(finding, was, now);
	buf_printf(&finding->text, "; the verdict was %s and is %s", verdict_name(was->verdict),
	           verdict_name(now->verdict));
}

/* A tolerance of which nobody knows whether it is above the noise. Says so, and how to know. */
static void warn_of_noise(struct finding *finding, const struct metric *was, bool same_machine)
{
	if (was->has_noise || !same_machine ||
	    (finding->change != CHANGE_SAME && finding->change != CHANGE_REGRESSED))
		return;
	if (finding->change == CHANGE_SAME)
		finding->change = CHANGE_WARNED;
	buf_printf(&finding->text,
	           "%sthe noise of this machine is not known, so %.3g %% may be less than it: "
	           "keylab aa %s, and accept with --aa",
	           finding->text.len ? "; " : "", 100 * was->rel_tol, was->scenario);
}

static void judge(struct finding *finding, const struct metric *was, const struct claim_fact *now,
                  bool same_machine)
{
	bool timing = !strcmp(was->type, "timing");

	if (!now || !now->in_scope) {
		finding->change = CHANGE_MISSING;
		buf_add(&finding->text, "was ");
		fact_print(&was->value, was->unit, &finding->text);
		buf_add(&finding->text, now ? ", is out of scope now" : ", is not in the run");
	} else if (now->verdict == VERDICT_ERROR && was->verdict != VERDICT_ERROR) {
		finding->change = CHANGE_REGRESSED;
		both_numbers(finding, was, now);
		buf_printf(&finding->text, ": %s", now->reason);
	} else if (now->value.kind == FACT_NONE && was->value.kind != FACT_NONE) {
		finding->change = CHANGE_MISSING;
		both_numbers(finding, was, now);
		buf_printf(&finding->text, ": %s", now->reason);
	} else if (strcmp(was->type, now->metric_type) != 0) {
		finding->change = CHANGE_REGRESSED;
		both_numbers(finding, was, now);
		buf_printf(&finding->text, ": its type was %s and is %s", was->type,
		           now->metric_type);
	} else {
		if (timing)
			judge_timing(finding, was, now, same_machine);
		else if (!strcmp(was->type, "exact"))
			judge_exact(finding, was, now);
		else if (!strcmp(was->type, "counter"))
			judge_counter(finding, was, now);
		else if (now->verdict != now->expected)
			finding->change = CHANGE_REGRESSED;
		if (!strcmp(was->type, "event") && finding->change == CHANGE_REGRESSED) {
			both_numbers(finding, was, now);
			buf_printf(&finding->text, ": an invariant is violated (%s)",
			           now->predicate);
		}
		judge_verdict(finding, was, now, timing);
		if (timing)
			warn_of_noise(finding, was, same_machine);
	}
}

bool gate_compare(struct gate *gate, const struct baseline *baseline, const struct facts *facts,
                  const struct gate_filter *filter, struct err *err)
{
	bool same_machine = !strcmp(baseline->fingerprint, facts->fingerprint);

	for (size_t i = 0; i < baseline->metrics_count; i++) {
		const struct metric *was = &baseline->metrics[i];
		struct finding finding = {.change = CHANGE_SAME};

		if (!is_wanted(filter, was->document, was->scenario))
			continue;
		buf_init(&finding.text, 0);
		judge(&finding, was, facts_find(facts, was->scenario, was->claim), same_machine);
		bool ok = buf_ok(&finding.text, err);
		if (ok)
			add_line(gate, &(struct gate_line){finding.change, was->document,
			                                   was->scenario, was->claim,
			                                   arena_strdup(&gate->arena,
			                                                finding.text.data)});
		buf_finish(&finding.text);
		if (!ok)
			return false;
	}
	return !gate->arena.failed || err_set(err, ERR_SYSTEM, "out of memory");
}

bool gate_add_new(struct gate *gate, const struct baseline *const *baselines, size_t count,
                  const struct facts *facts, const struct gate_filter *filter, struct err *err)
{
	for (size_t i = 0; i < facts->claims_count; i++) {
		const struct claim_fact *claim = &facts->claims[i];
		bool known =
		        !claim->in_scope || !is_wanted(filter, claim->document, claim->scenario);
		CLEANUP(buf_finish) struct buf text;

		buf_init(&text, 0);
		for (size_t b = 0; b < count; b++)
			known = known || baseline_find(baselines[b], claim->scenario, claim->name);
		if (known)
			continue;
		buf_add(&text, "is ");
		fact_print(&claim->value, claim->unit, &text);
		buf_add(&text, ", and no baseline knows it");
		if (!buf_ok(&text, err))
			return false;
		add_line(gate,
		         &(struct gate_line){CHANGE_NEW, claim->document, claim->scenario,
		                             claim->name, arena_strdup(&gate->arena, text.data)});
	}
	return !gate->arena.failed || err_set(err, ERR_SYSTEM, "out of memory");
}

static int compare_lines(const void *a, const void *b)
{
	const struct gate_line *x = a, *y = b;
	int order = (int)x->change - (int)y->change;

	if (!order)
		order = strcmp(x->document, y->document);
	if (!order)
		order = strcmp(x->scenario, y->scenario);
	return order ? order : strcmp(x->claim, y->claim);
}

void gate_sort(struct gate *gate)
{
	if (gate->lines_count)
		qsort(gate->lines, gate->lines_count, sizeof(*gate->lines), compare_lines);
}

int gate_exit_code(const struct gate *gate)
{
	if (gate->counts[CHANGE_REGRESSED])
		return 1;
	/* Nothing compared is no comparison that went well. */
	return gate->counts[CHANGE_MISSING] || gate->lines_count == gate->counts[CHANGE_NEW] ? 2
	                                                                                     : 0;
}
