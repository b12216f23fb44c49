/* SPDX-License-Identifier: PostgreSQL */
/*
 * A text that grows, with a cap and a sticky failure: write as much as you
 * like and ask once, at the end, with buf_ok(). Reaching the cap or running
 * out of memory fails the buffer; nothing is ever cut silently.
 *
 * data is NUL-terminated and never NULL after buf_init. Not thread-safe.
 */
#ifndef KEYLAB_BASE_BUF_H
#define KEYLAB_BASE_BUF_H

#include <stdarg.h>

#include "base/base.h"
#include "base/err.h"

#define BUF_DEFAULT_MAX ((size_t)64 << 20)

struct buf {
	char *data;  /* owned */
	size_t len;  /* bytes, without the NUL */
	size_t cap;  /* bytes allocated; 0 while data is the shared empty text */
	size_t max;  /* bytes; growing past it fails the buffer */
	bool failed; /* sticky */
};

/* An empty buffer; allocates nothing. max 0 means BUF_DEFAULT_MAX. */
void buf_init(struct buf *buf, size_t max);
/* Frees; accepts zeroed and finished ones. */
void buf_finish(struct buf *buf);
/* Empties without giving memory back; clears the failure. */
void buf_clear(struct buf *buf);

void buf_add(struct buf *buf, const char *text);
void buf_add_len(struct buf *buf, const void *bytes, size_t len);
void buf_add_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *buf, const char *format, va_list args) PRINTF(2, 0);
/* An SQL literal: '…' with quotes doubled (standard_conforming_strings). */
void buf_add_sql_literal(struct buf *buf, const char *text);
/* An SQL identifier: "…" with quotes doubled. */
void buf_add_sql_name(struct buf *buf, const char *name);
/* A JSON string with its quotes; bytes that are no UTF-8 pass unchanged. */
void buf_add_json(struct buf *buf, const char *text);
/*
 * For a terminal: everything but line breaks, tabs and printable UTF-8 as \xNN, byte by byte.
 * Control characters (C0, C1, DEL) would move the cursor or answer for the user; marks of writing
 * direction (Unicode's bidi controls) would show a text that is not there.
 */
void buf_add_printable(struct buf *buf, const char *text);
/* Would buf_add_printable change it? */
bool text_is_printable(const char *text) MUST_CHECK;

/* True when everything written is there. */
bool buf_ok(const struct buf *buf, struct err *err) MUST_CHECK;
/* Hands the text to the caller, who frees it; NULL with err when failed. */
char *buf_steal(struct buf *buf, struct err *err) MUST_CHECK;

#endif
