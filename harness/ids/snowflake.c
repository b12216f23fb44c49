/* SPDX-License-Identifier: PostgreSQL */
/*
 * Snowflake ids: the checked generator, Instagram's layout, and the unchecked
 * negative control.
 *
 * The checked one waits when the clock is back by at most the limit, and
 * refuses when it is back by more; a millisecond whose sequence is used up is
 * waited out. Uniqueness between generators is the node number's business.
 */
#include "ids/snowflake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ids/format.h"

const struct snowflake_layout snowflake_twitter = {
        .node_name = "node",
        .epoch_ms = INT64_C(1288834974657),
        .time_bits = 41,
        .node_bits = 10,
        .sequence_bits = 12,
};

const struct snowflake_layout snowflake_instagram = {
        .node_name = "shard",
        .epoch_ms = INT64_C(1314220021721),
        .time_bits = 41,
        .node_bits = 13,
        .sequence_bits = 10,
};

struct snowflake_state {
	const struct snowflake_layout *layout;
	int64_t epoch_ms;
	int64_t back_limit_ms;
	int64_t last_ms; /* in the last id; INT64_MIN before the first */
	int64_t node;    /* in the last id */
	int64_t sequence;
};

static int64_t sequence_max(const struct snowflake_layout *layout)
{
	return (INT64_C(1) << layout->sequence_bits) - 1;
}

bool snowflake_compose(const struct snowflake_layout *layout, int64_t epoch_ms, int64_t unix_ms,
                       int64_t node, int64_t sequence, int64_t *ret, struct err *err)
{
	int low_bits = layout->node_bits + layout->sequence_bits;
	/* 64 bits of layout leave one time bit less than it says: bigint has a sign. */
	int time_bits = layout->time_bits < 63 - low_bits ? layout->time_bits : 63 - low_bits;
	int64_t time_ms;

	if (node < 0 || node >> layout->node_bits)
		return err_set(err, ERR_INPUT, "%s %" PRId64 " does not fit %u bits",
		               layout->node_name, node, layout->node_bits);
	if (sequence < 0 || sequence >> layout->sequence_bits)
		return err_set(err, ERR_INPUT, "sequence %" PRId64 " does not fit %u bits",
		               sequence, layout->sequence_bits);
	if (__builtin_sub_overflow(unix_ms, epoch_ms, &time_ms) || time_ms < 0)
		return err_set(err, ERR_INPUT,
		               "time %" PRId64 " ms is before the epoch, %" PRId64 " ms", unix_ms,
		               epoch_ms);
	if (time_ms >> time_bits)
		return err_set(err, ERR_INPUT,
		               "time %" PRId64 " ms after the epoch does not fit %d bits", time_ms,
		               time_bits);
	*ret = time_ms << low_bits | node << layout->sequence_bits | sequence;
	return true;
}

static bool create(struct id_generator *generator, const struct snowflake_layout *layout,
                   struct err *err)
{
	struct snowflake_state *state = (struct snowflake_state *)generator->state;
	const struct id_options *options = &generator->options;
	int64_t ignored;

	state->layout = layout;
	state->epoch_ms = options->has_epoch ? options->epoch_ms : layout->epoch_ms;
	state->back_limit_ms = options->back_limit_ms ? options->back_limit_ms : ID_BACK_LIMIT_MS;
	state->last_ms = options->not_before_ms ? options->not_before_ms : INT64_MIN;
	/* As if that millisecond had been used up by us. */
	state->sequence = sequence_max(layout);
	if (state->back_limit_ms < 0)
		return err_set(err, ERR_USAGE, "back limit %" PRId64 " ms is below 0",
		               state->back_limit_ms);
	/* Node out of range: said now, not at the first id. */
	return options->node_from || snowflake_compose(layout, state->epoch_ms, state->epoch_ms,
	                                               options->node, 0, &ignored, err);
}

static bool snowflake_create(struct id_generator *generator, struct err *err)
{
	return create(generator, &snowflake_twitter, err);
}

static bool instagram_create(struct id_generator *generator, struct err *err)
{
	return create(generator, &snowflake_instagram, err);
}

static bool current_node(struct id_generator *generator, int64_t *ret, struct err *err)
{
	if (generator->options.node_from)
		return generator->options.node_from(generator->options.node_context, ret, err);
	*ret = generator->options.node;
	return true;
}

/* Books the id of a millisecond that the caller has found right. */
static bool mint(struct id_generator *generator, int64_t ms, int64_t sequence, struct id *ret,
                 struct err *err)
{
	struct snowflake_state *state = (struct snowflake_state *)generator->state;
	int64_t number;
	int64_t node;

	/* Asked last: nothing that takes time may come between the lease's word and the id. */
	if (!current_node(generator, &node, err) ||
	    !snowflake_compose(state->layout, state->epoch_ms, ms, node, sequence, &number, err))
		return false;
	state->last_ms = ms;
	state->sequence = sequence;
	state->node = node;
	*ret = id_from_int64(number);
	return true;
}

static bool wait_past(struct id_generator *generator, int64_t ms, struct err *err)
{
	const struct snowflake_state *state = (const struct snowflake_state *)generator->state;

	generator->counts.waits++;
	/* One more: the millisecond that is used up itself. */
	if (generator->clock->wait_past(generator->clock, ms, state->back_limit_ms + 1, err))
		return true;
	generator->cut_off = true;
	return false;
}

static bool refuse_back(struct id_generator *generator, int64_t back_ms, struct err *err)
{
	const struct snowflake_state *state = (const struct snowflake_state *)generator->state;

	generator->counts.back_steps++;
	return err_set(err, ERR_SYSTEM,
	               "the clock went back by %" PRId64 " ms, more than the %" PRId64
	               " ms that are waited out: no id",
	               back_ms, state->back_limit_ms);
}

