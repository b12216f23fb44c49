/* SPDX-License-Identifier: PostgreSQL */
/* What differs between runs, and how far each claim's value is from the base's. */
#include "evidence/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sql.h"

/* A named thing with a value a run; "" where a run has none. */
struct difference {
	const char *name;
	const char *values[COMPARE_MAX_RUNS];
	bool is_set; /* by somebody, in some run; a default that one server lacks is no news */
};

struct differences {
	struct arena arena;
	struct difference *items;
	size_t count, cap;
};

static void differences_finish(struct differences *differences)
{
	arena_finish(&differences->arena);
}

static void put(struct differences *to, const char *name, size_t run, const char *value,
                bool is_set)
{
	struct difference *item = NULL;

	for (size_t i = 0; i < to->count && !item; i++)
		if (!strcmp(to->items[i].name, name))
			item = &to->items[i];
	if (!item) {
		if (to->count == to->cap) {
			size_t grown = to->cap ? 2 * to->cap : 64;

			to->items = arena_grow(&to->arena, to->items, to->cap, grown,
			                       sizeof(*to->items));
			to->cap = grown;
		}
		if (to->arena.failed)
			return;
		item = &to->items[to->count++];
		item->name = arena_strdup(&to->arena, name);
		for (size_t i = 0; i < COMPARE_MAX_RUNS; i++)
			item->values[i] = "";
	}
	const char *copy = arena_strdup(&to->arena, value);
	if (copy)
		item->values[run] = copy;
	item->is_set = item->is_set || is_set;
}

static bool put_settings(struct differences *to, struct store *store, size_t run, int64_t run_id,
                         struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql_store_evidence_settings, &query, err);

	if (ok)
		query_int(&query, ":run_id", run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row)
		put(to, query_get_text(&query, 0), run, query_get_text(&query, 1),
		    query_get_int(&query, 2));
	query_finish(&query);
	return ok;
}

static bool gather(struct differences *to, struct store *store, const struct facts *runs,
                   size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct facts *run = &runs[i];

		put(to, "PostgreSQL", i, run->version, true);
		put(to, "server binary", i, arena_printf(&to->arena, "%.12s", run->server_sha256),
		    true);
		put(to, "profile", i, run->profile, true);
		put(to, "keylab", i, run->keylab_commit, true);
		put(to, "machine fingerprint", i, run->fingerprint, true);
		for (size_t e = 0; e < run->environment_count; e++)
			put(to, run->environment[e].name, i, run->environment[e].value, true);
		if (!put_settings(to, store, i, run->run_id, err))
			return false;
	}
	return !to->arena.failed || err_set(err, ERR_SYSTEM, "out of memory");
}

static bool differs(const struct difference *difference, size_t count)
{
	for (size_t i = 0; i < count && !difference->is_set; i++)
		if (!difference->values[i][0])
			return false;
	for (size_t i = 1; i < count; i++)
		if (strcmp(difference->values[0], difference->values[i]) != 0)
			return true;
	return false;
}

/* ---- a claim of one run against the base's ---- */

struct cell {
	bool comparable; /* base and now have numbers that may be compared */
	bool exact;      /* difference says it all */
	double difference, ratio;
	bool interval;
	double low, high; /* of the ratio */
	const char *note; /* instead of a comparison, or "" */
};

static bool is_number(const struct fact_value *value)
{
	return value->kind == FACT_INTEGER || value->kind == FACT_REAL;
}

static struct cell compare_cell(const struct claim_fact *base, const struct claim_fact *now,
                                bool same_machine)
{
	struct cell cell = {.note = ""};

	if (!base || !now || !is_number(&base->value) || !is_number(&now->value)) {
		bool both = base && now && base->value.kind == FACT_TEXT &&
		            now->value.kind == FACT_TEXT;

		if (both)
			cell.note = strcmp(base->value.text, now->value.text) != 0 ? "another text"
			                                                           : "same";
		return cell;
	}
	bool timing = !strcmp(now->metric_type, "timing");
	if (timing && !same_machine) {
		cell.note = "not comparable: another machine";
		return cell;
	}
	cell.comparable = true;
	cell.exact = !strcmp(now->metric_type, "exact") || base->value.number == 0;
	cell.difference = now->value.number - base->value.number;
	cell.ratio = base->value.number != 0 ? now->value.number / base->value.number : NAN;
	cell.interval = timing && is_number(&base->low) && is_number(&now->low) &&
	                base->low.number > 0 && now->low.number < now->high.number;
	if (cell.interval) {
		cell.low = now->low.number / base->high.number;
		cell.high = now->high.number / base->low.number;
	}
	return cell;
}

