/* SPDX-License-Identifier: PostgreSQL */
/*
 * The evidence page, from a store that is made anew for each test: golden bytes without pictures
 * (gnuplot's differ between its versions), and for the pages with pictures the rules that every
 * page keeps. With UPDATE=1 in the environment the golden page is written; look at the difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <signal.h>

#include <sqlite3.h>

#include "base/fs.h"
#include "report/report.h"

struct place {
	char *dir, *db;
	struct store *store;
};

static char *source_path(const char *name)
{
	const char *root = getenv("KEYLAB_SOURCE_ROOT");
	struct err err;
	char *path = fs_join(&err, root ? root : ".", name);

	assert_non_null(path);
	return path;
}

static void must(bool ok, const struct err *err)
{
	if (!ok)
		fail_msg("%s", err->message);
}

static void run_file(struct store *store, const char *name)
{
	char *path = source_path(name), *message = NULL;
	struct buf sql;
	struct err err;

	buf_init(&sql, 0);
	must(fs_read(path, 1 << 24, &sql, &err), &err);
	if (sqlite3_exec(store->db, sql.data, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", name, message);
	buf_finish(&sql);
	free(path);
}

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	const char *tmp = getenv("TMPDIR");
	struct err err;

	assert_non_null(place);
	char *prefix = fs_join(&err, tmp ? tmp : "/tmp", "keylab-report-");
	place->dir = fs_make_temp_dir(prefix, &err);
	free(prefix);
	assert_non_null(place->dir);
	place->db = fs_join(&err, place->dir, "keylab.db");
	must(store_open(place->db, STORE_WRITE, &place->store, &err), &err);
	*state = place;
	return 0;
}

static int set_up_fixture(void **state)
{
	set_up(state);
	run_file(((struct place *)*state)->store, "harness/tests/golden/report/fixture.sql");
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	struct err err;

	store_close(place->store);
	must(fs_remove_tree(place->dir, &err), &err);
	free(place->dir);
	free(place->db);
	free(place);
	return 0;
}

static const char *gnuplot(void)
{
	static const char *const found[] = {"/usr/bin/gnuplot", "/usr/local/bin/gnuplot",
	                                    "/opt/homebrew/bin/gnuplot"};

	for (size_t i = 0; i < COUNT_OF(found); i++)
		if (fs_is_executable(found[i]))
			return found[i];
	return NULL;
}

static struct buf render(const struct place *place, struct report_options options)
{
	struct buf page;
	struct err err;

	buf_init(&page, 0);
	must(report_render(place->store, &options, &page, &err), &err);
	return page;
}

static void wants(const struct buf *page, const char *text)
{
	if (!strstr(page->data, text))
		fail_msg("the page does not have: %s", text);
}

static void wants_not(const struct buf *page, const char *text)
{
	const char *at = strstr(page->data, text);

	if (at)
		fail_msg("the page has: %.80s", at);
}

static size_t count(const char *text, const char *what)
{
	size_t found = 0;

	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		found++;
	return found;
}

/* ---- rules of every page ---- */

#define MAX_IDS 4000

struct ids {
	char *found[MAX_IDS];
	size_t count;
};

static void check_attribute(const char *tag, const char *name, const char *value, struct ids *ids)
{
	if (!strncmp(name, "on", 2) || !strcmp(name, "style") || !strcmp(name, "src") ||
	    !strcmp(name, "srcset") || !strcmp(name, "action") || !strcmp(name, "xlink:href"))
		fail_msg("<%s %s>", tag, name);
	if (!strcmp(name, "href") && value[0] != '#' && strcmp(value, "report.css") != 0)
		fail_msg("<%s href=\"%s\"> leaves the page", tag, value);
	if (strcmp(name, "id") != 0)
		return;
	for (size_t i = 0; i < ids->count; i++)
		if (!strcmp(ids->found[i], value))
			fail_msg("id %s twice", value);
	assert_true(ids->count < MAX_IDS);
	ids->found[ids->count++] = strdup(value);
}

