/* SPDX-License-Identifier: PostgreSQL */
/* Figures: title, picture, and the table of the same numbers. */
#include "report/sections.h"

#include <math.h>
#include <string.h>

/* Rows of a table that stands open; more are folded in. Rows beyond the last limit are left out. */
#define OPEN_ROWS 6
#define MAX_ROWS 60

/* ---- the table ---- */

static void cell_number(struct page *page, double number, int decimals)
{
	html_raw(page->out, "<td class=\"num\">");
	if (isfinite(number))
		PAGE_WORDS(page, words_decimals(text, number, decimals));
	html_raw(page->out, "</td>");
}

/* One number of decimals for a whole column, so that its points stand below each other. */
static int series_decimals(const struct chart_series *series, bool x)
{
	int decimals = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct chart_point *point = &series->points[i];
		int needed = words_decimals_needed(x ? point->x : point->y);

		decimals = needed > decimals ? needed : decimals;
		if (x)
			continue;
		needed = words_decimals_needed(point->low);
		decimals = needed > decimals ? needed : decimals;
		needed = words_decimals_needed(point->high);
		decimals = needed > decimals ? needed : decimals;
	}
	return decimals;
}

static int chart_decimals(const struct chart *chart, bool x)
{
	int decimals = 0;

	for (size_t s = 0; s < chart->series_count; s++) {
		int needed = series_decimals(&chart->series[s], x);

		decimals = needed > decimals ? needed : decimals;
	}
	return decimals;
}

static bool same_x(const struct chart_point *a, const struct chart_point *b, bool grouped)
{
	return grouped ? !strcmp(a->group, b->group) : a->x == b->x;
}

/* The distinct x of all series, in their order; NULL-terminated by count. */
static size_t distinct_x(const struct chart *chart, const struct chart_point **ret, size_t max)
{
	size_t count = 0;

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const struct chart_point *point = &chart->series[s].points[i];
			size_t k = 0;

			while (k < count && !same_x(ret[k], point, chart->grouped))
				k++;
			if (k < count)
				continue;
			if (count == max)
				return max + 1;
			ret[count++] = point;
		}
	return count;
}

/* One row for each x, one column for each series: only when each has one value at most. */
static bool can_pivot(const struct chart *chart)
{
	if (chart->series_count > 5)
		return false;
	for (size_t s = 0; s < chart->series_count; s++) {
		const struct chart_series *series = &chart->series[s];

		if (series->count > MAX_ROWS)
			return false;
		for (size_t i = 0; i < series->count; i++) {
			if (isfinite(series->points[i].low) || isfinite(series->points[i].high))
				return false;
			for (size_t k = 0; k < i; k++)
				if (same_x(&series->points[k], &series->points[i], chart->grouped))
					return false;
		}
	}
	return true;
}

static void x_header(struct page *page, const struct chart *chart, const struct chart_point *point)
{
	html_raw(page->out, "<th scope=\"row\">");
	if (chart->grouped)
		html_text(page->out, point->group);
	else
		PAGE_WORDS(page, words_number(text, point->x, ""));
	html_raw(page->out, "</th>");
}

static void column_header(struct page *page, const char *label, const char *unit, bool number)
{
	html_raw(page->out, number ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">");
	html_text(page->out, label);
	if (!words_unit_named(label, unit)) {
		html_raw(page->out, ", ");
		html_text(page->out, strcmp(unit, "percent") != 0 ? unit : "%");
	}
	html_raw(page->out, "</th>");
}

static void pivot_table(struct page *page, const struct chart *chart,
                        const struct chart_point *const *rows, size_t count)
{
	struct buf *out = page->out;

	html_raw(out, "<thead><tr>");
	column_header(page, chart->x_label, chart->x_unit, false);
	for (size_t s = 0; s < chart->series_count; s++)
		column_header(page, chart->series[s].label, chart->y_unit, true);
	html_raw(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < count; i++) {
		html_raw(out, "<tr>");
		x_header(page, chart, rows[i]);
		for (size_t s = 0; s < chart->series_count; s++) {
			double y = NAN;

			for (size_t k = 0; k < chart->series[s].count; k++)
				if (same_x(&chart->series[s].points[k], rows[i], chart->grouped))
					y = chart->series[s].points[k].y;
			cell_number(page, y, series_decimals(&chart->series[s], false));
		}
		html_raw(out, "</tr>\n");
	}
	html_raw(out, "</tbody>");
}

static void long_head(struct page *page, const struct chart *chart, bool ranges)
{
	struct buf *out = page->out;

	html_raw(out, "<thead><tr>");
	if (chart->kind == CHART_LANES) {
		html_raw(out, "<th scope=\"col\">Lane</th>");
		column_header(page, "From", chart->x_unit, true);
		column_header(page, "To", chart->x_unit, true);
		html_raw(out, "<th scope=\"col\">Kind</th><th scope=\"col\">Label</th>");
	} else {
		html_raw(out, "<th scope=\"col\">Series</th>");
		column_header(page, chart->x_label, chart->x_unit, !chart->grouped);
		column_header(page, chart->y_label, chart->y_unit, true);
		if (ranges)
			html_raw(out, "<th scope=\"col\" class=\"num\">From</th>"
			              "<th scope=\"col\" class=\"num\">To</th>");
	}
	html_raw(out, "</tr></thead><tbody>\n");
}

