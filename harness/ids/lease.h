/* SPDX-License-Identifier: PostgreSQL */
/*
 * A leased node number: which process may mint Snowflake ids as node N, and
 * until when (document `id-service`).
 *
 * The holder keeps a deadline of its own, counted from before each request
 * went out, so that it ends no later than the lease in the store whatever the
 * request took. It uses CLOCK_BOOTTIME, which goes on while the process is
 * stopped and while the machine sleeps. Past the deadline lease_hold refuses.
 *
 * What this cannot close: a holder paused between lease_hold and the write
 * (only the store can, by refusing a stale epoch; lease_hold gives the epoch
 * to send along), and wall clocks that differ between one holder and the next
 * (id_options.not_before_ms is for that).
 *
 * All functions but create and destroy may be called from any thread; the
 * lease locks inside. acquire, renew and release are called one at a time,
 * without the lock that lease_hold takes.
 */
#ifndef KEYLAB_IDS_LEASE_H
#define KEYLAB_IDS_LEASE_H

#include "base/base.h"
#include "base/err.h"

struct lease_grant {
	int64_t node;
	int64_t epoch;   /* goes up each time the node number changes hands */
	uint64_t ttl_ns; /* from the moment the store granted it */
};

enum lease_answer {
	LEASE_RENEWED,
	LEASE_LOST, /* the store has it under another epoch, or not at all */
};

/* Takes any free or expired node number. */
typedef bool lease_acquire_fn(void *context, struct lease_grant *ret, struct err *err);
/* Prolongs the grant; fills *ret_ttl_ns when renewed. false with err: no answer. */
typedef bool lease_renew_fn(void *context, const struct lease_grant *grant, enum lease_answer *ret,
                            uint64_t *ret_ttl_ns, struct err *err);
/* Gives it back early. */
typedef bool lease_release_fn(void *context, const struct lease_grant *grant, struct err *err);

struct lease_options {
	lease_acquire_fn *acquire;
	lease_renew_fn *renew;
	lease_release_fn *release; /* NULL: leases end by expiry only */
	void *context;             /* borrowed; theirs */
	uint64_t margin_ns;        /* taken off each term, for clocks that run at unlike speeds */
	uint64_t (*now_ns)(void *context); /* NULL: CLOCK_BOOTTIME */
	void *now_context;
};

/*
 * attempted = issued + refused: of lease_hold. Nothing is cut off here, since
 * lease_hold never waits.
 */
struct lease_counts {
	uint64_t attempted;
	uint64_t issued;
	uint64_t refused;
	uint64_t acquired;
	uint64_t renewed;
	uint64_t lost;     /* the store said so */
	uint64_t failures; /* requests without an answer */
};

struct lease;

bool lease_create(const struct lease_options *options, struct lease **ret,
                  struct err *err) MUST_CHECK;
/* Ends renewals, releases if it can, frees. */
void lease_destroy(struct lease *lease);

/* Gets a node number. An error while one is held and in time. */
bool lease_acquire(struct lease *lease, struct err *err) MUST_CHECK;
/* Asks once for more time. The old term stays what it is when there is no answer. */
bool lease_renew(struct lease *lease, struct err *err) MUST_CHECK;
/* Renews in the background each time a third of a term has gone. At most once. */
bool lease_start_renewals(struct lease *lease, struct err *err) MUST_CHECK;

/* The grant, if it is held and its deadline has not passed; ret_epoch may be NULL. */
bool lease_hold(struct lease *lease, int64_t *ret_node, int64_t *ret_epoch,
                struct err *err) MUST_CHECK;
/* The same as an id_node_fn. */
bool lease_node(void *lease, int64_t *ret_node, struct err *err) MUST_CHECK;
struct lease_counts lease_counts(struct lease *lease);

#endif
