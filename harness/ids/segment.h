/* SPDX-License-Identifier: PostgreSQL */
/*
 * A segment allocator: numbers of one business tag, served from memory out of
 * ranges that a store hands out (document `id-service`).
 *
 * Two buffers: one is served, and when what is left of it falls to the
 * threshold a background thread fetches the other. Numbers go out strictly
 * increasing; without one, the caller gets a clear error and never an
 * invented number. A process that dies leaves the rest of its ranges as holes.
 *
 * All functions may be called from any thread, but create and destroy; the
 * allocator locks inside. fetch is only ever called from the allocator's own
 * thread, without the lock, so that its connection needs none either.
 */
#ifndef KEYLAB_IDS_SEGMENT_H
#define KEYLAB_IDS_SEGMENT_H

#include "base/base.h"
#include "base/err.h"

struct segment_range {
	int64_t first;
	int64_t last; /* inclusive, at or above first */
};

/*
 * Takes a range from the store for good: [max_id - step + 1, max_id] of one
 * atomic UPDATE … RETURNING. step is what the caller would like; 0 and what
 * the store gives are the store's choice. Ranges must ascend.
 */
typedef bool segment_fetch_fn(void *context, const char *tag, int64_t step,
                              struct segment_range *ret, struct err *err);

struct segment_options {
	const char *tag; /* copied */
	segment_fetch_fn *fetch;
	void *context;        /* borrowed; fetch's */
	int64_t step;         /* ids a range; 0: the store's own */
	unsigned low_percent; /* fetch ahead when at most this share of a range is left; 0: 20 */
	uint64_t wait_ns;     /* how long a caller waits for a fetch; 0: 10 s */
	uint64_t retry_ns;    /* pause after a failed fetch ahead; 0: 100 ms. Callers who wait
	                         for a number do not wait for this */
};

/*
 * attempted = issued + refused + cut_off: refused when the fetch that the
 * caller waited for failed, cut_off when it did not end in time or the
 * allocator stopped. allocated = issued + unused.
 */
struct segment_counts {
	uint64_t attempted;
	uint64_t issued;
	uint64_t refused;
	uint64_t cut_off;
	uint64_t waits;         /* attempts that found no number in memory */
	uint64_t fetches;       /* ranges received */
	uint64_t fetches_ahead; /* of those, asked for while numbers were left */
	uint64_t fetch_failures;
	uint64_t allocated; /* ids in all ranges received */
	uint64_t unused;    /* of those, still in memory */
};

struct segment_allocator;

/* Starts the thread; fetches nothing yet. */
bool segment_create(const struct segment_options *options, struct segment_allocator **ret,
                    struct err *err) MUST_CHECK;
/* Stops, waits for a fetch under way, frees. No caller may be inside. */
void segment_destroy(struct segment_allocator *segment);
/* Refuses from now on and wakes whoever waits; for a shutdown with callers inside. */
void segment_stop(struct segment_allocator *segment);

/* The next number. */
bool segment_next(struct segment_allocator *segment, int64_t *ret, struct err *err) MUST_CHECK;
/* The same as an id_nextval_fn. */
bool segment_nextval(void *segment, int64_t *ret, struct err *err) MUST_CHECK;
/* Asks for ranges of another size from the next fetch on. */
void segment_set_step(struct segment_allocator *segment, int64_t step);
/* Waits until no fetch is wanted or under way; false when the deadline passes first. */
bool segment_settle(struct segment_allocator *segment, uint64_t deadline_ns);
struct segment_counts segment_counts(struct segment_allocator *segment);

#endif
