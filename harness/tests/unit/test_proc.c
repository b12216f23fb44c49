/* SPDX-License-Identifier: PostgreSQL */
/*
 * Child processes, with every system call of today and without those that
 * Linux before 5.9 does not know: what is started is waited for, ends at its
 * deadline, and inherits nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"

#define SOON (20 * NS_PER_S)

/* From here on this process, and its children, have an old kernel. */
static bool grow_old(void)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 2, 0),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 1, 0),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	const struct sock_fprog program = {.len = COUNT_OF(code), .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
	       syscall(SYS_pidfd_open, getpid(), 0) < 0 && errno == ENOSYS;
}

static struct proc_spec shell(const char *const argv[])
{
	return (struct proc_spec){.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
}

static void runs_to_the_end(void **state)
{
	const char *const argv[] = {"/bin/sh", "-c", "cat; echo no >&2; exit 7", NULL};
	struct proc_spec spec = shell(argv);
	struct proc_result result;
	struct err err;

	(void)state;
	assert_true(proc_run(&spec, "fed", 100, deadline_after(SOON), &result, &err));
	assert_int_equal(WEXITSTATUS(result.status), 7);
	assert_string_equal(result.out.data, "fed");
	assert_string_equal(result.errors.data, "no\n");
	buf_finish(&result.out);
	buf_finish(&result.errors);
}

static void ends_at_its_deadline(void **state)
{
	const char *const argv[] = {"/bin/sleep", "300", NULL};
	struct proc_spec spec = shell(argv);
	struct proc proc = PROC_NONE;
	struct err err;
	int status;

	(void)state;
	assert_true(proc_start(&spec, &proc, &err));
	uint64_t start_ns = clock_now_ns();
	assert_false(proc_wait(&proc, deadline_after(50 * NS_PER_MS), &status, &err));
	assert_true(clock_now_ns() - start_ns >= 50 * NS_PER_MS);
	assert_non_null(strstr(err.message, "did not end in time"));
	assert_false(proc_ended(&proc, &status));
	proc_signal(&proc, SIGTERM);
	assert_true(proc_wait(&proc, deadline_after(SOON), &status, &err));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);

	assert_true(proc_start(&spec, &proc, &err));
	proc_kill(&proc);
	assert_int_equal(proc.pid, 0);
	proc_signal(&proc, SIGTERM); /* nobody: least of all this process's group */
}

static void inherits_nothing(void **state)
{
	const char *const argv[] = {"/bin/sh", "-c",
	                            "for fd in 5 40 200; do [ ! -e /proc/self/fd/$fd ] || "
	                            "echo $fd; done",
	                            NULL};
	static const int planted[] = {5, 40, 200};
	struct proc_spec spec = shell(argv);
	struct proc_result result;
	struct err err;
	int saved[COUNT_OF(planted)];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(planted); i++) {
		saved[i] = dup(planted[i]); /* it may be the framework's */
		assert_int_equal(dup2(1, planted[i]), planted[i]);
	}
	assert_true(proc_run(&spec, NULL, 100, deadline_after(SOON), &result, &err));
	assert_string_equal(result.out.data, "");
	buf_finish(&result.out);
	buf_finish(&result.errors);
	for (size_t i = 0; i < COUNT_OF(planted); i++) {
		close(planted[i]);
		if (saved[i] >= 0) {
			dup2(saved[i], planted[i]);
			close(saved[i]);
		}
	}
}

static void families_end(void **state)
{
	/* A grandchild, named on standard output, whose parent does not wait for it. */
	const char *const argv[] = {"/bin/sh", "-c", "sleep 300 & echo $!; sleep 300", NULL};
	struct proc_spec spec = shell(argv);
	struct proc proc = PROC_NONE;
	char text[32] = "", identity[PROC_IDENTITY_BYTES];
	struct err err;
	int ends[2], status;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spec.stdout_fd = ends[1];
	assert_true(proc_start(&spec, &proc, &err));
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	pid_t grandchild = (pid_t)strtol(text, NULL, 10);
	assert_true(grandchild > 1);
	proc_identity(grandchild, identity);
	assert_true(proc_is_alive(grandchild, identity));
	assert_true(proc_kill_family(proc.pid, NULL, deadline_after(SOON), &err));
	assert_false(proc_is_alive(grandchild, identity));
	assert_true(proc_wait(&proc, deadline_after(SOON), &status, &err));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(ends[0]);
	close(ends[1]);
}

static void now_the_kernel_is_old(void **state)
{
	(void)state;
	if (!grow_old())
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(runs_to_the_end),
	        cmocka_unit_test(ends_at_its_deadline),
	        cmocka_unit_test(inherits_nothing),
	        cmocka_unit_test(families_end),
	        cmocka_unit_test(now_the_kernel_is_old),
	        {"runs_to_the_end, old", runs_to_the_end, NULL, NULL, NULL},
	        {"ends_at_its_deadline, old", ends_at_its_deadline, NULL, NULL, NULL},
	        {"inherits_nothing, old", inherits_nothing, NULL, NULL, NULL},
	        {"families_end, old", families_end, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
