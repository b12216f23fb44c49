/* SPDX-License-Identifier: PostgreSQL */
/*
 * Where a generator reads the time: the machine's clock, or one that a test
 * or a scenario moves by hand (forward, back, or a millisecond every so many
 * readings).
 *
 * A clock belongs to one thread, like the generator that uses it.
 */
#ifndef KEYLAB_IDS_ID_CLOCK_H
#define KEYLAB_IDS_ID_CLOCK_H

#include "base/base.h"
#include "base/err.h"

struct id_time {
	int64_t ms;      /* milliseconds since 1970-01-01 UTC, no leap seconds */
	uint32_t sub_ns; /* nanoseconds within that millisecond, below 1,000,000 */
};

struct id_clock {
	struct id_time (*now)(struct id_clock *clock);
	/*
	 * Returns when the clock reads a millisecond above ms. false with err
	 * when that is further off than limit_ms, at the call or later.
	 */
	bool (*wait_past)(struct id_clock *clock, int64_t ms, int64_t limit_ms, struct err *err);
};

/* The machine's wall clock (CLOCK_REALTIME). */
void id_clock_init_system(struct id_clock *clock);

/* A clock that only its owner moves. */
struct id_manual_clock {
	struct id_clock clock; /* first, so that the one can be had from the other */
	struct id_time time;   /* what the next reading gives */
	/* After this many readings it goes on by 1 ms; 0: it stands still. */
	uint32_t readings_per_ms;
	uint32_t readings; /* since the last step */
	uint64_t waits;    /* calls of wait_past that had to wait */
};

/* Starts at ms. A wait moves the clock to the millisecond waited for. */
void id_manual_clock_init(struct id_manual_clock *manual, int64_t ms, uint32_t readings_per_ms);
/* Moves it by delta_ms, which may be negative. */
void id_manual_clock_step(struct id_manual_clock *manual, int64_t delta_ms);

#endif
