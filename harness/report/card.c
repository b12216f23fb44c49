/* SPDX-License-Identifier: PostgreSQL */
/* Scenario sections and claim cards. */
#include "report/sections.h"

#include <math.h>
#include <string.h>

/* More rows than this are counted, not listed; the SQL lists them all. */
#define MAX_SUMMARIES 24
#define MAX_STATEMENTS 6
#define MAX_INCIDENTS 20

/* ---- a claim's card ---- */

static void fact_open(struct page *page, const char *class, const char *name)
{
	buf_printf(page->out, "<div%s%s%s><dt>", class ? " class=\"" : "", class ? class : "",
	           class ? "\"" : "");
	html_text(page->out, name);
	html_raw(page->out, "</dt><dd>");
}

static void fact_close(struct page *page)
{
	html_raw(page->out, "</dd></div>\n");
}

static const char *type_words(const char *metric_type)
{
	static const char *const words[][2] = {
	        {"exact", "exact count"},
	        {"counter", "counter, bounded variation"},
	        {"timing", "timing, noisy"},
	        {"event", "events counted"},
	};

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (!strcmp(words[i][0], metric_type))
			return words[i][1];
	return metric_type;
}

/* To the last digit, where the large figure is rounded. */
static void exactly(struct page *page, const struct claim *claim)
{
	struct buf shown, exact;

	buf_init(&shown, 0);
	buf_init(&exact, 0);
	words_number(&shown, claim->value.number, claim->unit);
	words_exact(&exact, claim->value.number, claim->unit);
	if (strcmp(shown.data, exact.data) != 0) {
		html_raw(page->out, "<span class=\"note\">exactly ");
		html_text(page->out, exact.data);
		html_raw(page->out, "</span>");
	}
	buf_finish(&shown);
	buf_finish(&exact);
}

static void measured(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;

	fact_open(page, "big", "Measured");
	PAGE_WORDS(page, words_value(text, &claim->value, claim->unit));
	if (claim->low.kind == VALUE_NUMBER && claim->low.number != claim->high.number) {
		html_raw(out, strcmp(claim->metric_type, "timing")
		                      ? "<span class=\"note\">range "
		                      : "<span class=\"note\">95 % interval ");
		PAGE_WORDS(page, words_range(text, claim));
		html_raw(out, "</span>");
	}
	if (claim->value.kind == VALUE_NUMBER)
		exactly(page, claim);
	fact_close(page);
}

static void facts(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;
	struct buf distance;

	html_raw(out, "<dl class=\"facts\">\n");
	fact_open(page, "big", "Published");
	PAGE_WORDS(page, words_published(text, claim));
	fact_close(page);
	measured(page, claim);
	fact_open(page, NULL, "Holds when");
	PAGE_WORDS(page, words_predicate(text, claim));
	buf_init(&distance, 0);
	words_distance(&distance, claim);
	if (distance.len) {
		html_raw(out, "<span class=\"note\">");
		html_text(out, distance.data);
		html_raw(out, "</span>");
	}
	buf_finish(&distance);
	fact_close(page);
	fact_open(page, NULL, "Kind of figure");
	html_text(out, type_words(claim->metric_type));
	html_textf(out, ", n = %lld", (long long)claim->n);
	fact_close(page);
	html_raw(out, "</dl>\n");
}

/* Several p-values stand on this page: what each is worth beside the others (Holm). */
static void secondary(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;
	size_t all = page->run->secondaries;

	if (!claim->has_p || all < 2)
		return;
	html_raw(out, "<p class=\"remark\"><strong>Secondary:</strong> ");
	html_textf(out,
	           "sign-flip p = %.2g; adjusted (Holm) for the %zu timings of this run, p = %.2g",
	           claim->p, all, claim->adjusted_p);
	html_raw(out, ".</p>\n");
}

