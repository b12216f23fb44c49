/* SPDX-License-Identifier: PostgreSQL */
/* From samples to verdicts. */
#include "store/verdict.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/predicate.h"
#include "base/prng.h"
#include "base/stats.h"
#include "base/units.h"
#include "sql.h"

#define COVERAGE 0.95
/* More rows than any claim has; a value takes 16 bytes. */
#define VALUES_MAX 1000000

const char *verdict_name(enum verdict_kind kind)
{
	static const char *const names[] = {
#define X(name, text) [VERDICT_##name] = text,
	        VERDICTS(X)
#undef X
	};
	return names[kind];
}

bool verdict_read(const char *name, enum verdict_kind *ret)
{
	for (size_t i = 0; i < VERDICT_KIND_COUNT; i++) {
		if (!strcmp(verdict_name((enum verdict_kind)i), name)) {
			*ret = (enum verdict_kind)i;
			return true;
		}
	}
	return false;
}

enum verdict_kind verdict_stored(const char *name)
{
	enum verdict_kind kind;

	return verdict_read(name, &kind) ? kind : VERDICT_ERROR;
}

void verdict_finish(struct verdict *verdict)
{
	free(verdict->text);
	verdict->text = NULL;
}

void verdict_statement(int64_t run_id, const char *scenario, const char *value_sql, struct buf *ret)
{
	buf_printf(ret,
	           "with sample as (select arm, step, rep, metric, unit, value, labels, at\n"
	           "\tfrom samples where run_id = %lld and scenario = ",
	           (long long)run_id);
	buf_add_sql_literal(ret, scenario);
	buf_add(ret, ")\nselect * from (\n");
	/* A trailing semicolon would end the statement inside the brackets. */
	size_t len = strlen(value_sql);
	while (len && strchr("; \t\r\n", value_sql[len - 1]))
		len--;
	buf_add_len(ret, value_sql, len);
	buf_add(ret, "\n)");
}

/* What a verdict is made from: the claim's row. */
struct claim_row {
	char *sql;
	char *predicate_text;
	char metric_type[16];
	struct figure figure;
	bool has_published;
	bool in_scope;
	char scope[256];
	char status[16]; /* of the scenario */
	char status_reason[400];
	uint64_t seed; /* of resampling: the run's, and another for each claim */
};

static void claim_row_finish(struct claim_row *row)
{
	free(row->sql);
	free(row->predicate_text);
}

static bool claim_row_get(struct store *store, int64_t run_id, const char *scenario,
                          const char *claim, struct query *query, struct err *err)
{
	const struct bind binds[] = {B_INT(":run_id", run_id), B_TEXT(":scenario", scenario),
	                             B_TEXT(":claim", claim)};
	bool row = false;

	if (!query_prepare(store, sql_store_get_claim, query, err))
		return false;
	query_bind(query, binds, COUNT_OF(binds));
	if (query_step(query, &row, err) && row)
		return true;
	if (row == false)
		err_set(err, ERR_INPUT, "run %lld has no claim %s/%s", (long long)run_id, scenario,
		        claim);
	query_finish(query);
	return false;
}

