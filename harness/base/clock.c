/* SPDX-License-Identifier: PostgreSQL */
/* Monotonic durations, wall-clock labels, deadlines. */
#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

int64_t clock_wall_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

char *clock_text(int64_t wall_us, char text[CLOCK_TEXT_BYTES])
{
	int64_t micros = wall_us % 1000000;
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm utc;

	if (micros < 0) {
		micros += 1000000;
		seconds--;
	}
	gmtime_r(&seconds, &utc);
	size_t len = strftime(text, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + len, CLOCK_TEXT_BYTES - len, ".%06dZ", (int)micros);
	return text;
}

uint64_t deadline_after(uint64_t wait_ns)
{
	uint64_t now_ns = clock_now_ns();

	return wait_ns > CLOCK_NEVER - now_ns ? CLOCK_NEVER : now_ns + wait_ns;
}

bool deadline_passed(uint64_t deadline_ns)
{
	return deadline_ns != CLOCK_NEVER && clock_now_ns() >= deadline_ns;
}

int deadline_poll_ms(uint64_t deadline_ns, int max_ms)
{
	if (deadline_ns == CLOCK_NEVER)
		return max_ms;
	uint64_t now_ns = clock_now_ns();
	if (now_ns >= deadline_ns)
		return 0;
	/* Rounded up: waking just before the deadline would spin. */
	uint64_t left_ms = (deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
	if (max_ms >= 0 && left_ms > (uint64_t)max_ms)
		return max_ms;
	return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}
