/* SPDX-License-Identifier: PostgreSQL */
/* Measured against published: a row for each claim, on a scale of ratios around 1. */
#include "report/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

#define ROW_PX 24
/* The scale shows at least this much on both sides of 1. */
#define LEAST_RATIO 1.25

/* One series whose points are the claims: x and label2 see below. */
static bool has_ratio(const struct claim *claim)
{
	return claim->in_scope && claim->published_value.kind == VALUE_NUMBER &&
	       claim->value.kind == VALUE_NUMBER && claim->published_value.number > 0 &&
	       claim->value.number > 0;
}

/* Where the claim holds, as ratios; open ends are infinite. false where that is no single stretch.
 */
static bool holds_between(const struct claim *claim, double *ret_low, double *ret_high)
{
	double published = claim->published_value.number;

	if (!claim->parsed)
		return false;
	for (size_t i = 0; i < claim->predicate_terms.count; i++) {
		const struct predicate_term *term = &claim->predicate_terms.terms[i];

		if (term->op == PREDICATE_TRUE || term->op == PREDICATE_NE || term->text[0])
			return false;
	}
	predicate_bounds(&claim->predicate_terms, &claim->figure, ret_low, ret_high);
	*ret_low /= published;
	*ret_high /= published;
	return true;
}

static const char *finding(struct charts *charts, const struct chart *chart)
{
	size_t near = 0, count = chart->series[0].seen;
	const struct chart_point *farthest = &chart->series[0].points[0];

	for (size_t i = 0; i < chart->series[0].count; i++) {
		const struct chart_point *point = &chart->series[0].points[i];

		near += fabs(point->y - 1) <= 0.05;
		if (fabs(log(point->y)) > fabs(log(farthest->y)))
			farthest = point;
	}
	if (near == count)
		return arena_printf(&charts->arena, "All %zu published figures are met within 5 %%",
		                    count);
	return arena_printf(&charts->arena,
	                    farthest->y < 0.1 ? "%zu of %zu published figures are met within 5 %%; "
	                                        "the farthest is %s, at %.2g times what was "
	                                        "published"
	                                      : "%zu of %zu published figures are met within 5 %%; "
	                                        "the farthest is %s, at %.2f times what was "
	                                        "published",
	                    near, count, farthest->group, farthest->y);
}

struct chart *chart_forest(struct charts *charts, const struct run_row *run)
{
	struct chart *chart = NULL;
	size_t count = 0;

	for (size_t i = 0; i < run->claims_count; i++)
		count += has_ratio(&run->claims[i]);
	if (count)
		chart = arena_alloc(&charts->arena, sizeof(*chart));
	if (!chart)
		return NULL;
	*chart = (struct chart){.kind = CHART_FOREST,
	                        .x_label = "measured / published",
	                        .x_unit = "",
	                        .y_label = "measured / published",
	                        .y_unit = "",
	                        .x_log = true,
	                        .series_count = 1,
	                        .claims = run->claims,
	                        .claims_count = run->claims_count};
	struct chart_series *series = &chart->series[0];
	series->name = series->label = "measured";
	series->every = 1;
	series->points = arena_alloc(&charts->arena, count * sizeof(*series->points));
	for (size_t i = 0; i < run->claims_count && series->points; i++) {
		const struct claim *claim = &run->claims[i];
		double published = claim->published_value.number;

		if (!has_ratio(claim))
			continue;
		series->points[series->count++] =
		        (struct chart_point){.x = (double)i, /* which claim */
		                             .y = claim->value.number / published,
		                             .low = claim->low.kind == VALUE_NUMBER
		                                            ? claim->low.number / published
		                                            : NAN,
		                             .high = claim->high.kind == VALUE_NUMBER
		                                             ? claim->high.number / published
		                                             : NAN,
		                             .group = claim->name,
		                             .label = ""};
	}
	series->seen = series->count;
	chart->title = series->count ? finding(charts, chart) : "";
	return chart->title ? chart : NULL;
}

/* ---- the drawing ---- */

static double far_end(const struct chart_series *series)
{
	double far = log(LEAST_RATIO);

	for (size_t i = 0; i < series->count; i++) {
		const struct chart_point *point = &series->points[i];

		far = fmax(far, fabs(log(point->y)));
		if (isfinite(point->low) && point->low > 0)
			far = fmax(far, fabs(log(point->low)));
		if (isfinite(point->high) && point->high > 0)
			far = fmax(far, fabs(log(point->high)));
	}
	return exp(far * 1.06);
}

static void scale(struct drawing *d, const struct axis *x, double end)
{
	static const double above[] = {1.1, 1.25, 1.5, 2, 3, 4, 8, 16, 100, 1000};
	double free_right = axis_px(x, 1) + 24;
	double base = d->height - d->bottom;

	draw_label(d, "1", axis_px(x, 1), base + 14, ALIGN_CENTER, INK_TEXT);
	for (size_t i = 0; i < COUNT_OF(above) && above[i] <= end; i++) {
		double right = axis_px(x, above[i]), left = axis_px(x, 1 / above[i]);
		const char *text = arena_printf(d->arena, "%g", above[i]);
		const char *inverse = arena_printf(d->arena, "1/%g", above[i]);

		if (right < free_right || !text || !inverse)
			continue;
		free_right = right + 34;
		draw_line(d, right, d->top, right, base, INK_GRID, 1);
		draw_line(d, left, d->top, left, base, INK_GRID, 1);
		draw_label(d, text, right, base + 14, ALIGN_CENTER, INK_SOFT);
		draw_label(d, inverse, left, base + 14, ALIGN_CENTER, INK_SOFT);
	}
}

