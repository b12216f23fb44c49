/* SPDX-License-Identifier: PostgreSQL */
/* Case lines: "CASE keys/wal-checkpoints/ratio PASS verdict=HOLDS value=3.81 unit=ratio …". */
#include <string.h>

#include "evidence/formats.h"

/* A plain word as it is, anything else as a JSON string. */
static void pair(struct buf *ret, const char *name, const char *text)
{
	bool plain = text[0] != '\0';

	for (const char *at = text; *at; at++)
		plain = plain && (unsigned char)*at > 0x20 && *at != 0x7f && !strchr("\"\\=", *at);
	buf_printf(ret, " %s=", name);
	if (plain)
		buf_add(ret, text);
	else
		buf_add_json(ret, text);
}

/* A name is one word: a space in it, which no id of ours has, is \x20. */
static void name_part(struct buf *ret, const char *text, char before)
{
	buf_add_char(ret, before);
	for (const char *at = text; *at; at++) {
		const char one[] = {*at, '\0'};

		if (*at == ' ')
			buf_add(ret, "\\x20");
		else
			export_line(ret, one, "\\");
	}
}

static void value_pair(struct buf *ret, const char *name, const struct fact_value *value)
{
	if (value->kind != FACT_NONE)
		pair(ret, name, value->text);
}

static const char *word(enum standing standing)
{
	switch (standing) {
	case STANDING_AS_EXPECTED:
		return "PASS";
	case STANDING_ERROR:
		return "ERROR";
	case STANDING_ALLOWED:
	case STANDING_NOT_RUN:
	case STANDING_OUT_OF_SCOPE:
		return "SKIP";
	default:
		return "FAIL";
	}
}

bool export_case(const struct facts *facts, const struct export_options *options, struct buf *ret,
                 struct err *err)
{
	for (size_t i = 0; i < facts->claims_count; i++) {
		const struct claim_fact *claim = &facts->claims[i];
		enum standing standing = facts_standing(claim, options->allow_inconclusive);

		buf_add(ret, "CASE");
		name_part(ret, claim->document, ' ');
		name_part(ret, claim->scenario, '/');
		name_part(ret, claim->name, '/');
		buf_printf(ret, " %s verdict=%s", word(standing), verdict_name(claim->verdict));
		if (claim->expected != VERDICT_HOLDS)
			buf_printf(ret, " expected=%s", verdict_name(claim->expected));
		value_pair(ret, "value", &claim->value);
		if (claim->low.kind != FACT_NONE &&
		    strcmp(claim->low.text, claim->high.text) != 0) {
			value_pair(ret, "low", &claim->low);
			value_pair(ret, "high", &claim->high);
		}
		if (claim->unit[0])
			pair(ret, "unit", claim->unit);
		pair(ret, "type", claim->metric_type);
		buf_printf(ret, " n=%lld", (long long)claim->n);
		if (claim->published[0])
			pair(ret, "published", claim->published);
		pair(ret, "predicate", claim->predicate);
		if (claim->reason[0])
			pair(ret, "reason", claim->reason);
		buf_add_char(ret, '\n');
	}
	if (!facts->claims_count)
		buf_printf(ret, "CASE keylab/run ERROR reason=\"run %lld holds no claims\"\n",
		           (long long)facts->run_id);
	return buf_ok(ret, err);
}
