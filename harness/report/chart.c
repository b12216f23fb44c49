/* SPDX-License-Identifier: PostgreSQL */
/* The data of charts, out of the store. */
#include "report/chart.h"

#include "report/bundle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- one series ---- */

/* Every point is seen; a halving keeps an even spread when there are too many. */
static void series_add(struct chart_series *series, const struct chart_point *point)
{
	bool kept = series->seen % series->every == 0;

	series->seen++;
	if (kept && series->count == CHART_MAX_POINTS) {
		for (size_t i = 0; i < series->count / 2; i++)
			series->points[i] = series->points[2 * i];
		series->count /= 2;
		series->every *= 2;
		kept = (series->seen - 1) % series->every == 0;
	}
	if (kept)
		series->points[series->count++] = *point;
}

static unsigned style_of(struct charts *charts, const char *name)
{
	static const char *const coloured[] = {"bigint", "uuidv4", "uuidv7"};

	for (unsigned i = 0; i < COUNT_OF(coloured); i++)
		if (!strcmp(name, coloured[i]))
			return i;
	for (size_t i = 0; i < charts->others_count; i++)
		if (!strcmp(name, charts->others[i]))
			return (unsigned)(COUNT_OF(coloured) + i);
	if (charts->others_count == CHARTS_MAX_OTHERS)
		return COUNT_OF(coloured) + CHARTS_MAX_OTHERS - 1;
	charts->others[charts->others_count] = arena_strdup(&charts->arena, name);
	return (unsigned)(COUNT_OF(coloured) + charts->others_count++);
}

/* NULL when there are too many. */
static struct chart_series *find_series(struct charts *charts, struct chart *chart,
                                        const char *name)
{
	for (size_t i = 0; i < chart->series_count; i++)
		if (!strcmp(chart->series[i].name, name))
			return &chart->series[i];
	if (chart->series_count == CHART_MAX_SERIES)
		return NULL;
	struct chart_series *series = &chart->series[chart->series_count];
	const char *label = chart->scenario ? named_find(&chart->scenario->arms, name) : "";

	series->name = arena_strdup(&charts->arena, name);
	series->label = *label ? label : series->name;
	series->style = style_of(charts, name);
	series->every = 1;
	series->points = arena_alloc(&charts->arena, CHART_MAX_POINTS * sizeof(struct chart_point));
	if (!series->points)
		return NULL;
	chart->series_count++;
	return series;
}

/* ---- the rows ---- */

static int find_column(struct query *query, const char *name)
{
	for (int i = 0; i < query_columns(query); i++)
		if (!strcasecmp(query_column_name(query, i), name))
			return i;
	return -1;
}

struct columns {
	int series, x, y, low, high, kind, label;
};

static bool find_columns(struct charts *charts, struct chart *chart, struct query *query,
                         struct columns *ret)
{
	static const char *const plain[] = {"series", "x", "y"};
	static const char *const lanes[] = {"lane", "start", "stop"};
	static const char *const table[] = {"row", "col", "cell"};
	const char *const *names = chart->kind == CHART_LANES   ? lanes
	                           : chart->kind == CHART_TABLE ? table
	                                                        : plain;
	struct columns c = {.series = find_column(query, names[0]),
	                    .x = find_column(query, names[1]),
	                    .y = find_column(query, names[2]),
	                    .low = find_column(query, "lo"),
	                    .high = find_column(query, "hi"),
	                    .kind = find_column(query,
	                                        chart->kind == CHART_TABLE ? "claim" : "kind"),
	                    .label = find_column(query, "label")};

	for (int i = 0; i < 3; i++)
		if ((i == 0 ? c.series : i == 1 ? c.x : c.y) < 0) {
			chart->failure =
			        arena_printf(&charts->arena, "its data has no column %s", names[i]);
			return false;
		}
	*ret = c;
	return true;
}

static double number_or_nan(struct query *query, int column)
{
	return column >= 0 && query_is_number(query, column) ? query_get_real(query, column) : NAN;
}

static const char *keep_text(struct charts *charts, struct query *query, int column)
{
	return column < 0 ? "" : arena_strdup(&charts->arena, query_get_text(query, column));
}

static bool take_texts(struct charts *charts, const struct chart *chart, struct query *query,
                       const struct columns *c, struct chart_point *ret)
{
	if (chart->kind == CHART_TABLE) {
		ret->group = keep_text(charts, query, c->x);
		ret->label = keep_text(charts, query, c->y);
		ret->claim = keep_text(charts, query, c->kind);
	} else if (chart->kind == CHART_LANES) {
		ret->group = keep_text(charts, query, c->kind);
		ret->label = keep_text(charts, query, c->label);
	} else if (!query_is_number(query, c->x) || chart->kind == CHART_BARS) {
		ret->group = keep_text(charts, query, c->x);
	}
	return ret->group && ret->label && ret->claim;
}

