/* SPDX-License-Identifier: PostgreSQL */
/* Lines and dots over a number. */
#include "report/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Up to here every point has its marker at full size. */
#define FEW_POINTS 20

/* ---- the axes ---- */

static void widen(struct axis *axis, double value)
{
	if (!isfinite(value))
		return;
	axis->min = fmin(axis->min, value);
	axis->max = fmax(axis->max, value);
}

static void data_ranges(const struct chart *chart, struct axis *x, struct axis *y)
{
	*x = (struct axis){.min = INFINITY, .max = -INFINITY, .log = chart->x_log};
	*y = (struct axis){.min = INFINITY, .max = -INFINITY, .log = chart->y_log};
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const struct chart_point *point = &chart->series[s].points[i];

			widen(x, point->x);
			widen(y, point->y);
			widen(y, point->low);
			widen(y, point->high);
		}
}

/* From zero, unless that would flatten what there is to see. */
static void settle_y(const struct chart *chart, struct axis *y)
{
	if (y->log) {
		if (y->min == y->max)
			y->max = y->min * 10;
		return;
	}
	if (!strcmp(chart->y_unit, "percent") && y->min >= 0 && y->max <= 100) {
		y->min = 0;
		y->max = 100;
		return;
	}
	if (y->min > 0 && (y->max - y->min) / y->max > 0.1)
		y->min = 0;
	if (y->max < 0 && (y->max - y->min) / -y->min > 0.1)
		y->max = 0;
	if (y->min == y->max) {
		y->min = fmin(0, y->min);
		y->max = y->max > 0 ? y->max * 1.25 : y->max == 0 ? 1 : 0;
	}
}

/* Air at both ends, so that no mark sits on the frame. */
static void pad_x(struct axis *x)
{
	if (x->log) {
		double by = pow(x->max / x->min, 0.04);

		x->min /= by;
		x->max *= by;
	} else {
		double by = (x->max - x->min) * 0.02;

		x->min -= by;
		x->max += by;
	}
}

static void settle_x(struct axis *x)
{
	if (x->min < x->max)
		return;
	x->min -= x->log ? x->min / 2 : 1;
	x->max += x->log ? x->max : 1;
}

/* Small whole numbers (rounds, steps) get a tick each, and air at both ends. */
static bool ticks_whole(struct drawing *d, const struct chart *chart, struct axis *x,
                        struct ticks *ret)
{
	if (x->log || x->max - x->min > 16 || x->min != floor(x->min) || x->max != floor(x->max))
		return false;
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++)
			if (chart->series[s].points[i].x != floor(chart->series[s].points[i].x))
				return false;
	double step = d->narrow && x->max - x->min > 10 ? 2 : 1;
	*ret = (struct ticks){.count = 0};
	for (double at = x->min; at <= x->max && ret->count < DRAW_MAX_TICKS; at += step) {
		const char *text = arena_printf(d->arena, "%.0f", at);

		ret->at[ret->count] = at;
		ret->text[ret->count++] = text ? text : "";
	}
	x->min -= 0.3;
	x->max += 0.3;
	return true;
}

/* ---- the labels at the right end ---- */

struct end {
	struct lines lines; /* its label */
	double x, y;        /* of the last point, in pixels */
	double label;       /* where the label came to stand */
};

static int by_y(const void *a, const void *b)
{
	const struct end *left = a, *right = b;

	return (left->y > right->y) - (left->y < right->y);
}

/*
 * Moves labels apart, as little as it takes: the isotonic regression (least
 * squares) of their places, less what the labels before them take up.
 */
static void spread(struct end *ends, size_t count, double top, double bottom)
{
	double sum[CHART_MAX_SERIES], taken[CHART_MAX_SERIES];
	size_t size[CHART_MAX_SERIES], blocks = 0;

	for (size_t i = 0; i < count; i++) {
		taken[i] =
		        i ? taken[i - 1] + DRAW_LINE_PX / 2.0 *
		                                   (ends[i - 1].lines.count + ends[i].lines.count)
		          : 0;
		sum[blocks] = ends[i].y - taken[i];
		size[blocks++] = 1;
		while (blocks > 1 && sum[blocks - 2] / (double)size[blocks - 2] >
		                             sum[blocks - 1] / (double)size[blocks - 1]) {
			sum[blocks - 2] += sum[blocks - 1];
			size[blocks - 2] += size[blocks - 1];
			blocks--;
		}
	}
	for (size_t b = 0, i = 0; b < blocks; b++) {
		double at = fmax(top, fmin(sum[b] / (double)size[b], bottom - taken[count - 1]));

		for (size_t k = 0; k < size[b]; k++, i++)
			ends[i].label = at + taken[i];
	}
}

/* Dots over the same whole number stand side by side: how far the series' are moved, in data. */
static double dodge(const struct chart *chart, const struct axis *x, size_t series)
{
	double px = ((double)series - (double)(chart->series_count - 1) / 2) * 9;

	return px * (x->max - x->min) / (x->to - x->from);
}