static bool claim_row_read(struct store *store, int64_t run_id, const char *scenario,
                           const char *claim, struct claim_row *ret, struct err *err)
{
	struct query query = {0};

	if (!claim_row_get(store, run_id, scenario, claim, &query, err))
		return false;
	*ret = (struct claim_row){.sql = strdup(query_get_text(&query, 0)),
	                          .predicate_text = strdup(query_get_text(&query, 1)),
	                          .in_scope = query_get_int(&query, 5) != 0};
	snprintf(ret->metric_type, sizeof(ret->metric_type), "%s", query_get_text(&query, 2));
	snprintf(ret->scope, sizeof(ret->scope), "%s", query_get_text(&query, 6));
	snprintf(ret->status, sizeof(ret->status), "%s", query_get_text(&query, 13));
	snprintf(ret->status_reason, sizeof(ret->status_reason), "%s", query_get_text(&query, 14));
	ret->seed = prng_seed((uint64_t)query_get_int(&query, 15), claim);
	ret->has_published =
	        predicate_published(query_get_text(&query, 3), !query_is_null(&query, 4),
	                            query_get_real(&query, 4), &ret->figure);
	query_finish(&query);
	if (!ret->sql || !ret->predicate_text) {
		claim_row_finish(ret);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	return true;
}

/* The values that the claim's SQL gives. */
struct values {
	double *numbers; /* owned */
	size_t count, cap;
	char *text; /* the first text value; owned */
	size_t texts;
	bool texts_differ;
	double *under;  /* numerator and denominator columns: the denominators; owned */
	bool ratios;    /* there are such columns */
	char unit[16];  /* a third column beside them: their unit; else "" */
	bool integers;  /* all are */
	int64_t trials; /* second column, for events; else 0 */
};

static void values_finish(struct values *values)
{
	free(values->numbers);
	free(values->under);
	free(values->text);
}

static bool values_add(struct values *values, struct query *query, struct err *err)
{
	if (query_is_null(query, 0) || (values->ratios && query_is_null(query, 1)))
		return true;
	if (values->ratios && query_columns(query) > 2 && !values->count)
		snprintf(values->unit, sizeof(values->unit), "%s", query_get_text(query, 2));
	if (query_columns(query) > 1 && !values->ratios)
		values->trials += query_get_int(query, 1);
	if (!query_is_number(query, 0)) {
		values->texts++;
		if (!values->text)
			values->text = strdup(query_get_text(query, 0));
		else if (strcmp(values->text, query_get_text(query, 0)))
			values->texts_differ = true;
		return values->text || err_set(err, ERR_SYSTEM, "out of memory");
	}
	if (values->count == VALUES_MAX)
		return err_set(err, ERR_INPUT,
		               "the SQL gives more than %d values; let it aggregate them",
		               VALUES_MAX);
	if (values->count == values->cap) {
		size_t cap = values->cap ? values->cap * 2 : 16;
		double *grown = realloc(values->numbers, cap * sizeof(*grown));

		if (!grown)
			return err_set(err, ERR_SYSTEM, "out of memory");
		values->numbers = grown;
		grown = realloc(values->under, cap * sizeof(*grown));
		if (!grown)
			return err_set(err, ERR_SYSTEM, "out of memory");
		values->under = grown;
		values->cap = cap;
	}
	values->under[values->count] = values->ratios ? query_get_real(query, 1) : 1;
	double number = query_get_real(query, 0);
	values->integers = values->integers && number == floor(number) && fabs(number) < 9e15;
	values->numbers[values->count++] = number;
	return true;
}

/* numerator and denominator, and perhaps their unit. */
static bool has_ratios(struct query *query)
{
	static const char *const names[] = {"numerator", "denominator", "unit"};
	int columns = query_columns(query);

	for (int i = 0; i < columns && i < (int)COUNT_OF(names); i++)
		if (strcmp(query_column_name(query, i), names[i]) != 0)
			return false;
	return columns == 2 || columns == 3;
}

/* *ret_fault (owned) is set when the SQL itself is at fault. */
static bool values_read(struct store *store, const char *sql, struct values *ret, char **ret_fault,
                        struct err *err)
{
	struct query query = {0};
	struct err inner = {0};
	bool row = true;

	*ret_fault = NULL;
	ret->integers = true;
	bool ok = query_prepare_reader(store, sql, &query, &inner);
	ret->ratios = ok && has_ratios(&query);
	while (ok && (ok = query_step(&query, &row, &inner)) && row)
		ok = values_add(ret, &query, &inner);
	query_finish(&query);
	if (ok)
		return true;
	if (inner.kind != ERR_INPUT) {
		*err = inner;
		return false;
	}
	*ret_fault = strdup(inner.message);
	return *ret_fault || err_set(err, ERR_SYSTEM, "out of memory");
}

static void say(struct verdict *verdict, enum verdict_kind kind, const char *format, ...)
        PRINTF(3, 4);
static void say(struct verdict *verdict, enum verdict_kind kind, const char *format, ...)
{
	va_list args;

	verdict->kind = kind;
	va_start(args, format);
	vsnprintf(verdict->reason, sizeof(verdict->reason), format, args);
	va_end(args);
}

static void judge_range(struct verdict *verdict, const struct predicate *predicate,
                        const struct figure *published)
{
	switch (predicate_range(predicate, verdict->low, verdict->high, published)) {
	case PREDICATE_INSIDE:
		verdict->kind = VERDICT_HOLDS;
		break;
	case PREDICATE_OUTSIDE:
		verdict->kind = VERDICT_REFUTED;
		break;
	case PREDICATE_STRADDLES:
		say(verdict, VERDICT_INCONCLUSIVE,
		    "the range of %lld repetitions lies partly inside the predicate",
		    (long long)verdict->n);
		break;
	}
}

static void judge_exact(struct verdict *verdict, const struct predicate *predicate,
                        const struct figure *published)
{
	if (verdict->low < verdict->high)
		say(verdict, VERDICT_ERROR,
		    "an exact figure differs between repetitions: from %.15g to %.15g",
		    verdict->low, verdict->high);
	else
		judge_range(verdict, predicate, published);
}

/* What a reader of the interval should know besides; nothing is left out of it. */
static void add_warnings(const struct values *values, struct buf *ret)
{
	CLEANUP(free_p) double *ratios = malloc(values->count * sizeof(*ratios));
	CLEANUP(free_p) double *order = malloc(values->count * sizeof(*order));
	size_t mild, severe, n = values->count;
	double rho, rest;

	for (size_t i = 0; ratios && order && i < n; i++) {
		ratios[i] = values->numbers[i] / values->under[i];
		order[i] = (double)i;
	}
	if (!ratios || !order || n < STATS_FEWEST)
		return;
	if (stats_outliers(ratios, n, &mild, &severe, NULL) && mild + severe)
		buf_printf(ret, "; %zu of the blocks' ratios lie beyond Tukey's fences (kept)",
		           mild + severe);
	/* 1.96 standard errors of a rank correlation without drift. */
	if (stats_spearman(order, ratios, n, &rho, NULL) && fabs(rho) > 1.96 / sqrt((double)n - 1))
		buf_printf(ret, "; the ratio drifts with the block (rank correlation %.2f)", rho);
	if (stats_median(values->numbers + 1, n - 1, &rest, NULL) &&
	    values->numbers[0] > 1.25 * rest)
		buf_printf(ret, "; the first block took %.2f times the others' median",
		           values->numbers[0] / rest);
}

/* The deviation of the values from their mean, of n - 1. */
static double deviation(const double *values, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return sqrt(squares / (double)(n - 1));
}

/*
 * How many blocks it would take: from the spread of the n values and how far the estimate is
 * from the bounds on its side, all on the scale on which the values are.
 */
static void add_resolution(double spread, double estimate, double low, double high, size_t n,
                           struct buf *ret)
{
	bool inside = estimate > low && estimate < high;
	double below = inside ? estimate - low : estimate >= high ? estimate - high : INFINITY;
	double above = inside ? high - estimate : estimate <= low ? low - estimate : INFINITY;

	if (!(spread > 0))
		return;
	size_t needed = stats_blocks_to_resolve(below / spread, above / spread);
	if (!needed)
		buf_printf(ret, "; with this spread not even %d blocks would probably resolve it",
		           STATS_BLOCKS_MAX);
	else if (needed <= n)
		buf_add(ret, "; as many blocks again would probably resolve it");
	else
		buf_printf(ret, "; about %zu blocks would probably resolve it", needed);
}

/* The same for the ratios within blocks, on the scale of their logarithms. */
static bool add_ratio_resolution(const struct values *values, double ratio,
                                 const struct predicate *predicate, const struct figure *published,
                                 struct buf *ret, struct err *err)
{
	CLEANUP(free_p) double *logs = malloc(values->count * sizeof(*logs));
	double low, high;

	if (!logs)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; i < values->count; i++)
		logs[i] = log(values->numbers[i] / values->under[i]);
	predicate_bounds(predicate, published, &low, &high);
	/* A ratio is above zero, wherever the bound is. */
	add_resolution(deviation(logs, values->count), log(ratio), low > 0 ? log(low) : -INFINITY,
	               high > 0 ? log(high) : -INFINITY, values->count, ret);
	return true;
}

