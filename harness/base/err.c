/* SPDX-License-Identifier: PostgreSQL */
/* Filling and prefixing struct err. */
#define KEYLAB_ERR_C
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void free_p(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}

void close_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Marks a message that did not fit. */
static void mark_cut(struct err *err, int wanted_len)
{
	if (wanted_len >= (int)sizeof(err->message))
		memcpy(err->message + sizeof(err->message) - 4, "...", 4);
}

bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
	va_list args;

	if (!err)
		return false;
	err->kind = kind;
	va_start(args, format);
	int len = vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	mark_cut(err, len);
	return false;
}

bool err_errno(struct err *err, const char *format, ...)
{
	int saved = errno;
	va_list args;

	if (!err)
		return false;
	err->kind = ERR_SYSTEM;
	va_start(args, format);
	int len = vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	if (len >= 0 && len < (int)sizeof(err->message))
		len += snprintf(err->message + len, sizeof(err->message) - (size_t)len, ": %s",
		                strerror(saved));
	mark_cut(err, len);
	errno = saved;
	return false;
}

bool err_within(struct err *err, const char *format, ...)
{
	char inner[sizeof(err->message)];
	va_list args;

	if (!err)
		return false;
	memcpy(inner, err->message, sizeof(inner));
	va_start(args, format);
	int len = vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	if (len >= 0 && len < (int)sizeof(err->message))
		len += snprintf(err->message + len, sizeof(err->message) - (size_t)len, ": %s",
		                inner);
	mark_cut(err, len);
	return false;
}

int err_exit_code(enum err_kind kind)
{
	static const int codes[] = {
#define X(name, code) [ERR_##name] = code,
	        ERR_KINDS(X)
#undef X
	};
	return codes[kind];
}
