/* SPDX-License-Identifier: PostgreSQL */
/* One row for each group and series: bars from zero, or dots with their range. */
#include "report/draw.h"

#include <math.h>
#include <string.h>

#define ROW_PX 24
#define HEADING_PX 24
#define GROUP_GAP_PX 8
/* A row whose label takes two lines. */
#define HIGH_ROW_PX 34
#define MAX_GROUPS 40

struct rows {
	const char *groups[MAX_GROUPS];
	size_t groups_count;
	bool headings; /* a line above each group; else the group is the row's label */
	double row_px;
	double height;
};

static bool in_group(const struct chart_series *series, const char *group)
{
	for (size_t i = 0; i < series->count; i++)
		if (!strcmp(series->points[i].group, group))
			return true;
	return false;
}

/* Is each series a group of its own that has its name? Then a heading would say it twice. */
static bool named_alike(const struct chart *chart)
{
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++)
			if (strcmp(chart->series[s].points[i].group, chart->series[s].label) != 0)
				return false;
	return true;
}

static void find_groups(const struct chart *chart, struct rows *rows)
{
	*rows = (struct rows){.headings = chart->series_count > 1 && !named_alike(chart),
	                      .row_px = ROW_PX};
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const char *group = chart->series[s].points[i].group;
			size_t k = 0;

			while (k < rows->groups_count && strcmp(rows->groups[k], group) != 0)
				k++;
			if (k == rows->groups_count && k < MAX_GROUPS)
				rows->groups[rows->groups_count++] = group;
		}
}

static size_t members_of(const struct chart *chart, const char *group)
{
	size_t members = 0;

	for (size_t s = 0; s < chart->series_count; s++)
		members += in_group(&chart->series[s], group);
	return members;
}

static const char *row_label(const struct rows *rows, const struct chart_series *series,
                             const char *group)
{
	return rows->headings ? series->label : group;
}

static double label_width(const struct chart *chart, const struct rows *rows)
{
	double width = 0;

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t k = 0; k < rows->groups_count; k++)
			if (in_group(&chart->series[s], rows->groups[k]))
				width = fmax(width, text_px(row_label(rows, &chart->series[s],
				                                      rows->groups[k])));
	return width;
}

static const char *value_text(struct drawing *d, const struct chart *chart, double value)
{
	char text[64];
	const char *unit = chart->y_unit;
	bool scaled = !strcmp(unit, "bytes") || !strcmp(unit, "ns");

	unit_format(value, unit, text, sizeof(text));
	const char *label = arena_printf(d->arena, "%s%s%s", text, *unit && !scaled ? " " : "",
	                                 scaled                         ? ""
	                                 : strcmp(unit, "percent") != 0 ? unit
	                                                                : "%");
	return label ? label : "";
}

static void data_range(const struct chart *chart, struct axis *x, double *ret_value_width,
                       struct drawing *d)
{
	double width = 0;

	*x = (struct axis){.min = INFINITY, .max = -INFINITY, .log = chart->y_log};
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const struct chart_point *point = &chart->series[s].points[i];

			x->min = fmin(x->min,
			              isfinite(point->low) ? fmin(point->low, point->y) : point->y);
			x->max = fmax(x->max, isfinite(point->high) ? fmax(point->high, point->y)
			                                            : point->y);
			width = fmax(width, text_px(value_text(d, chart, point->y)));
		}
	if (chart->kind == CHART_BARS)
		x->log = false; /* a bar's length is its value only from zero, on a plain scale */
	if (!x->log) {
		x->min = fmin(x->min, 0);
		x->max = fmax(x->max, 0);
		if (!strcmp(chart->y_unit, "percent") && x->min == 0 && x->max <= 100)
			x->max = 100;
	}
	if (x->min == x->max)
		x->max = x->log ? x->min * 10 : x->min + 1;
	*ret_value_width = width;
}

/* A bar from zero, and its value behind it. */
static void bar(struct drawing *d, const struct chart *chart, const struct chart_series *series,
                const struct chart_point *point, const struct axis *x, double y)
{
	struct style style = style_find(series->style);
	double row[] = {fmin(0, point->y), fmax(0, point->y), d->height - y, ROW_PX * 0.33};
	int block = draw_block(d);

	draw_row(d, (double[]){point->y, row[2], row[0], row[1], row[2] - row[3], row[2] + row[3]},
	         6);
	draw_block_end(d);
	draw_plot(d, block, "using 1:2:3:4:5:6 with boxxyerror lc rgb \"#%s\" title \"%s\"",
	          ink_sent(style.ink), draw_text(d, series->label));
	draw_label(d, value_text(d, chart, point->y), axis_px(x, fmax(0, point->y)) + 7, y,
	           ALIGN_LEFT, INK_TEXT);
}