/* What a ratio is of: the absolute figures, as a person reads them where their unit is known. */
static void add_medians(const struct values *values, const struct stats_ratio *ratio,
                        struct buf *ret)
{
	char over[64], under[64], apart[64];
	const char *unit = values->unit;
	bool printed = !strcmp(unit, "ns") || !strcmp(unit, "bytes"); /* by unit_format */

	if (!unit[0]) {
		buf_printf(ret, "medians of %zu blocks, difference %.4g", values->count,
		           ratio->over - ratio->under);
		return;
	}
	buf_printf(ret, "medians of %zu blocks: %s and %s, %s%s%s apart", values->count,
	           unit_format(ratio->over, unit, over, sizeof(over)),
	           unit_format(ratio->under, unit, under, sizeof(under)),
	           unit_format(fabs(ratio->over - ratio->under), unit, apart, sizeof(apart)),
	           printed ? "" : " ", printed ? "" : unit);
}

/* Rows of a block each: the ratio of two arms' medians. */
static bool judge_ratio(struct verdict *verdict, const struct claim_row *row,
                        const struct values *values, const struct predicate *predicate,
                        const struct figure *published, struct err *err)
{
	struct stats_ratio ratio;
	CLEANUP(buf_finish) struct buf text;

	verdict->n = (int64_t)values->count;
	verdict->is_integer = false;
	buf_init(&text, 0);
	if (values->count < 2 || !stats_ratio_of_medians(values->numbers, values->under,
	                                                 values->count, row->seed, &ratio, err)) {
		if (values->count >= 2 && err->kind != ERR_INPUT)
			return false;
		verdict->value = verdict->low = verdict->high =
		        values->numbers[0] / values->under[0];
		say(verdict, VERDICT_INCONCLUSIVE,
		    values->count < 2 ? "insufficient: one block, %d are needed for an interval"
		                      : "a time is not above zero (%d blocks are needed)",
		    STATS_FEWEST);
		return true;
	}
	verdict->value = ratio.ratio;
	verdict->low = ratio.low;
	verdict->high = ratio.high;
	if (values->count < STATS_FEWEST) {
		say(verdict, VERDICT_INCONCLUSIVE, "insufficient: %zu blocks, %d are needed",
		    values->count, STATS_FEWEST);
		return true;
	}
	judge_range(verdict, predicate, published);
	/* Medians of few blocks are coarse: the ratios within the blocks must say the same. */
	if (predicate_range(predicate, ratio.paired_low, ratio.paired_high, published) !=
	    predicate_range(predicate, ratio.low, ratio.high, published))
		verdict->kind = VERDICT_INCONCLUSIVE;
	add_medians(values, &ratio, &text);
	buf_printf(&text, "; within blocks %.4g to %.4g; more in %.0f %% of pairs",
	           ratio.paired_low, ratio.paired_high, 100 * ratio.superiority);
	if (ratio.has_p)
		buf_printf(&text, "; sign-flip p = %.2g", ratio.p);
	if (verdict->kind == VERDICT_INCONCLUSIVE &&
	    !add_ratio_resolution(values, ratio.ratio, predicate, published, &text, err))
		return false;
	add_warnings(values, &text);
	if (!buf_ok(&text, err))
		return false;
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", text.data);
	return true;
}

