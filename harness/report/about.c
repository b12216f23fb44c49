/* SPDX-License-Identifier: PostgreSQL */
/* The end of the page: where the numbers come from, what they leave out, how to get them again. */
#include "report/sections.h"

#include <string.h>

static void section_open(struct page *page, const char *id, const char *title)
{
	buf_printf(page->out, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">", id,
	           id, id);
	html_text(page->out, title);
	html_raw(page->out, "</h2>\n");
}

static void row(struct page *page, const char *name, const char *value)
{
	html_raw(page->out, "<div><dt>");
	html_text(page->out, name);
	html_raw(page->out, "</dt><dd>");
	if (*value)
		PAGE_WORDS(page, words_redacted(text, value));
	else
		html_raw(page->out, "–");
	html_raw(page->out, "</dd></div>\n");
}

static void settings_list(struct page *page, const struct named_list *list)
{
	struct buf *out = page->out;

	html_raw(out, "<div><dt>Settings that differ from the default</dt><dd>");
	for (size_t i = 0; i < list->count; i++) {
		html_raw(out, i ? ", <code>" : "<code>");
		html_text(out, list->items[i].name);
		html_raw(out, " = ");
		PAGE_WORDS(page, words_redacted(text, list->items[i].value));
		/* A bare number counts units ("blocks of 8kB"); a name of a unit follows it. */
		html_text(out, list->items[i].extra);
		html_raw(out, "</code>");
	}
	if (list->count == 0)
		html_raw(out, "none that all servers share");
	html_raw(out, "</dd></div>\n");
}

static void servers(struct page *page)
{
	const struct run_row *run = page->run;

	html_raw(page->out, "<h3>Servers</h3>\n<dl class=\"setup\">\n");
	for (size_t i = 0; i < run->clusters_count; i++) {
		const struct cluster_row *cluster = &run->clusters[i];

		row(page, "Version", cluster->version);
		row(page, "Server's SHA-256", cluster->server_sha256);
		row(page, "initdb options", cluster->initdb_options);
		html_raw(page->out, "<div><dt>Clusters made</dt><dd>");
		buf_printf(page->out, "%lld</dd></div>\n", (long long)cluster->clusters);
	}
	if (run->clusters_count == 0)
		row(page, "Servers", "none was started");
	settings_list(page, &run->settings);
	html_raw(page->out, "</dl>\n");
}

static void scenario_hashes(struct page *page)
{
	struct buf *out = page->out;

	html_raw(out, "<h3>Scenarios and samples</h3>\n<div class=\"scroll\" tabindex=\"0\" "
	              "role=\"group\" aria-label=\"Scenarios and samples\"><table "
	              "class=\"data hashes\"><caption>SHA-256 of each scenario's text and of its "
	              "samples</caption>\n<thead><tr><th scope=\"col\">Scenario</th><th "
	              "scope=\"col\">File</th><th scope=\"col\">Text</th><th "
	              "scope=\"col\">Samples</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < page->run->scenarios_count; i++) {
		const struct scenario_row *s = &page->run->scenarios[i];

		html_raw(out, "<tr>");
		html_raw(out, "<th scope=\"row\">");
		html_text(out, s->name);
		html_raw(out, "</th><td>");
		PAGE_WORDS(page, words_redacted(text, s->path));
		html_raw(out, "</td><td><code>");
		html_text(out, s->sha256);
		html_raw(out, "</code></td><td><code>");
		html_text(out, *s->samples_sha256 ? s->samples_sha256 : "–");
		html_raw(out, "</code></td></tr>\n");
	}
	html_raw(out, "</tbody></table></div>\n");
}

