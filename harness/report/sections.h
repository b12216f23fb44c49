/* SPDX-License-Identifier: PostgreSQL */
/* The parts of the page; report_render (page.c) puts them in order. */
#ifndef KEYLAB_REPORT_SECTIONS_H
#define KEYLAB_REPORT_SECTIONS_H

#include "report/chart.h"
#include "report/html.h"
#include "report/model.h"
#include "report/report.h"
#include "report/words.h"

struct page {
	struct buf *out;
	const struct model *model;
	const struct run_row *run; /* the one in full: the model's first */
	const struct report_options *options;
	struct charts *charts;
};

/* One of the words_ functions, escaped. */
#define PAGE_WORDS(page, call)                                                                     \
	do {                                                                                       \
		struct buf words_;                                                                 \
		struct buf *text = &words_;                                                        \
		buf_init(text, 0);                                                                 \
		call;                                                                              \
		page_words((page)->out, text);                                                     \
	} while (0)
/* Escapes text into out and finishes it. */
void page_words(struct buf *out, struct buf *text);

/* ✔ HOLDS, in its shape and colour. */
void page_verdict(struct page *page, enum verdict_kind verdict);
/* <details>, open where the options say so. */
void page_details_open(struct page *page, const char *summary);
void page_details_close(struct page *page);
/* SQL or a command, as it is. */
void page_code(struct page *page, const char *text);
/* Numbers the figures in the order in which the page shows them; before anything is written. */
void page_number_figures(struct page *page);
/* <figure> with title, picture and table. */
void page_figure(struct page *page, const struct scenario_row *scenario, struct chart_row *chart);

/* table.c: the cells of a chart of kind table. */
void page_cells(struct page *page, const struct chart *chart);

/* figure.c: measured against published; nothing when no claim has a published figure. */
void page_published(struct page *page);
/* card.c: a section for each scenario: what it is, its figures, a card for each claim. */
void page_scenarios(struct page *page);
/* compare.c: nothing for a single run. */
void page_comparison(struct page *page);
/* about.c */
void page_provenance(struct page *page);
void page_limits(struct page *page);
void page_reproduce(struct page *page);
void page_reading(struct page *page);

#endif