static bool judge_timing(struct verdict *verdict, const struct values *values,
                         const struct predicate *predicate, const struct figure *published,
                         struct err *err)
{
	double low, high, coverage;
	bool exists;

	if (values->count < STATS_FEWEST) {
		say(verdict, VERDICT_INCONCLUSIVE,
		    "insufficient: %zu repetitions, %d are needed for an interval", values->count,
		    STATS_FEWEST);
		return true;
	}
	if (!stats_median_interval(values->numbers, values->count, COVERAGE, &low, &high, &coverage,
	                           &exists, err))
		return false;
	verdict->low = low;
	verdict->high = high;
	judge_range(verdict, predicate, published);
	if (verdict->kind != VERDICT_INCONCLUSIVE)
		return true;
	CLEANUP(buf_finish) struct buf text;
	buf_init(&text, 0);
	buf_add(&text, verdict->reason);
	predicate_bounds(predicate, published, &low, &high);
	add_resolution(deviation(values->numbers, values->count), verdict->value, low, high,
	               values->count, &text);
	if (!buf_ok(&text, err))
		return false;
	snprintf(verdict->reason, sizeof(verdict->reason), "%s", text.data);
	return true;
}

/* An invariant: one counterexample refutes it, however many times it held. */
static void judge_event(struct verdict *verdict, const struct predicate *predicate,
                        const struct figure *published)
{
	judge_range(verdict, predicate, published);
	if (verdict->kind == VERDICT_INCONCLUSIVE)
		say(verdict, VERDICT_REFUTED,
		    "in some of %lld trials it does not hold: %.15g to %.15g",
		    (long long)verdict->n, verdict->low, verdict->high);
	else if (verdict->low == 0 && verdict->high == 0 && verdict->n > 1)
		snprintf(verdict->reason, sizeof(verdict->reason),
		         "none in %lld trials: its probability is below %.2g (95 %%)",
		         (long long)verdict->n,
		         stats_event_bound(0, (uint64_t)verdict->n, COVERAGE));
}

