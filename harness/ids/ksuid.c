/* SPDX-License-Identifier: PostgreSQL */
/* KSUID (github.com/segmentio/ksuid): 32 bits of seconds since 1400000000, 128 random ones. */
#include <inttypes.h>
#include <string.h>

#include "ids/base32.h"
#include "ids/format.h"

#define EPOCH_S INT64_C(1400000000)
#define PAYLOAD_BYTES 16

static bool ksuid_at(struct id_generator *generator, struct id_time time, struct id *ret,
                     struct err *err)
{
	struct id id = {.len = 4 + PAYLOAD_BYTES};
	int64_t since_s = time.ms / 1000 - EPOCH_S;

	if (since_s < 0 || since_s > UINT32_MAX)
		return err_set(err, ERR_INPUT, "time %" PRId64 " ms is not in 2014 to 2150",
		               time.ms);
	id_put_be(id.bytes, (uint64_t)since_s, 4);
	if (!id_take(generator, id.bytes + 4, PAYLOAD_BYTES, err))
		return false;
	*ret = id;
	return true;
}

static bool ksuid_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	return ksuid_at(generator, generator->clock->now(generator->clock), ret, err);
}

static void ksuid_encode(const struct id *id, char *text)
{
	base62_encode(id->bytes, text);
}

static bool ksuid_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	if (len != BASE62_TEXT_BYTES)
		return err_set(err, ERR_INPUT, "%zu characters, not 27", len);
	ret->len = 4 + PAYLOAD_BYTES;
	if (!base62_decode(text, ret->bytes))
		return err_set(err, ERR_INPUT, "not base62 of 160 bits");
	return true;
}

static bool ksuid_inspect(const struct id *id, const struct id_options *options,
                          struct id_parts *ret, struct err *err)
{
	int64_t since_s = (int64_t)id_get_be(id->bytes, 4);

	(void)options;
	(void)err;
	id_parts_add_number(ret, "time_ms", (since_s + EPOCH_S) * 1000);
	id_parts_add_number(ret, "since_epoch_s", since_s);
	id_parts_add_hex(ret, "random", id->bytes + 4, PAYLOAD_BYTES);
	return true;
}

const struct id_format id_format_ksuid = {
        .name = "ksuid",
        .title = "KSUID",
        .source = "github.com/segmentio/ksuid",
        .pg_type = "bytea",
        .coordination = "nobody",
        .stored_bytes = 4 + PAYLOAD_BYTES,
        .text_bytes = BASE62_TEXT_BYTES,
        .random_bits = 128,
        .sorts_by_time = true, /* to the second */
        .next = ksuid_next,
        .at = ksuid_at,
        .encode = ksuid_encode,
        .decode = ksuid_decode,
        .inspect = ksuid_inspect,
};