static void end_labels(struct drawing *d, const struct chart *chart, const struct axis *x,
                       const struct axis *y, bool side_by_side)
{
	struct end ends[CHART_MAX_SERIES];
	double at = d->width - d->right + 22;

	for (size_t s = 0; s < chart->series_count; s++) {
		const struct chart_series *series = &chart->series[s];
		const struct chart_point *last = &series->points[0];

		for (size_t i = 0; i < series->count; i++)
			if (series->points[i].x >= last->x)
				last = &series->points[i];
		double moved = side_by_side ? dodge(chart, x, s) : 0;
		ends[s] = (struct end){.lines = text_wrap(d, series->label, d->right - 24),
		                       .x = axis_px(x, last->x + moved),
		                       .y = axis_px(y, last->y)};
	}
	qsort(ends, chart->series_count, sizeof(*ends), by_y);
	spread(ends, chart->series_count, d->top, d->height - d->bottom);
	for (size_t s = 0; s < chart->series_count; s++) {
		draw_line(d, ends[s].x + 7, ends[s].y, at - 4, ends[s].label, INK_SOFT, 0.6);
		draw_lines(d, &ends[s].lines, at, ends[s].label, ALIGN_LEFT, INK_TEXT);
	}
}

/* Room for the labels: wide enough for the widest within reason, and high enough for all. */
static void label_margin(struct drawing *d, const struct chart *chart)
{
	double width = 0;
	int lines = 0;

	for (size_t s = 0; s < chart->series_count; s++)
		width = fmax(width, text_px(chart->series[s].label));
	if (d->narrow && width + 30 > d->width * 0.36)
		width = d->width * 0.42 - 30; /* some are broken in two */
	d->right = (int)fmin(width + 30, d->width * (d->narrow ? 0.42 : 0.3));
	for (size_t s = 0; s < chart->series_count; s++)
		lines += text_wrap(d, chart->series[s].label, d->right - 24).count;
	d->height = (int)fmax(d->height, d->top + d->bottom + lines * DRAW_LINE_PX);
}

/* ---- the marks ---- */

static void whiskers(struct drawing *d, const struct chart_series *series,
                     const struct style *style, double moved)
{
	bool any = false;

	for (size_t i = 0; i < series->count; i++)
		any = any || (isfinite(series->points[i].low) && isfinite(series->points[i].high));
	if (!any)
		return;
	int block = draw_block(d);
	for (size_t i = 0; i < series->count; i++) {
		const struct chart_point *point = &series->points[i];

		draw_row(d, (double[]){point->x + moved, point->low, 0, point->high - point->low},
		         4);
	}
	draw_block_end(d);
	draw_plot(d, block, "using 1:2:3:4 with vectors nohead lw 1.5 lc rgb \"#%s\" notitle",
	          ink_sent(style->ink));
}

static void marks(struct drawing *d, const struct chart *chart, const struct chart_series *series,
                  double moved)
{
	struct style style = style_find(series->style);
	bool few = series->count <= FEW_POINTS;
	int block = draw_block(d);

	for (size_t i = 0; i < series->count; i++)
		draw_row(d, (double[]){series->points[i].x + moved, series->points[i].y}, 2);
	draw_block_end(d);
	if (chart->kind == CHART_LINES)
		draw_plot(d, block, "using 1:2 with lines lw 2 dt %s lc rgb \"#%s\" title \"%s\"",
		          style.dash, ink_sent(style.ink), draw_text(d, series->label));
	whiskers(d, series, &style, moved);
	if (few || chart->kind == CHART_DOTS)
		draw_plot(d, block,
		          "using 1:2 with points pt %d ps %.2f lc rgb \"#%s\" title \"%s\"",
		          style.marker, few ? 0.95 : 0.4, ink_sent(style.ink),
		          draw_text(d, series->label));
}

void draw_xy(struct drawing *d, const struct chart *chart)
{
	struct axis x, y;
	struct ticks x_ticks, y_ticks;

	data_ranges(chart, &x, &y);
	settle_y(chart, &y);
	settle_x(&x);
	ticks_find(d, &y, chart->y_unit, 5, &y_ticks);
	bool whole = ticks_whole(d, chart, &x, &x_ticks);
	bool side_by_side = whole && chart->kind == CHART_DOTS && chart->series_count <= 5;
	if (!whole) {
		ticks_find(d, &x, chart->x_unit, d->narrow ? 4 : 7, &x_ticks);
		pad_x(&x);
	}
	d->left = (int)ticks_width(&y_ticks) + 14;
	d->top = 14;
	d->bottom = 48;
	label_margin(d, chart);
	x.from = d->left;
	x.to = d->width - d->right;
	y.from = d->height - d->bottom;
	y.to = d->top;

	draw_frame(d, &x, &y);
	draw_y_ticks(d, &y, &y_ticks);
	draw_line(d, x.from, y.from, x.to, y.from, INK_TEXT, 1);
	draw_x_ticks(d, &x, &x_ticks, false);
	const char *x_title = axis_title(d, chart->x_label, chart->x_unit, x.log);
	draw_label(d, text_fit(d, x_title, d->width - 8),
	           fmax((x.from + x.to) / 2, fmin(text_px(x_title), d->width - 8) / 2 + 2),
	           d->height - 10, ALIGN_CENTER, INK_TEXT);
	end_labels(d, chart, &x, &y, side_by_side);
	for (size_t s = 0; s < chart->series_count; s++)
		marks(d, chart, &chart->series[s], side_by_side ? dodge(chart, &x, s) : 0);
	draw_end(d);
}
