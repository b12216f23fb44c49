/* SPDX-License-Identifier: PostgreSQL */
/*
 * One clock for durations (monotonic nanoseconds) and wall time for labels.
 * A deadline is a point on the monotonic clock; CLOCK_NEVER never comes.
 */
#ifndef KEYLAB_BASE_CLOCK_H
#define KEYLAB_BASE_CLOCK_H

#include "base/base.h"

#define CLOCK_NEVER UINT64_MAX
/* Room for "2026-10-06T12:34:56.123456Z" and its NUL. */
#define CLOCK_TEXT_BYTES 32

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_now_ns(void);
/* Microseconds since 1970, UTC. For labels only. */
int64_t clock_wall_us(void);
/* ISO 8601, UTC, microseconds. Returns text. */
char *clock_text(int64_t wall_us, char text[CLOCK_TEXT_BYTES]);

/* A deadline wait_ns from now, saturating at CLOCK_NEVER. */
uint64_t deadline_after(uint64_t wait_ns);
bool deadline_passed(uint64_t deadline_ns);
/* What is left, as poll(2) wants it: -1 for never, 0 when passed, at most max_ms. */
int deadline_poll_ms(uint64_t deadline_ns, int max_ms);

#endif
