/* SPDX-License-Identifier: PostgreSQL */
/*
 * What went wrong in the harness itself: kind, and a bounded message.
 *
 * A function that can fail returns bool and fills a struct err last. It is
 * set once, where the fault happens (err_set, err_errno); callers prepend
 * where they were (err_within). Only cmd/ prints it and turns it into an
 * exit code. What a server did inside a scenario (a deadlock, a unique
 * violation) is no err: it is an outcome, recorded with the samples.
 *
 * No allocation, no locks: a struct err belongs to its caller.
 */
#ifndef KEYLAB_BASE_ERR_H
#define KEYLAB_BASE_ERR_H

#include "base/base.h"

/* X(name, exit code) */
#define ERR_KINDS(X)                                                                               \
	X(NONE, 0)                                                                                 \
	X(SYSTEM, 3)      /* the machine: no memory, no disk, no permission */                     \
	X(ENVIRONMENT, 3) /* something is not installed or does not start */                       \
	X(USAGE, 64)      /* the command line */                                                   \
	X(INPUT, 64)      /* a file that the user wrote or named */                                \
	X(INTERNAL, 70)   /* a fault of keylab's own */                                            \
	X(INTERRUPTED, 130)

enum err_kind {
#define X(name, code) ERR_##name,
	ERR_KINDS(X)
#undef X
};

struct err {
	enum err_kind kind;
	char message[2048]; /* cut with "..." when longer */
};

/* Fill *err; always false, so that a function can return it. err may be NULL. */
bool err_set(struct err *err, enum err_kind kind, const char *format, ...) PRINTF(3, 4);
/* The same with ": " and strerror(errno) behind it, kind ERR_SYSTEM. */
bool err_errno(struct err *err, const char *format, ...) PRINTF(2, 3);
/* Prepends "TEXT: " to the message. */
bool err_within(struct err *err, const char *format, ...) PRINTF(2, 3);
/* The process exit code for a kind (design: 3, 64, 70, 130). */
int err_exit_code(enum err_kind kind);

/* An analyser that looks at one file cannot know that they are always false. */
#if (defined(__clang_analyzer__) || defined(KEYLAB_ANALYSED)) && !defined(KEYLAB_ERR_C)
#define err_set(...) (err_set(__VA_ARGS__), false)
#define err_errno(...) (err_errno(__VA_ARGS__), false)
#define err_within(...) (err_within(__VA_ARGS__), false)
#endif

#endif
