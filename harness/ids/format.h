/* SPDX-License-Identifier: PostgreSQL */
/*
 * What the files of the formats share; nobody outside this room includes it.
 * A new format is a file that defines id_format_NAME and a line here.
 */
#ifndef KEYLAB_IDS_FORMAT_H
#define KEYLAB_IDS_FORMAT_H

#include <stdalign.h>

#include "ids/ids.h"

/* In the order in which they are listed to people. */
#define ID_FORMATS(X)                                                                              \
	X(bigint)                                                                                  \
	X(uuidv4)                                                                                  \
	X(uuidv7)                                                                                  \
	X(uuidv7_sub)                                                                              \
	X(uuidv7_text)                                                                             \
	X(ulid)                                                                                    \
	X(ksuid)                                                                                   \
	X(snowflake)                                                                               \
	X(snowflake_naive)                                                                         \
	X(instagram)                                                                               \
	X(nanoid)                                                                                  \
	X(typeid)                                                                                  \
	X(sequential_nextval)                                                                      \
	X(sequential_time)

#define X(name) extern const struct id_format id_format_##name;
ID_FORMATS(X)
#undef X

struct id_generator {
	const struct id_format *format;
	struct id_options options; /* prefix, clock and random point into this struct or outside */
	struct id_clock *clock;
	struct id_random *random;
	struct id_counts counts;
	/* Set by a format before it fails: the id was neither refused nor issued. */
	bool cut_off;
	char prefix[ID_PREFIX_MAX + 1];
	struct id_clock own_clock;
	struct id_random own_random;
	alignas(max_align_t) unsigned char state[]; /* format->state_bytes */
};

/* Largest unix time that fits 48 bits of milliseconds (year 10889). */
#define ID_MS_48_MAX ((INT64_C(1) << 48) - 1)

/* Random bytes for the generator; a failure counts as cut off. */
static inline bool MUST_CHECK id_take(struct id_generator *generator, void *ret, size_t len,
                                      struct err *err)
{
	if (id_random_take(generator->random, ret, len, err))
		return true;
	generator->cut_off = true;
	return false;
}

/* Big-endian numbers. */
static inline void id_put_be(unsigned char *bytes, uint64_t value, int count)
{
	for (int i = count - 1; i >= 0; i--, value >>= 8)
		bytes[i] = (unsigned char)value;
}

static inline uint64_t id_get_be(const unsigned char *bytes, int count)
{
	uint64_t value = 0;

	for (int i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

/* err when ms is below 0 or past 48 bits. */
bool id_check_ms_48(int64_t ms, struct err *err) MUST_CHECK;

/* The next number of options.nextval, else after *last, which is the generator's own. */
bool id_nextval(struct id_generator *generator, int64_t *last, int64_t *ret,
                struct err *err) MUST_CHECK;

/* Decimal: at most 20 characters and a NUL. */
void id_int64_print(int64_t number, char *text);
/* Digits only: no sign, no leading zeros, no blanks. */
bool id_int64_parse(const char *text, size_t len, int64_t *ret, struct err *err) MUST_CHECK;

/* Appending parts; a format never makes more than ID_PARTS_MAX. */
void id_parts_add_number(struct id_parts *parts, const char *name, int64_t number);
void id_parts_add_text(struct id_parts *parts, const char *name, const char *text);
/* Hexadecimal of at most 31 bytes. */
void id_parts_add_hex(struct id_parts *parts, const char *name, const void *bytes, size_t len);

#endif
