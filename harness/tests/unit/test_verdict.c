/* SPDX-License-Identifier: PostgreSQL */
/* Verdicts of timings: blocks that are too few, blocks that do not decide, and p-values side by
 * side. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "base/stats.h"
#include "store/store.h"
#include "store/verdict.h"

struct fixture {
	char path[256];
	struct store *store;
	sqlite3 *raw; /* the test's own hand in the file */
};

static void execute(struct fixture *fixture, const char *sql)
{
	char *fault = NULL;

	if (sqlite3_exec(fixture->raw, sql, NULL, NULL, &fault) != SQLITE_OK)
		fail_msg("%s: %s", fault, sql);
}

static void begin(struct fixture *fixture)
{
	struct err err = {0};

	const char *tmp = getenv("TMPDIR");
	snprintf(fixture->path, sizeof(fixture->path), "%s/keylab-verdict-%ld.db",
	         tmp ? tmp : "/tmp", (long)getpid());
	unlink(fixture->path);
	if (!store_open(fixture->path, STORE_WRITE, &fixture->store, &err))
		fail_msg("%s", err.message);
	assert_int_equal(sqlite3_open(fixture->path, &fixture->raw), SQLITE_OK);
	execute(fixture,
	        "insert into run (run_id, started_us, status, profile, seed, argv, "
	        "keylab_version, pid, pid_started) values (1, 0, 'finished', 'chapter', 7, '[]', "
	        "'x', "
	        "1, 'b');"
	        "insert into scenario (run_id, scenario, document, position, title, about, limits, "
	        "path, sha256, text, status) values (1, 's', 'd', 1, 't', 'a', '[]', 's.yaml', "
	        "'x', "
	        "'x', 'done')");
}

static void end(struct fixture *fixture)
{
	sqlite3_close(fixture->raw);
	store_close(fixture->store);
	for (size_t i = 0; i < 3; i++) {
		static const char *const ends[] = {"", "-wal", "-shm"};
		char path[264];

		snprintf(path, sizeof(path), "%s%s", fixture->path, ends[i]);
		unlink(path);
	}
}

/* A timing claim whose SQL gives the ratios, a block each, over a denominator of 100. */
static void add_claim(struct fixture *fixture, const char *name, const char *predicate,
                      const double *ratios, size_t count)
{
	struct buf sql;

	buf_init(&sql, 0);
	buf_printf(&sql,
	           "insert into claim (run_id, scenario, claim, position, sentence, metric_type, "
	           "predicate, sql, verdict) select 1, 's', '%s', count(*), 'x', 'timing', '%s', "
	           "'select column1 as numerator, 100.0 as denominator from (values ",
	           name, predicate);
	for (size_t i = 0; i < count; i++)
		buf_printf(&sql, "%s(%.6f)", i ? ", " : "", 100 * ratios[i]);
	buf_add(&sql, ")', 'NOT_RUN' from claim");
	execute(fixture, sql.data);
	buf_finish(&sql);
}

static void derive(struct fixture *fixture, const char *name, struct verdict *ret)
{
	struct err err = {0};

	if (!verdict_derive(fixture->store, 1, "s", name, ret, &err))
		fail_msg("%s", err.message);
}

static void too_few(void **state)
{
	static const double ratios[] = {1.2, 1.3, 1.2, 1.4, 1.3};
	struct fixture fixture;
	struct verdict verdict;

	(void)state;
	begin(&fixture);
	add_claim(&fixture, "c", "> 1", ratios, 5);
	derive(&fixture, "c", &verdict);
	assert_int_equal(verdict.kind, VERDICT_INCONCLUSIVE);
	assert_string_equal(verdict.reason, "insufficient: 5 blocks, 6 are needed");
	verdict_finish(&verdict);
	end(&fixture);
}

static size_t blocks_of(const char *reason)
{
	const char *at = strstr(reason, "; about ");
	size_t blocks = 0;

	if (!at || sscanf(at, "; about %zu blocks would probably resolve it", &blocks) != 1)
		fail_msg("no number of blocks in: %s", reason);
	return blocks;
}

/* The sharper the question, the more blocks; and a decided claim says nothing of the kind. */
static void how_many_blocks(void **state)
{
	static const double ratios[] = {0.96, 1.22, 1.08, 1.19, 0.98, 1.11, 1.16, 1.02};
	struct fixture fixture;
	struct verdict verdict;
	size_t easy, hard;

	(void)state;
	begin(&fixture);
	add_claim(&fixture, "easy", "> 1", ratios, 8);
	add_claim(&fixture, "hard", "> 1.05", ratios, 8);
	add_claim(&fixture, "hopeless", "> 1.095", ratios, 8);
	add_claim(&fixture, "two-sided", "between 1 and 1.2", ratios, 8);
	add_claim(&fixture, "decided", "> 0.9", ratios, 8);
	derive(&fixture, "easy", &verdict);
	assert_int_equal(verdict.kind, VERDICT_INCONCLUSIVE);
	easy = blocks_of(verdict.reason);
	derive(&fixture, "hard", &verdict);
	hard = blocks_of(verdict.reason);
	assert_true(easy > 8 && easy < 30);
	assert_true(hard > 2 * easy && hard < 200);
	derive(&fixture, "hopeless", &verdict);
	assert_non_null(strstr(verdict.reason, "not even 1000 blocks"));
	derive(&fixture, "two-sided", &verdict);
	assert_true(blocks_of(verdict.reason) > easy);
	derive(&fixture, "decided", &verdict);
	assert_int_equal(verdict.kind, VERDICT_HOLDS);
	assert_null(strstr(verdict.reason, "resolve"));
	end(&fixture);
}