static void remarks(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;

	if (claim->verdict != claim->expected) {
		html_raw(out, "<p class=\"warning\"><strong>Not expected.</strong> ");
		html_text(out, report_verdict_word(claim->expected));
		html_raw(out, " was");
		if (*claim->because) {
			html_raw(out, ", because: ");
			html_prose(out, claim->because);
		} else {
			html_raw(out, ".");
		}
		html_raw(out, "</p>\n");
	} else if (claim->verdict != VERDICT_HOLDS || *claim->because) {
		html_raw(out, "<p class=\"remark\"><strong>As expected.</strong> ");
		html_prose(out, claim->because);
		html_raw(out, "</p>\n");
	}
	if (*claim->reason) {
		html_raw(out, "<p class=\"remark\"><strong>Why this verdict:</strong> ");
		html_prose(out, claim->reason);
		html_raw(out, "</p>\n");
	}
	secondary(page, claim);
	if (claim->control)
		html_raw(out, "<p class=\"remark\"><strong>Control:</strong> it shows that the "
		              "measurement can see the effect.</p>\n");
}

static bool chart_shows(const struct chart_row *chart, const struct claim *claim)
{
	for (size_t i = 0; i < chart->claims_count; i++)
		if (!strcmp(chart->claims[i], claim->name))
			return true;
	return false;
}

/* The card that carries the chart: the first claim in scope that it shows; NULL: the scenario does.
 */
static const struct claim *chart_home(const struct scenario_row *scenario,
                                      const struct chart_row *chart)
{
	for (size_t i = 0; i < chart->claims_count; i++)
		for (size_t k = 0; k < scenario->claims_count; k++)
			if (scenario->claims[k]->in_scope &&
			    !strcmp(scenario->claims[k]->name, chart->claims[i]))
				return scenario->claims[k];
	return NULL;
}

static void figures_at_home(struct page *page, struct scenario_row *scenario,
                            const struct claim *claim)
{
	for (size_t i = 0; i < scenario->charts_count; i++)
		if (chart_home(scenario, &scenario->charts[i]) == claim)
			page_figure(page, scenario, &scenario->charts[i]);
}

static void number_at_home(struct scenario_row *scenario, const struct claim *claim,
                           unsigned *number)
{
	for (size_t i = 0; i < scenario->charts_count; i++)
		if (chart_home(scenario, &scenario->charts[i]) == claim)
			scenario->charts[i].number = ++*number;
}

void page_number_figures(struct page *page)
{
	unsigned number = page->charts->forest != NULL;

	for (size_t i = 0; i < page->run->scenarios_count; i++) {
		struct scenario_row *scenario = &page->run->scenarios[i];

		number_at_home(scenario, NULL, &number);
		for (size_t k = 0; k < scenario->claims_count; k++)
			if (scenario->claims[k]->in_scope)
				number_at_home(scenario, scenario->claims[k], &number);
	}
}

static void figure_links(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;
	bool any = false;

	for (size_t i = 0; i < claim->scenario->charts_count; i++) {
		struct chart_row *chart = &claim->scenario->charts[i];

		if (!chart_shows(chart, claim) || chart_home(claim->scenario, chart) == claim)
			continue;
		buf_printf(out, "%s<a href=\"#figure-%u\">figure %u</a>",
		           any ? " and " : "<p class=\"remark\">Drawn in ", chart->number,
		           chart->number);
		any = true;
	}
	if (any)
		html_raw(out, ".</p>\n");
}

/* A claim whose SQL takes arms by `arm = '…'` only is about those arms only. */
static bool arm_belongs(const char *arm, const struct claim *claim)
{
	static const char equals[] = "arm = '";
	bool only_equals = false;

	if (!*arm || strstr(claim->sql, "arm <>") || strstr(claim->sql, "arm !=") ||
	    strstr(claim->sql, "arm in") || strstr(claim->sql, "arm not"))
		return true;
	for (const char *at = claim->sql; (at = strstr(at, equals)); at++) {
		const char *name = at + strlen(equals);
		size_t len = strcspn(name, "'");

		only_equals = true;
		if (len == strlen(arm) && !memcmp(name, arm, len))
			return true;
	}
	return !only_equals;
}

static bool summary_belongs(const struct summary *summary, const struct claim *claim)
{
	/* A part of a figure (one resource manager's) only where the SQL asks for it by name. */
	if (*summary->label && !sql_mentions(claim->literals, summary->label))
		return false;
	return sql_mentions(claim->literals, summary->metric) &&
	       (!*summary->step || sql_mentions(claim->literals, summary->step)) &&
	       arm_belongs(summary->arm, claim);
}

