/* SPDX-License-Identifier: PostgreSQL */
/* The segment allocator over a store in memory: one thread, many, and outages. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "ids/ids.h"
#include "ids/segment.h"

#define SOON deadline_after(20 * NS_PER_S)

/* What id_segment is in a database; its lock is the atomic UPDATE. */
struct store {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t max_id;
	bool down;     /* answers with an error */
	bool hangs;    /* does not answer until it is false again */
	bool overlaps; /* a broken store: gives the same range again */
	size_t count;
	struct segment_range ranges[4096];
};

static void store_init(struct store *store)
{
	memset(store, 0, sizeof(*store));
	pthread_mutex_init(&store->lock, NULL);
	pthread_cond_init(&store->changed, NULL);
}

static void store_set(struct store *store, bool *flag, bool value)
{
	pthread_mutex_lock(&store->lock);
	*flag = value;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->lock);
}

static bool store_fetch(void *context, const char *tag, int64_t step, struct segment_range *ret,
                        struct err *err)
{
	struct store *store = context;
	bool ok = true;

	pthread_mutex_lock(&store->lock);
	while (store->hangs)
		pthread_cond_wait(&store->changed, &store->lock);
	if (store->down) {
		ok = err_set(err, ERR_ENVIRONMENT, "the store is down");
	} else if (strcmp(tag, "order") != 0) {
		ok = err_set(err, ERR_INPUT, "no such tag (02000)");
	} else if (store->overlaps && store->count) {
		*ret = store->ranges[0];
	} else {
		*ret = (struct segment_range){store->max_id + 1, store->max_id + step};
		store->max_id += step;
		assert_true(store->count < COUNT_OF(store->ranges));
		store->ranges[store->count++] = *ret;
	}
	pthread_mutex_unlock(&store->lock);
	return ok;
}

static struct segment_allocator *make(struct store *store, struct segment_options options)
{
	struct segment_allocator *segment = NULL;
	struct err err;

	options.tag = options.tag ? options.tag : "order";
	options.fetch = store_fetch;
	options.context = store;
	if (!segment_create(&options, &segment, &err))
		fail_msg("%s", err.message);
	return segment;
}

static int64_t must_next(struct segment_allocator *segment)
{
	int64_t number;
	struct err err;

	if (!segment_next(segment, &number, &err))
		fail_msg("%s", err.message);
	return number;
}

/* segment-step-change: 10 to 100 while running; 10, 10, 10, 100, 100; 4 ahead, 1 wait. */
static void step_changes_while_running(void **state)
{
	(void)state;
	static const int64_t lengths[] = {10, 10, 10, 100, 100};
	struct store store;

	store_init(&store);
	struct segment_allocator *segment = make(&store, (struct segment_options){.step = 10});
	for (int64_t n = 1; n <= 200; n++) {
		assert_int_equal(must_next(segment), n);
		assert_true(segment_settle(segment, SOON));
		if (n == 20)
			segment_set_step(segment, 100);
	}
	assert_int_equal(store.count, COUNT_OF(lengths));
	for (size_t i = 0; i < COUNT_OF(lengths); i++)
		assert_int_equal(store.ranges[i].last - store.ranges[i].first + 1, lengths[i]);
	struct segment_counts counts = segment_counts(segment);
	assert_int_equal(counts.fetches, 5);
	assert_int_equal(counts.fetches_ahead, 4);
	assert_int_equal(counts.waits, 1);
	assert_int_equal(counts.issued, 200);
	assert_int_equal(counts.allocated, 230);
	assert_int_equal(counts.unused, 30);
	segment_destroy(segment);
}

/* segment-unknown-tag: refused, with the store's reason. */
static void unknown_tag(void **state)
{
	(void)state;
	struct store store;
	struct err err;
	int64_t number = -5;

	store_init(&store);
	struct segment_allocator *segment =
	        make(&store, (struct segment_options){.tag = "nobody", .step = 10});
	assert_false(segment_next(segment, &number, &err));
	assert_int_equal(number, -5);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_string_equal(err.message, "segment \"nobody\": no number: no such tag (02000)");
	struct segment_counts counts = segment_counts(segment);
	assert_int_equal(counts.attempted, 1);
	assert_int_equal(counts.refused, 1);
	segment_destroy(segment);
}