static void print_cell(const struct claim_fact *base, const struct claim_fact *now,
                       const struct cell *cell, bool is_base, struct buf *ret)
{
	if (!now) {
		buf_add(ret, "-");
		return;
	}
	if (now->value.kind == FACT_NONE) {
		buf_add(ret, verdict_name(now->verdict));
		return;
	}
	fact_print(&now->value, "", ret);
	if (is_base || !base || now->verdict != base->verdict || now->verdict != VERDICT_HOLDS)
		buf_printf(ret, " %s", verdict_name(now->verdict));
	if (is_base)
		return;
	if (cell->note[0])
		buf_printf(ret, " (%s)", cell->note);
	else if (cell->comparable && cell->difference == 0)
		buf_add(ret, " (same)");
	else if (cell->comparable && cell->exact)
		buf_printf(ret, " (%+.15g)", cell->difference);
	else if (cell->comparable) {
		buf_printf(ret, " (x%.4g", cell->ratio);
		if (cell->interval)
			buf_printf(ret, ", %.4g to %.4g", cell->low, cell->high);
		buf_add(ret, ")");
	}
}

/* Claims of all runs, in the order of the first that has them. */
static bool first_seen(const struct facts *runs, size_t run, const struct claim_fact *claim)
{
	for (size_t i = 0; i < run; i++)
		if (facts_find(&runs[i], claim->scenario, claim->name))
			return false;
	return true;
}

/* The text's table: cells row by row, padded when all are known. */
struct grid {
	struct arena arena;
	const char **cells; /* rows * columns */
	size_t rows, columns;
};

static void grid_finish(struct grid *grid)
{
	arena_finish(&grid->arena);
}

static const char **grid_row(struct grid *grid)
{
	size_t have = grid->rows * grid->columns;

	/* Grown by powers of two: an arena gives nothing back. */
	if (!(grid->rows & (grid->rows - 1)))
		grid->cells = arena_grow(&grid->arena, grid->cells, have,
		                         (grid->rows ? 2 * grid->rows : 1) * grid->columns,
		                         sizeof(*grid->cells));
	return grid->arena.failed ? NULL : &grid->cells[grid->rows++ * grid->columns];
}

static void grid_print(const struct grid *grid, struct buf *ret)
{
	for (size_t row = 0; row < grid->rows; row++) {
		for (size_t column = 0; column < grid->columns; column++) {
			const char *cell = grid->cells[row * grid->columns + column];
			size_t width = 0;

			for (size_t r = 0; r < grid->rows; r++) {
				size_t len = strlen(grid->cells[r * grid->columns + column]);

				width = len > width ? len : width;
			}
			buf_add(ret, cell);
			for (size_t pad = strlen(cell);
			     column + 1 < grid->columns && pad < width + 2; pad++)
				buf_add_char(ret, ' ');
		}
		buf_add_char(ret, '\n');
	}
}

static bool grid_head(struct grid *grid, const struct facts *runs, size_t count)
{
	const char **cells = grid_row(grid);

	if (!cells)
		return false;
	cells[0] = "claim";
	for (size_t i = 0; i < count; i++)
		cells[i + 1] = arena_printf(&grid->arena, "run %lld%s", (long long)runs[i].run_id,
		                            i ? "" : " (base)");
	return !grid->arena.failed;
}

static bool row_text(struct grid *grid, const struct facts *runs, size_t count,
                     const struct claim_fact *claim, bool *ret_differ)
{
	const struct claim_fact *base = facts_find(&runs[0], claim->scenario, claim->name);
	const char **cells = grid_row(grid);

	if (!cells)
		return false;
	cells[0] = arena_printf(&grid->arena, "%s/%s%s%s", claim->scenario, claim->name,
	                        claim->unit[0] ? ", " : "", claim->unit);
	for (size_t i = 0; i < count; i++) {
		const struct claim_fact *now = facts_find(&runs[i], claim->scenario, claim->name);
		const struct cell cell =
		        compare_cell(base, now, !strcmp(runs[0].fingerprint, runs[i].fingerprint));
		CLEANUP(buf_finish) struct buf text;

		buf_init(&text, 0);
		print_cell(base, now, &cell, i == 0, &text);
		cells[i + 1] = text.failed ? NULL : arena_strdup(&grid->arena, text.data);
		if (!base || !now || base->verdict != now->verdict)
			*ret_differ = true;
		if (!cells[i + 1])
			return false;
	}
	return !grid->arena.failed;
}

static void number(struct buf *ret, const char *name, double value)
{
	if (isfinite(value))
		buf_printf(ret, ",\"%s\":%.15g", name, value);
	else
		buf_printf(ret, ",\"%s\":null", name);
}

