/* SPDX-License-Identifier: PostgreSQL */
/* Meter: time as the client sees it. */
#include "base/clock.h"
#include "pg/meter.h"

bool meter_clock_before(struct conn *control, struct meter_state *state, struct err *err)
{
	(void)control;
	(void)err;
	state->started_ns = clock_now_ns();
	return true;
}

bool meter_clock_after(struct conn *control, struct meter_state *state, struct readings *ret,
                       struct err *err)
{
	(void)control;
	return readings_add_int(ret, "elapsed_ns", "timing",
	                        (int64_t)(clock_now_ns() - state->started_ns), err);
}