/* segment-outage: what is in memory is served, then errors, then numbers above all before. */
static void outage(void **state)
{
	(void)state;
	struct store store;
	struct err err;
	int64_t number = 0;

	store_init(&store);
	/* No pause between attempts to fetch ahead, so that the outage is met at once. */
	struct segment_allocator *segment =
	        make(&store, (struct segment_options){.step = 500, .retry_ns = 1});
	for (int64_t n = 1; n <= 250; n++)
		assert_int_equal(must_next(segment), n);
	store_set(&store, &store.down, true);
	for (int64_t n = 251; n <= 500; n++)
		assert_int_equal(must_next(segment), n);
	for (int i = 0; i < 10; i++) {
		assert_false(segment_next(segment, &number, &err));
		assert_non_null(strstr(err.message, "no number: the store is down"));
	}
	assert_int_equal(number, 0);
	/* A fetch that the store granted while it died: never seen, a hole. */
	store.max_id += 1000;
	store_set(&store, &store.down, false);
	assert_int_equal(must_next(segment), 1501);
	assert_true(segment_settle(segment, SOON));
	struct segment_counts counts = segment_counts(segment);
	assert_int_equal(counts.attempted, 511);
	assert_int_equal(counts.issued, 501);
	assert_int_equal(counts.refused, 10);
	assert_true(counts.fetch_failures >= 10);
	segment_destroy(segment);
}

/* A store that does not answer cuts the caller off in time; the late range is used later. */
static void hanging_store(void **state)
{
	(void)state;
	struct store store;
	struct err err;
	int64_t number;

	store_init(&store);
	store.hangs = true;
	struct segment_allocator *segment =
	        make(&store, (struct segment_options){.step = 10, .wait_ns = 20 * NS_PER_MS});
	assert_false(segment_next(segment, &number, &err));
	assert_non_null(strstr(err.message, "not answered within 20 ms"));
	assert_false(segment_settle(segment, deadline_after(NS_PER_MS)));
	store_set(&store, &store.hangs, false);
	assert_true(segment_settle(segment, SOON));
	assert_int_equal(must_next(segment), 1);
	struct segment_counts counts = segment_counts(segment);
	assert_int_equal(counts.cut_off, 1);
	assert_int_equal(counts.attempted, 2);
	assert_int_equal(counts.fetches, 1);
	segment_destroy(segment);
}

static void *wait_for_number(void *segment)
{
	int64_t number;
	struct err err;

	return segment_next(segment, &number, &err) ? NULL : (void *)1;
}

/* Stopping wakes whoever waits, with an error. */
static void stop_wakes(void **state)
{
	(void)state;
	struct store store;
	pthread_t thread;
	void *refused;

	store_init(&store);
	store.hangs = true;
	struct segment_allocator *segment = make(&store, (struct segment_options){.step = 10});
	assert_int_equal(pthread_create(&thread, NULL, wait_for_number, segment), 0);
	segment_stop(segment);
	assert_int_equal(pthread_join(thread, &refused), 0);
	assert_ptr_equal(refused, (void *)1);
	store_set(&store, &store.hangs, false);
	assert_int_equal(segment_counts(segment).cut_off, 1);
	segment_destroy(segment);
}

/* A store that repeats itself is not believed. */
static void overlapping_store(void **state)
{
	(void)state;
	struct store store;
	struct err err;
	int64_t number;

	store_init(&store);
	store.overlaps = true;
	struct segment_allocator *segment = make(&store, (struct segment_options){.step = 10});
	for (int64_t n = 1; n <= 10; n++)
		assert_int_equal(must_next(segment), n);
	assert_false(segment_next(segment, &number, &err));
	assert_non_null(strstr(err.message, "1 to 10, not above 10"));
	segment_destroy(segment);
}

