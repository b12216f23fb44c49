/* SPDX-License-Identifier: PostgreSQL */
/*
 * JUnit's XML as CI servers read it (Apache Ant's JUnitReport and its heirs;
 * harness/tests/golden/junit.xsd is what we keep to): a suite a scenario, a
 * case a claim.
 */
#include <string.h>

#include "evidence/formats.h"

/*
 * Text for XML 1.0 (section 2.2): control characters that no XML may hold, not even as a
 * reference, are written \xNN; U+FFFE and U+FFFF, which are none either, U+FFFD. A ">" is
 * always escaped, so that "]]>" never stands there.
 */
static void xml(struct buf *ret, const char *text)
{
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '<')
			buf_add(ret, "&lt;");
		else if (c == '>')
			buf_add(ret, "&gt;");
		else if (c == '&')
			buf_add(ret, "&amp;");
		else if (c == '"')
			buf_add(ret, "&quot;");
		else if (c == '\n' || c == '\t' || c == '\r')
			buf_printf(ret, "&#%d;", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(ret, "\\x%02x", c);
		else if (c == 0xef && (unsigned char)at[1] == 0xbf &&
		         (unsigned char)at[2] >= 0xbe) {
			buf_add(ret, "\xef\xbf\xbd");
			at += 2;
		} else
			buf_add_char(ret, *at);
	}
}

static void attribute(struct buf *ret, const char *name, const char *text)
{
	buf_printf(ret, " %s=\"", name);
	xml(ret, text);
	buf_add_char(ret, '"');
}

static const char *element_of(enum standing standing)
{
	switch (standing) {
	case STANDING_UNEXPECTED:
	case STANDING_INCONCLUSIVE:
		return "failure";
	case STANDING_ERROR:
		return "error";
	case STANDING_ALLOWED:
	case STANDING_NOT_RUN:
	case STANDING_OUT_OF_SCOPE:
		return "skipped";
	default:
		return NULL;
	}
}

static void test_case(const struct claim_fact *claim, enum standing standing, struct buf *ret)
{
	const char *element = element_of(standing);
	CLEANUP(buf_finish) struct buf why;

	buf_init(&why, 0);
	facts_explain(claim, &why);
	buf_add(ret, "    <testcase");
	attribute(ret, "name", claim->name);
	buf_add(ret, " classname=\"");
	xml(ret, claim->document);
	buf_add_char(ret, '.');
	xml(ret, claim->scenario);
	/* Claims share their scenario's steps; what it took stands at the suite. */
	buf_add(ret, "\" time=\"0\"");
	attribute(ret, "file", claim->path);
	if (!element) {
		buf_add(ret, "/>\n");
		return;
	}
	buf_printf(ret, ">\n      <%s", element);
	attribute(ret, "message", why.data);
	if (strcmp(element, "skipped") != 0) {
		attribute(ret, "type",
		          standing == STANDING_INCONCLUSIVE ? "inconclusive"
		          : standing == STANDING_ERROR      ? "error"
		                                            : "refuted");
		buf_add_char(ret, '>');
		xml(ret, claim->sentence);
		buf_add(ret, "\n\n");
		xml(ret, claim->sql);
		buf_printf(ret, "</%s>", element);
	} else {
		buf_add(ret, "/>");
	}
	buf_add(ret, "\n    </testcase>\n");
	if (why.failed)
		ret->failed = true;
}

struct tally {
	size_t tests, failures, errors, skipped;
};

static struct tally count(const struct facts *facts, size_t from, size_t to,
                          const struct export_options *options)
{
	struct tally tally = {.tests = to - from};

	for (size_t i = from; i < to; i++) {
		const char *element =
		        element_of(facts_standing(&facts->claims[i], options->allow_inconclusive));

		tally.failures += element && !strcmp(element, "failure");
		tally.errors += element && !strcmp(element, "error");
		tally.skipped += element && !strcmp(element, "skipped");
	}
	return tally;
}

static void counts(struct buf *ret, const struct tally *tally, uint64_t took_ns)
{
	buf_printf(ret,
	           " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
	           tally->tests, tally->failures, tally->errors, tally->skipped,
	           (double)took_ns / (double)NS_PER_S);
}

/* Index behind the last claim of the scenario that the claim `from` is of. */
static size_t suite_end(const struct facts *facts, size_t from)
{
	size_t to = from;

	while (to < facts->claims_count &&
	       !strcmp(facts->claims[to].scenario, facts->claims[from].scenario))
		to++;
	return to;
}

/* An empty run is a failure, and a file without a case would pass. */
static void nothing(const struct facts *facts, struct buf *ret)
{
	buf_printf(ret,
	           "  <testsuite name=\"keylab\" tests=\"1\" failures=\"0\" errors=\"1\" "
	           "skipped=\"0\" time=\"0\">\n"
	           "    <testcase name=\"run\" classname=\"keylab\" time=\"0\">\n"
	           "      <error message=\"run %lld holds no claims\" type=\"error\"></error>\n"
	           "    </testcase>\n  </testsuite>\n",
	           (long long)facts->run_id);
}

bool export_junit(const struct facts *facts, const struct export_options *options, struct buf *ret,
                  struct err *err)
{
	struct tally all = count(facts, 0, facts->claims_count, options);

	if (!facts->claims_count)
		all = (struct tally){.tests = 1, .errors = 1};
	buf_add(ret, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"keylab\"");
	counts(ret, &all, facts->wall_ns);
	buf_add(ret, ">\n");
	if (!facts->claims_count)
		nothing(facts, ret);
	for (size_t from = 0, to; from < facts->claims_count; from = to) {
		to = suite_end(facts, from);
		const struct tally tally = count(facts, from, to, options);

		buf_add(ret, "  <testsuite name=\"");
		xml(ret, facts->claims[from].document);
		buf_add_char(ret, '.');
		xml(ret, facts->claims[from].scenario);
		buf_add_char(ret, '"');
		counts(ret, &tally, facts->claims[from].scenario_ns);
		/* The schema of many readers wants no zone. */
		buf_printf(ret, " timestamp=\"%.19s\">\n", facts->started_at);
		for (size_t i = from; i < to; i++)
			test_case(&facts->claims[i],
			          facts_standing(&facts->claims[i], options->allow_inconclusive),
			          ret);
		buf_add(ret, "  </testsuite>\n");
	}
	buf_add(ret, "</testsuites>\n");
	return buf_ok(ret, err);
}
