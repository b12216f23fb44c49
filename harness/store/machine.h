/* SPDX-License-Identifier: PostgreSQL */
/* What tells machines apart whose times must not be compared. */
#ifndef KEYLAB_STORE_MACHINE_H
#define KEYLAB_STORE_MACHINE_H

#include <stddef.h>

/* The names in a run's environment: processor, memory, kernel, file system; NULL-terminated. */
extern const char *const machine_parts[];
/* How much of such a value counts, in bytes. */
size_t machine_value_len(const char *part, const char *value);

#endif
