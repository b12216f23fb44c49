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
