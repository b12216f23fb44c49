/* SPDX-License-Identifier: PostgreSQL */
/* CSV (RFC 4180): a header, then a line a claim. The columns are those of docs/exports.md. */
#include <string.h>

#include "evidence/formats.h"

/* A text field is quoted always; a number or nothing never, which tells '' from null. */
static void text(struct buf *ret, const char *value)
{
	buf_add_char(ret, '"');
	for (const char *at = value; *at; at++) {
		if (*at == '"')
			buf_add_char(ret, '"');
		buf_add_char(ret, *at);
	}
	buf_add_char(ret, '"');
}

static void number_or_text(struct buf *ret, const struct fact_value *value)
{
	if (value->kind == FACT_TEXT)
		text(ret, value->text);
	else
		buf_add(ret, value->text);
}

static void line(const struct facts *facts, const struct claim_fact *claim,
                 const struct export_options *options, struct buf *ret)
{
	const char *const texts[] = {claim->document,  claim->scenario, claim->name,
	                             claim->sentence,  claim->unit,     claim->metric_type,
	                             claim->predicate, claim->published};

	buf_printf(ret, "%d,%lld", EXPORT_VERSION, (long long)facts->run_id);
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		buf_add_char(ret, ',');
		text(ret, texts[i]);
	}
	const struct fact_value *const values[] = {&claim->published_value, &claim->value,
	                                           &claim->low, &claim->high};
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		buf_add_char(ret, ',');
		number_or_text(ret, values[i]);
	}
	buf_printf(ret, ",%lld,%s,%s,", (long long)claim->n, verdict_name(claim->verdict),
	           verdict_name(claim->expected));
	text(ret, standing_word(facts_standing(claim, options->allow_inconclusive)));
	buf_printf(ret, ",%d,%d,", claim->in_scope, claim->control);
	text(ret, claim->reason);
	buf_printf(ret, ",%s,%d,%s,%s\r\n", facts->profile, facts->version_num, facts->fingerprint,
	           facts->started_at);
}

bool export_csv(const struct facts *facts, const struct export_options *options, struct buf *ret,
                struct err *err)
{
	buf_add(ret, "format_version,run_id,document,scenario,claim,sentence,unit,metric_type,"
	             "predicate,published,published_value,value,value_low,value_high,n,verdict,"
	             "expected,standing,in_scope,control,reason,profile,server_version_num,"
	             "fingerprint,started_at\r\n");
	for (size_t i = 0; i < facts->claims_count; i++)
		line(facts, &facts->claims[i], options, ret);
	return buf_ok(ret, err);
}
