/* SPDX-License-Identifier: PostgreSQL */
/* A timeline: a lane for each actor, a bar for what takes time, a mark for a moment. */
#include "report/draw.h"

#include <math.h>
#include <string.h>

#define BAR_PX 14
#define LEAST_PX 3
#define TEXT_PX 16
#define LANE_GAP_PX 14
#define MAX_LEVELS 3
#define MAX_KINDS 16

/* Kinds take turns in two shades that no arm has for its own, and each item says what it is. */
static const enum ink shades[] = {INK_SOFT, INK_OTHER};

struct lanes {
	const char *kinds[MAX_KINDS];
	size_t kinds_count;
	struct axis x;
};

static size_t kind_index(struct lanes *lanes, const char *kind)
{
	for (size_t i = 0; i < lanes->kinds_count; i++)
		if (!strcmp(lanes->kinds[i], kind))
			return i;
	if (lanes->kinds_count < MAX_KINDS)
		lanes->kinds[lanes->kinds_count++] = kind;
	return lanes->kinds_count - 1;
}

static void data_range(const struct chart *chart, struct axis *x)
{
	*x = (struct axis){.min = INFINITY, .max = -INFINITY};
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			x->min = fmin(x->min, chart->series[s].points[i].x);
			x->max = fmax(x->max, chart->series[s].points[i].y);
		}
	if (x->min > 0 && x->min < x->max / 4)
		x->min = 0;
	if (x->min == x->max)
		x->max = x->min + 1;
}

/* "kill -9", "insert: 1 to 40": the label, with the kind where it does not say it. */
static const char *item_text(struct drawing *d, const struct chart_point *point)
{
	const char *text = point->label;

	if (!*point->label)
		text = point->group;
	else if (*point->group && !strstr(point->label, point->group))
		text = arena_printf(d->arena, "%s: %s", point->group, point->label);
	return text ? text : "";
}

/*
 * Where the labels of a lane stand: above the bars, on the lowest level that is
 * free, or nowhere (the table has them all). Returns the levels used.
 */
static size_t place_labels(struct drawing *d, const struct lanes *lanes,
                           const struct chart_series *lane, double *ret_x, int *ret_level)
{
	double free_from[MAX_LEVELS] = {0};
	size_t used = 0;

	for (size_t i = 0; i < lane->count; i++) {
		double width = text_px(item_text(d, &lane->points[i]));
		double x = axis_px(&lanes->x, lane->points[i].x) - 2;

		x = fmax(fmin(x, d->width - 4 - width), 2);
		ret_level[i] = -1;
		/* Beside the label before, as long as it is still over its own bar. */
		double beside = fmax(x, free_from[0]);
		if (beside > x && beside + width / 2 < axis_px(&lanes->x, lane->points[i].y))
			x = beside;
		for (size_t level = 0; level < MAX_LEVELS && ret_level[i] < 0; level++) {
			if (x < free_from[level])
				continue;
			ret_x[i] = x;
			ret_level[i] = (int)level;
			free_from[level] = x + width + 10;
			used = used > level + 1 ? used : level + 1;
		}
	}
	return used;
}

static void item(struct drawing *d, struct lanes *lanes, const struct chart_point *point, double y)
{
	enum ink ink = shades[kind_index(lanes, point->group) % COUNT_OF(shades)];
	double up = d->height - y, stop = point->y;
	int block = draw_block(d);

	if (point->x == point->y) {
		draw_row(d, (double[]){point->x, up}, 2);
		draw_block_end(d);
		draw_plot(d, block,
		          "using 1:2 with points pt 13 ps 1.3 lc rgb \"#%s\" title \"%s\"",
		          ink_sent(INK_TEXT), draw_text(d, item_text(d, point)));
		return;
	}
	/* However short it took, there is something to see. */
	if (axis_px(&lanes->x, stop) - axis_px(&lanes->x, point->x) < LEAST_PX)
		stop = point->x +
		       LEAST_PX * (lanes->x.max - lanes->x.min) / (lanes->x.to - lanes->x.from);
	draw_row(d, (double[]){point->x, up, point->x, stop, up - BAR_PX / 2.0, up + BAR_PX / 2.0},
	         6);
	draw_block_end(d);
	draw_plot(d, block, "using 1:2:3:4:5:6 with boxxyerror lc rgb \"#%s\" title \"%s\"",
	          ink_sent(ink), draw_text(d, item_text(d, point)));
}

static void lane_of(struct drawing *d, struct lanes *lanes, const struct chart_series *lane,
                    const double *label_x, const int *level, double y)
{
	struct lines label = text_wrap(d, lane->label, d->left - 12);

	draw_lines(d, &label, d->left - 10, y, ALIGN_RIGHT, INK_TEXT);
	draw_line(d, d->left, y, d->width - d->right, y, INK_GRID, 1);
	/* Moments lie on top of what goes on meanwhile. */
	for (int moment = 0; moment <= 1; moment++)
		for (size_t i = 0; i < lane->count; i++)
			if ((lane->points[i].x == lane->points[i].y) == moment)
				item(d, lanes, &lane->points[i], y);
	for (size_t i = 0; i < lane->count; i++) {
		if (level[i] >= 0)
			draw_label(d, item_text(d, &lane->points[i]), label_x[i],
			           y - BAR_PX / 2.0 - 10 - level[i] * TEXT_PX, ALIGN_LEFT,
			           INK_TEXT);
	}
}

void draw_lanes(struct drawing *d, const struct chart *chart)
{
	struct lanes lanes = {.kinds_count = 0};
	struct axis y;
	struct ticks ticks;
	double label_x[CHART_MAX_SERIES][CHART_MAX_POINTS];
	int level[CHART_MAX_SERIES][CHART_MAX_POINTS];
	double height[CHART_MAX_SERIES], width = 0, total = 0;

	data_range(chart, &lanes.x);
	ticks_find(d, &lanes.x, chart->x_unit, d->narrow ? 4 : 8, &ticks);
	for (size_t s = 0; s < chart->series_count; s++)
		width = fmax(width, text_px(chart->series[s].label));
	d->left = (int)fmin(width + 16, d->width * 0.3);
	d->right = 16;
	d->top = 6;
	d->bottom = 48;
	lanes.x.from = d->left;
	lanes.x.to = d->width - d->right;
	for (size_t s = 0; s < chart->series_count; s++) {
		size_t levels = place_labels(d, &lanes, &chart->series[s], label_x[s], level[s]);

		height[s] = BAR_PX + LANE_GAP_PX + (double)levels * TEXT_PX;
		total += height[s];
	}
	d->height = (int)total + d->top + d->bottom;
	y = (struct axis){.min = d->bottom,
	                  .max = d->height - d->top,
	                  .from = d->height - d->bottom,
	                  .to = d->top};

	draw_frame(d, &lanes.x, &y);
	draw_line(d, d->left, y.from, d->width - d->right, y.from, INK_TEXT, 1);
	draw_x_ticks(d, &lanes.x, &ticks, false);
	draw_label(d,
	           text_fit(d, axis_title(d, chart->x_label, chart->x_unit, false), d->width - 8),
	           (lanes.x.from + lanes.x.to) / 2, d->height - 10, ALIGN_CENTER, INK_TEXT);
	double at = d->top;
	for (size_t s = 0; s < chart->series_count; s++) {
		at += height[s];
		lane_of(d, &lanes, &chart->series[s], label_x[s], level[s],
		        at - LANE_GAP_PX / 2.0 - BAR_PX / 2.0);
	}
	draw_end(d);
}
