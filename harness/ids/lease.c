/* SPDX-License-Identifier: PostgreSQL */
/* A node number with a term, kept by renewals and given up at a local deadline. */
#include "ids/lease.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

struct lease {
	struct lease_options options;

	pthread_mutex_t requests; /* held over a callback; taken before lock */
	pthread_mutex_t lock;     /* guards all below */
	pthread_cond_t changed;   /* stopping, or a new term: for the renewing thread */
	struct lease_grant grant;
	bool held;            /* granted, and not lost; the deadline may have passed */
	uint64_t deadline_ns; /* of now_ns */
	bool renewing;        /* the thread runs */
	bool stopping;
	pthread_t thread;
	struct lease_counts counts;
};

static uint64_t boot_now_ns(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(const struct lease *lease)
{
	return lease->options.now_ns(lease->options.now_context);
}

/* When a term asked for at asked_ns ends for us. */
static uint64_t term_end_ns(const struct lease *lease, uint64_t asked_ns, uint64_t ttl_ns)
{
	uint64_t margin_ns = lease->options.margin_ns;

	return asked_ns + (ttl_ns > margin_ns ? ttl_ns - margin_ns : 0);
}

bool lease_create(const struct lease_options *options, struct lease **ret, struct err *err)
{
	pthread_condattr_t attributes;

	if (!options->acquire || !options->renew)
		return err_set(err, ERR_USAGE, "a lease needs acquire and renew");
	struct lease *lease = calloc(1, sizeof(*lease));
	if (!lease)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if ((errno = pthread_condattr_init(&attributes))) {
		free(lease);
		return err_errno(err, "pthread_condattr_init");
	}
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&lease->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&lease->requests, NULL);
	pthread_mutex_init(&lease->lock, NULL);
	lease->options = *options;
	if (!lease->options.now_ns)
		lease->options.now_ns = boot_now_ns;
	*ret = lease;
	return true;
}

void lease_destroy(struct lease *lease)
{
	struct err ignored;

	if (!lease)
		return;
	pthread_mutex_lock(&lease->lock);
	lease->stopping = true;
	pthread_cond_broadcast(&lease->changed);
	pthread_mutex_unlock(&lease->lock);
	if (lease->renewing)
		pthread_join(lease->thread, NULL);
	/* A release that fails costs a wait for the expiry, nothing else. */
	if (lease->held && lease->options.release)
		(void)lease->options.release(lease->options.context, &lease->grant, &ignored);
	pthread_cond_destroy(&lease->changed);
	pthread_mutex_destroy(&lease->lock);
	pthread_mutex_destroy(&lease->requests);
	free(lease);
}

static bool in_time(const struct lease *lease)
{
	return lease->held && now_ns(lease) < lease->deadline_ns;
}

/* With requests held: one acquire, and its term. */
static bool acquire_one(struct lease *lease, struct err *err)
{
	struct lease_grant grant;

	pthread_mutex_lock(&lease->lock);
	bool already = in_time(lease);
	int64_t node = lease->grant.node;
	pthread_mutex_unlock(&lease->lock);
	if (already)
		return err_set(err, ERR_INTERNAL, "node %" PRId64 " is held already", node);

	uint64_t asked_ns = now_ns(lease);
	bool ok = lease->options.acquire(lease->options.context, &grant, err);

	pthread_mutex_lock(&lease->lock);
	if (ok) {
		lease->grant = grant;
		lease->held = true;
		lease->deadline_ns = term_end_ns(lease, asked_ns, grant.ttl_ns);
		lease->counts.acquired++;
		pthread_cond_broadcast(&lease->changed);
	} else {
		lease->counts.failures++;
	}
	pthread_mutex_unlock(&lease->lock);
	return ok || err_within(err, "acquiring a node number");
}

bool lease_acquire(struct lease *lease, struct err *err)
{
	pthread_mutex_lock(&lease->requests);
	bool ok = acquire_one(lease, err);
	pthread_mutex_unlock(&lease->requests);
	return ok;
}

