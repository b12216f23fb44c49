/* SPDX-License-Identifier: PostgreSQL */
/*
 * ULID (github.com/ulid/spec), monotonic: within a millisecond, and while the
 * clock stands behind the last id, the 80 random bits are counted up by one;
 * when they overflow, minting fails until the clock goes on.
 */
#include <string.h>

#include "ids/base32.h"
#include "ids/format.h"

#define RANDOM_BYTES 10

struct ulid_state {
	int64_t last_ms; /* -1 before the first */
	int64_t reading_ms;
	unsigned char random[RANDOM_BYTES]; /* in the last id */
};

static bool ulid_create(struct id_generator *generator, struct err *err)
{
	struct ulid_state *state = (struct ulid_state *)generator->state;

	(void)err;
	state->last_ms = -1;
	state->reading_ms = INT64_MIN;
	return true;
}

static void compose(struct id *id, int64_t ms, const unsigned char random[RANDOM_BYTES])
{
	id->len = 16;
	id_put_be(id->bytes, (uint64_t)ms, 6);
	memcpy(id->bytes + 6, random, RANDOM_BYTES);
}

/* Counts up; false when every bit was set. */
static bool increment(unsigned char random[RANDOM_BYTES])
{
	for (int i = RANDOM_BYTES - 1; i >= 0; i--) {
		if (++random[i])
			return true;
	}
	return false;
}

static bool ulid_at(struct id_generator *generator, struct id_time time, struct id *ret,
                    struct err *err)
{
	unsigned char random[RANDOM_BYTES];

	if (!id_check_ms_48(time.ms, err) || !id_take(generator, random, sizeof(random), err))
		return false;
	compose(ret, time.ms, random);
	return true;
}

static bool ulid_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct ulid_state *state = (struct ulid_state *)generator->state;
	int64_t now_ms = generator->clock->now(generator->clock).ms;
	unsigned char random[RANDOM_BYTES];

	generator->counts.back_steps += now_ms < state->reading_ms;
	state->reading_ms = now_ms;
	if (now_ms > state->last_ms) {
		if (!id_check_ms_48(now_ms, err) ||
		    !id_take(generator, random, sizeof(random), err))
			return false;
		state->last_ms = now_ms;
	} else {
		if (!id_check_ms_48(state->last_ms, err))
			return false;
		memcpy(random, state->random, sizeof(random));
		if (!increment(random)) {
			generator->counts.overflows++;
			return err_set(err, ERR_SYSTEM,
			               "the random part overflows within one millisecond");
		}
	}
	memcpy(state->random, random, sizeof(random));
	compose(ret, state->last_ms, random);
	return true;
}

static void ulid_encode(const struct id *id, char *text)
{
	base32_encode(id->bytes, BASE32_UPPER, text);
}

static bool ulid_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	if (len != BASE32_TEXT_BYTES)
		return err_set(err, ERR_INPUT, "%zu characters, not 26", len);
	ret->len = 16;
	if (!base32_decode(text, BASE32_UPPER, ret->bytes))
		return err_set(err, ERR_INPUT,
		               "not Crockford's base32 of 128 bits (0-9 A-Z without I L O U, at "
		               "most 7ZZZ…)");
	return true;
}

static bool ulid_inspect(const struct id *id, const struct id_options *options,
                         struct id_parts *ret, struct err *err)
{
	(void)options;
	(void)err;
	id_parts_add_number(ret, "time_ms", (int64_t)id_get_be(id->bytes, 6));
	id_parts_add_hex(ret, "random", id->bytes + 6, RANDOM_BYTES);
	return true;
}

const struct id_format id_format_ulid = {
        .name = "ulid",
        .title = "ULID",
        .source = "ULID specification (github.com/ulid/spec)",
        .pg_type = "uuid",
        .coordination = "nobody",
        .stored_bytes = 16,
        .text_bytes = BASE32_TEXT_BYTES,
        .random_bits = 80,
        .sorts_by_time = true,
        .state_bytes = sizeof(struct ulid_state),
        .create = ulid_create,
        .next = ulid_next,
        .at = ulid_at,
        .encode = ulid_encode,
        .decode = ulid_decode,
        .inspect = ulid_inspect,
};
