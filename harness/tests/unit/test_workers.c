/* SPDX-License-Identifier: PostgreSQL */
/* Workers without a server: what is awaited, options and their faults, the journal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/group.h"
#include "run/journal.h"
#include "run/worker_options.h"

static void awaited_texts(void **state)
{
	static const struct {
		const char *text;
		enum await_kind kind;
		uint64_t number;
	} good[] = {
	        {"ended", AWAIT_ENDED, 0},
	        {"frozen", AWAIT_FROZEN, 0},
	        {"1750 ids", AWAIT_IDS, 1750},
	        {"2k ids", AWAIT_IDS, 2000},
	        {"1 more id", AWAIT_MORE_IDS, 1},
	        {"20 more ids", AWAIT_MORE_IDS, 20},
	        {"3 refusals", AWAIT_REFUSALS, 3},
	        {"1 refusal", AWAIT_REFUSALS, 1},
	        {"1500ms", AWAIT_TIME, 1500 * NS_PER_MS},
	        {"2s", AWAIT_TIME, 2 * NS_PER_S},
	};
	static const char *const bad[] = {"",  "end",    "ids",     " ids",   "0 ids",  "8kB",
	                                  "5", "5s ids", "1.5 ids", "-1 ids", "3 ids ", "more ids"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct await what;

		assert_true(await_parse(good[i].text, &what));
		assert_int_equal(what.kind, good[i].kind);
		assert_int_equal(what.kind == AWAIT_TIME ? what.wait_ns : what.count,
		                 good[i].number);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct await what;

		if (await_parse(bad[i], &what))
			fail_msg("\"%s\" was taken", bad[i]);
	}
}

#define PAIRS_MAX 12

/* "name=value|name=value" into pairs; text is written over. */
static void split(char *text, struct pair *items, struct pairs *ret)
{
	char *rest = NULL;

	*ret = (struct pairs){.items = items};
	for (char *word = strtok_r(text, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
		char *equals = strchr(word, '=');

		assert_non_null(equals);
		*equals = '\0';
		assert_true(ret->count < PAIRS_MAX);
		ret->items[ret->count++] = (struct pair){.name = word, .text = equals + 1};
	}
}

static void read_options(const char *written, struct worker_options *ret, const char *fault)
{
	char text[512];
	struct pair items[PAIRS_MAX];
	struct pairs pairs;
	struct err err = {0};

	snprintf(text, sizeof(text), "%s", written);
	split(text, items, &pairs);
	bool ok = worker_options_read(&pairs, ret, &err);
	if (fault) {
		assert_false(ok);
		assert_string_equal(err.message, fault);
	} else if (!ok) {
		fail_msg("%s: %s", written, err.message);
	}
}

static void options_and_what_they_are_without(void **state)
{
	struct worker_options options;

	(void)state;
	read_options("generator=uuidv7|ids=2k", &options, NULL);
	assert_int_equal(options.source, SOURCE_FORMAT);
	assert_string_equal(options.format->name, "uuidv7");
	assert_int_equal(options.processes, 1);
	assert_int_equal(options.threads, 1);
	assert_int_equal(options.ids, 2000);
	assert_int_equal(options.batch, 1000);
	assert_null(options.write);
	assert_int_equal(options.retry_ns, 0);
	assert_int_equal(options.freeze, FREEZE_NEVER);
	assert_false(options.has_clock);
	read_options("generator=segment|ids=1|settle=true|pace=2ms|retry=1s", &options, NULL);
	assert_int_equal(options.source, SOURCE_SEGMENT);
	assert_true(options.settle);
	assert_int_equal(options.pace_ns, 2 * NS_PER_MS);
	assert_int_equal(options.retry_ns, NS_PER_S);
	read_options("generator=snowflake|ids=1|clock_ms=1790000000000|freeze=issued 25", &options,
	             NULL);
	assert_int_equal(options.freeze, FREEZE_ISSUED);
	assert_int_equal(options.freeze_at, 25);
	assert_true(options.has_clock);
	read_options("generator=snowflake|ids=1|clock_ms=5|clock_steps=100 -20, 200 5000", &options,
	             NULL);
	assert_int_equal(options.steps_count, 2);
	assert_int_equal(options.steps[0].after, 100);
	assert_int_equal(options.steps[0].by_ms, -20);
	assert_int_equal(options.steps[1].by_ms, 5000);
	read_options("generator=snowflake|ids=1|node=thread", &options, NULL);
	assert_true(options.node_is_thread);
}

static void options_that_are_wrong(void **state)
{
	struct worker_options options;

	(void)state;
	read_options("generator=uuidv8|ids=1", &options, "there is no generator \"uuidv8\"");
	read_options("generator=uuidv7|ids=5s", &options, "`ids` is \"5s\"; write a number");
	read_options("generator=uuidv7|ids=1|retry=5", &options,
	             "`retry` is \"5\"; write a duration");
	read_options("generator=uuidv7|ids=1|freeze=sometimes", &options,
	             "`freeze` is \"sometimes\"; write issued, check or write, and the number of "
	             "the id, as: issued 25");
	read_options("generator=uuidv7|ids=1|freeze=check 3", &options,
	             "`freeze` at check is for a leased node; add acquire and renew");
	read_options("generator=snowflake|ids=1|clock_ms=5|clock_steps=20", &options,
	             "`clock_steps` is \"20\"; write after how many ids and by how many "
	             "milliseconds, at most 8 times, as: 500 -5000, 900 20");
	read_options("generator=snowflake|ids=1|clock_steps=20 5", &options,
	             "`clock_steps` and `readings_per_ms` are of a clock moved by hand; add "
	             "clock_ms: where it starts");
	read_options("generator=snowflake|ids=1|acquire=select 1", &options,
	             "a lease needs both `acquire` and `renew`");
	read_options("generator=snowflake|ids=1|acquire=select 1|renew=select 1|threads=2",
	             &options, "a leased node is for one thread; write threads: 1");
	read_options("generator=snowflake|ids=1|node=here", &options,
	             "`node` is \"here\"; write a number, process or thread");
}

static bool has_option(const char *generator, const char *name)
{
	const struct worker_option *option = worker_options_of(generator);

	for (; option && option->name; option++)
		if (!strcmp(option->name, name))
			return true;
	return false;
}

static void options_by_generator(void **state)
{
	(void)state;
	assert_null(worker_options_of("uuidv8"));
	assert_true(has_option("segment", "fetch") && !has_option("segment", "clock_ms"));
	assert_true(has_option("snowflake", "acquire") && !has_option("uuidv7", "acquire"));
	assert_true(has_option("typeid", "prefix") && !has_option("ulid", "prefix"));
	assert_true(has_option("sequential-time", "block_size"));
	assert_true(has_option("sql", "statement") && !has_option("sql", "tag"));
	for (size_t i = 0; worker_generators()[i]; i++)
		assert_true(has_option(worker_generators()[i], "ids"));
}

static void journals(void **state)
{
	struct journal *journal, *again;
	struct err err = {0};
	int fd = -1;

	(void)state;
	assert_true(journal_create(2, 3, 10, "{\"a\":1}", &journal, &fd, &err));
	assert_string_equal(journal_spec(journal), "{\"a\":1}");
	assert_true(journal_map(fd, &again, &err));
	journal_entries(journal, 1, 2)[9].epoch = 7;
	atomic_store(&journal_thread_of(journal, 1, 2)->issued, 5);
	assert_int_equal(journal_entries(again, 1, 2)[9].epoch, 7);
	assert_int_equal(atomic_load(&journal_thread_of(again, 1, 2)->issued), 5);
	/* The last entry of the last thread is the journal's, and no other thread's. */
	journal_entries(journal, 1, 2)[journal->entries_each - 1].len = 3;
	assert_string_equal(journal_spec(again), "{\"a\":1}");
	assert_int_equal(journal_entries(again, 1, 1)[journal->entries_each - 1].len, 0);
	journal_unmap(again);
	journal_unmap(journal);
	close(fd);
	assert_false(journal_create(64, 64, 1, "", &journal, &fd, &err));
	assert_false(journal_create(1, 1, JOURNAL_IDS_MAX + 1, "", &journal, &fd, &err));
	/* Whoever calls `keylab worker` by hand has no journal. */
	assert_false(journal_map(0, &journal, &err));
}

static const struct reading *reading_of(const struct readings *readings, const char *metric)
{
	for (size_t i = 0; i < readings->count; i++)
		if (!strcmp(readings->items[i].metric, metric))
			return &readings->items[i];
	return NULL;
}

static void reads(const struct readings *readings, const char *metric, int64_t value)
{
	const struct reading *reading = reading_of(readings, metric);

	if (!reading)
		fail_msg("there is no %s", metric);
	assert_true(reading->is_integer);
	assert_int_equal(reading->integer, value);
}

/* 200 writes of two clients of 1 to 200 ns, one id of each written with the next: percentiles are
   of all of them together, by nearest rank, and an id without a write is none. */
static void times_of_writes(void **state)
{
	struct group group = {.options = {.processes = 1, .threads = 2}, .fd = -1};
	struct readings readings = {0};
	struct err err = {0};

	(void)state;
	assert_true(journal_create(1, 2, 200, "", &group.journal, &group.fd, &err));
	atomic_store(&group.journal->started_ns, 1000);
	for (uint32_t t = 0; t < 2; t++) {
		struct journal_entry *entries = journal_entries(group.journal, 0, t);

		for (uint64_t i = 0; i < 101; i++)
			entries[i].write_ns = i == 50 ? 0 : 2 * (i - (i > 50)) + t + 1;
		atomic_store(&journal_thread_of(group.journal, 0, t)->entries, 101);
		atomic_store(&journal_thread_of(group.journal, 0, t)->ended_ns, 5000 + t);
	}
	assert_true(group_write_readings(&group, &readings, &err));
	reads(&readings, "write_count", 200);
	reads(&readings, "elapsed_ns", 4001);
	reads(&readings, "write_p50_ns", 100);
	reads(&readings, "write_p95_ns", 190);
	reads(&readings, "write_p99_ns", 198);
	reads(&readings, "write_max_ns", 200);
	readings_finish(&readings);
	/* One that was killed has no end, and nothing was written at all. */
	readings = (struct readings){0};
	atomic_store(&journal_thread_of(group.journal, 0, 0)->ended_ns, 0);
	for (uint32_t t = 0; t < 2; t++)
		atomic_store(&journal_thread_of(group.journal, 0, t)->entries, 0);
	assert_true(group_write_readings(&group, &readings, &err));
	reads(&readings, "write_count", 0);
	assert_int_equal(readings.count, 1);
	readings_finish(&readings);
	journal_unmap(group.journal);
	close(group.fd);
}

struct visitor {
	struct journal *journal;
	int rounds;
	_Atomic int *here;
};

static void *visit(void *argument)
{
	struct visitor *visitor = argument;

	for (int i = 1; i <= visitor->rounds; i++) {
		atomic_fetch_add(visitor->here, 1);
		journal_meet(visitor->journal);
		/* All that have not left were here before anybody goes on. */
		if (atomic_load(visitor->here) < 2 * i)
			return visitor;
	}
	journal_leave(visitor->journal);
	return NULL;
}

static void meetings(void **state)
{
	struct journal *journal;
	struct err err = {0};
	_Atomic int here = 0;
	pthread_t threads[3];
	int fd;

	(void)state;
	assert_true(journal_create(1, 3, 1, "", &journal, &fd, &err));
	struct visitor visitors[3];
	for (int i = 0; i < 3; i++) {
		/* The third one leaves early; the others still meet. */
		visitors[i] = (struct visitor){.journal = journal,
		                               .rounds = i < 2 ? 200 : 50,
		                               .here = &here};
		assert_int_equal(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		void *fault;

		pthread_join(threads[i], &fault);
		assert_null(fault);
	}
	assert_int_equal(here, 450);
	assert_int_equal(journal->meetings, 200);
	journal_unmap(journal);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(awaited_texts),
	        cmocka_unit_test(options_and_what_they_are_without),
	        cmocka_unit_test(options_that_are_wrong),
	        cmocka_unit_test(options_by_generator),
	        cmocka_unit_test(journals),
	        cmocka_unit_test(times_of_writes),
	        cmocka_unit_test(meetings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