/* With requests held: one renewal of the grant, and what the store answered. */
static bool renew_one(struct lease *lease, struct err *err)
{
	enum lease_answer answer = LEASE_LOST;
	uint64_t ttl_ns = 0;

	pthread_mutex_lock(&lease->lock);
	struct lease_grant grant = lease->grant;
	bool held = lease->held;
	pthread_mutex_unlock(&lease->lock);
	if (!held)
		return err_set(err, ERR_SYSTEM, "no node number is held");

	uint64_t asked_ns = now_ns(lease);
	bool ok = lease->options.renew(lease->options.context, &grant, &answer, &ttl_ns, err);

	pthread_mutex_lock(&lease->lock);
	if (!ok) {
		lease->counts.failures++;
	} else if (answer == LEASE_LOST) {
		lease->held = false;
		lease->counts.lost++;
		ok = err_set(err, ERR_SYSTEM, "it has passed to another holder");
	} else {
		uint64_t end_ns = term_end_ns(lease, asked_ns, ttl_ns);

		if (end_ns > lease->deadline_ns)
			lease->deadline_ns = end_ns;
		lease->grant.ttl_ns = ttl_ns;
		lease->counts.renewed++;
	}
	pthread_cond_broadcast(&lease->changed);
	pthread_mutex_unlock(&lease->lock);
	return ok || err_within(err, "renewing node %" PRId64 ", epoch %" PRId64, grant.node,
	                        grant.epoch);
}

bool lease_renew(struct lease *lease, struct err *err)
{
	pthread_mutex_lock(&lease->requests);
	bool ok = renew_one(lease, err);
	pthread_mutex_unlock(&lease->requests);
	return ok;
}

/* Lock held: waits until a third of the term has gone or something changes. */
static void wait_until_due(struct lease *lease)
{
	uint64_t until_ns = deadline_after(lease->grant.ttl_ns / 3);
	struct timespec until = {
	        .tv_sec = (time_t)(until_ns / NS_PER_S),
	        .tv_nsec = (long)(until_ns % NS_PER_S),
	};

	if (!lease->held) {
		pthread_cond_wait(&lease->changed, &lease->lock);
		return;
	}
	while (!lease->stopping && lease->held && !deadline_passed(until_ns))
		pthread_cond_timedwait(&lease->changed, &lease->lock, &until);
}

static void *renew_thread(void *argument)
{
	struct lease *lease = argument;
	/* Failures are counted; the holder learns of them by its deadline. */
	struct err ignored;

	pthread_mutex_lock(&lease->lock);
	while (!lease->stopping) {
		wait_until_due(lease);
		if (lease->stopping || !lease->held)
			continue;
		pthread_mutex_unlock(&lease->lock);
		bool renewed = lease_renew(lease, &ignored);
		pthread_mutex_lock(&lease->lock);
		(void)renewed;
	}
	pthread_mutex_unlock(&lease->lock);
	return NULL;
}

bool lease_start_renewals(struct lease *lease, struct err *err)
{
	pthread_mutex_lock(&lease->lock);
	bool already = lease->renewing;
	lease->renewing = true;
	int failed = already ? 0 : pthread_create(&lease->thread, NULL, renew_thread, lease);
	if (failed)
		lease->renewing = false;
	pthread_mutex_unlock(&lease->lock);
	if (already)
		return err_set(err, ERR_INTERNAL, "renewals have been started already");
	errno = failed;
	return !failed || err_errno(err, "starting the renewals of a lease");
}

bool lease_hold(struct lease *lease, int64_t *ret_node, int64_t *ret_epoch, struct err *err)
{
	pthread_mutex_lock(&lease->lock);
	uint64_t at_ns = now_ns(lease);
	struct lease_grant grant = lease->grant;
	bool held = lease->held;
	bool ok = held && at_ns < lease->deadline_ns;
	uint64_t late_ns = ok ? 0 : at_ns - lease->deadline_ns;

	lease->counts.attempted++;
	lease->counts.issued += ok;
	lease->counts.refused += !ok;
	assert(lease->counts.attempted == lease->counts.issued + lease->counts.refused);
	pthread_mutex_unlock(&lease->lock);

	if (!held)
		return err_set(err, ERR_SYSTEM, "no node number is held");
	if (!ok)
		return err_set(err, ERR_SYSTEM,
		               "the lease on node %" PRId64 " (epoch %" PRId64 ") ran out %" PRIu64
		               " ms ago",
		               grant.node, grant.epoch, late_ns / NS_PER_MS);
	*ret_node = grant.node;
	if (ret_epoch)
		*ret_epoch = grant.epoch;
	return true;
}

bool lease_node(void *lease, int64_t *ret_node, struct err *err)
{
	return lease_hold(lease, ret_node, NULL, err);
}

struct lease_counts lease_counts(struct lease *lease)
{
	pthread_mutex_lock(&lease->lock);
	struct lease_counts counts = lease->counts;
	pthread_mutex_unlock(&lease->lock);
	return counts;
}