void page_provenance(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf *out = page->out;

	section_open(page, "provenance", "Provenance");
	html_raw(out, "<p>Status: author-run. Whoever runs it elsewhere and finds the same has "
	              "reproduced it; this page cannot say so of itself.</p>\n"
	              "<h3>Run</h3>\n<dl class=\"setup\">\n<div><dt>Run</dt><dd>");
	buf_printf(out, "%lld</dd></div>\n", (long long)run->id);
	row(page, "Started (UTC)", run->started_at);
	row(page, "Finished (UTC)", run->finished_at);
	row(page, "Status", run->status);
	row(page, "Profile", run->profile);
	row(page, "Seed", run->seed);
	html_raw(out, "<div><dt>Time taken</dt><dd>");
	PAGE_WORDS(page, words_number(text, (double)run->wall_ns, "ns"));
	html_raw(out, ", of which ");
	PAGE_WORDS(page, words_number(text, (double)run->server_ns, "ns"));
	html_raw(out, " waiting for servers</dd></div>\n");
	row(page, "Command", run->argv);
	row(page, "keylab", run->version);
	row(page, "Commit", *run->commit ? run->commit : "not built from a git checkout");
	row(page, "Charts", page->charts->version ? page->charts->version : "none were drawn");
	html_raw(out, "</dl>\n");
	servers(page);
	if (run->environment.count) {
		html_raw(out, "<h3>Machine</h3>\n<dl class=\"setup\">\n");
		for (size_t i = 0; i < run->environment.count; i++)
			row(page, run->environment.items[i].name, run->environment.items[i].value);
		html_raw(out, "</dl>\n");
	}
	scenario_hashes(page);
	html_raw(out, "</section>\n");
}

void page_limits(struct page *page)
{
	struct buf *out = page->out;

	section_open(page, "limits", "Limits");
	html_raw(out, "<p>What each scenario leaves out stands beside its claims:</p>\n<ul>\n");
	for (size_t i = 0; i < page->run->scenarios_count; i++) {
		const struct scenario_row *s = &page->run->scenarios[i];

		buf_printf(out, "<li><a href=\"#%s\">", s->anchor);
		html_text(out, s->name);
		html_raw(out, "</a>: ");
		PAGE_WORDS(page, words_plural(text, s->limits.count, "limit", "limits"));
		html_raw(out, "</li>\n");
	}
	html_raw(out,
	         "</ul>\n<p>Of all of them: one machine, one set of settings, one scale. A figure "
	         "that was published from another machine can differ for reasons that are on "
	         "neither "
	         "page. Counters (bytes, pages, rows) travel between machines; times do "
	         "not.</p>\n</section>\n");
}

/* For each place of the page the query whose rows it shows; :N is the run. */
static void where_numbers_are(struct page *page)
{
	static const char *const places[][2] = {
	        {"The sentence at the top",
	         "select verdict, count(*) from claims where run_id = :N and in_scope = 1 group by "
	         "verdict"},
	        {"Table of claims, measured against published",
	         "select claim, published, published_value, value, value_low, value_high, n, "
	         "verdict "
	         "from claims where run_id = :N"},
	        {"Samples behind a value",
	         "select scenario, arm, step, metric, count(*), min(value), max(value), sum(value) "
	         "from samples where run_id = :N group by 1, 2, 3, 4"},
	        {"Settings", "select scenario, name, value, unit from settings where run_id = :N "
	                     "and is_default "
	                     "= 0"},
	        {"Servers", "select version, server_sha256, initdb_options, count(*) from cluster "
	                    "where run_id "
	                    "= :N group by 1, 2, 3"},
	        {"Run", "select * from runs where run_id = :N"},
	        {"Machine", "select name, value from environment where run_id = :N"},
	};
	struct buf *out = page->out;

	html_raw(out, "<h3>Where each number stands</h3>\n<dl class=\"setup\">\n");
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		const char *run = strstr(places[i][1], ":N");

		html_raw(out, "<div><dt>");
		html_text(out, places[i][0]);
		html_raw(out, "</dt><dd><code class=\"rows\">");
		html_textf(out, "%.*s%lld%s", (int)(run - places[i][1]), places[i][1],
		           (long long)page->run->id, run + strlen(":N"));
		html_raw(out, "</code></dd></div>\n");
	}
	html_raw(out, "<div><dt>A claim, a figure</dt><dd>its own SQL, beside it</dd></div>\n"
	              "</dl>\n");
}