static void row_json(const struct facts *runs, size_t count, const struct claim_fact *claim,
                     bool *ret_differ, struct buf *ret)
{
	const struct claim_fact *base = facts_find(&runs[0], claim->scenario, claim->name);

	buf_add(ret, "{\"document\":");
	buf_add_json(ret, claim->document);
	buf_add(ret, ",\"scenario\":");
	buf_add_json(ret, claim->scenario);
	buf_add(ret, ",\"claim\":");
	buf_add_json(ret, claim->name);
	buf_add(ret, ",\"unit\":");
	buf_add_json(ret, claim->unit);
	buf_add(ret, ",\"metric_type\":");
	buf_add_json(ret, claim->metric_type);
	buf_add(ret, ",\"runs\":[");
	for (size_t i = 0; i < count; i++) {
		const struct claim_fact *now = facts_find(&runs[i], claim->scenario, claim->name);
		const struct cell cell =
		        compare_cell(base, now, !strcmp(runs[0].fingerprint, runs[i].fingerprint));

		buf_printf(ret, "%s{\"run_id\":%lld", i ? "," : "", (long long)runs[i].run_id);
		if (!base || !now || base->verdict != now->verdict)
			*ret_differ = true;
		if (now) {
			buf_add(ret, ",\"value\":");
			if (now->value.kind == FACT_TEXT)
				buf_add_json(ret, now->value.text);
			else
				buf_add(ret, is_number(&now->value) && isfinite(now->value.number)
				                     ? now->value.text
				                     : "null");
			buf_printf(ret, ",\"verdict\":\"%s\"", verdict_name(now->verdict));
		}
		if (cell.comparable) {
			number(ret, "difference", cell.difference);
			number(ret, "ratio", cell.ratio);
		}
		if (cell.interval) {
			number(ret, "ratio_low", cell.low);
			number(ret, "ratio_high", cell.high);
		}
		if (now && now->has_p) {
			number(ret, "sign_flip_p", now->p);
			number(ret, "holm_p", now->adjusted_p);
		}
		if (cell.note[0]) {
			buf_add(ret, ",\"note\":");
			buf_add_json(ret, cell.note);
		}
		buf_add_char(ret, '}');
	}
	buf_add(ret, "]}");
}

static void differences_text(const struct differences *differences, size_t count, struct buf *ret)
{
	size_t shown = 0;

	for (size_t i = 0; i < differences->count; i++) {
		const struct difference *item = &differences->items[i];

		if (!differs(item, count))
			continue;
		buf_printf(ret, "%s%s: ", shown++ ? "" : "What differs between the runs:\n",
		           item->name);
		for (size_t r = 0; r < count; r++)
			buf_printf(ret, "%s%s", r ? " | " : "",
			           item->values[r][0] ? item->values[r] : "-");
		buf_add_char(ret, '\n');
	}
	if (!shown)
		buf_add(ret, "The runs have the same server, settings, parameters and machine.\n");
	buf_add_char(ret, '\n');
}

static void differences_json(const struct differences *differences, size_t count, struct buf *ret)
{
	bool first = true;

	for (size_t i = 0; i < differences->count; i++) {
		const struct difference *item = &differences->items[i];

		if (!differs(item, count))
			continue;
		buf_add(ret, first ? "\n{\"name\":" : ",\n{\"name\":");
		first = false;
		buf_add_json(ret, item->name);
		buf_add(ret, ",\"values\":[");
		for (size_t r = 0; r < count; r++) {
			buf_add(ret, r ? "," : "");
			buf_add_json(ret, item->values[r]);
		}
		buf_add(ret, "]}");
	}
}

static bool claims_text(const struct facts *runs, size_t count, bool *ret_differ, struct buf *ret,
                        struct err *err)
{
	CLEANUP(grid_finish) struct grid grid = {.columns = count + 1};

	arena_init(&grid.arena, 0);
	bool ok = grid_head(&grid, runs, count);
	for (size_t r = 0; ok && r < count; r++)
		for (size_t i = 0; ok && i < runs[r].claims_count; i++)
			if (runs[r].claims[i].in_scope && first_seen(runs, r, &runs[r].claims[i]))
				ok = row_text(&grid, runs, count, &runs[r].claims[i], ret_differ);
	if (!ok)
		return err_set(err, ERR_SYSTEM, "out of memory");
	grid_print(&grid, ret);
	return true;
}

static bool did_not_run(const struct claim_fact *claim, const char *reason)
{
	return claim->in_scope && claim->verdict == VERDICT_NOT_RUN && claim->reason[0] &&
	       (!reason || !strcmp(claim->reason, reason));
}

/* Is it the first of its run's with this reason, or, in_scenario, of its scenario's? */
static bool is_first(const struct facts *run, size_t index, bool in_scenario)
{
	const struct claim_fact *claim = &run->claims[index];

	for (size_t i = 0; i < index; i++)
		if (did_not_run(&run->claims[i], claim->reason) &&
		    (!in_scenario || !strcmp(run->claims[i].scenario, claim->scenario)))
			return false;
	return true;
}

