/* SPDX-License-Identifier: PostgreSQL */
/* Generators against the clock: frozen, stepped back, exhausted; and across fork(2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "ids/ids.h"
#include "ids/snowflake.h"
#include "ids/uuid.h"

#define SOME_MS INT64_C(1759708800000)

static struct id_generator *make(const char *name, struct id_options options)
{
	struct id_generator *generator = NULL;
	struct err err;

	if (!id_generator_create(id_format_find(name), &options, &generator, &err))
		fail_msg("%s", err.message);
	return generator;
}

static struct id must_next(struct id_generator *generator)
{
	struct id id;
	struct err err;

	if (!id_generator_next(generator, &id, &err))
		fail_msg("%s", err.message);
	return id;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* How many of the numbers are repeats of another. Sorts them. */
static size_t duplicates(int64_t *numbers, size_t count)
{
	size_t found = 0;

	qsort(numbers, count, sizeof(*numbers), by_value);
	for (size_t i = 1; i < count; i++)
		found += numbers[i] == numbers[i - 1];
	return found;
}

/* v7-same-ms: a million by the machine's clock strictly increase. */
static void v7_strictly_increases(void **state)
{
	(void)state;
	static const char *const names[] = {"uuidv7", "uuidv7-sub", "ulid"};

	for (size_t k = 0; k < COUNT_OF(names); k++) {
		struct id_generator *generator = make(names[k], (struct id_options){0});
		struct id before = must_next(generator);
		size_t inversions = 0;

		for (int i = 1; i < 1000000; i++) {
			struct id id = must_next(generator);
			inversions += id_compare(&before, &id) >= 0;
			before = id;
		}
		assert_int_equal(inversions, 0);
		assert_int_equal(id_generator_counts(generator)->issued, 1000000);
		id_generator_destroy(generator);
	}
}

/* A frozen clock: between 2,049 and 4,096 ids to an embedded millisecond, then the next. */
static void v7_overflow_takes_the_next_ms(void **state)
{
	(void)state;
	struct id_manual_clock clock;
	struct id before = {.len = 16};
	int64_t ms = SOME_MS;
	unsigned in_ms = 0;

	id_manual_clock_init(&clock, SOME_MS, 0);
	struct id_generator *generator = make("uuidv7", (struct id_options){.clock = &clock.clock});
	for (int i = 0; i < 200000; i++) {
		struct id id = must_next(generator);

		assert_true(id_compare(&before, &id) < 0);
		before = id;
		if (uuid_v7_ms(id.bytes) != ms) {
			assert_int_equal(uuid_v7_ms(id.bytes), ms + 1);
			assert_in_range(in_ms, 2049, 4096);
			ms++;
			in_ms = 0;
		}
		in_ms++;
	}
	uint64_t overflows = id_generator_counts(generator)->overflows;
	assert_int_equal(overflows, ms - SOME_MS);
	assert_in_range(overflows, 200000 / 4096, 200000 / 2049);
	id_generator_destroy(generator);
}

/* v7-clock-back: 5,000 ms back; still increasing, time frozen, then it recovers. */
static void v7_clock_back(void **state)
{
	(void)state;
	struct id_manual_clock clock;
	struct id before = {.len = 16};

	id_manual_clock_init(&clock, SOME_MS, 0);
	struct id_generator *generator = make("uuidv7", (struct id_options){.clock = &clock.clock});
	for (int i = 0; i < 3000; i++) {
		if (i == 1000)
			id_manual_clock_step(&clock, -5000);
		if (i == 2000)
			id_manual_clock_step(&clock, 5100);
		struct id id = must_next(generator);
		int64_t ms = uuid_v7_ms(id.bytes);
		assert_true(id_compare(&before, &id) < 0);
		assert_int_equal(ms, i < 2000 ? SOME_MS : SOME_MS + 100);
		assert_int_equal(uuid_version(id.bytes), 7);
		assert_true(uuid_is_rfc(id.bytes));
		before = id;
	}
	assert_int_equal(id_generator_counts(generator)->back_steps, 1);
	id_generator_destroy(generator);
}

