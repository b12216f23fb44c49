/* SPDX-License-Identifier: PostgreSQL */
/*
 * A store whose texts and samples are anything at all: its claims are judged, compared, put on
 * the page and exported, or refused with a reason; nothing on the page, in a chart's script or in
 * an export is markup, a command or a line that we did not write.
 *
 * The input is split at line breaks into the fields below; the rest are values of samples. A byte
 * 0x1e becomes a line break in a field.
 */
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/export.h"
#include "report/bundle.h"
#include "report/report.h"
#include "store/store.h"
#include "store/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct store *store;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_store: %s\n", what);
	abort();
}

static const char rows[] =
        "insert into run (run_id, started_us, finished_us, status, profile, seed, argv, "
        "keylab_version, pid, pid_started, wall_ns) values (1, 0, 1, 'finished', 'quick', 1, '[]', "
        "'1', 1, 'x', 1);"
        "insert into scenario (run_id, scenario, document, position, title, about, limits, path, "
        "sha256, text, status) values (1, 's', 'd', 0, 't', 'a', '[]', 'p', 'x', '', 'done');"
        "insert into claim (run_id, scenario, claim, position, sentence, metric_type, predicate, "
        "sql) values (1, 's', 'c', 0, 'it is so', 'counter', '> 1', "
        "'select value, rep from samples where metric = ''m''');"
        "insert into arm (run_id, scenario, arm, position, label, texts) "
        "values (1, 's', 'a', 0, 'arm', '{}');"
        "insert into step (step_id, run_id, scenario, verb, arm, position, started_us, "
        "duration_ns, outcome) values (1, 1, 's', 'probe', 'a', 'f:1:1', 0, 1, 'ok');"
        "insert into incident (run_id, scenario, step_id, at_us, kind, text) "
        "values (1, 's', 1, 0, 'notice', 'it said');"
        /* Texts come into charts as labels, groups and kinds, too. */
        "insert into chart (run_id, scenario, chart, position, kind, title, data, x_label, "
        "y_label) "
        "values (1, 's', 'lines', 0, 'lines', 't', "
        "'select arm as series, rep as x, value as y from samples', 'x', 'y'),"
        "(1, 's', 'bars', 1, 'bars', 't', "
        "'select arm as series, label as x, 7 as y from arm join (select arm from samples)', 'x', "
        "'y'),"
        "(1, 's', 'lanes', 2, 'lanes', 't', "
        "'select label as lane, 0 as start, 1 as stop, kind, text as label from arm, incident', "
        "'x', 'y'),"
        "(1, 's', 'cells', 3, 'table', 't', "
        "'select label as row, kind as col, text as cell from arm, incident', 'x', 'y'),"
        "(1, 's', 'own', 4, 'dots', 't', 'select 1 as series, 1 as x, 2 as y', 'x', 'y');";

/* Where the fields of the input go, in their order. What a constraint forbids stays as it was. */
static const char *const fields[] = {
        "update claim set predicate = ?1",
        "update claim set metric_type = ?1",
        "update claim set published = ?1, published_value = cast(?1 as real)",
        "update claim set sentence = ?1",
        "update claim set unit = ?1, source = ?1",
        "update claim set verdict = ?1",
        "update claim set expected = ?1, because = ?1",
        "update claim set value = ?1, value_low = ?1, value_high = ?1, reason = ?1",
        "update scenario set title = ?1, about = ?1, source = ?1",
        "update scenario set limits = ?1",
        "update scenario set status = ?1, reason = ?1",
        "update run set argv = ?1, keylab_commit = ?1",
        "update step set sql = ?1, labels = ?1, message = ?1, name = ?1",
        "insert into environment values (1, ?1, ?1)",
        "update claim set sql = ?1 where ?1 <> ''",
        "update claim set scope = ?1, in_scope = ?1 = ''",
        "update arm set label = ?1",
        "update incident set text = ?1",
        "update incident set kind = ?1",
        "update chart set title = ?1",
        "update chart set x_label = ?1, y_label = ?1",
        "update chart set x_unit = ?1, y_unit = ?1, y_log = length(?1) % 2",
        "update chart set data = ?1, claims = ?1 where chart = 'own'",
        "update chart set kind = ?1 where chart = 'own'",
        "insert into param values (1, 's', ?1, ?1, 'set')",
        "update scenario set document = ?1, path = ?1, text = ?1",
};
static const char add_number[] =
        "insert into sample (step_id, metric, unit, metric_type, value, rep) values (1, 'm', '', "
        "'counter', cast(?1 as numeric), 1 + (select count(*) from sample))";
