/* SPDX-License-Identifier: PostgreSQL */
/*
 * Memory that is given back all at once: a scenario's tree lives in one.
 * Allocation failure is sticky and returns NULL. Not thread-safe.
 */
#ifndef KEYLAB_BASE_ARENA_H
#define KEYLAB_BASE_ARENA_H

#include "base/base.h"

struct arena_block;

struct arena {
	struct arena_block *last;
	size_t used_bytes; /* handed out so far */
	size_t max_bytes;  /* cap on used_bytes; 0 means none */
	bool failed;
};

void arena_init(struct arena *arena, size_t max_bytes);
void arena_finish(struct arena *arena);

/* Zeroed, aligned for any type; NULL when out of memory or past the cap. */
void *arena_alloc(struct arena *arena, size_t size_bytes);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF(2, 3);
/* A grown copy of an array: old_count elements kept, the rest zeroed. */
void *arena_grow(struct arena *arena, const void *array, size_t old_count, size_t new_count,
                 size_t element_bytes);

#endif
