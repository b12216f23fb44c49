/* SPDX-License-Identifier: PostgreSQL */
/* The table of claims in Markdown, for a README or a pull request. */
#include "report/report.h"

#include <string.h>

#include "report/model.h"
#include "report/words.h"

/*
 * A cell of one line whose text is text: what would be markup is escaped
 * (GitHub Flavored Markdown 4.10 and 6.1), HTML's characters are entities.
 */
static void cell(struct buf *out, struct buf *text)
{
	buf_add_char(out, ' ');
	for (const char *at = text->data; *at; at++) {
		if (*at == '<')
			buf_add(out, "&lt;");
		else if (*at == '>')
			buf_add(out, "&gt;");
		else if (*at == '&')
			buf_add(out, "&amp;");
		else if ((unsigned char)*at < 0x20 || *at == 0x7f)
			buf_add_char(out, ' ');
		else if (strchr("|\\`*_[]~#@", *at))
			buf_printf(out, "\\%c", *at);
		else
			buf_add_char(out, *at);
	}
	buf_add(out, " |");
	if (text->failed)
		out->failed = true;
	buf_clear(text);
}

static void claim_row(const struct claim *claim, struct buf *out, struct buf *text)
{
	buf_add_char(out, '|');
	buf_printf(text, "%s/%s", claim->scenario->document, claim->scenario->name);
	cell(out, text);
	buf_add(text, claim->name);
	cell(out, text);
	buf_add(text, claim->sentence);
	cell(out, text);
	words_published(text, claim);
	cell(out, text);
	words_value(text, &claim->value, claim->unit);
	if (claim->low.kind == VALUE_NUMBER && claim->high.kind == VALUE_NUMBER &&
	    claim->low.number != claim->high.number) {
		buf_add(text, " (");
		words_range(text, claim);
		buf_add(text, ")");
	}
	cell(out, text);
	buf_add(text, report_verdict_word(claim->verdict));
	if (claim->verdict != claim->expected)
		buf_printf(text, ", expected %s", report_verdict_word(claim->expected));
	else if (claim->verdict != VERDICT_HOLDS)
		buf_add(text, ", as expected");
	cell(out, text);
	buf_add_char(out, '\n');
}

bool report_markdown(struct store *store, int64_t run_id, struct buf *ret, struct err *err)
{
	struct model model;
	struct buf text;

	if (!model_load(store, run_id ? &run_id : NULL, 1, NULL, &model, err))
		return false;
	buf_init(&text, 0);
	buf_add(ret, "| scenario | claim | sentence | published | measured | verdict |\n"
	             "| --- | --- | --- | ---: | ---: | --- |\n");
	for (size_t i = 0; i < model.runs[0].claims_count; i++)
		if (model.runs[0].claims[i].in_scope)
			claim_row(&model.runs[0].claims[i], ret, &text);
	buf_finish(&text);
	model_finish(&model);
	return buf_ok(ret, err);
}
