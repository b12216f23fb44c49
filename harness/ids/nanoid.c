/* SPDX-License-Identifier: PostgreSQL */
/* NanoID of 21 characters, stored as the text that it is. */
#include "ids/nanoid.h"

#include <string.h>

#include "ids/format.h"

const char nanoid_url_alphabet[65] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

bool nanoid_fill(struct id_random *random, const char *alphabet, size_t alphabet_len, char *ret,
                 size_t length, struct err *err)
{
	unsigned char bytes[32];
	size_t left = 0;
	unsigned mask = 1;

	if (alphabet_len < 2 || alphabet_len > 256)
		return err_set(err, ERR_USAGE, "an alphabet of %zu characters, not 2 to 256",
		               alphabet_len);
	while (mask < alphabet_len - 1)
		mask = mask << 1 | 1;
	for (size_t at = 0; at < length;) {
		if (!left) {
			/* No more than one byte a missing character, up to the buffer. */
			left = length - at < sizeof(bytes) ? length - at : sizeof(bytes);
			if (!id_random_take(random, bytes, left, err))
				return false;
		}
		size_t value = bytes[--left] & mask;
		if (value < alphabet_len)
			ret[at++] = alphabet[value];
	}
	return true;
}

static bool nanoid_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct id id = {.len = NANOID_LENGTH};

	if (!nanoid_fill(generator->random, nanoid_url_alphabet, 64, (char *)id.bytes,
	                 NANOID_LENGTH, err)) {
		generator->cut_off = true;
		return false;
	}
	*ret = id;
	return true;
}

static void nanoid_encode(const struct id *id, char *text)
{
	memcpy(text, id->bytes, NANOID_LENGTH);
	text[NANOID_LENGTH] = '\0';
}

static bool check(const char *text, size_t len, struct err *err)
{
	if (len != NANOID_LENGTH)
		return err_set(err, ERR_INPUT, "%zu characters, not 21", len);
	for (size_t i = 0; i < len; i++) {
		if (!text[i] || !strchr(nanoid_url_alphabet, text[i]))
			return err_set(err, ERR_INPUT, "character %zu is not in A-Z a-z 0-9 _ -",
			               i + 1);
	}
	return true;
}

static bool nanoid_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	if (!check(text, len, err))
		return false;
	ret->len = NANOID_LENGTH;
	memcpy(ret->bytes, text, NANOID_LENGTH);
	return true;
}

static bool nanoid_inspect(const struct id *id, const struct id_options *options,
                           struct id_parts *ret, struct err *err)
{
	char text[NANOID_LENGTH + 1];

	(void)options;
	if (!check((const char *)id->bytes, id->len, err))
		return false;
	nanoid_encode(id, text);
	id_parts_add_text(ret, "random", text);
	return true;
}

const struct id_format id_format_nanoid = {
        .name = "nanoid",
        .title = "NanoID (21)",
        .source = "github.com/ai/nanoid",
        .pg_type = "text",
        .coordination = "nobody",
        .stored_bytes = NANOID_LENGTH,
        .text_bytes = NANOID_LENGTH,
        .random_bits = 126,
        .next = nanoid_next,
        .encode = nanoid_encode,
        .decode = nanoid_decode,
        .inspect = nanoid_inspect,
};