/* Method 3: the fraction is in rand_a, and a frozen clock moves it by 245 ns an id. */
static void v7_sub_millisecond(void **state)
{
	(void)state;
	struct id_manual_clock clock;
	struct id before = {.len = 16};

	id_manual_clock_init(&clock, SOME_MS, 0);
	clock.time.sub_ns = 500000;
	struct id_generator *generator =
	        make("uuidv7-sub", (struct id_options){.clock = &clock.clock});
	for (uint64_t i = 0; i < 10000; i++) {
		struct id id = must_next(generator);
		uint64_t ns = 500000 + 245 * i;

		assert_true(id_compare(&before, &id) < 0);
		assert_int_equal(uuid_v7_ms(id.bytes), SOME_MS + (int64_t)(ns / 1000000));
		assert_int_equal((id.bytes[6] & 15) << 8 | id.bytes[7],
		                 ns % 1000000 * 4096 / 1000000);
		before = id;
		if (i == 5000)
			id_manual_clock_step(&clock, -5000);
	}
	assert_int_equal(id_generator_counts(generator)->back_steps, 1);
	id_generator_destroy(generator);
}

static void v7_time_must_fit(void **state)
{
	(void)state;
	struct id_generator *generator = make("uuidv7", (struct id_options){0});
	struct id id;
	struct err err;

	assert_true(id_generator_at(generator, (INT64_C(1) << 48) - 1, &id, &err));
	assert_int_equal(uuid_v7_ms(id.bytes), (INT64_C(1) << 48) - 1);
	assert_false(id_generator_at(generator, INT64_C(1) << 48, &id, &err));
	assert_false(id_generator_at(generator, -1, &id, &err));
	assert_int_equal(id_generator_counts(generator)->refused, 2);
	id_generator_destroy(generator);
}

/* snowflake-clock-back: 20 ms back waits once, 200 distinct; 5,000 ms back refuses. */
static void snowflake_clock_back(void **state)
{
	(void)state;
	struct id_manual_clock clock;
	int64_t numbers[200];
	struct id id;
	struct err err;

	id_manual_clock_init(&clock, SOME_MS, 5);
	struct id_generator *generator =
	        make("snowflake", (struct id_options){.clock = &clock.clock, .node = 5});
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (i == 100)
			id_manual_clock_step(&clock, -20);
		id = must_next(generator);
		numbers[i] = id_int64(&id);
		assert_true(i == 0 || numbers[i] > numbers[i - 1]);
	}
	assert_int_equal(duplicates(numbers, COUNT_OF(numbers)), 0);
	assert_int_equal(id_generator_counts(generator)->waits, 1);
	assert_int_equal(clock.waits, 1);

	id_manual_clock_step(&clock, -5000);
	assert_false(id_generator_next(generator, &id, &err));
	assert_non_null(strstr(err.message, "went back by"));
	const struct id_counts *counts = id_generator_counts(generator);
	assert_int_equal(counts->attempted, 201);
	assert_int_equal(counts->issued, 200);
	assert_int_equal(counts->refused, 1);
	assert_int_equal(counts->cut_off, 0);
	assert_int_equal(counts->back_steps, 2);
	id_generator_destroy(generator);
}

/* snowflake-naive: 5 ids a millisecond, 20 ms back after 300: 100 repeats in 600. */
static void snowflake_naive_repeats(void **state)
{
	(void)state;
	static const char *const names[] = {"snowflake-naive", "snowflake"};

	for (size_t k = 0; k < COUNT_OF(names); k++) {
		struct id_manual_clock clock;
		int64_t numbers[600];

		id_manual_clock_init(&clock, SOME_MS, 5);
		struct id_generator *generator =
		        make(names[k], (struct id_options){.clock = &clock.clock});
		for (size_t i = 0; i < COUNT_OF(numbers); i++) {
			if (i == 300)
				id_manual_clock_step(&clock, -20);
			struct id id = must_next(generator);
			numbers[i] = id_int64(&id);
		}
		assert_int_equal(duplicates(numbers, COUNT_OF(numbers)), k == 0 ? 100 : 0);
		id_generator_destroy(generator);
	}
}

/* snowflake-exhaustion: 10,000 ids at a frozen clock wait for the next millisecond twice. */
static void snowflake_exhaustion(void **state)
{
	(void)state;
	struct id_manual_clock clock;
	int64_t numbers[10000];

	id_manual_clock_init(&clock, SOME_MS, 0);
	struct id_generator *generator =
	        make("snowflake", (struct id_options){.clock = &clock.clock});
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		struct id id = must_next(generator);
		numbers[i] = id_int64(&id);
		assert_true(i == 0 || numbers[i] > numbers[i - 1]);
	}
	assert_int_equal(duplicates(numbers, COUNT_OF(numbers)), 0);
	assert_int_equal(id_generator_counts(generator)->waits, 2);
	assert_int_equal(id_generator_counts(generator)->overflows, 2);
	id_generator_destroy(generator);
}