static void long_row(struct page *page, const struct chart *chart,
                     const struct chart_series *series, const struct chart_point *point,
                     bool ranges)
{
	int decimals = chart_decimals(chart, false), x_decimals = chart_decimals(chart, true);
	struct buf *out = page->out;

	html_raw(out, "<tr><th scope=\"row\">");
	html_text(out, series->label);
	html_raw(out, "</th>");
	if (chart->kind == CHART_LANES) {
		cell_number(page, point->x, x_decimals);
		cell_number(page, point->y, decimals);
		html_element(out, "td", NULL, point->group);
		html_element(out, "td", NULL, point->label);
	} else {
		if (chart->grouped)
			html_element(out, "td", NULL, point->group);
		else
			cell_number(page, point->x, x_decimals);
		cell_number(page, point->y, decimals);
		if (ranges) {
			cell_number(page, point->low, decimals);
			cell_number(page, point->high, decimals);
		}
	}
	html_raw(out, "</tr>\n");
}

static size_t long_table(struct page *page, const struct chart *chart)
{
	bool ranges = false;
	size_t rows = 0, points = 0;

	for (size_t s = 0; s < chart->series_count; s++) {
		points += chart->series[s].count;
		for (size_t i = 0; i < chart->series[s].count; i++)
			ranges = ranges || isfinite(chart->series[s].points[i].low);
	}
	/* Every series gets its share of the rows. */
	size_t step = points > MAX_ROWS ? (points + MAX_ROWS - 1) / MAX_ROWS : 1;

	long_head(page, chart, ranges);
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i += step, rows++)
			long_row(page, chart, &chart->series[s], &chart->series[s].points[i],
			         ranges);
	html_raw(page->out, "</tbody>");
	return rows;
}

static size_t count_seen(const struct chart *chart, size_t *ret_kept)
{
	size_t seen = 0;

	*ret_kept = 0;
	for (size_t s = 0; s < chart->series_count; s++) {
		seen += chart->series[s].seen;
		*ret_kept += chart->series[s].count;
	}
	return seen;
}

static void data_table(struct page *page, const struct chart *chart, unsigned number)
{
	const struct chart_point *rows[MAX_ROWS];
	struct buf *out = page->out;
	size_t kept, seen = count_seen(chart, &kept);
	bool pivot = chart->kind != CHART_LANES && can_pivot(chart);
	size_t count = pivot ? distinct_x(chart, rows, MAX_ROWS) : kept;

	if (count > MAX_ROWS && pivot) {
		pivot = false;
		count = kept;
	}
	bool folded = count > OPEN_ROWS;
	if (folded)
		page_details_open(page, "The numbers");
	buf_printf(out,
	           "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Numbers of "
	           "figure %u\"><table class=\"data\"><caption class=\"hidden\">",
	           number);
	html_text(out, chart->y_label);
	html_raw(out, "</caption>\n");
	if (pivot)
		pivot_table(page, chart, rows, count);
	else
		count = long_table(page, chart);
	html_raw(out, "</table></div>\n");
	if (!pivot && count < seen)
		buf_printf(out, "<p class=\"note\">%zu of %zu rows, evenly spaced.</p>\n", count,
		           seen);
	if (folded)
		page_details_close(page);
}

/* ---- the figure ---- */

static void subtitle(struct page *page, const struct chart *chart)
{
	struct buf *out = page->out;
	size_t kept, seen = count_seen(chart, &kept);

	html_raw(out, "<span class=\"subtitle\">");
	const char *label = chart->kind == CHART_LANES ? chart->x_label : chart->y_label;
	const char *unit = chart->kind == CHART_LANES ? chart->x_unit : chart->y_unit;
	html_text(out, label);
	if (!words_unit_named(label, unit)) {
		html_raw(out, ", ");
		html_text(out, strcmp(unit, "percent") != 0 ? unit : "%");
	}
	if (chart->y_log || chart->x_log)
		html_raw(out, chart->y_log && chart->x_log ? "; both scales are logarithmic"
		              : chart->y_log               ? "; logarithmic scale"
		                                           : "; logarithmic x scale");
	buf_printf(out, "; n = %zu", seen);
	if (kept < seen)
		buf_printf(out, ", of which %zu are drawn, evenly spaced", kept);
	html_raw(out, "</span>");
}

