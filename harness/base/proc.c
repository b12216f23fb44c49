/* SPDX-License-Identifier: PostgreSQL */
/* Starting, watching and ending child processes. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const default_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                          "TZ=UTC", NULL};

/* How often a process without a pidfd is looked at. */
#define LOOK_MS 10

/* What the child tells its parent when it cannot exec. */
struct start_fault {
	int error;
	char what[24];
};

static _Noreturn void child_fault(int report_fd, const char *what)
{
	struct start_fault fault = {.error = errno};
	ssize_t put;

	snprintf(fault.what, sizeof(fault.what), "%s", what);
	do
		put = write(report_fd, &fault, sizeof(fault));
	while (put < 0 && errno == EINTR);
	_exit(127);
}

/* Gives up every privilege and sees to it that they cannot come back. */
static void child_drop(const struct proc_spec *spec, int report_fd)
{
	if (setgroups(0, NULL) < 0 || setresgid(spec->gid, spec->gid, spec->gid) < 0 ||
	    setresuid(spec->uid, spec->uid, spec->uid) < 0)
		child_fault(report_fd, "dropping root");
	if (setuid(0) == 0 || seteuid(0) == 0) {
		errno = EPERM;
		child_fault(report_fd, "dropping root for good");
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		child_fault(report_fd, "no_new_privs");
}

static void child_stream(int fd, int target, int flags, int report_fd)
{
	if (fd < 0)
		fd = open("/dev/null", flags);
	/* dup2 onto itself would keep close-on-exec. */
	if (fd < 0 || (fd == target ? fcntl(fd, F_SETFD, 0) : dup2(fd, target)) < 0)
		child_fault(report_fd, "redirecting a stream");
}

static void child_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Closes every descriptor from first to last. */
static void child_close(unsigned first, unsigned last)
{
	struct rlimit limit;

	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	/* Linux before 5.9, or valgrind. */
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 1 << 20)
		limit.rlim_cur = 1 << 20;
	for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; fd++)
		close((int)fd);
}

static _Noreturn void child_main(const struct proc_spec *spec, int report_fd, pid_t parent)
{
	child_signals();
	if (!spec->in_our_group && setpgid(0, 0) < 0)
		child_fault(report_fd, "setpgid");
	child_stream(spec->stdin_fd, 0, O_RDONLY, report_fd);
	child_stream(spec->stdout_fd, 1, O_WRONLY, report_fd);
	child_stream(spec->stderr_fd, 2, O_WRONLY, report_fd);
	child_close(3, (unsigned)report_fd - 1);
	child_close((unsigned)report_fd + 1, ~0U);
	if (spec->drop)
		child_drop(spec, report_fd);
	if (spec->dir && chdir(spec->dir) < 0)
		child_fault(report_fd, "changing the folder");
	/* After the drop, which would clear it. */
	if (spec->death_signal && prctl(PR_SET_PDEATHSIG, spec->death_signal) < 0)
		child_fault(report_fd, "PR_SET_PDEATHSIG");
	if (spec->death_signal && getppid() != parent)
		_exit(127);
	/* execve does not write to what it is given. */
	execve(spec->argv[0], (char *const *)(uintptr_t)spec->argv,
	       (char *const *)(uintptr_t)(spec->env ? spec->env : default_env));
	child_fault(report_fd, "exec");
}

bool proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err)
{
	int report[2];
	struct start_fault fault;
	pid_t parent = getpid();

	if (pipe2(report, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	/*
	 * The report's end must not be one of the streams' numbers. Starting with
	 * a closed descriptor 0-2 is rare, but then it would be.
	 */
	if (report[1] < 3) {
		int moved = fcntl(report[1], F_DUPFD_CLOEXEC, 3);

		close(report[1]);
		report[1] = moved;
	}
	pid_t pid = fork();
	if (pid < 0) {
		err_errno(err, "fork");
		close(report[0]);
		close(report[1]);
		return false;
	}
	if (pid == 0)
		child_main(spec, report[1], parent);
	close(report[1]);
	if (!spec->in_our_group)
		setpgid(pid, pid); /* either of the two is first */

	ssize_t got;
	do
		got = read(report[0], &fault, sizeof(fault));
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got == (ssize_t)sizeof(fault)) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		errno = fault.error;
		return err_errno(err, "cannot start %s (%s)", spec->argv[0], fault.what);
	}
	/* Without one (Linux before 5.3, valgrind) it is looked at again and again. */
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0 && errno != ENOSYS) {
		err_errno(err, "pidfd_open");
		kill(spec->in_our_group ? pid : -pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return false;
	}
	*ret = (struct proc){.pid = pid, .pidfd = pidfd};
	return true;
}

static void proc_forget(struct proc *proc)
{
	close_p(&proc->pidfd);
	*proc = PROC_NONE;
}

