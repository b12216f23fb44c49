/* SPDX-License-Identifier: PostgreSQL */
/* Crockford's base32 over 128 bits and base62 over 160. */
#include "ids/base32.h"

#include <string.h>

static const char lower[] = "0123456789abcdefghjkmnpqrstvwxyz";
static const char upper[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

void base32_encode(const unsigned char bytes[16], enum base32_case letters,
                   char text[BASE32_TEXT_BYTES + 1])
{
	const char *alphabet = letters == BASE32_LOWER ? lower : upper;
	unsigned pending = 0; /* bits read and not yet written, lowest last */
	int pending_bits = 2; /* the two zero bits in front */
	int at = 0;

	for (int i = 0; i < 16; i++) {
		pending = (pending << 8 | bytes[i]) & 0xffff;
		pending_bits += 8;
		while (pending_bits >= 5) {
			pending_bits -= 5;
			text[at++] = alphabet[pending >> pending_bits & 31];
		}
	}
	text[at] = '\0';
}

/* The digit's value, or -1. */
static int base32_value(char c, enum base32_case letters)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	const char *found = c ? strchr(lower + 10, c) : NULL;
	if (found)
		return (int)(found - lower);
	found = c && letters == BASE32_UPPER ? strchr(upper + 10, c) : NULL;
	return found ? (int)(found - upper) : -1;
}

bool base32_decode(const char text[BASE32_TEXT_BYTES], enum base32_case letters,
                   unsigned char ret[16])
{
	unsigned char bytes[16];
	unsigned pending = 0;
	int pending_bits = -2; /* the two zero bits in front are not stored */
	int at = 0;

	if (base32_value(text[0], letters) > 7)
		return false;
	for (int i = 0; i < BASE32_TEXT_BYTES; i++) {
		int value = base32_value(text[i], letters);

		if (value < 0)
			return false;
		pending = (pending << 5 | (unsigned)value) & 0xffff;
		pending_bits += 5;
		if (pending_bits >= 8) {
			pending_bits -= 8;
			bytes[at++] = (unsigned char)(pending >> pending_bits);
		}
	}
	memcpy(ret, bytes, sizeof(bytes));
	return true;
}

void base62_encode(const unsigned char bytes[20], char text[BASE62_TEXT_BYTES + 1])
{
	uint32_t words[5];

	for (int i = 0; i < 5; i++)
		words[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
		           (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
	for (int at = BASE62_TEXT_BYTES - 1; at >= 0; at--) {
		uint64_t remainder = 0;

		for (int i = 0; i < 5; i++) {
			uint64_t value = remainder << 32 | words[i];

			words[i] = (uint32_t)(value / 62);
			remainder = value % 62;
		}
		text[at] = base62[remainder];
	}
	text[BASE62_TEXT_BYTES] = '\0';
}

bool base62_decode(const char text[BASE62_TEXT_BYTES], unsigned char ret[20])
{
	uint32_t words[5] = {0};

	for (int at = 0; at < BASE62_TEXT_BYTES; at++) {
		const char *found = text[at] ? strchr(base62, text[at]) : NULL;

		if (!found)
			return false;
		uint64_t carry = (uint64_t)(found - base62);
		for (int i = 4; i >= 0; i--) {
			uint64_t value = (uint64_t)words[i] * 62 + carry;

			words[i] = (uint32_t)value;
			carry = value >> 32;
		}
		if (carry)
			return false;
	}
	for (int i = 0; i < 20; i++)
		ret[i] = (unsigned char)(words[i / 4] >> (24 - 8 * (i % 4)));
	return true;
}