static void check_name(const char *name)
{
	static const char *const known[] = {"html", "head",    "meta",    "title",      "style",
	                                    "link", "body",    "a",       "header",     "p",
	                                    "h1",   "h2",      "h3",      "h4",         "h5",
	                                    "ul",   "li",      "span",    "strong",     "nav",
	                                    "main", "section", "figure",  "figcaption", "div",
	                                    "svg",  "desc",    "g",       "path",       "polygon",
	                                    "text", "table",   "caption", "thead",      "tbody",
	                                    "tr",   "th",      "td",      "dl",         "dt",
	                                    "dd",   "article", "details", "summary",    "pre",
	                                    "code", "footer"};

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (!strcmp(known[i], name))
			return;
	fail_msg("the page has an element <%s>", name);
}

/* Our pages are written regularly: <name attribute="value" ...>. Returns the end of the tag. */
static const char *check_tag(const char *at, struct ids *ids)
{
	char tag[32], name[64];
	static char value[65536]; /* the path of a cloud of points is long */
	int used = 0;

	assert_int_equal(sscanf(at, "%31[a-z0-9]%n", tag, &used), 1);
	check_name(tag);
	at += used;
	while (*at != '>' && strncmp(at, "/>", 2) != 0) {
		used = 0;
		if (sscanf(at, " %63[a-zA-Z-]=\"%65535[^\"]\"%n", name, value, &used) == 2 &&
		    used) {
			check_attribute(tag, name, value, ids);
		} else {
			used = 0;
			assert_int_equal(sscanf(at, " %63[a-z]%n", name, &used), 1);
			assert_string_equal(name, "open"); /* the only one without a value */
		}
		at += used;
	}
	return at;
}

static void check_links(const char *page, const struct ids *ids)
{
	static const char link[] = "href=\"#";

	for (const char *at = page; (at = strstr(at, link)); at++) {
		const char *id = at + strlen(link);
		size_t len = strcspn(id, "\""), i = 0;

		while (i < ids->count &&
		       (strlen(ids->found[i]) != len || memcmp(ids->found[i], id, len) != 0))
			i++;
		if (i == ids->count)
			fail_msg("#%.*s leads nowhere", (int)len, id);
	}
}

static void check_rules(const struct buf *page, bool external)
{
	struct ids ids = {.count = 0};
	const char *at = page->data;

	assert_true(page->len < ((size_t)3 << 19)); /* 1.5 MB */
	assert_int_equal(count(page->data, "<style"), external ? 0 : 1);
	assert_int_equal(count(page->data, "<script"), 0);
	assert_int_equal(count(page->data, "url("), 0);
	assert_int_equal(count(page->data, "@import"), 0);
	while ((at = strchr(at, '<'))) {
		at++;
		if (!strncmp(at, "!doctype html>", 14) || *at == '/')
			continue;
		at = check_tag(at, &ids);
		if (!strncmp(at, ">\n:root", 7)) /* CSS may have < in it */
			at = strstr(at, "</style>");
	}
	for (at = page->data; *at; at++)
		if ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t')
			fail_msg("the page has the control character %d", *at);
	check_links(page->data, &ids);
	for (size_t i = 0; i < ids.count; i++)
		free(ids.found[i]);
}

/* ---- tests ---- */

static void golden(void **state)
{
	char *path = source_path("harness/tests/golden/report/expected.html");
	struct buf page = render(*state, (struct report_options){0}), wanted;
	const char *update = getenv("UPDATE");
	struct err err;

	if (update && *update)
		must(fs_write(path, page.data, page.len, 0644, &err), &err);
	buf_init(&wanted, 0);
	must(fs_read(path, 1 << 24, &wanted, &err), &err);
	if (page.len != wanted.len || memcmp(page.data, wanted.data, page.len) != 0) {
		size_t same = 0;

		while (same < page.len && page.data[same] == wanted.data[same])
			same++;
		fail_msg("differs from expected.html at byte %zu: %.120s", same, page.data + same);
	}
	buf_finish(&page);
	buf_finish(&wanted);
	free(path);
}

static void rules(void **state)
{
	const int64_t both[] = {2, 1};
	const struct report_options options[] = {
	        {.gnuplot = NULL},
	        {.gnuplot = gnuplot()},
	        {.gnuplot = gnuplot(), .runs = both, .runs_count = 2},
	        {.gnuplot = gnuplot(), .assets_external = true},
	        {.gnuplot = gnuplot(), .expand = true, .document = "keys"},
	};

	for (size_t i = 0; i < COUNT_OF(options); i++) {
		struct buf page = render(*state, options[i]);

		check_rules(&page, options[i].assets_external);
		buf_finish(&page);
	}
}