static bool take_row(struct charts *charts, struct chart *chart, struct query *query,
                     const struct columns *c)
{
	struct chart_series *series = find_series(charts, chart, query_get_text(query, c->series));
	struct chart_point point = {.x = number_or_nan(query, c->x),
	                            .y = number_or_nan(query, c->y),
	                            .low = number_or_nan(query, c->low),
	                            .high = number_or_nan(query, c->high),
	                            .group = "",
	                            .label = "",
	                            .claim = ""};

	if (!series) {
		chart->failure = arena_printf(&charts->arena, "it has more than %d series",
		                              CHART_MAX_SERIES);
		return false;
	}
	if (chart->kind == CHART_TABLE)
		point.x = point.y = 0;
	else if (chart->kind == CHART_LANES && isnan(point.y)) /* a moment */
		point.y = point.x;
	else if (chart->kind != CHART_LANES &&
	         (!query_is_number(query, c->x) || chart->kind == CHART_BARS))
		chart->grouped = true;
	/* A row without a number has no place in a picture; the table of samples has it. */
	if (!isfinite(point.y) || (!chart->grouped && !isfinite(point.x)))
		return true;
	/* There may be a million of them: only those that are kept for now have their texts. */
	if (series->seen % series->every == 0 && !take_texts(charts, chart, query, c, &point))
		return false;
	series_add(series, &point);
	return true;
}

static int by_x(const void *a, const void *b)
{
	const struct chart_point *left = a, *right = b;

	return (left->x > right->x) - (left->x < right->x);
}

/* Drops what cannot be drawn, and names what is left to say. */
static void tidy(struct chart *chart)
{
	size_t kept = 0, points = 0;

	for (size_t i = 0; i < chart->series_count; i++) {
		struct chart_series *series = &chart->series[i];

		if (series->count == 0)
			continue;
		if (chart->kind == CHART_LINES && !chart->grouped)
			qsort(series->points, series->count, sizeof(*series->points), by_x);
		points += series->count;
		chart->series[kept++] = *series;
	}
	chart->series_count = kept;
	/* A logarithmic scale has no place for zero: then it is a plain one, and says so. */
	for (size_t i = 0; i < kept; i++)
		for (size_t k = 0; k < chart->series[i].count; k++) {
			const struct chart_point *point = &chart->series[i].points[k];

			chart->x_log = chart->x_log && (chart->grouped || point->x > 0);
			chart->y_log = chart->y_log && point->y > 0 && !(point->low <= 0);
		}
	if (points == 0 && !chart->failure)
		chart->failure = "its query gave no rows with numbers";
}

/* What went wrong, without where the store lies: that is no part of the page. */
static const char *fault_text(const struct store *store, const struct err *fault)
{
	size_t len = strlen(store->path);

	if (!strncmp(fault->message, store->path, len) && !strncmp(fault->message + len, ": ", 2))
		return fault->message + len + 2;
	return fault->message;
}

static bool load_data(struct store *store, struct charts *charts, struct chart *chart,
                      const char *sql, struct err *err)
{
	struct query query = {0};
	struct columns columns;
	struct err fault = {0};
	bool row = false, ok = true;

	if (!query_prepare_reader(store, sql, &query, &fault)) {
		chart->failure = arena_printf(&charts->arena, "its query failed: %s",
		                              fault_text(store, &fault));
		return fault.kind != ERR_SYSTEM || err_set(err, fault.kind, "%s", fault.message);
	}
	if (find_columns(charts, chart, &query, &columns))
		while ((ok = query_step(&query, &row, &fault)) && row)
			if (!take_row(charts, chart, &query, &columns))
				break;
	query_finish(&query);
	if (!ok)
		chart->failure = arena_printf(&charts->arena, "its query failed: %s",
		                              fault_text(store, &fault));
	if (charts->arena.failed)
		return err_set(err, ERR_SYSTEM, "out of memory for charts");
	tidy(chart);
	return ok || fault.kind != ERR_SYSTEM || err_set(err, fault.kind, "%s", fault.message);
}

/* ---- titles ---- */

static bool is_sql(const char *text)
{
	text += strspn(text, " \t\n");
	return !strncasecmp(text, "select", 6) || !strncasecmp(text, "with", 4);
}

static const char *load_title(struct store *store, struct charts *charts, const char *title)
{
	struct query query = {0};
	struct err fault = {0};
	const char *found = NULL;
	bool row = false;

	if (!is_sql(title))
		return arena_strdup(&charts->arena, title);
	if (query_prepare_reader(store, title, &query, &fault) &&
	    query_step(&query, &row, &fault) && row && !query_is_null(&query, 0))
		found = arena_strdup(&charts->arena, query_get_text(&query, 0));
	query_finish(&query);
	if (!found)
		found = fault.kind != ERR_NONE
		                ? arena_printf(&charts->arena, "(the finding's query failed: %s)",
		                               fault_text(store, &fault))
		                : "(no finding: its query gave nothing)";
	return found;
}

