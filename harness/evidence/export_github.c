/* SPDX-License-Identifier: PostgreSQL */
/*
 * Annotations of GitHub Actions (GitHub documentation, "Workflow commands"):
 * lines on a step's standard output. A step shows 10 of each kind at most, so
 * the worst come first and the tenth says how many are not shown.
 */
#include <string.h>

#include "evidence/formats.h"

#define KIND_MAX 10

/* Data escape % and line ends, properties also what separates them (actions/toolkit, command.ts).
 */
static void escaped(struct buf *ret, const char *text, bool property)
{
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
			buf_printf(ret, "%%%02X", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(ret, "\\x%02x", c);
		else
			buf_add_char(ret, *at);
	}
}

/* In the order in which they are worth reading. */
static const struct {
	enum standing standing;
	const char *kind;
} kinds[] = {
        {STANDING_ERROR, "error"},          {STANDING_UNEXPECTED, "error"},
        {STANDING_INCONCLUSIVE, "warning"}, {STANDING_ALLOWED, "warning"},
        {STANDING_NOT_RUN, "notice"},
};

static void annotation(const struct claim_fact *claim, const char *kind, struct buf *ret)
{
	CLEANUP(buf_finish) struct buf why;

	buf_init(&why, 0);
	facts_explain(claim, &why);
	buf_printf(ret, "::%s file=", kind);
	escaped(ret, claim->path, true);
	buf_add(ret, ",title=");
	escaped(ret, verdict_name(claim->verdict), true);
	buf_add_char(ret, ' ');
	escaped(ret, claim->scenario, true);
	buf_add_char(ret, '/');
	escaped(ret, claim->name, true);
	buf_add(ret, "::");
	escaped(ret, claim->sentence, false);
	buf_add_char(ret, ' ');
	escaped(ret, why.data, false);
	buf_add_char(ret, '\n');
	if (why.failed)
		ret->failed = true;
}

static size_t count_kind(const struct facts *facts, const char *kind, bool allow)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->claims_count; i++)
		for (size_t k = 0; k < COUNT_OF(kinds); k++)
			count += !strcmp(kinds[k].kind, kind) &&
			         kinds[k].standing == facts_standing(&facts->claims[i], allow);
	return count;
}

static void one_kind(const struct facts *facts, const char *kind, bool allow, struct buf *ret)
{
	size_t total = count_kind(facts, kind, allow), shown = 0;
	size_t max = total > KIND_MAX ? KIND_MAX - 1 : total;

	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		if (strcmp(kinds[k].kind, kind) != 0)
			continue;
		for (size_t i = 0; i < facts->claims_count && shown < max; i++) {
			if (facts_standing(&facts->claims[i], allow) != kinds[k].standing)
				continue;
			annotation(&facts->claims[i], kind, ret);
			shown++;
		}
	}
	if (total > shown)
		buf_printf(ret, "::%s title=keylab::and %zu more\n", kind, total - shown);
}

bool export_github(const struct facts *facts, const struct export_options *options, struct buf *ret,
                   struct err *err)
{
	if (!facts->claims_count)
		buf_printf(ret, "::error title=keylab::run %lld holds no claims\n",
		           (long long)facts->run_id);
	one_kind(facts, "error", options->allow_inconclusive, ret);
	one_kind(facts, "warning", options->allow_inconclusive, ret);
	one_kind(facts, "notice", options->allow_inconclusive, ret);
	return buf_ok(ret, err);
}