/* A third column says what the medians are in; the figures and the verdict stay the same. */
static void medians_with_unit(void **state)
{
	static const double ratios[] = {1.2, 1.3, 1.1, 1.4, 1.2, 1.3, 1.5, 1.6};
	static const struct {
		const char *unit, *expected;
	} cases[] = {
	        {"", "medians of 8 blocks, difference 30; within"},
	        {", ''ns'' as unit",
	         "medians of 8 blocks: 130 ns and 100 ns, 30.0 ns apart; within"},
	        {", ''rows'' as unit", "medians of 8 blocks: 130 and 100, 30 rows apart; within"},
	};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	add_claim(&fixture, "c", "> 1", ratios, 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct verdict verdict;
		char sql[256];

		snprintf(sql, sizeof(sql),
		         "update claim set sql = replace(sql, ' from', '%s from')", cases[i].unit);
		execute(&fixture, sql);
		derive(&fixture, "c", &verdict);
		assert_int_equal(verdict.kind, VERDICT_HOLDS);
		assert_true(fabs(verdict.value - 1.3) < 1e-12);
		assert_memory_equal(verdict.reason, cases[i].expected, strlen(cases[i].expected));
		verdict_finish(&verdict);
		snprintf(sql, sizeof(sql), "update claim set sql = replace(sql, '%s', '')",
		         cases[i].unit);
		if (cases[i].unit[0])
			execute(&fixture, sql);
	}
	end(&fixture);
}

/* An invariant that one of several trials breaks is broken, and not bounded as if none did. */
static void one_counterexample(void **state)
{
	static const struct {
		const char *values, *reason;
		enum verdict_kind kind;
	} cases[] = {
	        {"(0, 100), (0, 100), (1, 100)", "in some of 300 trials it does not hold: 0 to 1",
	         VERDICT_REFUTED},
	        {"(0, 100), (0, 100)", "none in 200 trials: its probability is below 0.015 (95 %)",
	         VERDICT_HOLDS},
	        {"(2, 100), (1, 100)", "", VERDICT_REFUTED},
	};
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct verdict verdict;
		char sql[512];

		snprintf(sql, sizeof(sql),
		         "insert into claim (run_id, scenario, claim, position, sentence, "
		         "metric_type, predicate, sql, verdict) select 1, 's', 'e%zu', %zu, 'x', "
		         "'event', '= 0', 'select column1, column2 from (values %s)', 'NOT_RUN'",
		         i, i, cases[i].values);
		execute(&fixture, sql);
		snprintf(sql, sizeof(sql), "e%zu", i);
		derive(&fixture, sql, &verdict);
		assert_string_equal(verdict.reason, cases[i].reason);
		assert_int_equal(verdict.kind, cases[i].kind);
		verdict_finish(&verdict);
	}
	end(&fixture);
}

/* Three claims of 1, 2 and 3 blocks on the wrong side: Holm's steps, in a run whose counters and
   claims without blocks do not count. */
static void secondary_p(void **state)
{
	static const double ratios[3][8] = {
	        {1.2, 1.3, 1.1, 1.4, 1.2, 1.3, 1.5, 1.6},
	        {1.2, 1.3, 0.9, 1.4, 1.2, 1.3, 1.5, 1.6},
	        {1.2, 0.8, 0.9, 1.1, 1.2, 0.8, 1.1, 1.0},
	};
	static const char *const names[] = {"a", "b", "c"};
	struct fixture fixture;
	struct secondaries list;
	double p[3];
	struct err err = {0};

	(void)state;
	begin(&fixture);
	for (size_t i = 0; i < 3; i++) {
		double logs[8];

		add_claim(&fixture, names[i], "> 1", ratios[i], 8);
		for (size_t k = 0; k < 8; k++)
			logs[k] = log(ratios[i][k]);
		p[i] = stats_sign_flip(logs, 8);
	}
	add_claim(&fixture, "few", "> 1", ratios[0], 5);
	add_claim(&fixture, "elsewhere", "> 1", ratios[0], 8);
	execute(&fixture, "update claim set in_scope = 0 where claim = 'elsewhere'");
	assert_true(secondaries_load(fixture.store, 1, &list, &err));
	assert_int_equal(list.count, 3);
	assert_null(secondaries_find(&list, "s", "few"));
	assert_null(secondaries_find(&list, "s", "elsewhere"));
	assert_float_equal(p[0], 2.0 / 256, 1e-12);
	assert_true(p[0] < p[1] && p[1] < p[2]);
	for (size_t i = 0; i < 3; i++) {
		const struct secondary *item = secondaries_find(&list, "s", names[i]);

		assert_non_null(item);
		assert_float_equal(item->p, p[i], 1e-12);
		assert_float_equal(item->adjusted, fmin(1, (double)(3 - i) * p[i]), 1e-12);
	}
	secondaries_finish(&list);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(too_few),           cmocka_unit_test(how_many_blocks),
	        cmocka_unit_test(medians_with_unit), cmocka_unit_test(one_counterexample),
	        cmocka_unit_test(secondary_p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