static void band(struct drawing *d, const struct axis *x, double low, double high, double up)
{
	low = fmax(low, x->min);
	high = fmin(high, x->max);
	if (low > x->max || high < x->min)
		return;
	/* A band thinner than its outline still has to be seen. */
	double least = pow(x->max / x->min, 3 / (x->to - x->from));
	if (high / low < least) {
		double middle = sqrt(low * high);

		low = middle / sqrt(least);
		high = middle * sqrt(least);
	}
	int block = draw_block(d);
	draw_row(d, (double[]){low, up, low, high, up - ROW_PX * 0.42, up + ROW_PX * 0.42}, 6);
	draw_block_end(d);
	draw_plot(d, block, "using 1:2:3:4:5:6 with boxxyerror lc rgb \"#%s\" notitle",
	          ink_sent(INK_BAND));
}

/* Is the unit part of how a number is written ("551 MB")? */
static bool scaled(const char *unit)
{
	return !strcmp(unit, "bytes") || !strcmp(unit, "ns");
}

/* The verdict's shape: full, crossed, open. */
static int marker_of(enum verdict_kind verdict)
{
	return verdict == VERDICT_HOLDS ? 7 : verdict == VERDICT_INCONCLUSIVE ? 6 : 2;
}

/* "551 MB / 551 MB": the two numbers, as exactly as there is room for. The words that the published
 * one may stand in are in the table. */
static const char *pair(struct drawing *d, const struct claim *claim)
{
	double published = claim->published_value.number;
	const char *unit = scaled(claim->unit) ? claim->unit : "", *found = NULL;

	for (int room = 0; room < 2 && !found; room++) {
		struct buf text;

		buf_init(&text, 0);
		words_number(&text, claim->value.number, room ? unit : claim->unit);
		buf_add(&text, " / ");
		words_number(&text, published, unit);
		if (text_px(text.data) <= d->right - 14)
			found = arena_strdup(d->arena, text.data);
		buf_finish(&text);
	}
	if (!found)
		found = arena_printf(d->arena, "%.4g / %.4g", claim->value.number, published);
	return found ? found : "";
}

static void row(struct drawing *d, const struct claim *claim, const struct chart_point *point,
                double y)
{
	double up = d->height - y;
	struct buf text;

	buf_init(&text, 0);
	words_value(&text, &claim->value, claim->unit);
	const char *tip = arena_printf(d->arena, "%s: %s", claim->name, text.data);
	int block = draw_block(d);
	draw_row(d, (double[]){point->y, up, point->low, point->high - point->low}, 4);
	draw_block_end(d);
	if (point->low < point->high)
		draw_plot(d, block,
		          "using 3:2:4:(0) with vectors nohead lw 2 lc rgb \"#%s\" notitle",
		          ink_sent(INK_TEXT));
	draw_plot(d, block,
	          "using 1:2 with points pt %d ps 0.95 lw 1.6 lc rgb \"#%s\" title \"%s\"",
	          marker_of(claim->verdict), ink_sent(INK_TEXT), draw_text(d, tip ? tip : ""));
	draw_label(d, text_fit(d, claim->name, d->left - 10), d->left - 9, y, ALIGN_RIGHT,
	           INK_TEXT);
	if (!d->narrow)
		draw_label(d, pair(d, claim), d->width - d->right + 14, y, ALIGN_LEFT, INK_SOFT);
	buf_finish(&text);
}

void draw_forest(struct drawing *d, const struct chart *chart)
{
	const struct chart_series *series = &chart->series[0];
	double end = far_end(series), names = 0;
	struct axis x = {.min = 1 / end, .max = end, .log = true}, y;

	for (size_t i = 0; i < series->count; i++)
		names = fmax(names, text_px(series->points[i].group));
	d->left = (int)fmin(names + 14, d->width * (d->narrow ? 0.52 : 0.3));
	d->right = d->narrow ? 12 : 180;
	d->top = 8;
	d->bottom = 46;
	d->height = (int)series->count * ROW_PX + d->top + d->bottom;
	x.from = d->left;
	x.to = d->width - d->right;
	y = (struct axis){.min = d->bottom,
	                  .max = d->height - d->top,
	                  .from = d->height - d->bottom,
	                  .to = d->top};
	draw_frame(d, &x, &y);
	scale(d, &x, end);
	static const char title[] = "measured / published (log scale)";
	draw_label(d, title, fmin((x.from + x.to) / 2, d->width - 4 - text_px(title) / 2),
	           d->height - 10, ALIGN_CENTER, INK_TEXT);
	/* Bands first, then the line through them, then the marks. */
	for (size_t i = 0; i < series->count; i++) {
		double low, high;

		if (holds_between(&chart->claims[(size_t)series->points[i].x], &low, &high))
			band(d, &x, low, high, d->height - d->top - ROW_PX * ((double)i + 0.5));
	}
	int line = draw_block(d);
	draw_row(d, (double[]){1, y.min}, 2);
	draw_row(d, (double[]){1, y.max}, 2);
	draw_block_end(d);
	draw_plot(d, line, "using 1:2 with lines lw 1 lc rgb \"#%s\" notitle", ink_sent(INK_TEXT));
	for (size_t i = 0; i < series->count; i++)
		row(d, &chart->claims[(size_t)series->points[i].x], &series->points[i],
		    d->top + ROW_PX * ((double)i + 0.5));
	draw_end(d);
}
