/* SPDX-License-Identifier: PostgreSQL */
/* Growing text with a sticky failure. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty_text[1] = "";

void buf_init(struct buf *buf, size_t max)
{
	*buf = (struct buf){.data = empty_text, .max = max ? max : BUF_DEFAULT_MAX};
}

void buf_finish(struct buf *buf)
{
	if (buf->cap)
		free(buf->data);
	buf_init(buf, buf->max);
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->cap)
		buf->data[0] = '\0';
}

/* Room for len more bytes and the NUL. */
static bool grow(struct buf *buf, size_t len)
{
	if (buf->failed)
		return false;
	if (len >= buf->max || buf->len > buf->max - len - 1) {
		buf->failed = true;
		return false;
	}
	size_t need = buf->len + len + 1;
	if (need <= buf->cap)
		return true;
	size_t cap = buf->cap ? buf->cap : 64;
	while (cap < need)
		cap *= 2;
	char *data = realloc(buf->cap ? buf->data : NULL, cap);
	if (!data) {
		buf->failed = true;
		return false;
	}
	if (!buf->cap)
		data[0] = '\0';
	buf->data = data;
	buf->cap = cap;
	return true;
}

void buf_add_len(struct buf *buf, const void *bytes, size_t len)
{
	if (!len || !grow(buf, len))
		return;
	memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_add(struct buf *buf, const char *text)
{
	buf_add_len(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
	buf_add_len(buf, &c, 1);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0) {
		buf->failed = true;
		return;
	}
	if (!grow(buf, (size_t)len))
		return;
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
	buf->len += (size_t)len;
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}

static void add_doubled(struct buf *buf, const char *text, char quote)
{
	buf_add_char(buf, quote);
	for (const char *at = text; *at; at++) {
		if (*at == quote)
			buf_add_char(buf, quote);
		buf_add_char(buf, *at);
	}
	buf_add_char(buf, quote);
}

void buf_add_sql_literal(struct buf *buf, const char *text)
{
	add_doubled(buf, text, '\'');
}

void buf_add_sql_name(struct buf *buf, const char *name)
{
	add_doubled(buf, name, '"');
}

void buf_add_json(struct buf *buf, const char *text)
{
	buf_add_char(buf, '"');
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"' || *at == '\\')
			buf_printf(buf, "\\%c", *at);
		else if (*at == '\n')
			buf_add(buf, "\\n");
		else if (*at < 0x20 || *at == 0x7f)
			buf_printf(buf, "\\u%04x", *at);
		else
			buf_add_char(buf, (char)*at);
	}
	buf_add_char(buf, '"');
}

bool buf_ok(const struct buf *buf, struct err *err)
{
	if (buf->failed)
		return err_set(err, ERR_SYSTEM, "a text grew past its limit of %zu bytes",
		               buf->max);
	return true;
}

char *buf_steal(struct buf *buf, struct err *err)
{
	if (!buf_ok(buf, err))
		return NULL;
	char *text = buf->cap ? buf->data : calloc(1, 1);
	if (!text) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return NULL;
	}
	buf_init(buf, buf->max);
	return text;
}

/* ---- for a terminal ---- */

/* The length of the UTF-8 character at text and its number; 0 when there is none (RFC 3629). */
static size_t utf8_read(const unsigned char *text, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = text[0] < 0x80             ? 1
	             : (text[0] & 0xe0) == 0xc0 ? 2
	             : (text[0] & 0xf0) == 0xe0 ? 3
	             : (text[0] & 0xf8) == 0xf0 ? 4
	                                        : 0;
	uint32_t value = len == 1 ? text[0] : len ? text[0] & (0x7fU >> len) : 0;

	for (size_t i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3fU);
	}
	if (!len || value < smallest[len] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*ret = value;
	return len;
}

static bool is_printable(uint32_t value)
{
	if (value == '\n' || value == '\t')
		return true;
	if (value < 0x20 || (value >= 0x7f && value < 0xa0))
		return false;
	/* UAX #9: ALM, LRM and RLM, the embeddings and overrides, the isolates. */
	return value != 0x61c && value != 0x200e && value != 0x200f &&
	       !(value >= 0x202a && value <= 0x202e) && !(value >= 0x2066 && value <= 0x2069);
}

/* How many bytes from text on can be shown as they are. */
static size_t printable_len(const char *text)
{
	const char *at = text;
	uint32_t value;

	while (*at) {
		size_t len = utf8_read((const unsigned char *)at, &value);

		if (!len || !is_printable(value))
			break;
		at += len;
	}
	return (size_t)(at - text);
}

bool text_is_printable(const char *text)
{
	return !text[printable_len(text)];
}

void buf_add_printable(struct buf *buf, const char *text)
{
	while (*text) {
		size_t len = printable_len(text);
		uint32_t value;

		buf_add_len(buf, text, len);
		text += len;
		if (!*text)
			break;
		/* All bytes of a character that may not be shown, or one that belongs to none. */
		len = utf8_read((const unsigned char *)text, &value);
		for (size_t i = 0; i < (len ? len : 1); i++)
			buf_printf(buf, "\\x%02x", (unsigned char)text[i]);
		text += len ? len : 1;
	}
}