/* What the fixture's hostile texts would do if they were not text. */
static void hostile_text_is_text(void **state)
{
	const int64_t both[] = {2, 1};
	struct buf page = render(*state, (struct report_options){.gnuplot = gnuplot(),
	                                                         .runs = both,
	                                                         .runs_count = 2});

	wants(&page, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;");
	wants(&page, "&lt;img src=x onerror=alert(3)&gt;");
	wants(&page, "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;alert(2)&lt;/script&gt;");
	wants(&page, "relation &quot;&lt;script&gt;alert(&#39;r&#39;)&lt;/script&gt;&quot; does "
	             "not exist");
	wants(&page, "\ufffd[31m");
	wants_not(&page, "<img");
	wants_not(&page, "<b>");
	wants_not(&page, "\u202e");
	/* Two claims whose names come to the same anchor have one each. */
	wants(&page, "id=\"claim-x---script-alert-1---script-\"");
	wants(&page, "id=\"claim-x---script-alert-1---script--2\"");
	buf_finish(&page);
}

static void nobody_is_named(void **state)
{
	struct buf page = render(*state, (struct report_options){.gnuplot = gnuplot()});

	wants_not(&page, "alice");
	wants_not(&page, "secret-host");
	wants(&page, "~/lab/keylab.db");
	buf_finish(&page);
}

static void twice_the_same(void **state)
{
	struct place *place = *state;
	const int64_t both[] = {2, 1};
	struct report_options options = {.gnuplot = gnuplot(),
	                                 .runs = both,
	                                 .runs_count = 2,
	                                 .cache_dir = NULL};
	struct err err;
	struct buf first = render(place, options), again = render(place, options);
	char *cache = fs_join(&err, place->dir, "charts");

	assert_string_equal(first.data, again.data);
	buf_finish(&again);
	options.cache_dir = cache;
	for (int i = 0; i < 2; i++) { /* filling the cache, and out of it */
		again = render(place, options);
		assert_string_equal(first.data, again.data);
		buf_finish(&again);
	}
	assert_true(!options.gnuplot || fs_is_dir(cache));
	buf_finish(&first);
	free(cache);
}

static void summary_counts(void **state)
{
	struct buf page = render(*state, (struct report_options){0});

	wants(&page,
	      "<h1>10 of 15 claims hold, 1 ends in an error, 2 are refuted, 1 did not run, 1 is "
	      "inconclusive.</h1>");
	wants(&page, "5 of 15 verdicts are not the expected ones.");
	/* The unexpected first, worst first; what was expected comes last. */
	const char *error = strstr(page.data, "<li><span class=\"verdict v-error\">");
	const char *refuted = strstr(page.data, "<li><span class=\"verdict v-refuted\">");
	const char *holds = strstr(page.data, "<li><span class=\"verdict v-holds\">");
	const char *expected = strstr(page.data, "As expected: the naive way must fail");
	assert_true(error && refuted && holds && expected);
	assert_true(error < refuted && refuted < holds && holds < expected);
	wants(&page, "The published size belongs to the large profile.");
	buf_finish(&page);
}

static void pictures(void **state)
{
	if (!gnuplot())
		skip();
	struct buf page = render(*state, (struct report_options){.gnuplot = gnuplot()});
	size_t number = 0;

	for (const char *at = page.data; (at = strstr(at, "<svg class=\"chart\"")); at++) {
		const char *end = strstr(at, "</svg>");

		assert_non_null(end);
		assert_true((size_t)(end - at) < ((size_t)60 << 10));
		number++;
	}
	/* The forest and eight charts, in two widths; two charts of the fixture cannot be drawn. */
	assert_int_equal(number, 18);
	assert_int_equal(count(page.data, "Chart unavailable"), 2);
	assert_int_equal(count(page.data, "role=\"img\""), 18);
	wants(&page, "its query gave no rows with numbers");
	buf_finish(&page);
}

static void pictures_keep_their_texts(void **state)
{
	if (!gnuplot())
		skip();
	struct buf page = render(*state, (struct report_options){.gnuplot = gnuplot()});

	/* Texts of the picture, as text, and no placeholder left behind. */
	wants(&page, ">an arm &lt;with&gt; &quot;markup&quot;");
	wants(&page, "x &lt;axis&gt; `system(&quot;id&quot;)`");
	wants(&page, "n = 4000, of which 1000 are drawn, evenly spaced");
	wants_not(&page, ">@");
	wants_not(&page, "gpPt");
	wants_not(&page, "rgb(");
	buf_finish(&page);
}

static void without_gnuplot(void **state)
{
	static const char *const programs[] = {NULL, "/nonexistent/gnuplot", "/bin/false",
	                                       "/bin/true"};

	for (size_t i = 0; i < COUNT_OF(programs); i++) {
		struct buf page = render(*state, (struct report_options){.gnuplot = programs[i]});

		check_rules(&page, false);
		assert_int_equal(count(page.data, "Chart unavailable"), 11);
		assert_int_equal(count(page.data, "<svg"), 0);
		wants(&page, "<td class=\"num\">37.9</td>"); /* the table is there */
		buf_finish(&page);
	}
}

/* A kept picture that someone wrote over is read as strictly as gnuplot's own. */
static void poisoned_cache(void **state)
{
	static const char evil[] =
	        "<svg viewBox=\"0 0 1 1\"><script>alert(1)</script><g onload=\"x()\"></g></svg>";
	struct place *place = *state;
	struct err err;
	size_t poisoned = 0;

	if (!gnuplot())
		skip();
	char *cache = fs_join(&err, place->dir, "charts");
	struct report_options options = {.gnuplot = gnuplot(), .cache_dir = cache};
	struct buf page = render(place, options);
	DIR *folder = opendir(cache);

	buf_finish(&page);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		char *path = fs_join(&err, cache, entry->d_name);

		must(fs_write(path, evil, strlen(evil), 0644, &err), &err);
		free(path);
		poisoned++;
	}
	closedir(folder);
	assert_int_equal(poisoned, 19); /* the pictures, and gnuplot's version */
	page = render(place, options);
	check_rules(&page, false);
	assert_int_equal(count(page.data, "<svg"), 0);
	wants(&page, "gnuplot&#39;s picture has an element that is not known: script");
	buf_finish(&page);
	free(cache);
}