static const char add_text[] =
        "insert into sample (step_id, metric, unit, metric_type, value, rep) values (1, 'm', '', "
        "'counter', ?1, 1 + (select count(*) from sample))";

static void put(const char *sql, const char *text, size_t len)
{
	sqlite3_stmt *statement;
	char *field = malloc(len + 1);

	must(field != NULL, "out of memory");
	for (size_t i = 0; i < len; i++)
		field[i] = (char)(text[i] == 0x1e ? '\n' : text[i]);
	must(sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK, sql);
	sqlite3_bind_text(statement, 1, field, (int)len, free);
	sqlite3_step(statement);
	sqlite3_finalize(statement);
}

static void fill(const char *text, size_t size)
{
	size_t number = 0;

	for (const char *end = text + size; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((stop ? stop : end) - text);

		if (number < sizeof(fields) / sizeof(fields[0]))
			put(fields[number], text, len);
		else if (number < 64)
			put(len && text[0] == '\'' ? add_text : add_number, text, len);
		text += len + 1;
	}
}

/* ---- what may not come out */

static bool is_one_of(const char *at, size_t len, const char *names)
{
	for (; *names; names += strspn(names, " ")) {
		size_t name_len = strcspn(names, " ");

		if (name_len == len && !memcmp(at, names, len))
			return true;
		names += name_len;
	}
	return false;
}

/* From behind a "<" to behind its ">". */
static const char *check_tag(const char *at, const char *tags, const char *attributes)
{
	bool closes = *at == '/';

	at += closes;
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789");
	must(is_one_of(at, len, tags), "a tag from outside");
	bool style = !closes && len == 5 && !memcmp(at, "style", 5);
	at += len;
	while (*at == ' ') {
		at++;
		len = strcspn(at, "=\"'<>/ ");
		must(!closes && is_one_of(at, len, attributes), "an attribute from outside");
		bool link = len == 4 && !memcmp(at, "href", 4);
		at += len;
		if (*at != '=')
			continue;
		must(at[1] == '"', "an attribute without quotes");
		must(!link || at[2] == '#', "a link to somewhere else");
		at += 2 + strcspn(at + 2, "\"<");
		must(*at == '"', "an attribute without an end");
		at++;
	}
	at += *at == '/';
	must(*at == '>', "a tag without an end");
	if (style) {
		at = strstr(at, "</style>");
		must(at != NULL, "a style without an end");
	}
	return at + 1;
}

/* Each "<" begins a tag that is ours, with attributes that are ours. */
static void check_markup(const char *text, const char *prologue, const char *tags,
                         const char *attributes)
{
	must(!strncmp(text, prologue, strlen(prologue)), "it does not begin as it should");
	for (const char *at = text + strlen(prologue); (at = strchr(at, '<'));)
		at = check_tag(at + 1, tags, attributes);
}

static void check_page(const struct buf *page)
{
	must(strlen(page->data) == page->len, "the page has a NUL in it");
	check_markup(
	        page->data, "<!doctype html>",
	        "html head meta title style body header main nav section article footer h1 h2 h3 "
	        "h4 h5 p a ul li dl dt dd details summary figure figcaption table caption thead "
	        "tbody tr th td code pre span div strong",
	        "aria-hidden aria-label aria-labelledby charset class colspan content data-label "
	        "href http-equiv id lang name open role scope tabindex");
}

/* Of gnuplot: texts stand in double quotes, nothing but a number is escaped, nothing is run. */
static void check_script(const char *text, size_t len)
{
	bool quoted = false, comment = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n') {
			must(!quoted, "a script's text does not end");
			comment = false;
		} else {
			must(c >= 0x20 || c == '\t', "a script has a control character");
		}
		comment = comment || (c == '#' && !quoted);
		if (comment)
			continue;
		quoted = quoted != (c == '"');
		must(c != '`' && c != '@', "a script runs something");
		must(quoted || !strchr("'!;", c), "a script says something of its own");
		for (size_t k = i + 1; quoted && c == '\\' && k < i + 4; k++)
			must(k < len && text[k] >= '0' && text[k] <= '7', "a script has an escape");
	}
}

