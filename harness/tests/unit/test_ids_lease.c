/* SPDX-License-Identifier: PostgreSQL */
/* Leased node numbers over a store in memory, on a clock moved by hand. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "ids/ids.h"
#include "ids/lease.h"

#define TTL_NS (2 * NS_PER_S)

/* One node number in a database, and the clock of everyone. */
struct store {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t clock_ns;
	uint64_t request_ns; /* passes between a request and its being granted */
	uint64_t reply_ns;   /* passes between the grant and the answer */
	uint64_t expires_ns;
	int64_t epoch;
	bool down;
	unsigned renewals;
	unsigned releases;
};

static void store_init(struct store *store)
{
	memset(store, 0, sizeof(*store));
	pthread_mutex_init(&store->lock, NULL);
	pthread_cond_init(&store->changed, NULL);
	store->clock_ns = 1000 * NS_PER_S;
}

static uint64_t store_now(void *context)
{
	struct store *store = context;

	pthread_mutex_lock(&store->lock);
	uint64_t now_ns = store->clock_ns;
	pthread_mutex_unlock(&store->lock);
	return now_ns;
}

static bool store_acquire(void *context, struct lease_grant *ret, struct err *err)
{
	struct store *store = context;
	bool ok = true;

	pthread_mutex_lock(&store->lock);
	store->clock_ns += store->request_ns;
	if (store->down)
		ok = err_set(err, ERR_ENVIRONMENT, "the store is down");
	else if (store->expires_ns > store->clock_ns)
		ok = err_set(err, ERR_ENVIRONMENT, "every node number is taken");
	else
		*ret = (struct lease_grant){.node = 4, .epoch = ++store->epoch, .ttl_ns = TTL_NS};
	if (ok)
		store->expires_ns = store->clock_ns + TTL_NS;
	store->clock_ns += store->reply_ns;
	pthread_mutex_unlock(&store->lock);
	return ok;
}

static bool store_renew(void *context, const struct lease_grant *grant, enum lease_answer *ret,
                        uint64_t *ret_ttl_ns, struct err *err)
{
	struct store *store = context;
	bool ok = true;

	pthread_mutex_lock(&store->lock);
	store->clock_ns += store->request_ns;
	if (store->down) {
		ok = err_set(err, ERR_ENVIRONMENT, "the store is down");
	} else if (grant->epoch != store->epoch) {
		*ret = LEASE_LOST;
	} else {
		*ret = LEASE_RENEWED;
		*ret_ttl_ns = TTL_NS;
		store->expires_ns = store->clock_ns + TTL_NS;
	}
	store->clock_ns += store->reply_ns;
	store->renewals++;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->lock);
	return ok;
}

static bool store_release(void *context, const struct lease_grant *grant, struct err *err)
{
	struct store *store = context;

	(void)err;
	pthread_mutex_lock(&store->lock);
	if (grant->epoch == store->epoch)
		store->expires_ns = 0;
	store->releases++;
	pthread_mutex_unlock(&store->lock);
	return true;
}

static struct lease *make(struct store *store, uint64_t margin_ns)
{
	struct lease *lease = NULL;
	struct err err;
	struct lease_options options = {
	        .acquire = store_acquire,
	        .renew = store_renew,
	        .release = store_release,
	        .context = store,
	        .margin_ns = margin_ns,
	        .now_ns = store_now,
	        .now_context = store,
	};

	if (!lease_create(&options, &lease, &err))
		fail_msg("%s", err.message);
	return lease;
}

static void assert_held(struct lease *lease, int64_t expected_epoch)
{
	int64_t node;
	int64_t epoch;
	struct err err;

	if (!lease_hold(lease, &node, &epoch, &err))
		fail_msg("%s", err.message);
	assert_int_equal(node, 4);
	assert_int_equal(epoch, expected_epoch);
}

static void assert_refused(struct lease *lease, const char *why)
{
	int64_t node = -1;
	struct err err;

	assert_false(lease_hold(lease, &node, NULL, &err));
	assert_int_equal(node, -1);
	if (!strstr(err.message, why))
		fail_msg("\"%s\" is not in \"%s\"", why, err.message);
}

/* Held to the last nanosecond of the term, and no longer. */
static void ends_at_its_deadline(void **state)
{
	(void)state;
	struct store store;
	struct err err;

	store_init(&store);
	struct lease *lease = make(&store, 0);
	assert_refused(lease, "no node number is held");
	assert_true(lease_acquire(lease, &err));
	assert_held(lease, 1);
	assert_false(lease_acquire(lease, &err));
	store.clock_ns += TTL_NS - 1;
	assert_held(lease, 1);
	store.clock_ns += 1;
	assert_refused(lease, "node 4 (epoch 1) ran out 0 ms ago");
	store.clock_ns += 3 * NS_PER_MS;
	assert_refused(lease, "ran out 3 ms ago");
	assert_true(lease_acquire(lease, &err));
	assert_held(lease, 2);
	struct lease_counts counts = lease_counts(lease);
	assert_int_equal(counts.attempted, 6);
	assert_int_equal(counts.issued, 3);
	assert_int_equal(counts.refused, 3);
	assert_int_equal(counts.acquired, 2);
	lease_destroy(lease);
	assert_int_equal(store.releases, 1);
}

/*
 * A slow request or a slow answer never makes our term end after the store's:
 * the deadline counts from before the request went out.
 */