static bool judge_numbers(struct verdict *verdict, const struct claim_row *row,
                          const struct values *values, const struct predicate *predicate,
                          struct err *err)
{
	const struct figure *published = row->has_published ? &row->figure : NULL;

	if (!stats_median(values->numbers, values->count, &verdict->value, err))
		return false;
	verdict->has_value = true;
	verdict->is_integer = values->integers && verdict->value == floor(verdict->value);
	verdict->low = DBL_MAX;
	verdict->high = -DBL_MAX;
	for (size_t i = 0; i < values->count; i++) {
		verdict->low = fmin(verdict->low, values->numbers[i]);
		verdict->high = fmax(verdict->high, values->numbers[i]);
	}
	verdict->n = values->trials ? values->trials : (int64_t)values->count;
	if (values->ratios)
		return judge_ratio(verdict, row, values, predicate, published, err);
	if (!strcmp(row->metric_type, "exact"))
		judge_exact(verdict, predicate, published);
	else if (!strcmp(row->metric_type, "timing"))
		return judge_timing(verdict, values, predicate, published, err);
	else if (!strcmp(row->metric_type, "event"))
		judge_event(verdict, predicate, published);
	else
		judge_range(verdict, predicate, published);
	return true;
}

static bool judge(struct verdict *verdict, const struct claim_row *row, struct values *values,
                  struct err *err)
{
	struct predicate predicate;
	struct err inner = {0};

	if (!predicate_parse(row->predicate_text, &predicate, &inner)) {
		say(verdict, VERDICT_ERROR, "%.400s", inner.message);
		return true;
	}
	if (predicate.needs_published && !row->has_published) {
		say(verdict, VERDICT_ERROR,
		    "the predicate speaks of a published figure, and there is none");
		return true;
	}
	if (values->texts && values->count) {
		say(verdict, VERDICT_ERROR,
		    "the value is a number in some repetitions and a text in others");
		return true;
	}
	if (values->count)
		return judge_numbers(verdict, row, values, &predicate, err);
	if (!values->texts) {
		say(verdict, VERDICT_NOT_RUN, "there are no samples for it");
		return true;
	}
	verdict->has_value = verdict->is_text = true;
	verdict->text = values->text;
	values->text = NULL;
	verdict->n = (int64_t)values->texts;
	if (values->texts_differ)
		say(verdict, VERDICT_ERROR, "a text differs between repetitions");
	else
		verdict->kind =
		        predicate_text(&predicate, verdict->text) ? VERDICT_HOLDS : VERDICT_REFUTED;
	return true;
}

/*
 * A scenario that did not come to its end proves nothing: samples of three
 * rounds out of ten could satisfy a predicate by accident.
 */
