/* SPDX-License-Identifier: PostgreSQL */
/* The machine's wall clock and a clock moved by hand. */
#include "ids/id_clock.h"

#include <inttypes.h>
#include <time.h>

static struct id_time system_now(struct id_clock *clock)
{
	struct timespec now;

	(void)clock;
	clock_gettime(CLOCK_REALTIME, &now);
	uint32_t ns = (uint32_t)now.tv_nsec;
	uint32_t ms = ns / (uint32_t)NS_PER_MS;
	return (struct id_time){
	        .ms = (int64_t)now.tv_sec * 1000 + ms,
	        .sub_ns = ns - ms * (uint32_t)NS_PER_MS,
	};
}

static bool too_far(int64_t now_ms, int64_t ms, int64_t limit_ms, struct err *err)
{
	if (ms - now_ms <= limit_ms)
		return false;
	err_set(err, ERR_SYSTEM,
	        "the clock is %" PRId64 " ms behind, more than the %" PRId64
	        " ms waited for at most",
	        ms - now_ms, limit_ms);
	return true;
}

static bool system_wait_past(struct id_clock *clock, int64_t ms, int64_t limit_ms, struct err *err)
{
	struct id_time now;

	/* Slept in what is left, not until an absolute time: the clock may be set meanwhile. */
	while ((now = system_now(clock)).ms <= ms) {
		if (too_far(now.ms, ms, limit_ms, err))
			return false;
		int64_t left_ns = (ms + 1 - now.ms) * (int64_t)NS_PER_MS - now.sub_ns;
		struct timespec left = {
		        .tv_sec = left_ns / (int64_t)NS_PER_S,
		        .tv_nsec = left_ns % (int64_t)NS_PER_S,
		};
		nanosleep(&left, NULL);
	}
	return true;
}

void id_clock_init_system(struct id_clock *clock)
{
	*clock = (struct id_clock){.now = system_now, .wait_past = system_wait_past};
}

static struct id_time manual_now(struct id_clock *clock)
{
	struct id_manual_clock *manual = (struct id_manual_clock *)clock;
	struct id_time now = manual->time;

	if (manual->readings_per_ms && ++manual->readings == manual->readings_per_ms) {
		manual->readings = 0;
		manual->time.ms++;
	}
	return now;
}

static bool manual_wait_past(struct id_clock *clock, int64_t ms, int64_t limit_ms, struct err *err)
{
	struct id_manual_clock *manual = (struct id_manual_clock *)clock;

	if (manual->time.ms > ms)
		return true;
	if (too_far(manual->time.ms, ms, limit_ms, err))
		return false;
	manual->waits++;
	manual->readings = 0;
	manual->time = (struct id_time){.ms = ms + 1};
	return true;
}

void id_manual_clock_init(struct id_manual_clock *manual, int64_t ms, uint32_t readings_per_ms)
{
	*manual = (struct id_manual_clock){
	        .clock = {.now = manual_now, .wait_past = manual_wait_past},
	        .time = {.ms = ms},
	        .readings_per_ms = readings_per_ms,
	};
}

void id_manual_clock_step(struct id_manual_clock *manual, int64_t delta_ms)
{
	manual->time.ms += delta_ms;
}