static void picture(struct page *page, const struct chart *chart)
{
	struct buf *out = page->out;

	if (chart->wide) {
		html_raw(out, "<div class=\"wide\">");
		html_raw(out, chart->wide);
		html_raw(out, "</div>\n<div class=\"narrow\">");
		html_raw(out, chart->narrow);
		html_raw(out, "</div>\n");
		return;
	}
	html_raw(out, "<p class=\"warning\">Chart unavailable: ");
	html_text(out, chart->failure          ? chart->failure
	               : page->charts->missing ? page->charts->missing
	                                       : "it was not drawn");
	html_raw(out, ". It changes no verdict.</p>\n");
}

static void figure_claims(struct page *page, const struct chart_row *row,
                          const struct scenario_row *scenario)
{
	struct buf *out = page->out;
	bool any = false;

	for (size_t i = 0; i < row->claims_count; i++)
		for (size_t k = 0; k < scenario->claims_count; k++) {
			if (strcmp(scenario->claims[k]->name, row->claims[i]) != 0)
				continue;
			buf_printf(out, "%s<a href=\"#%s\">",
			           any ? ", " : "<p class=\"note\">Evidence for ",
			           scenario->claims[k]->anchor);
			html_text(out, row->claims[i]);
			html_raw(out, "</a>");
			any = true;
		}
	if (any)
		html_raw(out, "</p>\n");
}

void page_figure(struct page *page, const struct scenario_row *scenario, struct chart_row *row)
{
	const struct chart *chart = row->drawn;
	struct buf *out = page->out;

	buf_printf(out,
	           "<figure id=\"figure-%u\" aria-labelledby=\"figure-%u-h\">\n<figcaption "
	           "id=\"figure-%u-h\"><span class=\"number\">Figure %u</span> ",
	           row->number, row->number, row->number, row->number);
	html_prose(out, chart->title);
	bool cells = chart->kind == CHART_TABLE && !chart->failure;
	if (!cells)
		subtitle(page, chart);
	html_raw(out, "</figcaption>\n");
	if (cells)
		page_cells(page, chart);
	else
		picture(page, chart);
	if (chart->series_count && !cells)
		data_table(page, chart, row->number);
	figure_claims(page, row, scenario);
	html_raw(out, page->options->expand ? "<details class=\"sql\" open>"
	                                    : "<details class=\"sql\">");
	html_raw(out, "<summary>SQL of the figure</summary>\n");
	page_code(page, row->data);
	if (strcmp(chart->title, row->title) != 0)
		page_code(page, row->title);
	page_details_close(page);
	html_raw(out, "</figure>\n");
}

/* ---- measured against published ---- */

/* Claims with a published figure that have no place on a scale of ratios. */
static bool off_scale(const struct claim *claim)
{
	return claim->in_scope && claim->published_value.kind == VALUE_NUMBER &&
	       claim->value.kind == VALUE_NUMBER &&
	       !(claim->published_value.number > 0 && claim->value.number > 0);
}

static void off_scale_table(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf *out = page->out;
	bool any = false;

	for (size_t i = 0; i < run->claims_count; i++) {
		const struct claim *claim = &run->claims[i];

		if (!off_scale(claim))
			continue;
		if (!any)
			html_raw(out,
			         "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
			         "aria-label=\"Claims without a ratio\"><table "
			         "class=\"data\"><caption>Without a place on a scale of "
			         "ratios, because one of the two is zero or "
			         "negative</caption>\n<thead><tr><th scope=\"col\">Claim</th><th "
			         "scope=\"col\" class=\"num\">Published</th><th scope=\"col\" "
			         "class=\"num\">Measured</th></tr></thead><tbody>\n");
		any = true;
		buf_printf(out, "<tr><th scope=\"row\"><a href=\"#%s\">", claim->anchor);
		html_text(out, claim->name);
		html_raw(out, "</a></th><td class=\"num\">");
		PAGE_WORDS(page, words_published(text, claim));
		html_raw(out, "</td><td class=\"num\">");
		PAGE_WORDS(page, words_value(text, &claim->value, claim->unit));
		html_raw(out, "</td></tr>\n");
	}
	if (any)
		html_raw(out, "</tbody></table></div>\n");
}

void page_published(struct page *page)
{
	const struct chart *chart = page->charts->forest;
	struct buf *out = page->out;

	if (!chart)
		return;
	html_raw(out, "<section id=\"published\" aria-labelledby=\"published-h\">\n<h2 "
	              "id=\"published-h\">Measured against published</h2>\n<figure id=\"figure-1\" "
	              "aria-labelledby=\"figure-1-h\">\n<figcaption id=\"figure-1-h\"><span "
	              "class=\"number\">Figure 1</span> ");
	html_text(out, chart->title);
	html_raw(out, "<span class=\"subtitle\">measured divided by published, logarithmic scale; "
	              "the line is 1, the band is where the claim holds, the whisker the measured "
	              "range; the numbers are in the <a href=\"#claims\">table of "
	              "claims</a></span></figcaption>\n");
	picture(page, chart);
	html_raw(out, "</figure>\n");
	off_scale_table(page);
	html_raw(out, "</section>\n");
}