static void summary_row(struct page *page, const struct claim *claim, const struct summary *s)
{
	struct buf *out = page->out;

	html_raw(out, "<tr><th scope=\"row\">");
	html_text(out, *s->arm ? words_arm(claim->scenario, s->arm) : s->step);
	html_raw(out, "</th><td>");
	html_text(out, s->step);
	html_raw(out, "</td><td><code>");
	html_text(out, s->metric);
	html_raw(out, "</code>");
	if (*s->label) {
		html_raw(out, " of ");
		html_text(out, s->label);
	}
	buf_printf(out, "</td><td class=\"num\">%lld</td><td class=\"num\">", (long long)s->n);
	PAGE_WORDS(page, words_value(text, &s->low, s->unit));
	html_raw(out, "</td><td class=\"num\">");
	PAGE_WORDS(page, words_value(text, &s->high, s->unit));
	html_raw(out, "</td><td class=\"num\">");
	if (s->total.kind == VALUE_NUMBER && s->n > 1 && strcmp(s->unit, "percent") != 0 &&
	    strcmp(s->unit, "ratio") != 0)
		PAGE_WORDS(page, words_exact(text, s->total.number, s->unit));
	else
		html_raw(out, "–");
	html_raw(out, "</td></tr>\n");
}

/* The absolute figures behind the value: the samples its SQL speaks of, summed up. */
static void samples_table(struct page *page, const struct claim *claim)
{
	const struct scenario_row *scenario = claim->scenario;
	struct buf *out = page->out;
	size_t shown = 0, found = 0;

	for (size_t i = 0; i < scenario->summaries_count; i++) {
		const struct summary *s = &scenario->summaries[i];

		if (!summary_belongs(s, claim) || ++found > MAX_SUMMARIES)
			continue;
		if (shown++ == 0)
			html_raw(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
			              "aria-label=\"Samples behind the value\"><table "
			              "class=\"data\"><caption>The samples behind "
			              "it</caption>\n<thead><tr><th "
			              "scope=\"col\">Arm</th><th scope=\"col\">Step</th><th "
			              "scope=\"col\">Metric</th><th scope=\"col\" "
			              "class=\"num\">Samples</th><th scope=\"col\" "
			              "class=\"num\">Lowest</th><th scope=\"col\" "
			              "class=\"num\">Highest</th><th scope=\"col\" "
			              "class=\"num\">Sum</th></tr></thead><tbody>\n");
		summary_row(page, claim, s);
	}
	if (shown)
		html_raw(out, "</tbody></table></div>\n");
	if (found > shown)
		buf_printf(out, "<p class=\"note\">The first %zu of %zu groups of samples.</p>\n",
		           shown, found);
}

static bool statement_belongs(const struct statement *statement, const struct claim *claim)
{
	if (!strcmp(statement->verb, "prove"))
		return !strcmp(statement->name, claim->name);
	return strcmp(statement->verb, "let") != 0 &&
	       sql_mentions(claim->literals, statement->name);
}

static void statement_text(struct page *page, const struct claim *claim,
                           const struct statement *statement)
{
	struct buf *out = page->out;

	html_raw(out, "<p class=\"note\"><code>");
	html_text(out, statement->name);
	html_raw(out, "</code>");
	if (*statement->arm) {
		html_raw(out, ", ");
		html_text(out, words_arm(claim->scenario, statement->arm));
	}
	html_textf(out, ", %s at ", statement->verb);
	PAGE_WORDS(page, words_redacted(text, statement->position));
	if (statement->times > 1)
		buf_printf(out, ", the first of %lld", (long long)statement->times);
	html_raw(out, "</p>\n");
	page_code(page, statement->sql);
}

/* The rows of the store that the card is made of, as queries. */
static void rows_of(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;
	struct buf where;

	buf_init(&where, 0);
	buf_printf(&where, " where run_id = %lld and scenario = ", (long long)page->run->id);
	buf_add_sql_literal(&where, claim->scenario->name);
	html_raw(out, "<p class=\"note\">The row: <code class=\"row\">select * from claims");
	html_text(out, where.data);
	html_raw(out, " and claim = ");
	{
		struct buf name;

		buf_init(&name, 0);
		buf_add_sql_literal(&name, claim->name);
		page_words(out, &name);
	}
	html_raw(out, "</code>; all samples: <code>select * from samples");
	page_words(out, &where);
	html_raw(out, "</code></p>\n");
}

