/* SPDX-License-Identifier: PostgreSQL */
/* Several runs side by side: first what differs around them, then claim by claim. */
#include "report/sections.h"

#include <math.h>
#include <string.h>

#include "store/machine.h"

/* ---- what differs around them ---- */

static void run_heads(struct page *page, const char *first)
{
	struct buf *out = page->out;

	html_raw(out, "<thead><tr><th scope=\"col\">");
	html_text(out, first);
	html_raw(out, "</th>");
	for (size_t i = 0; i < page->model->runs_count; i++)
		buf_printf(out, "<th scope=\"col\">Run %lld%s</th>",
		           (long long)page->model->runs[i].id, i ? "" : " (base)");
	html_raw(out, "</tr></thead><tbody>\n");
}

static void difference_row(struct page *page, const char *name, const char *const *values)
{
	struct buf *out = page->out;

	html_raw(out, "<tr><th scope=\"row\">");
	html_text(out, name);
	html_raw(out, "</th>");
	for (size_t i = 0; i < page->model->runs_count; i++) {
		html_raw(out, "<td>");
		if (*values[i])
			PAGE_WORDS(page, words_redacted(text, values[i]));
		else
			html_raw(out, "–");
		html_raw(out, "</td>");
	}
	html_raw(out, "</tr>\n");
}

typedef const char *run_text_fn(const struct run_row *run, const char *name);

static size_t difference(struct page *page, const char *title, const char *name, run_text_fn *get)
{
	const char *values[REPORT_MAX_RUNS];
	bool differs = false;

	for (size_t i = 0; i < page->model->runs_count; i++) {
		values[i] = get(&page->model->runs[i], name);
		differs = differs || strcmp(values[i], values[0]) != 0;
	}
	if (differs)
		difference_row(page, title, values);
	return differs;
}

static const char *text_of_run(const struct run_row *run, const char *name)
{
	if (!strcmp(name, "profile"))
		return run->profile;
	if (!strcmp(name, "seed"))
		return run->seed;
	if (!strcmp(name, "keylab"))
		return run->version;
	if (!strcmp(name, "commit"))
		return run->commit;
	if (!strcmp(name, "server"))
		return run->clusters_count ? run->clusters[0].version : "";
	return "";
}

static const char *text_of_environment(const struct run_row *run, const char *name)
{
	return named_find(&run->environment, name);
}

static const char *text_of_setting(const struct run_row *run, const char *name)
{
	return named_find(&run->settings, name);
}

/* Was the name seen in an earlier run's list? Then its row is there already. */
static bool listed_before(const struct model *model, size_t run, const char *name, bool settings)
{
	for (size_t i = 0; i < run; i++) {
		const struct named_list *list =
		        settings ? &model->runs[i].settings : &model->runs[i].environment;

		for (size_t k = 0; k < list->count; k++)
			if (!strcmp(list->items[k].name, name))
				return true;
	}
	return false;
}

static size_t list_differences(struct page *page, bool settings)
{
	const struct model *model = page->model;
	size_t found = 0;

	for (size_t i = 0; i < model->runs_count; i++) {
		const struct named_list *list =
		        settings ? &model->runs[i].settings : &model->runs[i].environment;

		for (size_t k = 0; k < list->count; k++)
			if (!listed_before(model, i, list->items[k].name, settings))
				found += difference(page, list->items[k].name, list->items[k].name,
				                    settings ? text_of_setting
				                             : text_of_environment);
	}
	return found;
}

static void environment_table(struct page *page)
{
	static const char *const names[] = {"server", "profile", "seed", "keylab", "commit"};
	struct buf *out = page->out;
	size_t found = 0;

	html_raw(out, "<h3>What differs around them</h3>\n<div class=\"scroll\" tabindex=\"0\" "
	              "role=\"group\" aria-label=\"What differs between the runs\"><table "
	              "class=\"data\"><caption>Only what differs is listed</caption>\n");
	run_heads(page, "What");
	for (size_t i = 0; i < COUNT_OF(names); i++)
		found += difference(page, names[i], names[i], text_of_run);
	found += list_differences(page, false);
	found += list_differences(page, true);
	if (found == 0)
		buf_printf(out, "<tr><td colspan=\"%zu\">nothing</td></tr>\n",
		           page->model->runs_count + 1);
	html_raw(out, "</tbody></table></div>\n");
}

/* ---- claim by claim ---- */

/* Do the two runs come from one machine? What tells machines apart is in the environment. */
static bool same_machine(const struct run_row *a, const struct run_row *b)
{
	for (size_t i = 0; machine_parts[i]; i++) {
		const char *of_a = named_find(&a->environment, machine_parts[i]);
		const char *of_b = named_find(&b->environment, machine_parts[i]);
		size_t len = machine_value_len(machine_parts[i], of_a);

		if (len != machine_value_len(machine_parts[i], of_b) ||
		    memcmp(of_a, of_b, len) != 0)
			return false;
	}
	return true;
}