static bool checked_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct snowflake_state *state = (struct snowflake_state *)generator->state;
	struct id_clock *clock = generator->clock;

	for (;;) {
		int64_t now_ms = clock->now(clock).ms;

		if (now_ms > state->last_ms)
			return mint(generator, now_ms, 0, ret, err);
		if (now_ms < state->last_ms) {
			if (state->last_ms - now_ms > state->back_limit_ms)
				return refuse_back(generator, state->last_ms - now_ms, err);
			generator->counts.back_steps++;
			if (!wait_past(generator, state->last_ms - 1, err))
				return false;
			continue;
		}
		if (state->sequence < sequence_max(state->layout))
			return mint(generator, now_ms, state->sequence + 1, ret, err);
		generator->counts.overflows++;
		if (!wait_past(generator, state->last_ms, err))
			return false;
	}
}

static bool checked_at(struct id_generator *generator, struct id_time time, struct id *ret,
                       struct err *err)
{
	struct snowflake_state *state = (struct snowflake_state *)generator->state;

	if (time.ms > state->last_ms)
		return mint(generator, time.ms, 0, ret, err);
	if (time.ms < state->last_ms)
		return err_set(err, ERR_INPUT,
		               "time %" PRId64 " ms is before the last id's, %" PRId64
		               " ms: times may only go forward",
		               time.ms, state->last_ms);
	if (state->sequence < sequence_max(state->layout))
		return mint(generator, time.ms, state->sequence + 1, ret, err);
	generator->counts.overflows++;
	return err_set(err, ERR_INPUT, "all %" PRId64 " ids of time %" PRId64 " ms are used up",
	               sequence_max(state->layout) + 1, time.ms);
}

/* The mistake that the control shows: trusts the clock, and wraps when the sequence is used up. */
static bool naive_at(struct id_generator *generator, struct id_time time, struct id *ret,
                     struct err *err)
{
	struct snowflake_state *state = (struct snowflake_state *)generator->state;
	int64_t sequence = 0;

	if (time.ms == state->last_ms)
		sequence = (state->sequence + 1) & sequence_max(state->layout);
	return mint(generator, time.ms, sequence, ret, err);
}

static bool naive_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	return naive_at(generator, generator->clock->now(generator->clock), ret, err);
}

static void encode(const struct id *id, char *text)
{
	id_int64_print(id_int64(id), text);
}

static bool decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	int64_t number;

	if (!id_int64_parse(text, len, &number, err))
		return false;
	*ret = id_from_int64(number);
	return true;
}

static bool inspect(const struct snowflake_layout *layout, const struct id *id,
                    const struct id_options *options, struct id_parts *ret, struct err *err)
{
	int64_t epoch_ms = options->has_epoch ? options->epoch_ms : layout->epoch_ms;
	int64_t number = id_int64(id);
	int64_t time_ms;

	if (number < 0)
		return err_set(err, ERR_INPUT, "a negative number");
	int64_t since_ms = number >> (layout->node_bits + layout->sequence_bits);
	if (__builtin_add_overflow(since_ms, epoch_ms, &time_ms))
		return err_set(err, ERR_INPUT, "its time overflows");
	id_parts_add_number(ret, "time_ms", time_ms);
	id_parts_add_number(ret, layout->node_name,
	                    number >> layout->sequence_bits & ((1 << layout->node_bits) - 1));
	id_parts_add_number(ret, "sequence", number & sequence_max(layout));
	id_parts_add_number(ret, "since_epoch_ms", since_ms);
	return true;
}

static bool snowflake_inspect(const struct id *id, const struct id_options *options,
                              struct id_parts *ret, struct err *err)
{
	return inspect(&snowflake_twitter, id, options, ret, err);
}

static bool instagram_inspect(const struct id *id, const struct id_options *options,
                              struct id_parts *ret, struct err *err)
{
	return inspect(&snowflake_instagram, id, options, ret, err);
}

const struct id_format id_format_snowflake = {
        .name = "snowflake",
        .title = "Snowflake",
        .source = "Twitter, \"Announcing Snowflake\", 2010",
        .pg_type = "bigint",
        .coordination = "node numbers",
        .stored_bytes = 8,
        .text_bytes = 19,
        .sorts_by_time = true,
        .has_node = true,
        .state_bytes = sizeof(struct snowflake_state),
        .create = snowflake_create,
        .next = checked_next,
        .at = checked_at,
        .encode = encode,
        .decode = decode,
        .inspect = snowflake_inspect,
};

const struct id_format id_format_snowflake_naive = {
        .name = "snowflake-naive",
        .title = "Snowflake without a clock check",
        .source = "negative control",
        .pg_type = "bigint",
        .coordination = "node numbers, and clocks that never go back",
        .stored_bytes = 8,
        .text_bytes = 19,
        .sorts_by_time = true,
        .has_node = true,
        .unchecked = true,
        .state_bytes = sizeof(struct snowflake_state),
        .create = snowflake_create,
        .next = naive_next,
        .at = naive_at,
        .encode = encode,
        .decode = decode,
        .inspect = snowflake_inspect,
};

const struct id_format id_format_instagram = {
        .name = "instagram",
        .title = "Instagram's sharded id",
        .source = "Instagram Engineering, \"Sharding & IDs at Instagram\", 2012",
        .pg_type = "bigint",
        .coordination = "shard numbers",
        .stored_bytes = 8,
        .text_bytes = 19,
        .sorts_by_time = true,
        .has_node = true,
        .state_bytes = sizeof(struct snowflake_state),
        .create = instagram_create,
        .next = checked_next,
        .at = checked_at,
        .encode = encode,
        .decode = decode,
        .inspect = instagram_inspect,
};
