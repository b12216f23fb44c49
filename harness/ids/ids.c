/* SPDX-License-Identifier: PostgreSQL */
/* The table of formats, and generators over it. */
#include "ids/ids.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "ids/format.h"
#include "ids/typeid.h"

const struct id_format *const id_formats[] = {
#define X(name) &id_format_##name,
        ID_FORMATS(X)
#undef X
};
const size_t id_format_count = COUNT_OF(id_formats);

static const struct id_options default_options;

const struct id_format *id_format_find(const char *name)
{
	for (size_t i = 0; i < id_format_count; i++) {
		if (!strcmp(id_formats[i]->name, name))
			return id_formats[i];
	}
	return NULL;
}

const struct id_format *id_format_require(const char *name, struct err *err)
{
	const struct id_format *format = id_format_find(name);

	if (format)
		return format;
	struct buf names;
	buf_init(&names, 0);
	for (size_t i = 0; i < id_format_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", id_formats[i]->name);
	err_set(err, ERR_USAGE, "no id format \"%s\"; there are: %s", name, names.data);
	buf_finish(&names);
	return NULL;
}

static bool set_prefix(struct id_generator *generator, const char *prefix, struct err *err)
{
	if (!prefix || !*prefix)
		return true;
	if (!generator->format->has_prefix)
		return err_set(err, ERR_USAGE, "%s ids have no prefix", generator->format->name);
	size_t len = strlen(prefix);
	if (!typeid_check_prefix(prefix, len, err))
		return false;
	memcpy(generator->prefix, prefix, len + 1);
	return true;
}

bool id_generator_create(const struct id_format *format, const struct id_options *options,
                         struct id_generator **ret, struct err *err)
{
	CLEANUP(id_generator_destroy_p)
	struct id_generator *generator = calloc(1, sizeof(*generator) + format->state_bytes);

	if (!generator)
		return err_set(err, ERR_SYSTEM, "out of memory");
	generator->format = format;
	generator->options = options ? *options : default_options;
	if (!set_prefix(generator, generator->options.prefix, err))
		return false;
	generator->options.prefix = generator->prefix;

	id_clock_init_system(&generator->own_clock);
	generator->clock =
	        generator->options.clock ? generator->options.clock : &generator->own_clock;
	if (generator->options.has_seed)
		id_random_init_seeded(&generator->own_random, generator->options.seed);
	else
		id_random_init_system(&generator->own_random);
	generator->random =
	        generator->options.random ? generator->options.random : &generator->own_random;
	if (format->create && !format->create(generator, err))
		return err_within(err, "%s", format->name);

	*ret = generator;
	generator = NULL;
	return true;
}

void id_generator_destroy(struct id_generator *generator)
{
	if (!generator)
		return;
	id_random_finish(&generator->own_random);
	free(generator);
}

void id_generator_destroy_p(struct id_generator **generator)
{
	id_generator_destroy(*generator);
}

/* Books an attempt that has ended. */
static bool book(struct id_generator *generator, bool issued, struct err *err)
{
	struct id_counts *counts = &generator->counts;

	counts->attempted++;
	if (issued) {
		counts->issued++;
	} else {
		if (generator->cut_off)
			counts->cut_off++;
		else
			counts->refused++;
		generator->cut_off = false;
		err_within(err, "%s", generator->format->name);
	}
	assert(counts->attempted == counts->issued + counts->refused + counts->cut_off);
	return issued;
}

bool id_generator_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	return book(generator, generator->format->next(generator, ret, err), err);
}

bool id_generator_at(struct id_generator *generator, int64_t unix_ms, struct id *ret,
                     struct err *err)
{
	if (!generator->format->at) {
		err_set(err, ERR_USAGE, "such ids hold no time");
		return book(generator, false, err);
	}
	struct id_time time = {.ms = unix_ms};
	return book(generator, generator->format->at(generator, time, ret, err), err);
}

const struct id_counts *id_generator_counts(const struct id_generator *generator)
{
	return &generator->counts;
}

const struct id_format *id_generator_format(const struct id_generator *generator)
{
	return generator->format;
}

bool id_generator_print(const struct id_generator *generator, const struct id *id,
                        char text[ID_TEXT_BYTES], struct err *err)
{
	return id_print(generator->format, id, generator->prefix, text, err);
}