/* Why claims of a run did not run, a line a reason with its scenarios. */
static void reasons_text(const struct facts *run, struct buf *ret)
{
	for (size_t i = 0; i < run->claims_count; i++) {
		const struct claim_fact *claim = &run->claims[i];
		const char *separator = ": ";

		if (!did_not_run(claim, NULL) || !is_first(run, i, false))
			continue;
		buf_printf(ret, "run %lld, NOT_RUN, %s", (long long)run->run_id, claim->reason);
		for (size_t k = i; k < run->claims_count; k++) {
			if (!did_not_run(&run->claims[k], claim->reason) || !is_first(run, k, true))
				continue;
			buf_printf(ret, "%s%s", separator, run->claims[k].scenario);
			separator = ", ";
		}
		buf_add_char(ret, '\n');
	}
}

/* A row a timing claim with a p in some run. */
static bool secondary_row(struct grid *grid, const struct facts *runs, size_t count,
                          const struct claim_fact *claim)
{
	const char **cells = grid_row(grid);

	if (!cells)
		return false;
	cells[0] = arena_printf(&grid->arena, "%s/%s", claim->scenario, claim->name);
	for (size_t i = 0; i < count; i++) {
		const struct claim_fact *now = facts_find(&runs[i], claim->scenario, claim->name);
		CLEANUP(buf_finish) struct buf text;

		buf_init(&text, 0);
		if (now && now->has_p)
			facts_print_p(now, &text);
		else
			buf_add(&text, "-");
		cells[i + 1] = text.failed ? NULL : arena_strdup(&grid->arena, text.data);
		if (!cells[i + 1])
			return false;
	}
	return !grid->arena.failed;
}

/*
 * The secondary p-values, which stand together here and are adjusted for that. Nothing when no
 * claim has one.
 */
static bool secondary_text(const struct facts *runs, size_t count, struct buf *ret, struct err *err)
{
	CLEANUP(grid_finish) struct grid grid = {.columns = count + 1};

	arena_init(&grid.arena, 0);
	bool ok = grid_head(&grid, runs, count);
	for (size_t r = 0; ok && r < count; r++)
		for (size_t i = 0; ok && i < runs[r].claims_count; i++) {
			const struct claim_fact *claim = &runs[r].claims[i];
			bool any = false;

			for (size_t k = 0; k < count; k++) {
				const struct claim_fact *now =
				        facts_find(&runs[k], claim->scenario, claim->name);

				any = any || (now && now->has_p);
			}
			if (any && first_seen(runs, r, claim))
				ok = secondary_row(&grid, runs, count, claim);
		}
	if (!ok)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (grid.rows > 1) {
		buf_add(ret, "\nSign-flip p of the timings (secondary), and adjusted by Holm for "
		             "all timings of a run:\n");
		grid_print(&grid, ret);
	}
	return true;
}

static void claims_json(const struct facts *runs, size_t count, bool *ret_differ, struct buf *ret)
{
	bool first = true;

	for (size_t r = 0; r < count; r++) {
		for (size_t i = 0; i < runs[r].claims_count; i++) {
			const struct claim_fact *claim = &runs[r].claims[i];

			if (!claim->in_scope || !first_seen(runs, r, claim))
				continue;
			buf_add(ret, first ? "\n" : ",\n");
			first = false;
			row_json(runs, count, claim, ret_differ, ret);
		}
	}
}

bool compare_runs(struct store *store, const struct facts *runs, size_t count, bool json,
                  struct buf *ret, bool *ret_differ, struct err *err)
{
	CLEANUP(differences_finish) struct differences differences = {0};
	bool differ = false;

	arena_init(&differences.arena, 0);
	if (!gather(&differences, store, runs, count, err))
		return false;
	if (json) {
		buf_add(ret, "{\"schema\":\"keylab.compare\",\"version\":1,\"base\":");
		buf_printf(ret, "%lld,\"differences\":[", (long long)runs[0].run_id);
		differences_json(&differences, count, ret);
		buf_add(ret, "\n],\"claims\":[");
		claims_json(runs, count, &differ, ret);
		buf_add(ret, "\n]}\n");
	} else {
		differences_text(&differences, count, ret);
		if (!claims_text(runs, count, &differ, ret, err))
			return false;
		for (size_t i = 0; i < count; i++)
			reasons_text(&runs[i], ret);
		if (!buf_ok(ret, err) || !secondary_text(runs, count, ret, err))
			return false;
	}
	*ret_differ = differ;
	return buf_ok(ret, err);
}