/* All points of one series and group on one line, with their ranges. */
static void dots(struct drawing *d, const struct chart *chart, const struct chart_series *series,
                 const char *group, const struct axis *x, double y)
{
	struct style style = style_find(series->style);
	const struct chart_point *only = NULL;
	size_t count = 0;
	double right = -INFINITY;
	int block;

	draw_line(d, d->left, y, d->width - d->right, y, INK_GRID, 1);
	block = draw_block(d);
	for (size_t i = 0; i < series->count; i++) {
		const struct chart_point *point = &series->points[i];

		if (strcmp(point->group, group) != 0)
			continue;
		draw_row(d,
		         (double[]){point->y, d->height - y, point->low, point->high - point->low},
		         4);
		count++;
		only = point;
		right = fmax(right, fmax(point->y, isfinite(point->high) ? point->high : point->y));
	}
	draw_block_end(d);
	draw_plot(d, block, "using 3:2:4:(0) with vectors nohead lw 2 lc rgb \"#%s\" notitle",
	          ink_sent(style.ink));
	draw_plot(d, block, "using 1:2 with points pt %d ps %.2f lc rgb \"#%s\" title \"%s\"",
	          style.marker, count <= 20 ? 0.95 : 0.5, ink_sent(style.ink),
	          draw_text(d, series->label));
	if (count == 1)
		draw_label(d, value_text(d, chart, only->y), axis_px(x, right) + 10, y, ALIGN_LEFT,
		           INK_TEXT);
}

static void row_of(struct drawing *d, const struct chart *chart, const struct rows *rows,
                   const struct chart_series *series, const char *group, const struct axis *x,
                   double y)
{
	struct lines label = text_wrap(d, row_label(rows, series, group), d->left - 10);

	draw_lines(d, &label, d->left - 9, y, ALIGN_RIGHT, INK_TEXT);
	if (chart->kind != CHART_BARS) {
		dots(d, chart, series, group, x, y);
		return;
	}
	for (size_t i = 0; i < series->count; i++)
		if (!strcmp(series->points[i].group, group))
			bar(d, chart, series, &series->points[i], x, y);
}

/* The margin of the labels and the height of all rows follow from each other's widths. */
static void measure(struct drawing *d, const struct chart *chart, struct rows *rows)
{
	double width = label_width(chart, rows) + 14;

	d->left = (int)fmin(width, d->width * 0.42);
	if (width > d->width * 0.42)
		rows->row_px = HIGH_ROW_PX;
	for (size_t k = 0; k < rows->groups_count; k++)
		rows->height += (double)members_of(chart, rows->groups[k]) * rows->row_px +
		                (k ? GROUP_GAP_PX : 0) + (rows->headings ? HEADING_PX : 0);
}

/* A group's heading, if any, and its rows, from `at` on; returns where they end. */
static double group_of(struct drawing *d, const struct chart *chart, const struct rows *rows,
                       const char *group, const struct axis *x, double at)
{
	if (rows->headings) {
		draw_label(d, text_fit(d, group, d->width - 8), 2, at + HEADING_PX * 0.55,
		           ALIGN_LEFT, INK_SOFT);
		at += HEADING_PX;
	}
	double from = rows->headings ? at : fmax(d->top, at - GROUP_GAP_PX);
	for (size_t s = 0; s < chart->series_count; s++) {
		if (!in_group(&chart->series[s], group))
			continue;
		row_of(d, chart, rows, &chart->series[s], group, x, at + rows->row_px / 2);
		at += rows->row_px;
	}
	/* Zero, where bars begin; not through the headings. */
	if (chart->kind == CHART_BARS)
		draw_line(d, axis_px(x, 0), from, axis_px(x, 0), at, INK_TEXT, 1);
	return at;
}

void draw_rows(struct drawing *d, const struct chart *chart)
{
	struct axis x, y;
	struct ticks ticks;
	struct rows rows;
	double value_width;
	bool bars = chart->kind == CHART_BARS;

	find_groups(chart, &rows);
	data_range(chart, &x, &value_width, d);
	double longest = x.max;
	ticks_find(d, &x, chart->y_unit, d->narrow ? 3 : 5, &ticks);
	if (bars)
		x.max = longest; /* no scale to round up for: the values are printed */
	measure(d, chart, &rows);
	d->right = (int)fmin(value_width + 18, d->width * 0.3);
	d->top = 6;
	d->bottom = bars ? 10 : 28;
	d->height = (int)rows.height + d->top + d->bottom;
	x.from = d->left;
	x.to = d->width - d->right;
	y = (struct axis){.min = d->bottom,
	                  .max = d->height - d->top,
	                  .from = d->height - d->bottom,
	                  .to = d->top};

	draw_frame(d, &x, &y);
	if (!bars)
		draw_x_ticks(d, &x, &ticks, true);
	double at = d->top;
	for (size_t k = 0; k < rows.groups_count; k++)
		at = group_of(d, chart, &rows, rows.groups[k], &x, at + (k ? GROUP_GAP_PX : 0));
	draw_end(d);
}
