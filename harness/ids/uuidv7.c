/* SPDX-License-Identifier: PostgreSQL */
/*
 * UUIDv7 two ways (RFC 9562, sections 5.7 and 6.2), and kept as text.
 *
 * uuidv7: method 1. rand_a is a 12-bit counter, seeded anew each millisecond
 * with 11 random bits below a zero, so that at least 2,049 ids fit in one;
 * a counter that overflows takes the next millisecond before the clock does,
 * and a clock that goes back leaves the last millisecond standing.
 *
 * uuidv7-sub: method 3. rand_a is the fraction of the millisecond in 1/4096,
 * and each id is at least one such step after the last: what PostgreSQL's
 * uuidv7() does (src/backend/utils/adt/uuid.c).
 */
#include <endian.h>
#include <string.h>

#include "ids/format.h"
#include "ids/uuid.h"

#define COUNTER_MAX 0xfffu
#define COUNTER_SEED_MAX 0x7ffu
#define RAND_A_STEPS 4096u
/* The shortest time that moves rand_a: a 4096th of a millisecond, rounded up. */
#define SUB_STEP_NS (1000000u / RAND_A_STEPS + 1)

static void compose(struct id *id, int64_t ms, uint32_t rand_a, const unsigned char rand_b[8])
{
	uint64_t high = htobe64((uint64_t)ms << 16 | 0x7000 | rand_a);

	id->len = 16;
	memcpy(id->bytes, &high, 8);
	memcpy(id->bytes + 8, rand_b, 8);
	id->bytes[8] = (unsigned char)((id->bytes[8] & 0x3f) | 0x80);
}

static bool seed_counter(struct id_generator *generator, uint32_t *ret, struct err *err)
{
	uint16_t seed;

	if (!id_take(generator, &seed, sizeof(seed), err))
		return false;
	*ret = seed & COUNTER_SEED_MAX;
	return true;
}

bool uuid_v7_next(struct id_generator *generator, struct uuid_v7_state *state, struct id *ret,
                  struct err *err)
{
	int64_t now_ms = generator->clock->now(generator->clock).ms;
	int64_t ms = state->last_ms;
	uint32_t counter = state->counter + 1;
	unsigned char rand_b[8];

	bool goes_on = !state->started || now_ms > ms;
	bool overflows = !goes_on && counter > COUNTER_MAX;
	if (goes_on || overflows) {
		ms = goes_on ? now_ms : ms + 1;
		if (!id_check_ms_48(ms, err) || !seed_counter(generator, &counter, err))
			return false;
	}
	if (!id_take(generator, rand_b, sizeof(rand_b), err))
		return false;
	/* Only now: a failure leaves the state as it was. */
	generator->counts.back_steps += state->started && now_ms < state->reading_ms;
	generator->counts.overflows += overflows;
	state->started = true;
	state->reading_ms = now_ms;
	state->last_ms = ms;
	state->counter = counter;
	compose(ret, ms, counter, rand_b);
	return true;
}

bool uuid_v7_at(struct id_generator *generator, struct id_time time, struct id *ret,
                struct err *err)
{
	unsigned char random[10];

	if (!id_check_ms_48(time.ms, err) || !id_take(generator, random, sizeof(random), err))
		return false;
	compose(ret, time.ms, (uint32_t)id_get_be(random + 8, 2) & COUNTER_MAX, random);
	return true;
}

static bool uuidv7_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	return uuid_v7_next(generator, (struct uuid_v7_state *)generator->state, ret, err);
}

bool uuid_v7_inspect(const struct id *id, const char *rand_a_name, struct id_parts *ret,
                     struct err *err)
{
	int version = uuid_version(id->bytes);

	if (!uuid_is_rfc(id->bytes))
		return err_set(err, ERR_INPUT, "not the variant of RFC 9562");
	if (version != 7)
		return err_set(err, ERR_INPUT, "version %d, not 7", version);
	id_parts_add_number(ret, "time_ms", uuid_v7_ms(id->bytes));
	id_parts_add_number(ret, "version", version);
	id_parts_add_number(ret, "variant", id->bytes[8] >> 6);
	id_parts_add_number(ret, rand_a_name, (int64_t)id_get_be(id->bytes + 6, 2) & 0xfff);
	id_parts_add_number(ret, "random",
	                    (int64_t)(id_get_be(id->bytes + 8, 8) & (UINT64_MAX >> 2)));
	return true;
}

static bool uuidv7_inspect(const struct id *id, const struct id_options *options,
                           struct id_parts *ret, struct err *err)
{
	(void)options;
	return uuid_v7_inspect(id, "counter", ret, err);
}

const struct id_format id_format_uuidv7 = {
        .name = "uuidv7",
        .title = "UUIDv7",
        .source = "RFC 9562, sections 5.7 and 6.2 (method 1)",
        .pg_type = "uuid",
        .coordination = "nobody",
        .stored_bytes = 16,
        .text_bytes = UUID_TEXT_BYTES,
        .random_bits = 62,
        .sorts_by_time = true,
        .state_bytes = sizeof(struct uuid_v7_state),
        .next = uuidv7_next,
        .at = uuid_v7_at,
        .encode = uuid_format_encode,
        .decode = uuid_format_decode,
        .inspect = uuidv7_inspect,
};

