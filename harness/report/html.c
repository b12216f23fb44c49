/* SPDX-License-Identifier: PostgreSQL */
/* Escaping text for HTML and XML. */
#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void html_raw(struct buf *out, const char *markup)
{
	buf_add(out, markup);
}

/* Length of the well-formed UTF-8 character at `at` (RFC 3629, section 4); 0 when there is none. */
static size_t utf8_read(const unsigned char *at, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = at[0] < 0x80             ? 1
	             : (at[0] & 0xe0) == 0xc0 ? 2
	             : (at[0] & 0xf0) == 0xe0 ? 3
	             : (at[0] & 0xf8) == 0xf0 ? 4
	                                      : 0;
	uint32_t c = at[0];

	if (len < 2) {
		*ret = c;
		return len;
	}
	c &= 0x7fU >> len;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (at[i] & 0x3f);
	}
	if (c < smallest[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return len;
}

/* Must not reach a page: unprintable, not allowed in XML, or able to reorder the text around it. */
static bool unshowable(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c < 0xa0) ||
	       (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || (c & 0xfffe) == 0xfffe ||
	       (c >= 0xfdd0 && c <= 0xfdef) || c == 0xfeff;
}

static void add_escaped(struct buf *out, const char *text, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + bytes;

	while (at < end) {
		uint32_t c = 0;
		size_t len = utf8_read(at, &c);

		if (len == 0 || unshowable(c)) {
			buf_add(out, "\ufffd");
			at += len ? len : 1;
			continue;
		}
		switch (c) {
		case '&':
			buf_add(out, "&amp;");
			break;
		case '<':
			buf_add(out, "&lt;");
			break;
		case '>':
			buf_add(out, "&gt;");
			break;
		case '"':
			buf_add(out, "&quot;");
			break;
		case '\'':
			buf_add(out, "&#39;");
			break;
		default:
			buf_add_len(out, at, len);
		}
		at += len;
	}
}

void html_text(struct buf *out, const char *text)
{
	add_escaped(out, text, strlen(text));
}

void html_textf(struct buf *out, const char *format, ...)
{
	struct buf text;
	va_list args;

	buf_init(&text, 0);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (text.failed)
		out->failed = true;
	html_text(out, text.data);
	buf_finish(&text);
}

void html_element(struct buf *out, const char *tag, const char *class, const char *text)
{
	if (class)
		buf_printf(out, "<%s class=\"%s\">", tag, class);
	else
		buf_printf(out, "<%s>", tag);
	html_text(out, text);
	buf_printf(out, "</%s>", tag);
}

void html_prose(struct buf *out, const char *text)
{
	const char *open;

	while ((open = strchr(text, '`'))) {
		const char *close = strchr(open + 1, '`');

		if (!close)
			break;
		add_escaped(out, text, (size_t)(open - text));
		buf_add(out, "<code>");
		add_escaped(out, open + 1, (size_t)(close - open - 1));
		buf_add(out, "</code>");
		text = close + 1;
	}
	html_text(out, text);
}