/* The same by the machine's clock: waits are real, and short. */
static void snowflake_real_clock(void **state)
{
	(void)state;
	static const char *const names[] = {"snowflake", "instagram"};

	for (size_t k = 0; k < COUNT_OF(names); k++) {
		struct id_generator *generator = make(names[k], (struct id_options){.node = 1});
		int64_t before = 0;

		for (int i = 0; i < 50000; i++) {
			struct id id = must_next(generator);
			assert_true(id_int64(&id) > before);
			before = id_int64(&id);
		}
		id_generator_destroy(generator);
	}
}

/* instagram-layout: 41, 13, 10 bits since 1314220021721; decode gives the parts back. */
static void layouts(void **state)
{
	(void)state;
	struct err err;
	struct id_parts parts;
	int64_t number;

	/* The worked example of the published article: shard 1341, sequence 5001 mod 1024. */
	assert_true(snowflake_compose(&snowflake_instagram, 0, INT64_C(1387263000), 1341,
	                              5001 % 1024, &number, &err));
	assert_int_equal(number, INT64_C(1387263000) << 23 | 1341 << 10 | 5001 % 1024);

	assert_true(snowflake_compose(&snowflake_instagram, snowflake_instagram.epoch_ms, SOME_MS,
	                              8191, 1023, &number, &err));
	struct id id = id_from_int64(number);
	assert_true(id_inspect(id_format_find("instagram"), NULL, &id, &parts, &err));
	assert_int_equal(id_parts_find(&parts, "time_ms")->number, SOME_MS);
	assert_int_equal(id_parts_find(&parts, "shard")->number, 8191);
	assert_int_equal(id_parts_find(&parts, "sequence")->number, 1023);

	const struct snowflake_layout *twitter = &snowflake_twitter;
	assert_false(snowflake_compose(twitter, 0, SOME_MS, 1024, 0, &number, &err));
	assert_non_null(strstr(err.message, "node 1024 does not fit 10 bits"));
	assert_false(snowflake_compose(twitter, 0, SOME_MS, -1, 0, &number, &err));
	assert_false(snowflake_compose(twitter, 0, SOME_MS, 0, 4096, &number, &err));
	assert_false(snowflake_compose(twitter, SOME_MS, SOME_MS - 1, 0, 0, &number, &err));
	assert_true(
	        snowflake_compose(twitter, 0, (INT64_C(1) << 41) - 1, 1023, 4095, &number, &err));
	assert_int_equal(number, INT64_MAX);
	assert_false(snowflake_compose(twitter, 0, INT64_C(1) << 41, 0, 0, &number, &err));
	assert_false(
	        snowflake_compose(&snowflake_instagram, 0, INT64_C(1) << 40, 0, 0, &number, &err));
	assert_false(id_decode(id_format_find("snowflake"), NULL, "-1", 2, &parts, &err));

	/* An epoch of one's own. */
	struct id_options options = {.node = 3, .has_epoch = true, .epoch_ms = SOME_MS - 10};
	struct id_generator *generator = make("snowflake", options);
	assert_true(id_generator_at(generator, SOME_MS, &id, &err));
	assert_int_equal(id_int64(&id), 10 << 22 | 3 << 12);
	assert_true(id_inspect(id_format_find("snowflake"), &options, &id, &parts, &err));
	assert_int_equal(id_parts_find(&parts, "time_ms")->number, SOME_MS);
	id_generator_destroy(generator);

	generator = NULL;
	options.node = 1024;
	assert_false(id_generator_create(id_format_find("snowflake"), &options, &generator, &err));
	assert_null(generator);
}

/* Minting histories: one state with next, so that nothing repeats. */
static void snowflake_at(void **state)
{
	(void)state;
	struct id_generator *generator = make("snowflake", (struct id_options){0});
	int64_t numbers[4097];
	struct id id;
	struct err err;

	for (size_t i = 0; i < 4096; i++) {
		assert_true(id_generator_at(generator, SOME_MS, &id, &err));
		numbers[i] = id_int64(&id);
	}
	assert_false(id_generator_at(generator, SOME_MS, &id, &err));
	assert_non_null(strstr(err.message, "used up"));
	assert_true(id_generator_at(generator, SOME_MS + 1, &id, &err));
	numbers[4096] = id_int64(&id);
	assert_false(id_generator_at(generator, SOME_MS, &id, &err));
	assert_non_null(strstr(err.message, "only go forward"));
	assert_int_equal(duplicates(numbers, COUNT_OF(numbers)), 0);
	assert_int_equal(id_generator_counts(generator)->refused, 2);
	id_generator_destroy(generator);
}

