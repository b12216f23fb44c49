/* SPDX-License-Identifier: PostgreSQL */
/*
 * A store whose texts and samples are anything at all: its claims are judged, compared and put on
 * the page, or refused with a reason; nothing on the page is markup that we did not write.
 *
 * The input is split at line breaks into the fields below; the rest are values of samples.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        "insert into step (step_id, run_id, scenario, verb, position, started_us, duration_ns, "
        "outcome) values (1, 1, 's', 'probe', 'f:1:1', 0, 1, 'ok');";

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

	must(sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK, sql);
	sqlite3_bind_text(statement, 1, text, (int)len, SQLITE_TRANSIENT);
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

static void read_all(void)
{
	struct report_options options = {0};
	struct verdict verdict;
	struct buf out;
	struct err err = {0};
	bool same;

	buf_init(&out, 0);
	if (verdict_derive(store, 1, "s", "c", &verdict, &err))
		verdict_finish(&verdict);
	else
		must(err.message[0] != '\0', "no verdict, and no reason");
	must(verdict_compare(store, 1, "s", "c", &same, &out, &err) || err.message[0],
	     "no comparison, and no reason");
	buf_clear(&out);
	if (report_render(store, &options, &out, &err)) {
		must(!strstr(out.data, "<script") && !strstr(out.data, "<img") &&
		             !strstr(out.data, "onload=\"x"),
		     "markup from outside is on the page");
		must(strlen(out.data) == out.len, "the page has a NUL in it");
	} else {
		must(err.message[0] != '\0', "no page, and no reason");
	}
	buf_clear(&out);
	must(report_markdown(store, 1, &out, &err) || err.message[0], "no table, and no reason");
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