static void comparison(void **state)
{
	const int64_t both[] = {2, 1};
	struct buf page = render(*state, (struct report_options){.runs = both, .runs_count = 2});

	wants(&page, "Run 2 (base)");
	wants(&page, "not comparable: another machine");
	wants(&page, "<span class=\"range\">+ 1</span>");
	wants(&page, "<span class=\"range\">the same</span>");
	wants(&page, "Another CPU @ 3.0 GHz");
	wants(&page, "PostgreSQL 17.6 on");
	buf_finish(&page);
	page = render(*state, (struct report_options){0});
	wants_not(&page, "Comparison of runs");
	buf_finish(&page);
}

static void options_are_kept(void **state)
{
	struct buf page = render(*state, (struct report_options){.assets_external = true});

	wants(&page, "<link rel=\"stylesheet\" href=\"report.css\">");
	assert_non_null(strstr(report_css(), "--paper"));
	buf_finish(&page);
	page = render(*state, (struct report_options){.expand = true});
	wants(&page, "<details open>");
	wants_not(&page, "<details>");
	buf_finish(&page);
	page = render(*state, (struct report_options){.document = "keys"});
	wants(&page, "9 of 13 claims hold");
	wants_not(&page, "hostile");
	buf_finish(&page);
}

static void fails(const struct place *place, struct report_options options, enum err_kind kind,
                  const char *text)
{
	struct buf page;
	struct err err = {0};

	buf_init(&page, 0);
	buf_add(&page, "as it was");
	assert_false(report_render(place->store, &options, &page, &err));
	assert_int_equal(err.kind, kind);
	if (!strstr(err.message, text))
		fail_msg("\"%s\" is not in: %s", text, err.message);
	assert_string_equal(page.data, "as it was");
	buf_finish(&page);
}