bool id_print(const struct id_format *format, const struct id *id, const char *prefix,
              char text[ID_TEXT_BYTES], struct err *err)
{
	if (id->len != format->stored_bytes)
		return err_set(err, ERR_INPUT, "%s: %u bytes, not %u", format->name, id->len,
		               format->stored_bytes);
	if (!prefix || !*prefix) {
		format->encode(id, text);
		return true;
	}
	if (!format->has_prefix)
		return err_set(err, ERR_USAGE, "%s ids have no prefix", format->name);
	size_t len = strlen(prefix);
	if (!typeid_check_prefix(prefix, len, err))
		return false;
	memcpy(text, prefix, len);
	text[len] = '_';
	format->encode(id, text + len + 1);
	return true;
}

bool id_parse(const struct id_format *format, const char *text, size_t len, struct id *ret,
              char ret_prefix[ID_PREFIX_MAX + 1], struct err *err)
{
	size_t prefix_len = 0;
	size_t suffix_at = 0;
	struct id id = {.len = 0};

	if (format->has_prefix && !typeid_split(text, len, &prefix_len, &suffix_at, err))
		return err_within(err, "%s", format->name);
	if (!format->decode(text + suffix_at, len - suffix_at, &id, err))
		return err_within(err, "%s", format->name);
	*ret = id;
	if (ret_prefix) {
		memcpy(ret_prefix, text, prefix_len);
		ret_prefix[prefix_len] = '\0';
	}
	return true;
}

bool id_inspect(const struct id_format *format, const struct id_options *options,
                const struct id *id, struct id_parts *ret, struct err *err)
{
	struct id_parts parts = {.count = 0};

	if (id->len != format->stored_bytes)
		return err_set(err, ERR_INPUT, "%s: %u bytes, not %u", format->name, id->len,
		               format->stored_bytes);
	if (!format->inspect(id, options ? options : &default_options, &parts, err))
		return err_within(err, "%s", format->name);
	*ret = parts;
	return true;
}

bool id_decode(const struct id_format *format, const struct id_options *options, const char *text,
               size_t len, struct id_parts *ret, struct err *err)
{
	struct id id;
	char prefix[ID_PREFIX_MAX + 1];
	struct id_parts inner;
	struct id_parts parts = {.count = 0};

	if (!id_parse(format, text, len, &id, prefix, err) ||
	    !id_inspect(format, options, &id, &inner, err))
		return false;
	if (*prefix)
		id_parts_add_text(&parts, "prefix", prefix);
	assert(parts.count + inner.count <= ID_PARTS_MAX);
	memcpy(parts.part + parts.count, inner.part, inner.count * sizeof(inner.part[0]));
	parts.count += inner.count;
	*ret = parts;
	return true;
}

const struct id_part *id_parts_find(const struct id_parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (!strcmp(parts->part[i].name, name))
			return &parts->part[i];
	}
	return NULL;
}

void id_parts_add_number(struct id_parts *parts, const char *name, int64_t number)
{
	assert(parts->count < ID_PARTS_MAX);
	struct id_part *part = &parts->part[parts->count++];

	*part = (struct id_part){.name = name, .kind = ID_PART_NUMBER, .number = number};
	snprintf(part->text, sizeof(part->text), "%" PRId64, number);
}

void id_parts_add_text(struct id_parts *parts, const char *name, const char *text)
{
	assert(parts->count < ID_PARTS_MAX);
	struct id_part *part = &parts->part[parts->count++];
	int len;

	*part = (struct id_part){.name = name, .kind = ID_PART_TEXT};
	len = snprintf(part->text, sizeof(part->text), "%s", text);
	assert(len < (int)sizeof(part->text));
	(void)len;
}

void id_parts_add_hex(struct id_parts *parts, const char *name, const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *at = bytes;
	char text[ID_PREFIX_MAX + 1];

	assert(2 * len < sizeof(text));
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[at[i] >> 4];
		text[2 * i + 1] = digits[at[i] & 15];
	}
	text[2 * len] = '\0';
	id_parts_add_text(parts, name, text);
}

bool id_check_ms_48(int64_t ms, struct err *err)
{
	if (ms >= 0 && ms <= ID_MS_48_MAX)
		return true;
	return err_set(err, ERR_INPUT, "time %" PRId64 " ms does not fit 48 bits", ms);
}

int64_t id_int64(const struct id *id)
{
	assert(id->len == 8);
	return (int64_t)id_get_be(id->bytes, 8);
}

struct id id_from_int64(int64_t number)
{
	struct id id = {.len = 8};

	id_put_be(id.bytes, (uint64_t)number, 8);
	return id;
}

int id_compare(const struct id *a, const struct id *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->bytes, b->bytes, len);

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

double id_collision_count(unsigned random_bits, double probability)
{
	return sqrt(ldexp(probability, (int)random_bits + 1));
}