struct sub_state {
	struct id_time last; /* in the last id */
	struct id_time reading;
	bool started;
};

static bool earlier(struct id_time a, struct id_time b)
{
	return a.ms < b.ms || (a.ms == b.ms && a.sub_ns < b.sub_ns);
}

static bool uuidv7_sub_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct sub_state *state = (struct sub_state *)generator->state;
	struct id_time now = generator->clock->now(generator->clock);
	struct id_time least = state->last;
	struct id_time time = now;
	unsigned char rand_b[8];

	least.sub_ns += SUB_STEP_NS;
	if (least.sub_ns >= NS_PER_MS) {
		least.sub_ns -= (uint32_t)NS_PER_MS;
		least.ms++;
	}
	if (state->started && earlier(now, least))
		time = least;
	if (!id_check_ms_48(time.ms, err) || !id_take(generator, rand_b, sizeof(rand_b), err))
		return false;
	generator->counts.back_steps += state->started && earlier(now, state->reading);
	*state = (struct sub_state){.last = time, .reading = now, .started = true};
	compose(ret, time.ms, (uint32_t)((uint64_t)time.sub_ns * RAND_A_STEPS / NS_PER_MS), rand_b);
	return true;
}

static bool uuidv7_sub_at(struct id_generator *generator, struct id_time time, struct id *ret,
                          struct err *err)
{
	unsigned char rand_b[8];

	if (!id_check_ms_48(time.ms, err) || !id_take(generator, rand_b, sizeof(rand_b), err))
		return false;
	compose(ret, time.ms, (uint32_t)((uint64_t)time.sub_ns * RAND_A_STEPS / NS_PER_MS), rand_b);
	return true;
}

static bool uuidv7_sub_inspect(const struct id *id, const struct id_options *options,
                               struct id_parts *ret, struct err *err)
{
	(void)options;
	return uuid_v7_inspect(id, "fraction_4096", ret, err);
}

const struct id_format id_format_uuidv7_sub = {
        .name = "uuidv7-sub",
        .title = "UUIDv7 with sub-millisecond fraction",
        .source = "RFC 9562, sections 5.7 and 6.2 (method 3)",
        .pg_type = "uuid",
        .coordination = "nobody",
        .stored_bytes = 16,
        .text_bytes = UUID_TEXT_BYTES,
        .random_bits = 62,
        .sorts_by_time = true,
        .state_bytes = sizeof(struct sub_state),
        .next = uuidv7_sub_next,
        .at = uuidv7_sub_at,
        .encode = uuid_format_encode,
        .decode = uuid_format_decode,
        .inspect = uuidv7_sub_inspect,
};

/* The printed uuid as the stored value. */
static void as_text(const struct id *uuid, struct id *ret)
{
	char text[UUID_TEXT_BYTES + 1];

	uuid_print(uuid->bytes, text);
	ret->len = UUID_TEXT_BYTES;
	memcpy(ret->bytes, text, UUID_TEXT_BYTES);
}

static bool text_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct id uuid;

	if (!uuidv7_next(generator, &uuid, err))
		return false;
	as_text(&uuid, ret);
	return true;
}

static bool text_at(struct id_generator *generator, struct id_time time, struct id *ret,
                    struct err *err)
{
	struct id uuid;

	if (!uuid_v7_at(generator, time, &uuid, err))
		return false;
	as_text(&uuid, ret);
	return true;
}

static void text_encode(const struct id *id, char *text)
{
	memcpy(text, id->bytes, UUID_TEXT_BYTES);
	text[UUID_TEXT_BYTES] = '\0';
}

static bool text_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	struct id uuid;

	/* As text, another case is another key: only the canonical form is read. */
	if (!uuid_format_decode(text, len, &uuid, err))
		return false;
	as_text(&uuid, ret);
	if (memcmp(ret->bytes, text, UUID_TEXT_BYTES) != 0)
		return err_set(err, ERR_INPUT, "not in lower case");
	return true;
}

static bool text_inspect(const struct id *id, const struct id_options *options,
                         struct id_parts *ret, struct err *err)
{
	struct id uuid;

	(void)options;
	if (!uuid_format_decode((const char *)id->bytes, id->len, &uuid, err))
		return false;
	return uuid_v7_inspect(&uuid, "counter", ret, err);
}

const struct id_format id_format_uuidv7_text = {
        .name = "uuidv7-text",
        .title = "UUIDv7 as text",
        .source = "RFC 9562, section 4",
        .pg_type = "text",
        .coordination = "nobody",
        .stored_bytes = UUID_TEXT_BYTES,
        .text_bytes = UUID_TEXT_BYTES,
        .random_bits = 62,
        .sorts_by_time = true,
        .state_bytes = sizeof(struct uuid_v7_state),
        .next = text_next,
        .at = text_at,
        .encode = text_encode,
        .decode = text_decode,
        .inspect = text_inspect,
};
