/* SPDX-License-Identifier: PostgreSQL */
/* A table as a figure: every cell links to the claim that backs it, and shows its verdict. */
#include <string.h>

#include "report/sections.h"

#define MAX_COLUMNS 12

static const struct claim *find_claim(const struct run_row *run, const char *name)
{
	for (size_t i = 0; *name && i < run->claims_count; i++)
		if (!strcmp(run->claims[i].name, name))
			return &run->claims[i];
	return NULL;
}

/* In the order in which the data names them. */
static size_t columns_of(const struct chart *chart, const char **ret)
{
	size_t count = 0;

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const char *name = chart->series[s].points[i].group;
			size_t k = 0;

			while (k < count && strcmp(ret[k], name) != 0)
				k++;
			if (k == count && count < MAX_COLUMNS)
				ret[count++] = name;
		}
	return count;
}

static void cell(struct page *page, const struct chart_point *point)
{
	struct buf *out = page->out;
	const struct claim *claim = find_claim(page->run, point->claim);

	html_text(out, point->label);
	if (claim) {
		buf_printf(out, " <a href=\"#%s\" title=\"", claim->anchor);
		html_text(out, claim->name);
		html_raw(out, "\">");
		page_verdict(page, claim->verdict);
		html_raw(out, "</a>");
	} else if (*point->claim) {
		/* Another scenario's, which this run did not have. */
		html_raw(out, " <span class=\"note\">");
		html_text(out, point->claim);
		html_raw(out, ": not in this run</span>");
	}
}

void page_cells(struct page *page, const struct chart *chart)
{
	const char *columns[MAX_COLUMNS];
	size_t count = columns_of(chart, columns);
	struct buf *out = page->out;

	html_raw(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
	html_text(out, chart->y_label);
	html_raw(out, "\"><table class=\"data\"><caption class=\"hidden\">");
	html_text(out, chart->y_label);
	html_raw(out, "</caption>\n<thead><tr><th scope=\"col\">");
	html_text(out, chart->x_label);
	html_raw(out, "</th>");
	for (size_t k = 0; k < count; k++) {
		html_raw(out, "<th scope=\"col\">");
		html_text(out, columns[k]);
		html_raw(out, "</th>");
	}
	html_raw(out, "</tr></thead><tbody>\n");
	for (size_t s = 0; s < chart->series_count; s++) {
		html_raw(out, "<tr><th scope=\"row\">");
		html_text(out, chart->series[s].label);
		html_raw(out, "</th>");
		for (size_t k = 0; k < count; k++) {
			html_raw(out, "<td>");
			for (size_t i = 0; i < chart->series[s].count; i++)
				if (!strcmp(chart->series[s].points[i].group, columns[k]))
					cell(page, &chart->series[s].points[i]);
			html_raw(out, "</td>");
		}
		html_raw(out, "</tr>\n");
	}
	html_raw(out, "</tbody></table></div>\n");
}