static bool judge_unfinished(struct verdict *verdict, const struct claim_row *row)
{
	if (!row->in_scope)
		say(verdict, VERDICT_NOT_RUN, "out of scope at this profile: %s", row->scope);
	else if (!strcmp(row->status, "error"))
		say(verdict, VERDICT_ERROR, "the scenario ended early: %s", row->status_reason);
	else if (strcmp(row->status, "done"))
		say(verdict, VERDICT_NOT_RUN, "%s",
		    row->status_reason[0] ? row->status_reason : "the scenario did not run");
	else
		return false;
	return true;
}

bool verdict_derive(struct store *store, int64_t run_id, const char *scenario, const char *claim,
                    struct verdict *ret, struct err *err)
{
	CLEANUP(claim_row_finish) struct claim_row row = {0};
	CLEANUP(values_finish) struct values values = {0};
	CLEANUP(free_p) char *fault = NULL;
	struct verdict verdict = {.kind = VERDICT_NOT_RUN};

	if (!claim_row_read(store, run_id, scenario, claim, &row, err))
		return false;
	if (judge_unfinished(&verdict, &row)) {
		*ret = verdict;
		return true;
	}
	if (!values_read(store, row.sql, &values, &fault, err))
		return err_within(err, "claim %s", claim);
	if (fault)
		say(&verdict, VERDICT_ERROR, "%.500s", fault);
	else if (!judge(&verdict, &row, &values, err))
		return err_within(err, "claim %s", claim);
	*ret = verdict;
	return true;
}

static struct bind bind_number(const char *name, const struct verdict *verdict, double value)
{
	if (!verdict->has_value || verdict->is_text)
		return B_NULL(name);
	if (verdict->is_integer && value == floor(value))
		return B_INT(name, value);
	return B_REAL(name, value);
}

bool verdict_record(struct store *store, int64_t run_id, const char *scenario, const char *claim,
                    struct verdict *ret, struct err *err)
{
	store_lock(store);
	bool ok = verdict_derive(store, run_id, scenario, claim, ret, err);
	store_unlock(store);
	if (!ok)
		return false;
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),
	        B_TEXT(":scenario", scenario),
	        B_TEXT(":claim", claim),
	        B_TEXT(":verdict", verdict_name(ret->kind)),
	        B_TEXT(":reason", ret->reason),
	        ret->is_text ? B_TEXT(":value", ret->text) : bind_number(":value", ret, ret->value),
	        bind_number(":value_low", ret, ret->low),
	        bind_number(":value_high", ret, ret->high),
	        B_INT(":n", ret->n),
	};
	return store_exec(store, sql_store_set_verdict, binds, COUNT_OF(binds), err);
}

/* Does a stored column hold what was derived? */
static bool same_number(struct query *query, int column, const struct verdict *verdict,
                        double value)
{
	if (!verdict->has_value || verdict->is_text)
		return query_is_null(query, column);
	return query_is_number(query, column) && query_get_real(query, column) == value;
}

bool verdict_compare(struct store *store, int64_t run_id, const char *scenario, const char *claim,
                     bool *ret_same, struct buf *difference, struct err *err)
{
	struct verdict now = {0};
	struct query query = {0};

	if (!verdict_derive(store, run_id, scenario, claim, &now, err))
		return false;
	if (!claim_row_get(store, run_id, scenario, claim, &query, err)) {
		verdict_finish(&now);
		return false;
	}
	bool same_value = now.is_text ? !strcmp(query_get_text(&query, 9), now.text)
	                              : same_number(&query, 9, &now, now.value);
	*ret_same = same_value && !strcmp(query_get_text(&query, 7), verdict_name(now.kind)) &&
	            same_number(&query, 10, &now, now.low) &&
	            same_number(&query, 11, &now, now.high) && query_get_int(&query, 12) == now.n;
	if (!*ret_same) {
		buf_printf(difference, "run %lld %s/%s: stored %s %s, derived %s ",
		           (long long)run_id, scenario, claim, query_get_text(&query, 7),
		           query_get_text(&query, 9), verdict_name(now.kind));
		if (now.is_text)
			buf_add(difference, now.text);
		else if (now.has_value)
			buf_printf(difference, "%.15g", now.value);
		if (now.kind == VERDICT_ERROR)
			buf_printf(difference, " (%s)", now.reason);
	}
	query_finish(&query);
	verdict_finish(&now);
	return true;
}

