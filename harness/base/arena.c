/* SPDX-License-Identifier: PostgreSQL */
/* Block allocator freed as a whole. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)16 << 10)

struct arena_block {
	struct arena_block *before;
	size_t size_bytes;
	size_t used_bytes;
	alignas(max_align_t) unsigned char data[];
};

void arena_init(struct arena *arena, size_t max_bytes)
{
	*arena = (struct arena){.max_bytes = max_bytes};
}

void arena_finish(struct arena *arena)
{
	while (arena->last) {
		struct arena_block *block = arena->last;

		arena->last = block->before;
		free(block);
	}
	arena_init(arena, arena->max_bytes);
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
	const size_t align = alignof(max_align_t);

	if (arena->failed || size_bytes > SIZE_MAX - align - sizeof(struct arena_block))
		goto fail;
	size_bytes = (size_bytes + align - 1) / align * align;
	if (arena->max_bytes &&
	    (size_bytes > arena->max_bytes || arena->used_bytes > arena->max_bytes - size_bytes))
		goto fail;

	struct arena_block *block = arena->last;
	if (!block || block->size_bytes - block->used_bytes < size_bytes) {
		size_t size = size_bytes > BLOCK_BYTES ? size_bytes : BLOCK_BYTES;

		block = calloc(1, sizeof(*block) + size);
		if (!block)
			goto fail;
		block->size_bytes = size;
		block->before = arena->last;
		arena->last = block;
	}
	void *memory = block->data + block->used_bytes;
	block->used_bytes += size_bytes;
	arena->used_bytes += size_bytes;
	return memory;

fail:
	arena->failed = true;
	return NULL;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (copy && len)
		memcpy(copy, text, len);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

void *arena_grow(struct arena *arena, const void *array, size_t old_count, size_t new_count,
                 size_t element_bytes)
{
	if (element_bytes && new_count > SIZE_MAX / element_bytes) {
		arena->failed = true;
		return NULL;
	}
	void *grown = arena_alloc(arena, new_count * element_bytes);
	if (grown && old_count)
		memcpy(grown, array, old_count * element_bytes);
	return grown;
}
