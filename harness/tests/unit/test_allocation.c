/* SPDX-License-Identifier: PostgreSQL */
/*
 * Each allocation of base/ and scenario/ fails once, alone and with all that
 * follow, while scenarios are read, printed and planned, numbers are judged,
 * files are written and families of processes ended: an err each time,
 * no crash, and (under a sanitizer) no leak.
 *
 * The calls are caught by the linker: -Wl,--wrap=F for F malloc, calloc,
 * realloc, strdup, vasprintf, realpath, EVP_MD_CTX_new, and arena_alloc,
 * arena_grow, arena_strdup, arena_strndup (a block of an arena serves hundreds of
 * them). Linked without that there is nothing to fail: exit 77. base/tar.c
 * allocates nothing.
 */
#include <errno.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/stats.h"
#include "scenario/plan.h"
#include "tests/unit/vocabulary.h"

void *__real_malloc(size_t size) __attribute__((weak));
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__real_realloc(void *memory, size_t size) __attribute__((weak));
char *__real_strdup(const char *text) __attribute__((weak));
int __real_vasprintf(char **ret, const char *format, va_list args) __attribute__((weak));
char *__real_realpath(const char *path, char *ret) __attribute__((weak));
void *__real_EVP_MD_CTX_new(void) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **ret, const char *format, va_list args) PRINTF(2, 0);
char *__wrap_realpath(const char *path, char *ret);
void *__wrap_EVP_MD_CTX_new(void);

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

char *__wrap_strdup(const char *text)
{
	return fails_now() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **ret, const char *format, va_list args)
{
	return fails_now() ? -1 : __real_vasprintf(ret, format, args);
}

char *__wrap_realpath(const char *path, char *ret)
{
	if (!fails_now())
		return __real_realpath(path, ret);
	errno = ENOMEM;
	return NULL;
}

