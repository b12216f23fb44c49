/* SPDX-License-Identifier: PostgreSQL */
/*
 * UUIDs as 16 bytes and as text (RFC 9562, section 4), and uuidv7 minting
 * for the formats that are built on it. Pure functions unless said.
 */
#ifndef KEYLAB_IDS_UUID_H
#define KEYLAB_IDS_UUID_H

#include "base/base.h"
#include "base/err.h"
#include "ids/id_clock.h"

struct id;
struct id_generator;
struct id_options;
struct id_parts;

#define UUID_TEXT_BYTES 36

/* 8-4-4-4-12 lower-case hexadecimal digits and a NUL. */
void uuid_print(const unsigned char uuid[16], char text[UUID_TEXT_BYTES + 1]);
/* Exactly that form, in either case. */
bool uuid_parse(const char *text, size_t len, unsigned char ret[16], struct err *err) MUST_CHECK;

int uuid_version(const unsigned char uuid[16]);
/* True for the variant of RFC 9562 (bits 10). */
bool uuid_is_rfc(const unsigned char uuid[16]);
/* Writes version and variant over their six bits. */
void uuid_stamp(unsigned char uuid[16], int version);
/* Milliseconds since 1970 in a v7. */
int64_t uuid_v7_ms(const unsigned char uuid[16]);

/* The table's encode, decode and inspect for formats that print as uuids. */
void uuid_format_encode(const struct id *id, char *text);
bool uuid_format_decode(const char *text, size_t len, struct id *ret, struct err *err);
/* Parts of a v7, with a name for what rand_a holds. */
bool uuid_v7_inspect(const struct id *id, const char *rand_a_name, struct id_parts *ret,
                     struct err *err);

/* State and functions of RFC 9562 6.2 method 1; all zero at the start. */
struct uuid_v7_state {
	int64_t last_ms;    /* in the last id */
	int64_t reading_ms; /* of the clock, last time */
	uint32_t counter;   /* in the last id, 12 bits */
	bool started;
};
bool uuid_v7_next(struct id_generator *generator, struct uuid_v7_state *state, struct id *ret,
                  struct err *err) MUST_CHECK;
/* A v7 of that moment with 74 fresh random bits. */
bool uuid_v7_at(struct id_generator *generator, struct id_time time, struct id *ret,
                struct err *err);

#endif