static void wrong_requests(void **state)
{
	const int64_t missing[] = {99}, many[REPORT_MAX_RUNS + 1] = {2};

	fails(*state, (struct report_options){.runs = missing, .runs_count = 1}, ERR_USAGE,
	      "no run 99");
	fails(*state, (struct report_options){.document = "nowhere"}, ERR_USAGE, "no document");
	fails(*state, (struct report_options){.runs = many, .runs_count = COUNT_OF(many)},
	      ERR_USAGE, "at most");
}

static void empty_store(void **state)
{
	fails(*state, (struct report_options){0}, ERR_INPUT, "holds no run");
}

static void markdown(void **state)
{
	struct buf table;
	struct err err;

	buf_init(&table, 0);
	must(report_markdown(((struct place *)*state)->store, 0, &table, &err), &err);
	assert_int_equal(count(table.data, "\n"), 2 + 15);
	wants(&table,
	      "| wal-v4 | The same rounds write 551 MB of WAL with UUIDv4 keys. | 551 MB | 528 MB "
	      "(526 MB to 530 MB) | REFUTED, expected HOLDS |");
	wants(&table, "REFUTED, as expected |");
	wants_not(&table, "<");
	wants_not(&table, "\033");
	/* Six cells a row, whatever is in them. */
	for (const char *at = table.data; *at; at = strchr(at, '\n') + 1) {
		size_t bars = 0;

		for (const char *c = at; *c != '\n'; c++)
			bars += *c == '|' && (c == at || c[-1] != '\\');
		assert_int_equal(bars, 7);
	}
	buf_finish(&table);
}

/* ---- contrast (WCAG 2.2, relative luminance) ---- */

static double channel(unsigned value)
{
	double share = value / 255.0;

	return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

/* A colour of the sheet's first (light) or second (dark) :root block; the dark one inherits. */
static double luminance(const char *name, bool dark)
{
	const char *css = report_css(), *found = NULL;
	const char *block = strstr(css, ":root {");
	char wanted[32];
	unsigned red, green, blue;

	snprintf(wanted, sizeof(wanted), "--%s: #", name);
	for (int i = 0; i <= dark; i++) {
		const char *at = strstr(block, wanted);

		if (at && at < strchr(block, '}'))
			found = at + strlen(wanted);
		block = strstr(block + 1, ":root {");
	}
	assert_non_null(found);
	assert_int_equal(sscanf(found, "%2x%2x%2x", &red, &green, &blue), 3);
	return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
}

static void contrast(const char *front, const char *back, bool dark, double least)
{
	double a = luminance(front, dark), b = luminance(back, dark);
	double ratio = (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);

	if (ratio < least)
		fail_msg("%s on %s (%s) has %.2f, not %.1f", front, back, dark ? "dark" : "light",
		         ratio, least);
}

static void colours(void **state)
{
	static const char *const texts[] = {"ink", "soft", "link", "good", "bad", "doubt", "none"};
	static const char *const marks[] = {"bigint", "uuidv4", "uuidv7", "other"};
	static const char *const backs[] = {"paper", "panel", "wash"};

	(void)state;
	for (int dark = 0; dark <= 1; dark++)
		for (size_t b = 0; b < COUNT_OF(backs); b++) {
			for (size_t i = 0; i < COUNT_OF(texts); i++)
				contrast(texts[i], backs[b], dark, 4.5);
			/* Pictures stand on paper and on cards. */
			for (size_t i = 0; b < 2 && i < COUNT_OF(marks); i++)
				contrast(marks[i], backs[b], dark, 3);
		}
}

int main(void)
{
#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up_fixture, tear_down)
	const struct CMUnitTest tests[] = {
	        FIXTURE(golden),
	        FIXTURE(rules),
	        FIXTURE(hostile_text_is_text),
	        FIXTURE(nobody_is_named),
	        FIXTURE(twice_the_same),
	        FIXTURE(summary_counts),
	        FIXTURE(pictures),
	        FIXTURE(pictures_keep_their_texts),
	        FIXTURE(without_gnuplot),
	        FIXTURE(poisoned_cache),
	        FIXTURE(comparison),
	        FIXTURE(options_are_kept),
	        FIXTURE(wrong_requests),
	        cmocka_unit_test_setup_teardown(empty_store, set_up, tear_down),
	        FIXTURE(markdown),
	        cmocka_unit_test(colours),
	};

	/* As in the program: a gnuplot that ends before it has read everything is an error, not an
	 * end. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
