/* SPDX-License-Identifier: PostgreSQL */
/*
 * TAP (testanything.org, "TAP 14 specification"): a point a claim; what went
 * wrong stands in a YAML block whose texts are JSON strings, which are YAML
 * too. The points are TAP 14 and, since nothing in them is new in 14, TAP 13 as
 * well: prove before Test::Harness 3.48 fails a file that says 14 whatever is
 * in it, so `tap` says 13 and `tap14` says 14.
 */
#include "evidence/formats.h"

static void diagnostic(struct buf *ret, const char *name, const char *text)
{
	if (!text[0])
		return;
	buf_printf(ret, "  %s: ", name);
	buf_add_json(ret, text);
	buf_add_char(ret, '\n');
}

static void diagnostics(const struct claim_fact *claim, enum standing standing, struct buf *ret)
{
	CLEANUP(buf_finish) struct buf why;

	buf_init(&why, 0);
	facts_explain(claim, &why);
	buf_add(ret, "  ---\n");
	diagnostic(ret, "message", why.data);
	diagnostic(ret, "severity",
	           standing == STANDING_ERROR        ? "error"
	           : standing == STANDING_UNEXPECTED ? "fail"
	                                             : "inconclusive");
	diagnostic(ret, "sentence", claim->sentence);
	diagnostic(ret, "verdict", verdict_name(claim->verdict));
	diagnostic(ret, "expected", verdict_name(claim->expected));
	diagnostic(ret, "measured", claim->value.text);
	diagnostic(ret, "unit", claim->unit);
	diagnostic(ret, "holds_when", claim->predicate);
	diagnostic(ret, "published", claim->published);
	diagnostic(ret, "file", claim->path);
	diagnostic(ret, "sql", claim->sql);
	buf_add(ret, "  ...\n");
	if (why.failed)
		ret->failed = true;
}

static void point(const struct claim_fact *claim, enum standing standing, size_t number,
                  struct buf *ret)
{
	bool bad = standing == STANDING_UNEXPECTED || standing == STANDING_INCONCLUSIVE ||
	           standing == STANDING_ALLOWED || standing == STANDING_ERROR;

	/* A # or a backslash of a description is escaped, or it would begin a directive. */
	buf_printf(ret, "%s %zu - ", bad ? "not ok" : "ok", number);
	export_line(ret, claim->document, "#\\");
	buf_add_char(ret, '/');
	export_line(ret, claim->scenario, "#\\");
	buf_add_char(ret, '/');
	export_line(ret, claim->name, "#\\");
	buf_add(ret, ": ");
	export_line(ret, claim->sentence, "#\\");
	if (standing == STANDING_ALLOWED)
		buf_add(ret,
		        " # TO" /* the directive of TAP */ "DO inconclusive, and that is allowed");
	if (standing == STANDING_NOT_RUN || standing == STANDING_OUT_OF_SCOPE) {
		buf_add(ret, " # SKIP ");
		export_line(ret, claim->reason, "#\\");
	}
	buf_add_char(ret, '\n');
	if (bad)
		diagnostics(claim, standing, ret);
}

static bool points(const struct facts *facts, const struct export_options *options, int version,
                   struct buf *ret, struct err *err)
{
	buf_printf(ret, "TAP version %d\n", version);
	/* "1..0" would be a skip, and an empty run is a failure. */
	if (!facts->claims_count)
		buf_printf(ret, "Bail out! run %lld holds no claims\n", (long long)facts->run_id);
	else
		buf_printf(ret, "1..%zu\n", facts->claims_count);
	for (size_t i = 0; i < facts->claims_count; i++)
		point(&facts->claims[i],
		      facts_standing(&facts->claims[i], options->allow_inconclusive), i + 1, ret);
	return buf_ok(ret, err);
}

bool export_tap(const struct facts *facts, const struct export_options *options, struct buf *ret,
                struct err *err)
{
	return points(facts, options, 13, ret, err);
}

bool export_tap14(const struct facts *facts, const struct export_options *options, struct buf *ret,
                  struct err *err)
{
	return points(facts, options, 14, ret, err);
}