/* A node number taken over: nothing from a millisecond that the last holder may have used. */
static void snowflake_takes_over(void **state)
{
	(void)state;
	struct id_manual_clock clock;
	struct id_parts parts;
	struct id id;
	struct err err;

	id_manual_clock_init(&clock, SOME_MS, 0);
	struct id_options options = {.clock = &clock.clock, .not_before_ms = SOME_MS};
	struct id_generator *generator = make("snowflake", options);
	id = must_next(generator);
	assert_true(id_inspect(id_format_find("snowflake"), NULL, &id, &parts, &err));
	assert_int_equal(id_parts_find(&parts, "time_ms")->number, SOME_MS + 1);
	assert_int_equal(id_generator_counts(generator)->waits, 1);
	id_generator_destroy(generator);

	options.not_before_ms = SOME_MS + 5000;
	generator = make("snowflake", options);
	assert_false(id_generator_next(generator, &id, &err));
	assert_int_equal(id_generator_counts(generator)->refused, 1);
	id_generator_destroy(generator);
}

static bool lease_says(void *context, int64_t *ret_node, struct err *err)
{
	int *left = context;

	if (!(*left)--)
		return err_set(err, ERR_SYSTEM, "the lease ran out");
	*ret_node = 9;
	return true;
}

/* The node is asked for before each id, and a refusal is an id refused. */
static void snowflake_asks_its_lease(void **state)
{
	(void)state;
	int left = 3;
	struct id_generator *generator =
	        make("snowflake",
	             (struct id_options){.node_from = lease_says, .node_context = &left});
	struct id_parts parts;
	struct id id;
	struct err err;

	for (int i = 0; i < 3; i++) {
		id = must_next(generator);
		assert_true(id_inspect(id_format_find("snowflake"), NULL, &id, &parts, &err));
		assert_int_equal(id_parts_find(&parts, "node")->number, 9);
	}
	assert_false(id_generator_next(generator, &id, &err));
	assert_string_equal(err.message, "snowflake: the lease ran out");
	assert_int_equal(id_generator_counts(generator)->refused, 1);
	id_generator_destroy(generator);
}

/* Parent and child of a fork share a full buffer, and still give different ids. */
static void fork_does_not_repeat(void **state)
{
	(void)state;
	int ends[2];
	struct id ids[2];
	int status;
	struct id_generator *generator = make("uuidv4", (struct id_options){0});

	must_next(generator);
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	ids[0] = must_next(generator);
	if (child == 0)
		_exit(write(ends[1], &ids[0], sizeof(ids[0])) == sizeof(ids[0]) ? 0 : 1);
	assert_int_equal(read(ends[0], &ids[1], sizeof(ids[1])), sizeof(ids[1]));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_not_equal(id_compare(&ids[0], &ids[1]), 0);
	close(ends[0]);
	close(ends[1]);
	id_generator_destroy(generator);
}

/* uuid-bits: 100,000 v4 and v7; none with a bad version or variant, all distinct. */
static int by_bytes(const void *a, const void *b)
{
	return id_compare(a, b);
}

static void uuid_bits(void **state)
{
	(void)state;
	enum { EACH = 100000 };
	static struct id ids[2 * EACH];
	struct id_generator *v4 = make("uuidv4", (struct id_options){0});
	struct id_generator *v7 = make("uuidv7", (struct id_options){0});
	size_t bad = 0;
	size_t same = 0;

	for (size_t i = 0; i < COUNT_OF(ids); i++) {
		ids[i] = must_next(i < EACH ? v4 : v7);
		bad += uuid_version(ids[i].bytes) != (i < EACH ? 4 : 7);
		bad += !uuid_is_rfc(ids[i].bytes);
	}
	qsort(ids, COUNT_OF(ids), sizeof(ids[0]), by_bytes);
	for (size_t i = 1; i < COUNT_OF(ids); i++)
		same += id_compare(&ids[i - 1], &ids[i]) == 0;
	assert_int_equal(bad, 0);
	assert_int_equal(same, 0);
	id_generator_destroy(v4);
	id_generator_destroy(v7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(v7_strictly_increases),
	        cmocka_unit_test(v7_overflow_takes_the_next_ms),
	        cmocka_unit_test(v7_clock_back),
	        cmocka_unit_test(v7_sub_millisecond),
	        cmocka_unit_test(v7_time_must_fit),
	        cmocka_unit_test(snowflake_clock_back),
	        cmocka_unit_test(snowflake_naive_repeats),
	        cmocka_unit_test(snowflake_exhaustion),
	        cmocka_unit_test(snowflake_real_clock),
	        cmocka_unit_test(layouts),
	        cmocka_unit_test(snowflake_at),
	        cmocka_unit_test(snowflake_takes_over),
	        cmocka_unit_test(snowflake_asks_its_lease),
	        cmocka_unit_test(fork_does_not_repeat),
	        cmocka_unit_test(uuid_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
