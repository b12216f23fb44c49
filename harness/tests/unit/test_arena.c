/* SPDX-License-Identifier: PostgreSQL */
/* The arena: alignment, zeroes, caps, sticky failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <stdalign.h>

#include "base/arena.h"

static void aligned_and_zeroed(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	for (size_t size = 0; size < 40000; size = size * 2 + 1) {
		unsigned char *memory = arena_alloc(&arena, size);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(memory[i], 0);
		if (size)
			memset(memory, 0xff, size);
	}
	assert_false(arena.failed);
	arena_finish(&arena);
	arena_finish(&arena);
}

static void nothing_overlaps(void **state)
{
	enum { COUNT = 2000 };
	static char *texts[COUNT];
	struct arena arena;
	char expected[64];

	(void)state;
	arena_init(&arena, 0);
	for (int i = 0; i < COUNT; i++)
		texts[i] = arena_printf(&arena, "%*d", i % 50, i);
	for (int i = 0; i < COUNT; i++) {
		snprintf(expected, sizeof(expected), "%*d", i % 50, i);
		assert_string_equal(texts[i], expected);
	}
	assert_string_equal(arena_strdup(&arena, ""), "");
	assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
	arena_finish(&arena);
}

static void caps_are_sticky(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, 1000);
	assert_non_null(arena_alloc(&arena, 900));
	assert_null(arena_alloc(&arena, 200));
	assert_true(arena.failed);
	assert_null(arena_alloc(&arena, 1));
	assert_null(arena_strdup(&arena, "x"));
	assert_null(arena_printf(&arena, "%d", 1));
	arena_finish(&arena);
	assert_false(arena.failed);
	assert_non_null(arena_alloc(&arena, 1));
	assert_null(arena_alloc(&arena, SIZE_MAX));
	arena_finish(&arena);
}

static void arrays_grow(void **state)
{
	struct arena arena;
	int *numbers = NULL;
	size_t count = 0, cap = 0;

	(void)state;
	arena_init(&arena, 0);
	for (; count < 1000; count++) {
		if (count == cap) {
			size_t grown = cap ? cap * 2 : 1;

			numbers = arena_grow(&arena, numbers, cap, grown, sizeof(*numbers));
			assert_non_null(numbers);
			for (size_t i = cap; i < grown; i++)
				assert_int_equal(numbers[i], 0);
			cap = grown;
		}
		numbers[count] = (int)count;
	}
	for (size_t i = 0; i < count; i++)
		assert_int_equal(numbers[i], i);
	assert_null(arena_grow(&arena, numbers, cap, SIZE_MAX / 2, sizeof(*numbers)));
	assert_true(arena.failed);
	arena_finish(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(aligned_and_zeroed),
	        cmocka_unit_test(nothing_overlaps),
	        cmocka_unit_test(caps_are_sticky),
	        cmocka_unit_test(arrays_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
