/* SPDX-License-Identifier: PostgreSQL */
/*
 * Positional digits for byte strings read as one big number: Crockford's
 * base32 for 16 bytes (ULID, TypeID) and base62 for 20 (KSUID). Strict: one
 * text for each number, nothing skipped, no look-alikes. Pure functions.
 */
#ifndef KEYLAB_IDS_BASE32_H
#define KEYLAB_IDS_BASE32_H

#include "base/base.h"

#define BASE32_TEXT_BYTES 26
#define BASE62_TEXT_BYTES 27

enum base32_case {
	BASE32_LOWER, /* writes and reads lower case only (TypeID) */
	BASE32_UPPER, /* writes upper case, reads both (ULID) */
};

/* 26 digits and a NUL over 128 bits padded with two leading zero bits. */
void base32_encode(const unsigned char bytes[16], enum base32_case letters,
                   char text[BASE32_TEXT_BYTES + 1]);
/* false for any character outside the alphabet, or a number past 128 bits (first digit above 7). */
bool base32_decode(const char text[BASE32_TEXT_BYTES], enum base32_case letters,
                   unsigned char ret[16]);

/* 27 digits (0-9 A-Z a-z) and a NUL over 160 bits. */
void base62_encode(const unsigned char bytes[20], char text[BASE62_TEXT_BYTES + 1]);
/* false for any character outside the alphabet, or a number past 160 bits. */
bool base62_decode(const char text[BASE62_TEXT_BYTES], unsigned char ret[20]);

#endif