static size_t count_lines(const struct buf *text, const char *start)
{
	size_t count = 0;

	for (const char *at = text->data; *at; at += strcspn(at, "\n"), at += *at == '\n')
		count += !strncmp(at, start, strlen(start));
	return count;
}

static void check_junit(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		must(c >= 0x20 || strchr("\t\n\r", c), "a character that no XML may hold");
	}
	check_markup(text->data, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
	             "testsuites testsuite testcase properties property failure error skipped",
	             "classname errors failures file hostname id message name package skipped "
	             "tests "
	             "time timestamp type value");
}

static void check_export(const char *format, const struct facts *facts, const struct buf *text)
{
	size_t claims = facts->claims_count;

	must(strlen(text->data) == text->len, "an export has a NUL in it");
	if (!strcmp(format, "junit")) {
		check_junit(text);
	} else if (!strcmp(format, "json")) {
		json_error_t fault;
		json_t *json = json_loads(text->data, JSON_ALLOW_NUL, &fault);

		must(json != NULL, fault.text);
		json_decref(json);
	} else if (!strncmp(format, "tap", 3)) {
		must(count_lines(text, "ok ") + count_lines(text, "not ok ") == claims,
		     "points of TAP from outside");
		must(count_lines(text, "") == claims + 2 + count_lines(text, "  "),
		     "lines of TAP from outside");
	} else if (!strcmp(format, "case")) {
		must(count_lines(text, "") == claims && count_lines(text, "CASE ") == claims,
		     "cases from outside");
	} else if (!strcmp(format, "github")) {
		must(count_lines(text, "") == count_lines(text, "::") &&
		             count_lines(text, "") <= claims,
		     "annotations from outside");
	}
}

/* ---- everything that reads a store */

static void judge(struct buf *out)
{
	struct verdict verdict;
	struct err err = {0};
	bool same;

	if (verdict_derive(store, 1, "s", "c", &verdict, &err))
		verdict_finish(&verdict);
	else
		must(err.message[0] != '\0', "no verdict, and no reason");
	must(verdict_compare(store, 1, "s", "c", &same, out, &err) || err.message[0],
	     "no comparison, and no reason");
}

static void show(struct buf *out)
{
	struct report_parts parts = {0};
	const struct report_options options = {.parts = &parts};
	struct err err = {0};

	buf_clear(out);
	if (report_render(store, &options, out, &err))
		check_page(out);
	else
		must(err.message[0] != '\0', "no page, and no reason");
	for (size_t i = 0; i < parts.count; i++) {
		const struct report_part *part = &parts.items[i];

		if (strstr(part->name, ".gp"))
			check_script(part->bytes, part->len);
	}
	report_parts_finish(&parts);
}

static void export_all(struct buf *out)
{
	const struct export_options options = {0};
	struct facts facts = {0};
	struct err err = {0};

	if (!facts_load(store, 1, &facts, &err)) {
		must(err.message[0] != '\0', "no facts, and no reason");
		facts_finish(&facts);
		return;
	}
	for (size_t i = 0; i < export_formats_count; i++) {
		buf_clear(out);
		if (export_formats[i].write(&facts, &options, out, &err))
			check_export(export_formats[i].name, &facts, out);
		else
			must(err.message[0] != '\0', "no export, and no reason");
	}
	facts_finish(&facts);
}

static void read_all(void)
{
	struct buf out;

	buf_init(&out, 0);
	judge(&out);
	show(&out);
	export_all(&out);
	buf_finish(&out);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct err err;

	(void)argc;
	(void)argv;
	if (!store_open(":memory:", STORE_WRITE, &store, &err))
		must(false, err.message);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	must(sqlite3_exec(store->db, "begin", NULL, NULL, NULL) == SQLITE_OK &&
	             sqlite3_exec(store->db, rows, NULL, NULL, NULL) == SQLITE_OK,
	     sqlite3_errmsg(store->db));
	fill((const char *)data, size);
	read_all();
	must(sqlite3_exec(store->db, "rollback", NULL, NULL, NULL) == SQLITE_OK,
	     sqlite3_errmsg(store->db));
	return 0;
}