static void deadline_is_never_late(void **state)
{
	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct store store;
		struct err err;

		store_init(&store);
		*(slow ? &store.reply_ns : &store.request_ns) = 700 * NS_PER_MS;
		struct lease *lease = make(&store, 100 * NS_PER_MS);
		uint64_t asked_ns = store.clock_ns;
		assert_true(lease_acquire(lease, &err));
		for (int i = 0; i < 5; i++) {
			/* The last moment we hold it is before the store lets it go. */
			store.clock_ns = asked_ns + TTL_NS - 100 * NS_PER_MS - 1;
			assert_held(lease, 1);
			assert_true(store.clock_ns + 100 * NS_PER_MS < store.expires_ns);
			store.clock_ns++;
			assert_refused(lease, "ran out");
			/* In the store it is still ours, so a renewal brings it back. */
			asked_ns = store.clock_ns;
			assert_true(lease_renew(lease, &err));
		}
		lease_destroy(lease);
	}
}

/* snowflake-pause: stopped past the lease; another takes the node; the first one mints nothing. */
static void paused_holder(void **state)
{
	(void)state;
	struct store store;
	struct id_generator *generator = NULL;
	struct id id;
	struct err err;

	store_init(&store);
	struct lease *first = make(&store, 0);
	struct lease *second = make(&store, 0);
	assert_true(lease_acquire(first, &err));
	struct id_options options = {.node_from = lease_node, .node_context = first};
	assert_true(id_generator_create(id_format_find("snowflake"), &options, &generator, &err));
	assert_true(id_generator_next(generator, &id, &err));

	assert_false(lease_acquire(second, &err));
	store.clock_ns += TTL_NS; /* SIGSTOP */
	assert_true(lease_acquire(second, &err));
	assert_held(second, 2);

	assert_false(id_generator_next(generator, &id, &err));
	assert_non_null(strstr(err.message, "snowflake: the lease on node 4 (epoch 1) ran out"));
	assert_int_equal(id_generator_counts(generator)->refused, 1);
	assert_false(lease_renew(first, &err));
	assert_non_null(strstr(err.message, "passed to another holder"));
	assert_refused(first, "no node number is held");
	assert_int_equal(lease_counts(first).lost, 1);
	id_generator_destroy(generator);
	lease_destroy(first);
	assert_held(second, 2);
	lease_destroy(second);
}

/* No answer changes nothing: the term that was granted runs on. */
static void store_outage(void **state)
{
	(void)state;
	struct store store;
	struct err err;

	store_init(&store);
	struct lease *lease = make(&store, 0);
	store.down = true;
	assert_false(lease_acquire(lease, &err));
	assert_false(lease_renew(lease, &err));
	store.down = false;
	assert_true(lease_acquire(lease, &err));
	store.down = true;
	store.clock_ns += TTL_NS / 2;
	assert_false(lease_renew(lease, &err));
	assert_held(lease, 1);
	store.clock_ns += TTL_NS / 2;
	assert_refused(lease, "ran out");
	assert_int_equal(lease_counts(lease).failures, 2);
	lease_destroy(lease);
}

/* The background thread renews, while others ask; on the machine's clock. */
static bool fast_acquire(void *context, struct lease_grant *ret, struct err *err)
{
	if (!store_acquire(context, ret, err))
		return false;
	ret->ttl_ns = 30 * NS_PER_MS;
	return true;
}

static bool fast_renew(void *context, const struct lease_grant *grant, enum lease_answer *ret,
                       uint64_t *ret_ttl_ns, struct err *err)
{
	bool ok = store_renew(context, grant, ret, ret_ttl_ns, err);

	*ret_ttl_ns = 30 * NS_PER_MS;
	return ok;
}

static void *keep_asking(void *argument)
{
	struct lease *lease = argument;
	int64_t node;
	struct err err;

	for (int i = 0; i < 2000; i++) {
		if (lease_hold(lease, &node, NULL, &err) && node != 4)
			return NULL;
	}
	return argument;
}

static void background_renewals(void **state)
{
	(void)state;
	struct store store;
	struct lease *lease = NULL;
	pthread_t threads[4];
	struct err err;

	store_init(&store);
	struct lease_options options = {.acquire = fast_acquire,
	                                .renew = fast_renew,
	                                .context = &store};
	assert_true(lease_create(&options, &lease, &err));
	assert_true(lease_start_renewals(lease, &err));
	assert_false(lease_start_renewals(lease, &err));
	assert_true(lease_acquire(lease, &err));
	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, keep_asking, lease), 0);
	pthread_mutex_lock(&store.lock);
	while (store.renewals < 5)
		pthread_cond_wait(&store.changed, &store.lock);
	store.epoch++; /* taken over: the next renewal learns of it, and there is none after it */
	pthread_mutex_unlock(&store.lock);
	for (size_t i = 0; i < COUNT_OF(threads); i++) {
		void *right;
		assert_int_equal(pthread_join(threads[i], &right), 0);
		assert_ptr_equal(right, lease);
	}
	uint64_t deadline_ns = deadline_after(20 * NS_PER_S);
	while (!lease_counts(lease).lost && !deadline_passed(deadline_ns))
		(void)keep_asking(lease);
	assert_refused(lease, "no node number is held");
	struct lease_counts counts = lease_counts(lease);
	assert_int_equal(counts.lost, 1);
	assert_true(counts.renewed >= 5);
	assert_int_equal(counts.attempted, counts.issued + counts.refused);
	lease_destroy(lease);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ends_at_its_deadline), cmocka_unit_test(deadline_is_never_late),
	        cmocka_unit_test(paused_holder),        cmocka_unit_test(store_outage),
	        cmocka_unit_test(background_renewals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