/* As the sequence behind a generator of the table. */
static void behind_a_generator(void **state)
{
	(void)state;
	struct store store;
	struct id_generator *generator = NULL;
	struct id id;

	store_init(&store);
	struct segment_allocator *segment = make(&store, (struct segment_options){.step = 10});
	struct id_options options = {.nextval = segment_nextval, .nextval_context = segment};
	assert_true(id_generator_create(id_format_find("bigint"), &options, &generator, NULL));
	for (int64_t n = 1; n <= 25; n++) {
		assert_true(id_generator_next(generator, &id, NULL));
		assert_int_equal(id_int64(&id), n);
	}
	id_generator_destroy(generator);
	segment_destroy(segment);
}

enum { THREADS = 4, PROCESSES = 4, EACH = 25000 };

struct worker {
	struct segment_allocator *segment;
	pthread_t thread;
	int64_t numbers[EACH];
	bool ok;
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->ok = true;
	for (int i = 0; i < EACH; i++)
		worker->ok &= segment_next(worker->segment, &worker->numbers[i], NULL);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * segment-unique, with allocators for processes: 4 x 4 threads, 400,000 ids.
 * Distinct, increasing in each thread, and allocated - issued = unused.
 */
static void threads_share(void **state)
{
	(void)state;
	static struct store store;
	static struct worker workers[PROCESSES * THREADS];
	static int64_t all[PROCESSES * THREADS * EACH];
	struct segment_allocator *segments[PROCESSES];
	struct segment_counts sum = {0};

	store_init(&store);
	for (int p = 0; p < PROCESSES; p++)
		segments[p] = make(&store, (struct segment_options){.step = 1000});
	for (int w = 0; w < PROCESSES * THREADS; w++) {
		workers[w].segment = segments[w / THREADS];
		assert_int_equal(pthread_create(&workers[w].thread, NULL, work, &workers[w]), 0);
	}
	for (int w = 0; w < PROCESSES * THREADS; w++) {
		assert_int_equal(pthread_join(workers[w].thread, NULL), 0);
		assert_true(workers[w].ok);
		for (int i = 1; i < EACH; i++)
			assert_true(workers[w].numbers[i] > workers[w].numbers[i - 1]);
		memcpy(all + w * EACH, workers[w].numbers, sizeof(workers[w].numbers));
	}
	qsort(all, COUNT_OF(all), sizeof(all[0]), by_value);
	for (size_t i = 1; i < COUNT_OF(all); i++)
		assert_true(all[i] != all[i - 1]);
	for (int p = 0; p < PROCESSES; p++) {
		assert_true(segment_settle(segments[p], SOON));
		struct segment_counts counts = segment_counts(segments[p]);
		sum.issued += counts.issued;
		sum.allocated += counts.allocated;
		sum.unused += counts.unused;
		sum.fetches += counts.fetches;
		segment_destroy(segments[p]);
	}
	assert_int_equal(sum.issued, COUNT_OF(all));
	assert_int_equal(sum.allocated, store.max_id);
	assert_int_equal(sum.fetches, store.count);
	assert_int_equal(sum.allocated - sum.issued, sum.unused);
}

static void bad_options(void **state)
{
	(void)state;
	struct segment_allocator *segment = NULL;
	struct err err;

	assert_false(segment_create(&(struct segment_options){.tag = "x"}, &segment, &err));
	assert_false(
	        segment_create(&(struct segment_options){.fetch = store_fetch}, &segment, &err));
	assert_false(segment_create(&(struct segment_options){.tag = "x",
	                                                      .fetch = store_fetch,
	                                                      .low_percent = 101},
	                            &segment, &err));
	assert_null(segment);
	segment_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(step_changes_while_running),
	        cmocka_unit_test(unknown_tag),
	        cmocka_unit_test(outage),
	        cmocka_unit_test(hanging_store),
	        cmocka_unit_test(stop_wakes),
	        cmocka_unit_test(overlapping_store),
	        cmocka_unit_test(behind_a_generator),
	        cmocka_unit_test(threads_share),
	        cmocka_unit_test(bad_options),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