/* ---- all charts of a run ---- */

static bool kind_of(const char *name, enum chart_kind *ret)
{
	static const char *const names[] = {"lines", "dots", "bars", "lanes", "table"};

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(names[i], name)) {
			*ret = (enum chart_kind)i;
			return true;
		}
	return false;
}

static bool load_chart(struct store *store, struct charts *charts, struct scenario_row *scenario,
                       struct chart_row *row, struct err *err)
{
	struct chart *chart = arena_alloc(&charts->arena, sizeof(*chart));

	if (!chart)
		return err_set(err, ERR_SYSTEM, "out of memory for charts");
	*chart = (struct chart){.scenario = scenario,
	                        .x_label = row->x_label,
	                        .x_unit = row->x_unit,
	                        .x_log = row->x_log,
	                        .y_label = row->y_label,
	                        .y_unit = row->y_unit,
	                        .y_log = row->y_log};
	chart->title = load_title(store, charts, row->title);
	row->drawn = chart;
	if (!kind_of(row->kind, &chart->kind)) {
		chart->failure = arena_printf(&charts->arena, "its kind is unknown: %s", row->kind);
		return true;
	}
	return load_data(store, charts, chart, row->data, err);
}

bool charts_load(struct store *store, struct model *model, const struct report_options *options,
                 struct charts *ret, struct err *err)
{
	struct run_row *run = &model->runs[0];
	struct chart **list;
	size_t count = 0;

	*ret = (struct charts){0};
	arena_init(&ret->arena, (size_t)32 << 20);
	/* Arms first, in the page's order: their marks do not depend on which charts there are. */
	for (size_t i = 0; i < run->scenarios_count; i++) {
		count += run->scenarios[i].charts_count;
		for (size_t k = 0; k < run->scenarios[i].arms.count; k++)
			style_of(ret, run->scenarios[i].arms.items[k].name);
	}
	list = arena_alloc(&ret->arena, (count + 1) * sizeof(struct chart *));
	if (!list)
		return err_set(err, ERR_SYSTEM, "out of memory for charts");
	count = 0;
	ret->forest = chart_forest(ret, run);
	if (ret->forest)
		list[count++] = ret->forest;
	for (size_t i = 0; i < run->scenarios_count; i++)
		for (size_t k = 0; k < run->scenarios[i].charts_count; k++) {
			struct chart_row *row = &run->scenarios[i].charts[k];

			if (!load_chart(store, ret, &run->scenarios[i], row, err))
				return false;
			if (!row->drawn->failure && row->drawn->kind != CHART_TABLE)
				list[count++] = row->drawn;
		}
	return charts_plot(ret, list, count, options, err);
}

/* ---- as files ---- */

static void add_data_number(struct buf *out, double number)
{
	if (isfinite(number))
		buf_printf(out, "\t%.10g", number);
	else
		buf_add(out, "\t");
}

static void add_data_text(struct buf *out, const char *text)
{
	buf_add_char(out, '\t');
	for (; *text; text++)
		buf_add_char(out, (unsigned char)*text < 0x20 ? ' ' : *text);
}

static void add_chart_parts(const struct chart *chart, const char *name, struct report_parts *ret)
{
	struct buf out;

	if (chart->script)
		report_parts_add(ret, "charts/", name, ".gp", chart->script, strlen(chart->script));
	buf_init(&out, 0);
	buf_add(&out, "series\tx\ty\tlow\thigh\tgroup\tlabel\n");
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const struct chart_point *point = &chart->series[s].points[i];

			for (const char *at = chart->series[s].label; *at; at++)
				buf_add_char(&out, (unsigned char)*at < 0x20 ? ' ' : *at);
			add_data_number(&out, chart->grouped ? NAN : point->x);
			add_data_number(&out, point->y);
			add_data_number(&out, point->low);
			add_data_number(&out, point->high);
			add_data_text(&out, point->group);
			add_data_text(&out, point->label);
			buf_add_char(&out, '\n');
		}
	if (out.failed)
		ret->failed = true;
	else
		report_parts_add(ret, "charts/", name, ".tsv", out.data, out.len);
	buf_finish(&out);
}

void charts_parts(const struct charts *charts, const struct model *model, struct report_parts *ret)
{
	const struct run_row *run = &model->runs[0];

	if (charts->forest)
		add_chart_parts(charts->forest, "published", ret);
	for (size_t i = 0; i < run->scenarios_count; i++)
		for (size_t k = 0; k < run->scenarios[i].charts_count; k++) {
			const struct chart_row *row = &run->scenarios[i].charts[k];
			struct buf name;

			buf_init(&name, 0);
			buf_printf(&name, "%s.%s", run->scenarios[i].name, row->name);
			if (row->drawn)
				add_chart_parts(row->drawn, name.data, ret);
			buf_finish(&name);
		}
}

void charts_finish(struct charts *charts)
{
	arena_finish(&charts->arena);
}
