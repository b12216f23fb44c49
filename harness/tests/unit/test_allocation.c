/* SPDX-License-Identifier: PostgreSQL */
/*
 * Each allocation of base/ and scenario/ fails once, alone and with all that
 * follow, while scenarios are read, printed and planned: an err each time,
 * no crash, and (under a sanitizer) no leak.
 *
 * The calls are caught by the linker: -Wl,--wrap=F for F malloc, calloc,
 * realloc, and arena_alloc, arena_grow, arena_strdup, arena_strndup (a block of
 * an arena serves hundreds of them). Linked without that there is nothing to
 * fail: exit 77.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fs.h"
#include "scenario/plan.h"
#include "tests/unit/vocabulary.h"

void *__real_malloc(size_t size) __attribute__((weak));
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__real_realloc(void *memory, size_t size) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__real_arena_alloc(struct arena *arena, size_t size) __attribute__((weak));
void *__real_arena_grow(struct arena *arena, const void *array, size_t old_count, size_t new_count,
                        size_t element_bytes) __attribute__((weak));
char *__real_arena_strdup(struct arena *arena, const char *text) __attribute__((weak));
char *__real_arena_strndup(struct arena *arena, const char *text, size_t len) __attribute__((weak));
void *__wrap_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_grow(struct arena *arena, const void *array, size_t old_count, size_t new_count,
                        size_t element_bytes);
char *__wrap_arena_strdup(struct arena *arena, const char *text);
char *__wrap_arena_strndup(struct arena *arena, const char *text, size_t len);

static bool watching;   /* count and fail, or let all pass */
static size_t seen;     /* allocations since watching began */
static size_t fail_at;  /* the number of the one that fails, from 1; 0: none */
static bool and_after;  /* the later ones fail, too */
static bool has_failed; /* did any? */

static bool fails_now(void)
{
	if (!watching)
		return false;
	seen++;
	bool fails = fail_at && (and_after ? seen >= fail_at : seen == fail_at);
	has_failed = has_failed || fails;
	return fails;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails_now() ? NULL : __real_realloc(memory, size);
}

/* As the arena itself does it. */
static bool arena_fails(struct arena *arena)
{
	if (!fails_now())
		return false;
	arena->failed = true;
	return true;
}

void *__wrap_arena_alloc(struct arena *arena, size_t size)
{
	return arena_fails(arena) ? NULL : __real_arena_alloc(arena, size);
}

void *__wrap_arena_grow(struct arena *arena, const void *array, size_t old_count, size_t new_count,
                        size_t element_bytes)
{
	return arena_fails(arena)
	               ? NULL
	               : __real_arena_grow(arena, array, old_count, new_count, element_bytes);
}

char *__wrap_arena_strdup(struct arena *arena, const char *text)
{
	return arena_fails(arena) ? NULL : __real_arena_strdup(arena, text);
}

char *__wrap_arena_strndup(struct arena *arena, const char *text, size_t len)
{
	return arena_fails(arena) ? NULL : __real_arena_strndup(arena, text, len);
}

/* Reads, prints and plans; true when all of it went well. */
static bool use_scenario(const char *path, struct err *err)
{
	struct scenario *scenario = NULL;
	struct buf messages, text;
	struct pairs params;
	struct arena arena;

	buf_init(&messages, 0);
	buf_init(&text, 0);
	arena_init(&arena, 0);
	bool good = scenario_load(path, &test_vocabulary, &scenario, &messages, err);
	if (good) {
		static const char *const set[] = {"rows=50k"};

		scenario_print(scenario, &text);
		good = buf_ok(&text, err) &&
		       scenario_params(scenario, PROFILE_QUICK, set, scenario->params_count > 2,
		                       &arena, &params, err) &&
		       plan_print(scenario, &params, PROFILE_QUICK, &text, err) &&
		       plan_print_json(scenario, &params, PROFILE_QUICK, &text, err);
	} else {
		assert_null(scenario);
	}
	scenario_destroy(scenario);
	arena_finish(&arena);
	buf_finish(&text);
	buf_finish(&messages);
	return good;
}

/* Returns how many allocations there were to fail. */
static size_t fail_each(const char *path, bool good_without, bool after)
{
	size_t n = 0;

	and_after = after;
	do {
		struct err err = {0};

		seen = 0;
		has_failed = false;
		fail_at = ++n;
		watching = true;
		bool good = use_scenario(path, &err);
		watching = false;
		if (has_failed && good)
			fail_msg("%s: allocation %zu failed and nobody noticed", path, n);
		if (has_failed && err.kind != ERR_SYSTEM)
			fail_msg("%s: allocation %zu failed, but err is \"%s\"", path, n,
			         err.message);
		if (!has_failed && good != good_without)
			fail_msg("%s: %s", path, err.message);
	} while (has_failed);
	return n - 1;
}

static void every_allocation_fails(void **state)
{
	const char *root = getenv("KEYLAB_SOURCE_ROOT");

	(void)state;
	if (!root || chdir(root))
		fail_msg("KEYLAB_SOURCE_ROOT must name the folder of the sources");
	/* With an include, parameters, arms, loops, charts, a let. */
	assert_true(fail_each("scenarios/keys/wal-checkpoints.yaml", true, false) > 500);
	assert_true(fail_each("scenarios/keys/sequences.yaml", true, false) > 500);
	/* The way of the messages. */
	assert_true(chdir("harness/tests/golden") == 0);
	for (int after = 0; after < 2; after++) {
		assert_true(fail_each("scenarios/many-at-once.yaml", false, after) > 100);
		assert_true(fail_each("scenarios/include-cycle.yaml", false, after) > 100);
		assert_true(fail_each("scenarios/unclosed-quote.yaml", false, after) > 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails)};

	if (!__real_malloc || !__real_arena_alloc) {
		fprintf(stderr, "not linked with --wrap: nothing can be made to fail\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