void page_reproduce(struct page *page)
{
	const struct run_row *run = page->run;
	struct buf command;

	section_open(page, "reproduce", "How to reproduce");
	html_raw(page->out,
	         "<p>In a checkout of keylab, on Linux. Whatever is missing is fetched or "
	         "named; the servers are thrown away at the end.</p>\n");
	buf_init(&command, 0);
	words_reproduce(&command, run);
	if (command.failed)
		page->out->failed = true;
	page_code(page, command.data);
	buf_finish(&command);
	html_raw(page->out,
	         "<p><code>verify</code> derives each verdict from the samples again and fails on "
	         "any "
	         "difference. Every statement on this page can be pasted into <code>sqlite3 "
	         "results/keylab.db</code>.</p>\n");
	where_numbers_are(page);
	html_raw(page->out, "</section>\n");
}

/* ---- reading ---- */

static void term(struct page *page, const char *name, const char *meaning)
{
	html_raw(page->out, "<div><dt>");
	html_raw(page->out, name);
	html_raw(page->out, "</dt><dd>");
	html_raw(page->out, meaning);
	html_raw(page->out, "</dd></div>\n");
}

static void verdict_term(struct page *page, enum verdict_kind verdict, const char *meaning)
{
	html_raw(page->out, "<div><dt>");
	page_verdict(page, verdict);
	html_raw(page->out, "</dt><dd>");
	html_raw(page->out, meaning);
	html_raw(page->out, "</dd></div>\n");
}

void page_reading(struct page *page)
{
	section_open(page, "reading", "Reading this page");
	html_raw(page->out, "<h3>Verdicts</h3>\n<dl class=\"setup\">\n");
	verdict_term(page, VERDICT_HOLDS, "The whole measured range lies where the claim holds.");
	verdict_term(page, VERDICT_REFUTED, "The whole measured range lies where it does not.");
	verdict_term(page, VERDICT_INCONCLUSIVE,
	             "The range lies on both sides of the bound; more repetitions may settle it.");
	verdict_term(page, VERDICT_NOT_RUN,
	             "There is no value: something it needs is missing. Never counted as a pass.");
	verdict_term(page, VERDICT_ERROR,
	             "The measurement contradicts itself or broke: an exact count that varies, "
	             "say.");
	html_raw(page->out, "</dl>\n<p>A claim may be expected not to hold: a control that must "
	                    "fail, or a sentence that this PostgreSQL refutes. Verdict and "
	                    "expectation are shown both.</p>\n<h3>Numbers</h3>\n"
	                    "<dl class=\"setup\">\n");
	term(page, "Published", "The figure of the document, as it prints it.");
	term(page, "Measured",
	     "The value of the claim's SQL over the samples of this run. MB and kB "
	     "are PostgreSQL's, counted in 1024s.");
	term(page, "Range", "Lowest and highest value over the repetitions.");
	term(page, "95 % interval",
	     "Of a timing: where the median, or the ratio of two, lies at that confidence.");
	term(page, "Exact count",
	     "Must be the same in each repetition; otherwise the verdict is ERROR.");
	term(page, "Counter", "Bytes or blocks that background work may move a little.");
	term(page, "Timing", "Depends on the machine; never compared between machines.");
	term(page, "Events",
	     "Trials counted. None seen in n trials bounds the rate near 3/n, and "
	     "proves nothing beyond that.");
	term(page, "Control", "A claim that shows that the measurement can see the effect at all.");
	html_raw(page->out, "</dl>\n<h3>Words</h3>\n<dl class=\"setup\">\n");
	term(page, "Arm",
	     "One of the variants compared, with the same colour and mark everywhere.");
	term(page, "WAL", "Write-ahead log: what PostgreSQL writes before it changes a page.");
	term(page, "Full-page image",
	     "The whole page, written to WAL at its first change after a "
	     "checkpoint.");
	term(page, "Leaf density", "How full the lowest level of an index is, in percent.");
	html_raw(page->out,
	         "</dl>\n<h3>Charts</h3>\n<p>A chart's title is computed from its data. "
	         "Bars begin at zero. Where a series has more than 500 points an even "
	         "choice is drawn, and the figure says so. Each chart has its numbers as a "
	         "table beside it.</p>\n</section>\n");
}