static void against_base(struct page *page, const struct claim *base, const struct claim *claim,
                         bool comparable)
{
	struct buf *out = page->out;

	if (base->value.kind == VALUE_NONE || claim->value.kind == VALUE_NONE)
		return;
	html_raw(out, "<span class=\"range\">");
	if (base->value.kind == VALUE_TEXT || claim->value.kind == VALUE_TEXT) {
		html_raw(out, strcmp(base->value.text, claim->value.text) ? "differs" : "the same");
	} else if (!comparable) {
		html_raw(out, "not comparable: another machine");
	} else if (base->value.number == claim->value.number) {
		html_raw(out, "the same");
	} else if (!strcmp(claim->metric_type, "exact") || base->value.number == 0) {
		double by = claim->value.number - base->value.number;

		html_raw(out, by < 0 ? "− " : "+ ");
		PAGE_WORDS(page, words_exact(text, fabs(by), claim->unit));
	} else {
		buf_printf(out, "× %.3f", claim->value.number / base->value.number);
		/* The widest that two ranges allow; narrower intervals would need the pairs. */
		if (claim->low.kind == VALUE_NUMBER && base->low.kind == VALUE_NUMBER &&
		    base->low.number > 0 &&
		    (claim->low.number < claim->high.number ||
		     base->low.number < base->high.number))
			buf_printf(out, " (%.3f to %.3f)", claim->low.number / base->high.number,
			           claim->high.number / base->low.number);
	}
	html_raw(out, "</span>");
}

static void comparison_cell(struct page *page, const struct claim *base, const struct claim *claim,
                            bool is_base, bool same)
{
	struct buf *out = page->out;

	html_raw(out, "<td class=\"stack\">");
	if (!claim) {
		html_raw(out, "–</td>");
		return;
	}
	if (!claim->in_scope) {
		html_raw(out, "out of scope</td>");
		return;
	}
	PAGE_WORDS(page, words_value(text, &claim->value, claim->unit));
	if (!is_base && base->in_scope)
		against_base(page, base, claim, same || strcmp(claim->metric_type, "timing") != 0);
	html_raw(out, " ");
	page_verdict(page, claim->verdict);
	html_raw(out, "</td>");
}

static bool did_not_run(const struct claim *claim, const char *reason)
{
	return claim->in_scope && claim->verdict == VERDICT_NOT_RUN && *claim->reason &&
	       (!reason || !strcmp(claim->reason, reason));
}

/* Does an earlier claim of the run have the same reason, or the same one in the same scenario? */
static bool is_said(const struct run_row *run, size_t index, bool of_scenario)
{
	for (size_t i = 0; i < index; i++)
		if (did_not_run(&run->claims[i], run->claims[index].reason) &&
		    (!of_scenario || run->claims[i].scenario == run->claims[index].scenario))
			return true;
	return false;
}

/* Why claims of a run did not run: a sentence a reason, with the scenarios. */
static void not_run(struct page *page, const struct run_row *run)
{
	struct buf *out = page->out;

	for (size_t i = 0; i < run->claims_count; i++) {
		const char *separator = ": ";

		if (!did_not_run(&run->claims[i], NULL) || is_said(run, i, false))
			continue;
		buf_printf(out, "<p class=\"remark\">Not run in run %lld, ", (long long)run->id);
		html_prose(out, run->claims[i].reason);
		for (size_t k = i; k < run->claims_count; k++) {
			if (!did_not_run(&run->claims[k], run->claims[i].reason) ||
			    is_said(run, k, true))
				continue;
			html_raw(out, separator);
			html_text(out, run->claims[k].scenario->name);
			separator = ", ";
		}
		html_raw(out, ".</p>\n");
	}
}

void page_comparison(struct page *page)
{
	const struct model *model = page->model;
	struct buf *out = page->out;

	if (model->runs_count < 2)
		return;
	buf_printf(out,
	           "<section id=\"comparison\" aria-labelledby=\"comparison-h\">\n<h2 "
	           "id=\"comparison-h\">Comparison of runs</h2>\n<p>Run %lld is the base.</p>\n",
	           (long long)page->run->id);
	environment_table(page);
	html_raw(out,
	         "<h3>Claim by claim</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
	         "aria-label=\"Claims of all runs\"><table class=\"data\"><caption>Value, "
	         "distance from the base, verdict: an exact count by its difference, the rest "
	         "by its ratio</caption>\n");
	run_heads(page, "Claim");
	for (size_t i = 0; i < page->run->claims_count; i++) {
		const struct claim *base = &page->run->claims[i];

		buf_printf(out, "<tr><th scope=\"row\"><a href=\"#%s\">", base->anchor);
		html_text(out, base->name);
		html_raw(out, "</a></th>");
		for (size_t r = 0; r < model->runs_count; r++) {
			const struct claim *claim =
			        run_find_claim(&model->runs[r], base->scenario->name, base->name);

			comparison_cell(page, base, claim, r == 0,
			                same_machine(page->run, &model->runs[r]));
		}
		html_raw(out, "</tr>\n");
	}
	html_raw(out, "</tbody></table></div>\n");
	for (size_t r = 0; r < model->runs_count; r++)
		not_run(page, &model->runs[r]);
	html_raw(out, "</section>\n");
}
