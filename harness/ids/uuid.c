/* SPDX-License-Identifier: PostgreSQL */
/* UUID text, version and variant; the random uuidv4. */
#include "ids/uuid.h"

#include <string.h>

#include "ids/format.h"

void uuid_print(const unsigned char uuid[16], char text[UUID_TEXT_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";
	char *at = text;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		*at++ = digits[uuid[i] >> 4];
		*at++ = digits[uuid[i] & 15];
	}
	*at = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool uuid_parse(const char *text, size_t len, unsigned char ret[16], struct err *err)
{
	unsigned char uuid[16];
	size_t at = 0;

	if (len != UUID_TEXT_BYTES)
		return err_set(err, ERR_INPUT, "%zu characters, not 36", len);
	for (int i = 0; i < 16; i++) {
		if ((i == 4 || i == 6 || i == 8 || i == 10) && text[at++] != '-')
			return err_set(err, ERR_INPUT, "no hyphen at character %zu", at);
		int high = hex_value(text[at]);
		int low = hex_value(text[at + 1]);
		if (high < 0 || low < 0)
			return err_set(err, ERR_INPUT, "no hexadecimal digit at character %zu",
			               at + (high < 0 ? 1 : 2));
		uuid[i] = (unsigned char)(high << 4 | low);
		at += 2;
	}
	memcpy(ret, uuid, sizeof(uuid));
	return true;
}

int uuid_version(const unsigned char uuid[16])
{
	return uuid[6] >> 4;
}

bool uuid_is_rfc(const unsigned char uuid[16])
{
	return (uuid[8] & 0xc0) == 0x80;
}

void uuid_stamp(unsigned char uuid[16], int version)
{
	uuid[6] = (unsigned char)((uuid[6] & 0x0f) | version << 4);
	uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
}

int64_t uuid_v7_ms(const unsigned char uuid[16])
{
	return (int64_t)id_get_be(uuid, 6);
}

void uuid_format_encode(const struct id *id, char *text)
{
	uuid_print(id->bytes, text);
}

bool uuid_format_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	ret->len = 16;
	return uuid_parse(text, len, ret->bytes, err);
}

static bool uuidv4_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct id id = {.len = 16};

	if (!id_take(generator, id.bytes, 16, err))
		return false;
	uuid_stamp(id.bytes, 4);
	*ret = id;
	return true;
}

static bool uuidv4_inspect(const struct id *id, const struct id_options *options,
                           struct id_parts *ret, struct err *err)
{
	int version = uuid_version(id->bytes);

	(void)options;
	if (!uuid_is_rfc(id->bytes))
		return err_set(err, ERR_INPUT, "not the variant of RFC 9562");
	if (version != 4)
		return err_set(err, ERR_INPUT, "version %d, not 4", version);
	id_parts_add_number(ret, "version", version);
	id_parts_add_number(ret, "variant", id->bytes[8] >> 6);
	id_parts_add_hex(ret, "random", id->bytes, 16);
	return true;
}

const struct id_format id_format_uuidv4 = {
        .name = "uuidv4",
        .title = "UUIDv4",
        .source = "RFC 9562, section 5.4",
        .pg_type = "uuid",
        .coordination = "nobody",
        .stored_bytes = 16,
        .text_bytes = UUID_TEXT_BYTES,
        .random_bits = 122,
        .next = uuidv4_next,
        .encode = uuid_format_encode,
        .decode = uuid_format_decode,
        .inspect = uuidv4_inspect,
};