void *__wrap_EVP_MD_CTX_new(void)
{
	return fails_now() ? NULL : __real_EVP_MD_CTX_new();
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

/* ---- what is tried: true when all of it went well */

/* Reads, prints and plans. */
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

static bool use_stats(const char *unused, struct err *err)
{
	static const double over[] = {4, 5, 6, 7, 8, 9, 10, 12}, under[] = {1, 2, 3, 3, 2, 4, 3, 2};
	struct stats_ratio ratio;
	double number, low, high, coverage, adjusted[8];
	size_t mild, severe;
	bool exists;

	(void)unused;
	return stats_median(over, 8, &number, err) &&
	       stats_median_interval(over, 8, 0.95, &low, &high, &coverage, &exists, err) &&
	       stats_ratio_of_medians(over, under, 8, 1, &ratio, err) &&
	       stats_holm(under, 8, adjusted, err) &&
	       stats_spearman(over, under, 8, &number, err) &&
	       stats_outliers(over, 8, &mild, &severe, err);
}

static bool use_hash(const char *path, struct err *err)
{
	char text[HASH_TEXT_BYTES];

	return hash_bytes("x", 1, text, err) && hash_file(path, text, err);
}

/* In a folder of its own, which is away afterwards. */
static bool use_files(const char *prefix, struct err *err)
{
	char *dir = fs_make_temp_dir(prefix, err);
	char *below = dir ? fs_join(err, dir, "a/b") : NULL;
	char *file = below ? fs_join(err, below, "c") : NULL;
	char *copy = file ? fs_printf(err, "%s/%d", dir, 7) : NULL;
	char *absolute = copy ? fs_absolute(err, "x") : NULL;
	struct buf text;
	uint64_t bytes;

	buf_init(&text, 64);
	bool good = absolute && fs_mkdirs(below, 0700, err) && fs_write(file, "x", 1, 0600, err) &&
	            fs_write_fast(file, "y", 1, 0600, err) && fs_read(file, 64, &text, err) &&
	            fs_copy_tree(below, copy, (uid_t)-1, (gid_t)-1, err) &&
	            fs_tree_bytes(dir, &bytes, err);
	buf_finish(&text);
	watching = false;
	assert_true(!dir || fs_remove_tree(dir, NULL));
	free(absolute);
	free(copy);
	free(file);
	free(below);
	free(dir);
	return good;
}

static bool use_program(const char *path, struct err *err)
{
	const char *const argv[] = {path, NULL};
	const struct proc_spec spec = {.argv = argv,
	                               .stdin_fd = -1,
	                               .stdout_fd = -1,
	                               .stderr_fd = -1};
	struct proc_result result = {0};

	bool good = proc_run(&spec, "heard", 64, deadline_after(20 * NS_PER_S), &result, err);
	buf_finish(&result.out);
	buf_finish(&result.errors);
	return good;
}

/* A process that works in dir (else where we do), once it is there. */
static pid_t start_member(const char *dir)
{
	int ends[2];
	char byte = 'x';

	assert_true(pipe(ends) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (dir && chdir(dir) < 0)
			_exit(1);
		while (write(ends[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	assert_true(read(ends[0], &byte, 1) == 1);
	close(ends[0]);
	return pid;
}

/* A child, and one that only its folder tells. */
static bool use_family(const char *dir, struct err *err)
{
	watching = false;
	const pid_t members[] = {start_member(NULL), start_member(dir)};
	watching = true;
	bool good = proc_kill_family(members[0], dir, deadline_after(20 * NS_PER_S), err);
	watching = false;
	size_t living = 0;
	for (size_t i = 0; i < COUNT_OF(members); i++) {
		if (good && waitpid(members[i], NULL, WNOHANG) == members[i])
			continue;
		living += good;
		kill(members[i], SIGKILL);
		waitpid(members[i], NULL, 0);
	}
	if (living > 0)
		fail_msg("a family has ended, they say, and %zu of its members live", living);
	return good;
}

/* ---- */

/* Returns how many allocations there were to fail. */
static size_t fail_each(bool (*use)(const char *arg, struct err *err), const char *arg,
                        bool good_without, bool after)
{
	size_t n = 0;

	and_after = after;
	do {
		struct err err = {0};

		seen = 0;
		has_failed = false;
		fail_at = ++n;
		watching = true;
		bool good = use(arg, &err);
		watching = false;
		if (has_failed && good)
			fail_msg("%s: allocation %zu failed and nobody noticed", arg, n);
		if (has_failed && err.kind != ERR_SYSTEM)
			fail_msg("%s: allocation %zu failed, but err is \"%s\"", arg, n,
			         err.message);
		if (!has_failed && good != good_without)
			fail_msg("%s: %s", arg, err.message);
	} while (has_failed);
	return n - 1;
}

static void go_to_sources(void)
{
	const char *root = getenv("KEYLAB_SOURCE_ROOT");

	if (!root || chdir(root))
		fail_msg("KEYLAB_SOURCE_ROOT must name the folder of the sources");
}

static void of_scenarios(void **state)
{
	(void)state;
	go_to_sources();
	/* With an include, parameters, arms, loops, charts, a let. */
	assert_true(fail_each(use_scenario, "scenarios/keys/wal-checkpoints.yaml", true, false) >
	            500);
	assert_true(fail_each(use_scenario, "scenarios/keys/sequences.yaml", true, false) > 500);
	/* The way of the messages. */
	assert_true(chdir("harness/tests/golden") == 0);
	for (int after = 0; after < 2; after++) {
		assert_true(fail_each(use_scenario, "scenarios/many-at-once.yaml", false, after) >
		            100);
		assert_true(fail_each(use_scenario, "scenarios/include-cycle.yaml", false, after) >
		            100);
		assert_true(fail_each(use_scenario, "scenarios/unclosed-quote.yaml", false, after) >
		            3);
	}
}

static void of_base(void **state)
{
	char *dir = fs_make_temp_dir("/tmp/keylab-test.", NULL);

	(void)state;
	assert_non_null(dir);
	char *prefix = fs_join(NULL, dir, "files-");
	assert_non_null(prefix);
	go_to_sources();
	for (int after = 0; after < 2; after++) {
		assert_true(fail_each(use_stats, "statistics", true, after) >= 10);
		assert_true(fail_each(use_hash, "README.md", true, after) == 2);
		assert_true(fail_each(use_files, prefix, true, after) >= 8);
		assert_true(fail_each(use_program, "/bin/cat", true, after) >= 1);
		assert_true(fail_each(use_family, dir, true, after) >= 3);
	}
	assert_true(fs_remove_tree(dir, NULL));
	free(prefix);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(of_scenarios),
	                                   cmocka_unit_test(of_base)};

	if (!__real_malloc || !__real_arena_alloc) {
		fprintf(stderr, "not linked with --wrap: nothing can be made to fail\n");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN); /* a program that is given up does not read on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