bool proc_ended(struct proc *proc, int *ret_status)
{
	int status;
	pid_t got;

	if (!proc->pid)
		return true;
	do
		got = waitpid(proc->pid, &status, WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return false;
	*ret_status = got < 0 ? 0 : status;
	proc_forget(proc);
	return true;
}

/* Until it has ended, or some time has passed. */
static void look_again(const struct proc *proc, uint64_t deadline_ns)
{
	struct pollfd fd = {.fd = proc->pidfd, .events = POLLIN};

	poll(&fd, 1, deadline_poll_ms(deadline_ns, proc->pidfd < 0 ? LOOK_MS : 1000));
}

bool proc_wait(struct proc *proc, uint64_t deadline_ns, int *ret_status, struct err *err)
{
	for (;;) {
		if (proc_ended(proc, ret_status))
			return true;
		if (deadline_passed(deadline_ns))
			return err_set(err, ERR_SYSTEM, "process %ld did not end in time",
			               (long)proc->pid);
		look_again(proc, deadline_ns);
	}
}

void proc_signal(const struct proc *proc, int signal_number)
{
	/* Only we could reap it, so the number is still its own. */
	if (proc->pid)
		kill(proc->pid, signal_number);
}

void proc_kill(struct proc *proc)
{
	int status;

	if (!proc->pid)
		return;
	kill(-proc->pid, SIGKILL);
	proc_signal(proc, SIGKILL);
	while (!proc_ended(proc, &status))
		look_again(proc, CLOCK_NEVER);
}

const char *proc_status_text(int status, char *text, size_t size)
{
	if (WIFEXITED(status))
		snprintf(text, size, "exited with %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(status),
		         strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d", status);
	return text;
}

/* ---- proc_run ---- */

struct pipes {
	int in[2], out[2], errors[2];
};

static void pipes_close(struct pipes *pipes)
{
	int *all = (int *)pipes;

	for (size_t i = 0; i < sizeof(*pipes) / sizeof(int); i++)
		close_p(&all[i]);
}

static bool pipes_open(struct pipes *pipes, struct err *err)
{
	int *all = (int *)pipes;

	for (size_t i = 0; i < sizeof(*pipes) / sizeof(int); i++)
		all[i] = -1;
	if (pipe2(pipes->in, O_CLOEXEC) < 0 || pipe2(pipes->out, O_CLOEXEC) < 0 ||
	    pipe2(pipes->errors, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	fcntl(pipes->in[1], F_SETFL, O_NONBLOCK);
	return true;
}

static void end_close(int *fd)
{
	close_p(fd);
	*fd = -1;
}

/* Takes what is there; false at the end of the stream. */
static bool drain(int *fd, struct buf *buf)
{
	char chunk[16384];
	ssize_t got = read(*fd, chunk, sizeof(chunk));

	if (got > 0)
		buf_add_len(buf, chunk, (size_t)got);
	else if (got == 0 || errno != EINTR)
		end_close(fd);
	return *fd >= 0;
}

static void feed(int *fd, const char **input)
{
	ssize_t put = write(*fd, *input, strlen(*input));

	if (put > 0)
		*input += put;
	else if (put < 0 && errno != EINTR && errno != EAGAIN)
		end_close(fd);
	if (*fd >= 0 && !**input)
		end_close(fd);
}

/* Moves bytes until both outputs are closed or the deadline passes. */
static bool pump(struct pipes *pipes, const char *input, uint64_t deadline_ns,
                 struct proc_result *ret)
{
	if (!input || !*input)
		end_close(&pipes->in[1]);
	while (pipes->out[0] >= 0 || pipes->errors[0] >= 0) {
		struct pollfd fds[] = {
		        {.fd = pipes->in[1], .events = POLLOUT},
		        {.fd = pipes->out[0], .events = POLLIN},
		        {.fd = pipes->errors[0], .events = POLLIN},
		};

		if (deadline_passed(deadline_ns))
			return false;
		if (poll(fds, COUNT_OF(fds), deadline_poll_ms(deadline_ns, 1000)) <= 0)
			continue;
		if (input && fds[0].revents)
			feed(&pipes->in[1], &input);
		if (fds[1].revents)
			drain(&pipes->out[0], &ret->out);
		if (fds[2].revents)
			drain(&pipes->errors[0], &ret->errors);
	}
	return true;
}

bool proc_run(const struct proc_spec *spec, const char *input, size_t max_bytes,
              uint64_t deadline_ns, struct proc_result *ret, struct err *err)
{
	struct proc_spec piped = *spec;
	struct proc proc = PROC_NONE;
	CLEANUP(pipes_close) struct pipes pipes;

	buf_init(&ret->out, max_bytes);
	buf_init(&ret->errors, max_bytes);
	if (!pipes_open(&pipes, err))
		return false;
	piped.stdin_fd = pipes.in[0];
	piped.stdout_fd = pipes.out[1];
	piped.stderr_fd = pipes.errors[1];
	if (!proc_start(&piped, &proc, err))
		return false;
	end_close(&pipes.in[0]);
	end_close(&pipes.out[1]);
	end_close(&pipes.errors[1]);
	if (!pump(&pipes, input, deadline_ns, ret) ||
	    !proc_wait(&proc, deadline_ns, &ret->status, err)) {
		proc_kill(&proc);
		return err_set(err, ERR_SYSTEM, "%s did not end in time and was killed",
		               spec->argv[0]);
	}
	return buf_ok(&ret->out, err) && buf_ok(&ret->errors, err);
}
