/* SPDX-License-Identifier: PostgreSQL */
/* The page's frame: head, summary, measured against published, table of claims. */
#include "report/sections.h"

#include <string.h>

#include "page.h"

void page_words(struct buf *out, struct buf *text)
{
	if (text->failed)
		out->failed = true;
	html_text(out, text->data);
	buf_finish(text);
}

const char *report_css(void)
{
	return page_report;
}

void page_verdict(struct page *page, enum verdict_kind verdict)
{
	buf_printf(page->out,
	           "<span class=\"verdict v-%s\"><span aria-hidden=\"true\">%s</span> %s</span>",
	           report_verdict_class(verdict), report_verdict_mark(verdict),
	           report_verdict_word(verdict));
}

void page_details_open(struct page *page, const char *summary)
{
	html_raw(page->out,
	         page->options->expand ? "<details open><summary>" : "<details><summary>");
	html_text(page->out, summary);
	html_raw(page->out, "</summary>\n");
}

void page_details_close(struct page *page)
{
	html_raw(page->out, "</details>\n");
}

void page_code(struct page *page, const char *text)
{
	html_raw(page->out, "<pre><code>");
	html_text(page->out, text);
	html_raw(page->out, "</code></pre>\n");
}

static void head(struct page *page)
{
	struct buf *out = page->out;

	html_raw(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	              "<meta name=\"color-scheme\" content=\"light dark\">\n"
	              "<meta name=\"referrer\" content=\"no-referrer\">\n");
	/* What the page is made without, the browser may refuse as well. */
	if (!page->options->assets_external)
		html_raw(out, "<meta http-equiv=\"Content-Security-Policy\" "
		              "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
	html_raw(out, "<title>");
	PAGE_WORDS(page, words_counts(text, page->run));
	html_raw(out, " – keylab</title>\n");
	if (page->options->assets_external) {
		html_raw(out, "<link rel=\"stylesheet\" href=\"report.css\">\n");
	} else {
		html_raw(out, "<style>\n");
		html_raw(out, page_report);
		html_raw(out, "</style>\n");
	}
	html_raw(out, "</head>\n<body>\n"
	              "<a class=\"skip\" href=\"#claims\">Skip to the table of claims</a>\n");
}

/* ---- summary ---- */

static void run_line(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf *out = page->out;

	html_raw(out, "<p class=\"run-line\">");
	PAGE_WORDS(page, words_servers(text, run));
	html_textf(out, " · run %lld, profile %s · ", (long long)run->id, run->profile);
	PAGE_WORDS(page, words_time(text, run->started_at));
	html_raw(out, " · ");
	PAGE_WORDS(page, words_plural(text, run->scenarios_count, "scenario", "scenarios"));
	html_raw(out, "</p>\n");
	if (strcmp(run->status, "finished") != 0) {
		html_raw(out, "<p class=\"warning\"><strong>This run is ");
		html_text(out, run->status);
		html_raw(out,
		         ".</strong> What it had measured until then is below; the rest counts "
		         "as not run.</p>\n");
	}
}

static void expectation_line(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf *out = page->out;

	if (run->in_scope == 0) {
		html_raw(out, "<p class=\"warning\">An empty run shows nothing, and is a "
		              "failure.</p>\n");
		return;
	}
	html_raw(out, "<p class=\"lead\">");
	if (run->unexpected == 0)
		html_raw(out, "Every verdict is the expected one.");
	else
		html_textf(out, "%zu of %zu verdicts %s.", run->unexpected, run->in_scope,
		           run->unexpected == 1 ? "is not the expected one"
		                                : "are not the expected ones");
	html_raw(out, "</p>\n");
}

static void verdict_item(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;

	html_raw(out, "<li>");
	page_verdict(page, claim->verdict);
	buf_printf(out, " <span><a href=\"#%s\">", claim->anchor);
	html_prose(out, claim->sentence);
	html_raw(out, "</a>");
	if (claim->verdict != claim->expected) {
		html_raw(out, " <strong>Not expected</strong>");
		if (*claim->reason) {
			html_raw(out, ": ");
			html_prose(out, claim->reason);
		}
	} else {
		html_raw(out, " As expected");
		if (*claim->because) {
			html_raw(out, ": ");
			html_prose(out, claim->because);
		}
	}
	html_raw(out, "</span></li>\n");
}

/* Is it in the list, in the part of the unexpected or of the expected? */
static bool listed(const struct claim *claim, enum verdict_kind verdict, bool expected)
{
	if (!claim->in_scope || claim->verdict != verdict)
		return false;
	if (expected)
		return claim->verdict == claim->expected && verdict != VERDICT_HOLDS;
	return claim->verdict != claim->expected;
}

/* What does not hold, or holds against expectation: the unexpected first, then by verdict. */
static void worst_first(struct page *page)
{
	const struct run_row *run = page->run;
	bool any = false;

	for (size_t step = 0; step < 2 * VERDICT_KIND_COUNT; step++)
		for (size_t i = 0; i < run->claims_count; i++) {
			if (!listed(&run->claims[i],
			            report_verdict_order[step % VERDICT_KIND_COUNT],
			            step >= VERDICT_KIND_COUNT))
				continue;
			if (!any)
				html_raw(page->out, "<h2 class=\"small\">What does not hold, worst "
				                    "first</h2>\n<ul class=\"worst\">\n");
			any = true;
			verdict_item(page, &run->claims[i]);
		}
	if (any)
		html_raw(page->out, "</ul>\n");
}

static void summary(struct page *page)
{
	struct buf *out = page->out;

	html_raw(out, "<header class=\"top\">\n<p class=\"eyebrow\">keylab · evidence report</p>\n"
	              "<h1>");
	PAGE_WORDS(page, words_counts(text, page->run));
	html_raw(out, ".</h1>\n");
	run_line(page);
	expectation_line(page);
	worst_first(page);
	html_raw(out, "</header>\n");
}

static void contents(struct page *page)
{
	struct buf *out = page->out;

	html_raw(out, "<nav aria-label=\"Contents\"><ul>\n");
	if (page->charts->forest)
		html_raw(out, "<li><a href=\"#published\">Measured against published</a></li>\n");
	html_raw(out, "<li><a href=\"#claims\">Table of claims</a></li>\n");
	for (size_t i = 0; i < page->run->scenarios_count; i++) {
		buf_printf(out, "<li><a href=\"#%s\">", page->run->scenarios[i].anchor);
		html_text(out, page->run->scenarios[i].name);
		html_raw(out, "</a></li>\n");
	}
	if (page->model->runs_count > 1)
		html_raw(out, "<li><a href=\"#comparison\">Comparison of runs</a></li>\n");
	html_raw(out, "<li><a href=\"#provenance\">Provenance</a></li>\n"
	              "<li><a href=\"#limits\">Limits</a></li>\n"
	              "<li><a href=\"#reproduce\">How to reproduce</a></li>\n"
	              "<li><a href=\"#reading\">Reading this page</a></li>\n</ul></nav>\n");
}

/* ---- table of claims ---- */

/*
 * The roles are written out because a narrow screen shows the rows as blocks,
 * which would take the table's meaning away from screen readers.
 */
static void claims_row(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;

	buf_printf(out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\"><a href=\"#%s\">",
	           claim->anchor);
	html_text(out, claim->name);
	html_raw(out, "</a>");
	if (claim->control)
		html_raw(out, " <span class=\"tag\">control</span>");
	html_raw(out, "<span class=\"sentence\">");
	html_prose(out, claim->sentence);
	html_raw(out, "</span></th><td role=\"cell\" class=\"num\" data-label=\"Published\">");
	PAGE_WORDS(page, words_published(text, claim));
	html_raw(out, "</td><td role=\"cell\" class=\"num\" data-label=\"Measured\">");
	PAGE_WORDS(page, words_value(text, &claim->value, claim->unit));
	html_raw(out, "<span class=\"range\">");
	PAGE_WORDS(page, words_range(text, claim));
	html_raw(out, "</span></td><td role=\"cell\" data-label=\"Verdict\">");
	page_verdict(page, claim->verdict);
	if (claim->verdict != claim->expected) {
		html_raw(out, "<span class=\"range\">expected ");
		html_text(out, report_verdict_word(claim->expected));
		html_raw(out, "</span>");
	} else if (claim->verdict != VERDICT_HOLDS) {
		html_raw(out, "<span class=\"range\">as expected</span>");
	}
	buf_printf(out, "</td><td role=\"cell\" class=\"num\" data-label=\"n\">%lld</td></tr>\n",
	           (long long)claim->n);
}

static void claims_table(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf *out = page->out;

	html_raw(out,
	         "<section id=\"claims\" aria-labelledby=\"claims-h\">\n<h2 id=\"claims-h\">Table "
	         "of "
	         "claims</h2>\n<table class=\"claims\" role=\"table\"><caption>Each claim with "
	         "what was "
	         "published, what was measured (and its range, where there are repetitions), the "
	         "verdict, and the number of values n</caption>\n<thead role=\"rowgroup\"><tr "
	         "role=\"row\"><th scope=\"col\" role=\"columnheader\">Claim</th><th scope=\"col\" "
	         "role=\"columnheader\" class=\"num\">Published</th><th scope=\"col\" "
	         "role=\"columnheader\" class=\"num\">Measured</th><th scope=\"col\" "
	         "role=\"columnheader\">Verdict</th><th scope=\"col\" role=\"columnheader\" "
	         "class=\"num\">n</th></tr></thead>\n");
	for (size_t i = 0; i < run->scenarios_count; i++) {
		const struct scenario_row *scenario = &run->scenarios[i];
		bool any = false;

		for (size_t k = 0; k < scenario->claims_count; k++) {
			if (!scenario->claims[k]->in_scope)
				continue;
			if (!any) {
				html_raw(out, "<tbody role=\"rowgroup\"><tr role=\"row\" "
				              "class=\"group\"><th colspan=\"5\" "
				              "scope=\"rowgroup\" role=\"rowheader\">");
				html_prose(out, scenario->title);
				html_raw(out, "</th></tr>\n");
			}
			any = true;
			claims_row(page, scenario->claims[k]);
		}
		if (any)
			html_raw(out, "</tbody>\n");
	}
	html_raw(out, "</table>\n");
}

static void out_of_scope(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf *out = page->out;

	if (run->claims_count == run->in_scope)
		return;
	html_raw(out, "<h3 id=\"out-of-scope\">Out of scope at profile ");
	html_text(out, run->profile);
	html_raw(out, "</h3>\n<p>These claims make sense at another profile only. They were not "
	              "checked, and count neither as held nor as missing.</p>\n"
	              "<dl class=\"scope\">\n");
	for (size_t i = 0; i < run->claims_count; i++) {
		const struct claim *claim = &run->claims[i];

		if (claim->in_scope)
			continue;
		buf_printf(out, "<dt id=\"%s\"><code>", claim->anchor);
		html_text(out, claim->name);
		html_raw(out, "</code> ");
		html_prose(out, claim->sentence);
		html_raw(out, "</dt><dd>");
		html_prose(out, *claim->scope ? claim->scope : "No reason is given.");
		html_raw(out, "</dd>\n");
	}
	html_raw(out, "</dl>\n");
}

/* ---- all of it ---- */

static void render(struct page *page)
{
	struct buf *out = page->out;

	page_number_figures(page);
	head(page);
	summary(page);
	contents(page);
	html_raw(out, "<main>\n");
	page_published(page);
	claims_table(page);
	out_of_scope(page);
	html_raw(out, "</section>\n");
	page_scenarios(page);
	page_comparison(page);
	page_provenance(page);
	page_limits(page);
	page_reproduce(page);
	page_reading(page);
	html_raw(out, "</main>\n<footer><p>Made by keylab ");
	html_text(out, page->run->version);
	html_raw(out,
	         " from its store alone. Every number here is a row of that file.</p></footer>\n"
	         "</body>\n</html>\n");
}

bool report_render(struct store *store, const struct report_options *options, struct buf *ret_html,
                   struct err *err)
{
	struct model model;
	struct charts charts = {0};
	struct buf out;

	if (options->runs_count > REPORT_MAX_RUNS)
		return err_set(err, ERR_USAGE, "at most %d runs can be compared", REPORT_MAX_RUNS);
	if (!model_load(store, options->runs, options->runs_count, options->document, &model, err))
		return false;
	buf_init(&out, REPORT_MAX_BYTES);
	bool ok = charts_load(store, &model, options, &charts, err);
	if (ok && options->parts)
		charts_parts(&charts, &model, options->parts);
	if (ok) {
		struct page page = {.out = &out,
		                    .model = &model,
		                    .run = &model.runs[0],
		                    .options = options,
		                    .charts = &charts};

		render(&page);
		ok = buf_ok(&out, err) ||
		     err_within(err, "the page (at most %d MB)", (int)(REPORT_MAX_BYTES >> 20));
	}
	if (ok)
		buf_add_len(ret_html, out.data, out.len);
	buf_finish(&out);
	charts_finish(&charts);
	model_finish(&model);
	return ok && buf_ok(ret_html, err);
}
