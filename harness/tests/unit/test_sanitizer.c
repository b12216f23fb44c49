/* SPDX-License-Identifier: PostgreSQL */
/*
 * A sanitizer that finds something ends the process with exit code 99 and leaves a report in a
 * file, although it has no environment and nobody reads its standard error: the way of a worker.
 * Faults are planted in this very program, started again. Built where there is a sanitizer alone.
 */
#include <fcntl.h>
#include <pthread.h>
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

#include "base/buf.h"
#include "base/fs.h"

/* Not known when it is compiled, and not known to be unused. */
static volatile int one = 1;
static int shared;

static void overflow_heap(void)
{
	char *bytes = malloc(3 + (size_t)one);

	bytes[3 + one] = 'x';
	one = bytes[0];
	free(bytes);
}

static void overflow_int(void)
{
	int number = INT32_MAX;

	number += one;
	one = number;
}

static void leak(void)
{
	char *volatile bytes = malloc(4);

	bytes[0] = 'x';
	bytes = NULL;
}

static void *add(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		shared += one;
	return NULL;
}

static void race(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, add, NULL) != 0)
		return;
	add(NULL);
	pthread_join(thread, NULL);
}

static const struct fault {
	const char *name, *sanitizer, *report;
	void (*commit)(void);
} faults[] = {
        {"overflow", "address", "heap-buffer-overflow", overflow_heap},
        {"leak", "address", "detected memory leaks", leak},
        {"undefined", "undefined", "signed integer overflow", overflow_int},
        {"race", "thread", "data race", race},
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static pid_t start(const char *name)
{
	char program[] = "/proc/self/exe";
	char *argv[] = {program, strdup(name), NULL}, *env[] = {NULL};
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execve(program, argv, env);
		_exit(1);
	}
	free(argv[1]);
	return pid;
}

static void a_fault_is_reported(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (size_t i = 0; i < FAULTS; i++) {
		char path[4096];
		struct buf text;
		struct err err = {0};
		int status;

		if (!strstr(SANITIZER, faults[i].sanitizer))
			continue;
		pid_t pid = start(faults[i].name);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		snprintf(path, sizeof(path), "%s.%d", SANITIZER_LOG, pid);
		buf_init(&text, 0);
		if (!fs_read(path, 1 << 20, &text, &err))
			fail_msg("%s: no report: %s", faults[i].name, err.message);
		/* This one was wanted. */
		unlink(path);
		if (!strstr(text.data, faults[i].report))
			fail_msg("%s: the report is %s", faults[i].name, text.data);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 99)
			fail_msg("%s: it ended with status %#x", faults[i].name, status);
		buf_finish(&text);
		tried++;
	}
	assert_true(tried > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_fault_is_reported)};

	for (size_t i = 0; argc > 1 && i < FAULTS; i++)
		if (!strcmp(argv[1], faults[i].name)) {
			faults[i].commit();
			return 0;
		}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