/* ---- secondary p-values ---- */

/* *ret_has false where the claim is not over blocks, or of too few or too many of them. */
static bool sign_flip(struct store *store, int64_t run_id, const struct secondary *item,
                      bool *ret_has, double *ret_p, struct err *err)
{
	CLEANUP(claim_row_finish) struct claim_row row = {0};
	CLEANUP(values_finish) struct values values = {0};
	CLEANUP(free_p) char *fault = NULL;
	bool positive = true;

	*ret_has = false;
	if (!claim_row_read(store, run_id, item->scenario, item->claim, &row, err))
		return false;
	if (strcmp(row.status, "done") != 0)
		return true;
	if (!values_read(store, row.sql, &values, &fault, err))
		return false;
	if (fault || !values.ratios || values.count < STATS_FEWEST ||
	    values.count > STATS_FLIPS_MAX)
		return true;
	for (size_t i = 0; i < values.count; i++) {
		positive = positive && values.numbers[i] > 0 && values.under[i] > 0;
		values.numbers[i] = positive ? log(values.numbers[i] / values.under[i]) : 0;
	}
	*ret_has = positive;
	if (positive)
		*ret_p = stats_sign_flip(values.numbers, values.count);
	return true;
}

static bool list_timings(struct store *store, int64_t run_id, struct secondaries *ret,
                         struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql_store_timing_claims, &query, err);

	if (ok)
		query_int(&query, ":run_id", run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		struct secondary *grown =
		        realloc(ret->items, (ret->count + 1) * sizeof(*ret->items));

		ok = grown || err_set(err, ERR_SYSTEM, "out of memory");
		if (!ok)
			break;
		ret->items = grown;
		grown[ret->count] =
		        (struct secondary){.scenario = strdup(query_get_text(&query, 0)),
		                           .claim = strdup(query_get_text(&query, 1))};
		ret->count++;
		if (!grown[ret->count - 1].scenario || !grown[ret->count - 1].claim)
			ok = err_set(err, ERR_SYSTEM, "out of memory");
	}
	query_finish(&query);
	return ok;
}

static void secondary_finish(struct secondary *item)
{
	free(item->scenario);
	free(item->claim);
}

/* Leaves those that have a p, with it. */
static bool take_p(struct store *store, int64_t run_id, struct secondaries *list, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct secondary item = list->items[i];
		bool has;

		if (!sign_flip(store, run_id, &item, &has, &item.p, err))
			return err_within(err, "claim %s", item.claim);
		/* Those without one go to the end, to be freed there. */
		list->items[i] = list->items[kept];
		list->items[kept] = item;
		kept += has;
	}
	for (size_t i = kept; i < list->count; i++)
		secondary_finish(&list->items[i]);
	list->count = kept;
	return true;
}

bool secondaries_load(struct store *store, int64_t run_id, struct secondaries *ret, struct err *err)
{
	struct secondaries list = {0};

	store_lock(store);
	bool ok = list_timings(store, run_id, &list, err) && take_p(store, run_id, &list, err);
	store_unlock(store);
	CLEANUP(free_p) double *p = calloc((list.count + 1) * 2, sizeof(*p));
	if (ok && !p)
		ok = err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; ok && i < list.count; i++)
		p[i] = list.items[i].p;
	ok = ok && stats_holm(p, list.count, p + list.count, err);
	for (size_t i = 0; ok && i < list.count; i++)
		list.items[i].adjusted = p[list.count + i];
	if (ok)
		*ret = list;
	else
		secondaries_finish(&list);
	return ok;
}

void secondaries_finish(struct secondaries *secondaries)
{
	for (size_t i = 0; i < secondaries->count; i++)
		secondary_finish(&secondaries->items[i]);
	free(secondaries->items);
	*secondaries = (struct secondaries){0};
}

const struct secondary *secondaries_find(const struct secondaries *secondaries,
                                         const char *scenario, const char *claim)
{
	for (size_t i = 0; i < secondaries->count; i++)
		if (!strcmp(secondaries->items[i].scenario, scenario) &&
		    !strcmp(secondaries->items[i].claim, claim))
			return &secondaries->items[i];
	return NULL;
}