static void sql_details(struct page *page, const struct claim *claim)
{
	const struct scenario_row *scenario = claim->scenario;
	struct buf *out = page->out;
	size_t found = 0;

	page_details_open(page, "SQL: how the samples, the value and the verdict were made");
	for (size_t i = 0; i < scenario->statements_count; i++) {
		if (!statement_belongs(&scenario->statements[i], claim))
			continue;
		if (found++ == 0)
			html_raw(out, "<h5>1. In PostgreSQL: what made the samples</h5>\n");
		if (found <= MAX_STATEMENTS)
			statement_text(page, claim, &scenario->statements[i]);
	}
	if (found > MAX_STATEMENTS)
		buf_printf(out,
		           "<p class=\"note\">The first %d of %zu statements; the view "
		           "<code>steps</code> has them all.</p>\n",
		           MAX_STATEMENTS, found);
	html_raw(out, found ? "<h5>2. In SQLite: what made the value</h5>\n"
	                    : "<h5>1. In SQLite: what made the value</h5>\n");
	page_code(page, *claim->sql ? claim->sql
	                            : "-- The value comes from the server, by the step above.");
	html_raw(out, found ? "<h5>3. What makes the verdict</h5>\n"
	                    : "<h5>2. What makes the verdict</h5>\n");
	page_code(page, claim->predicate);
	rows_of(page, claim);
	page_details_close(page);
}

/* What the card leaves to its scenario's head, in a line that leads there. */
static void conditions(struct page *page, const struct scenario_row *scenario)
{
	static const char *const one[] = {"setting of its own", "parameter", "limit"};
	static const char *const many[] = {"settings of its own", "parameters", "limits"};
	const size_t counts[] = {scenario->settings.count, scenario->params.count,
	                         scenario->limits.count};
	struct buf *out = page->out;
	bool any = false;

	buf_printf(out, "<p class=\"rerun\">Under the conditions of <a href=\"#%s\">",
	           scenario->anchor);
	html_text(out, scenario->name);
	html_raw(out, "</a>");
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		if (counts[i] == 0)
			continue;
		html_raw(out, any ? ", " : ": ");
		PAGE_WORDS(page, words_plural(text, counts[i], one[i], many[i]));
		any = true;
	}
	html_raw(out, "</p>\n");
}

static void card(struct page *page, const struct claim *claim)
{
	struct buf *out = page->out;

	buf_printf(out, "<article id=\"%s\" class=\"card c-%s\" aria-labelledby=\"%s-h\">\n",
	           claim->anchor, report_verdict_class(claim->verdict), claim->anchor);
	html_raw(out, "<p class=\"card-top\">");
	page_verdict(page, claim->verdict);
	html_raw(out, " <code>");
	html_text(out, claim->name);
	html_raw(out, "</code>");
	if (claim->control)
		html_raw(out, " <span class=\"tag\">control</span>");
	buf_printf(out, "</p>\n<h4 id=\"%s-h\">", claim->anchor);
	html_prose(out, claim->sentence);
	html_raw(out, "</h4>\n");
	if (*claim->source || *claim->scenario->source) {
		html_raw(out, "<p class=\"source\">");
		html_text(out, claim->scenario->document);
		html_raw(out, ": ");
		html_prose(out, *claim->source ? claim->source : claim->scenario->source);
		html_raw(out, "</p>\n");
	}
	facts(page, claim);
	remarks(page, claim);
	figures_at_home(page, claim->scenario, claim);
	figure_links(page, claim);
	samples_table(page, claim);
	sql_details(page, claim);
	html_raw(out, "<p class=\"rerun\">Just this again: <code>");
	PAGE_WORDS(page, words_rerun(text, page->run, claim->scenario));
	html_raw(out, "</code></p>\n");
	conditions(page, claim->scenario);
	html_raw(out, "</article>\n");
}

/* ---- a scenario's section ---- */

