/* SPDX-License-Identifier: PostgreSQL */
/*
 * Block-wise uuids after the sequential_uuids extension
 * (github.com/tvondra/sequential-uuids): random uuids whose first bytes are
 * the number of a block, which goes on with a sequence or with time and wraps
 * round. They are stamped as version 4.
 */
#include <inttypes.h>

#include "ids/format.h"
#include "ids/uuid.h"

#define DEFAULT_BLOCK_COUNT 65536
#define DEFAULT_BLOCK_IDS 65536
#define DEFAULT_BLOCK_S 60
#define BLOCK_MAX INT32_MAX /* as the extension's parameters */

struct sequential_state {
	int64_t block_size;
	int64_t block_count;
	int64_t last_number; /* of its own counter */
};

static int64_t or_default(int64_t value, int64_t when_zero)
{
	return value ? value : when_zero;
}

/* Bytes that hold the numbers of count blocks. */
static int block_bytes(int64_t count)
{
	int bytes = 1;

	while (count > 256) {
		count = (count + 255) / 256;
		bytes++;
	}
	return bytes;
}

static bool check_block(const char *what, int64_t value, struct err *err)
{
	if (value >= 1 && value <= BLOCK_MAX)
		return true;
	return err_set(err, ERR_USAGE, "%s %" PRId64 " is not in 1 to %d", what, value, BLOCK_MAX);
}

static bool create(struct id_generator *generator, int64_t default_size, struct err *err)
{
	struct sequential_state *state = (struct sequential_state *)generator->state;

	state->block_size = or_default(generator->options.block_size, default_size);
	state->block_count = or_default(generator->options.block_count, DEFAULT_BLOCK_COUNT);
	return check_block("block size", state->block_size, err) &&
	       check_block("block count", state->block_count, err);
}

static bool nextval_create(struct id_generator *generator, struct err *err)
{
	return create(generator, DEFAULT_BLOCK_IDS, err);
}

static bool time_create(struct id_generator *generator, struct err *err)
{
	return create(generator, DEFAULT_BLOCK_S, err);
}

static bool mint(struct id_generator *generator, int64_t value, struct id *ret, struct err *err)
{
	const struct sequential_state *state = (const struct sequential_state *)generator->state;
	struct id id = {.len = 16};
	int64_t block;

	if (value < 0)
		return err_set(err, ERR_INPUT, "%" PRId64 " is in no block", value);
	if (!id_take(generator, id.bytes, 16, err))
		return false;
	block = value / state->block_size % state->block_count;
	id_put_be(id.bytes, (uint64_t)block, block_bytes(state->block_count));
	uuid_stamp(id.bytes, 4);
	*ret = id;
	return true;
}

static bool nextval_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct sequential_state *state = (struct sequential_state *)generator->state;
	int64_t number;

	if (!id_nextval(generator, &state->last_number, &number, err))
		return false;
	if (number < 1)
		return err_set(err, ERR_INPUT, "nextval gave %" PRId64, number);
	/* Sequences start at 1, blocks at 0. */
	return mint(generator, number - 1, ret, err);
}

static bool time_at(struct id_generator *generator, struct id_time time, struct id *ret,
                    struct err *err)
{
	return mint(generator, time.ms < 0 ? -1 : time.ms / 1000, ret, err);
}

static bool time_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	return time_at(generator, generator->clock->now(generator->clock), ret, err);
}

static bool sequential_inspect(const struct id *id, const struct id_options *options,
                               struct id_parts *ret, struct err *err)
{
	int64_t count = or_default(options->block_count, DEFAULT_BLOCK_COUNT);

	if (!check_block("block count", count, err))
		return false;
	int bytes = block_bytes(count);
	int64_t block = (int64_t)id_get_be(id->bytes, bytes);

	if (!uuid_is_rfc(id->bytes) || uuid_version(id->bytes) != 4)
		return err_set(err, ERR_INPUT, "not stamped as version 4 of RFC 9562");
	if (block >= count)
		return err_set(err, ERR_INPUT, "block %" PRId64 " of %" PRId64, block, count);
	id_parts_add_number(ret, "block", block);
	id_parts_add_number(ret, "version", 4);
	id_parts_add_number(ret, "variant", id->bytes[8] >> 6);
	id_parts_add_hex(ret, "random", id->bytes + bytes, 16 - (size_t)bytes);
	return true;
}

const struct id_format id_format_sequential_nextval = {
        .name = "sequential-nextval",
        .title = "sequential_uuids by sequence",
        .source = "github.com/tvondra/sequential-uuids",
        .pg_type = "uuid",
        .coordination = "one sequence, for the order only",
        .has_blocks = true,
        .stored_bytes = 16,
        .text_bytes = UUID_TEXT_BYTES,
        .random_bits = 106, /* with two bytes of block */
        .state_bytes = sizeof(struct sequential_state),
        .create = nextval_create,
        .next = nextval_next,
        .encode = uuid_format_encode,
        .decode = uuid_format_decode,
        .inspect = sequential_inspect,
};

const struct id_format id_format_sequential_time = {
        .name = "sequential-time",
        .title = "sequential_uuids by time",
        .source = "github.com/tvondra/sequential-uuids",
        .pg_type = "uuid",
        .coordination = "nobody",
        .has_blocks = true,
        .stored_bytes = 16,
        .text_bytes = UUID_TEXT_BYTES,
        .random_bits = 106, /* with two bytes of block */
        .state_bytes = sizeof(struct sequential_state),
        .create = time_create,
        .next = time_next,
        .at = time_at,
        .encode = uuid_format_encode,
        .decode = uuid_format_decode,
        .inspect = sequential_inspect,
};
