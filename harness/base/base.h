/* SPDX-License-Identifier: PostgreSQL */
/* What every file needs from the compiler: attributes and array sizes. */
#ifndef KEYLAB_BASE_BASE_H
#define KEYLAB_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Runs FN(&variable) when the variable goes out of scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* free() for CLEANUP on a char *. */
void free_p(void *pointer_to_pointer);
/* close() for CLEANUP on an int; a negative one is left alone. */
void close_p(int *fd);

#endif