static void named_values(struct page *page, const char *title, const struct named_list *list)
{
	struct buf *out = page->out;

	if (list->count == 0)
		return;
	html_raw(out, "<div><dt>");
	html_text(out, title);
	html_raw(out, "</dt><dd>");
	for (size_t i = 0; i < list->count; i++) {
		const struct named *named = &list->items[i];
		bool bare = !strcmp(named->extra, "profile") || !*named->extra;

		html_raw(out, i ? ", <code>" : "<code>");
		html_text(out, named->name);
		html_raw(out, " = ");
		PAGE_WORDS(page, words_redacted(text, named->value));
		html_raw(out, "</code>");
		if (!bare) {
			html_raw(out, !strcmp(named->extra, "set") ? " (set by hand)" : " ");
			if (strcmp(named->extra, "set") != 0)
				html_text(out, named->extra);
		}
	}
	html_raw(out, "</dd></div>\n");
}

static void incidents(struct page *page, const char *heading, const struct incident *list,
                      size_t count)
{
	struct buf *out = page->out;

	if (count == 0)
		return;
	buf_printf(out, "<%s>What happened on the way</%s>\n<ul class=\"incidents\">\n", heading,
	           heading);
	for (size_t i = 0; i < count && i < MAX_INCIDENTS; i++) {
		html_raw(out, "<li><strong>");
		html_text(out, list[i].kind);
		html_raw(out, "</strong> ");
		html_text(out, list[i].at);
		if (*list[i].position) {
			html_raw(out, ", ");
			PAGE_WORDS(page, words_redacted(text, list[i].position));
		}
		html_raw(out, "<pre>");
		PAGE_WORDS(page, words_redacted(text, list[i].text));
		html_raw(out, "</pre></li>\n");
	}
	html_raw(out, "</ul>\n");
	if (count > MAX_INCIDENTS)
		buf_printf(out,
		           "<p class=\"note\">The first %d of %zu; the store has them all.</p>\n",
		           MAX_INCIDENTS, count);
}

static void scenario_head(struct page *page, const struct scenario_row *scenario)
{
	struct buf *out = page->out;

	html_raw(out, "<p class=\"eyebrow\">");
	html_text(out, scenario->document);
	html_raw(out, " · ");
	html_text(out, scenario->name);
	buf_printf(out, "</p>\n<h3 id=\"%s-h\">", scenario->anchor);
	html_prose(out, scenario->title);
	html_raw(out, "</h3>\n<p>");
	html_prose(out, scenario->about);
	html_raw(out, "</p>\n");
	if (strcmp(scenario->status, "done") != 0) {
		html_raw(out, "<p class=\"warning\"><strong>");
		html_text(out, !strcmp(scenario->status, "not_run") ? "not run" : scenario->status);
		html_raw(out, "</strong> ");
		html_text(out, scenario->reason);
		html_raw(out, "</p>\n");
	}
}

static void scenario_section(struct page *page, struct scenario_row *scenario)
{
	struct buf *out = page->out;

	buf_printf(out, "<section id=\"%s\" class=\"scenario\" aria-labelledby=\"%s-h\">\n",
	           scenario->anchor, scenario->anchor);
	scenario_head(page, scenario);
	html_raw(out, "<dl class=\"setup\">\n");
	named_values(page, "Parameters", &scenario->params);
	named_values(page, "Settings of its own", &scenario->settings);
	if (scenario->limits.count) {
		html_raw(out, "<div><dt>Limits</dt><dd><ul>\n");
		for (size_t i = 0; i < scenario->limits.count; i++) {
			html_raw(out, "<li>");
			html_prose(out, scenario->limits.items[i].name);
			html_raw(out, "</li>\n");
		}
		html_raw(out, "</ul></dd></div>\n");
	}
	html_raw(out, "</dl>\n");
	incidents(page, "h4", scenario->incidents, scenario->incidents_count);
	figures_at_home(page, scenario, NULL);
	for (size_t i = 0; i < scenario->claims_count; i++)
		if (scenario->claims[i]->in_scope)
			card(page, scenario->claims[i]);
	html_raw(out, "</section>\n");
}

void page_scenarios(struct page *page)
{
	const struct run_row *run = page->run;

	html_raw(page->out, "<h2 id=\"cards\">The claims, one by one</h2>\n");
	incidents(page, "h3", run->incidents, run->incidents_count);
	for (size_t i = 0; i < run->scenarios_count; i++)
		scenario_section(page, &run->scenarios[i]);
}
