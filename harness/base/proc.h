/* SPDX-License-Identifier: PostgreSQL */
/*
 * Child processes: argv only, no shell, their own process group (unless asked otherwise), no
 * inherited descriptors but 0-2, a clean environment, an optional drop to
 * another user for good.
 *
 * A struct proc is used by one thread. Children die with the thread that
 * started them when dies_with_parent is set (prctl(2), PR_SET_PDEATHSIG).
 */
#ifndef KEYLAB_BASE_PROC_H
#define KEYLAB_BASE_PROC_H

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"

struct proc_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is a path */
	const char *const *env;  /* NULL-terminated "NAME=value"; NULL: PATH, LC_ALL, TZ only */
	const char *dir;         /* working folder; NULL keeps it */
	uid_t uid;               /* with drop: who it runs as */
	gid_t gid;
	bool drop;         /* give up root for good before exec */
	bool in_our_group; /* no process group of its own: it may read from our terminal */
	int stdin_fd;      /* -1: /dev/null */
	int stdout_fd;     /* -1: /dev/null */
	int stderr_fd;     /* -1: /dev/null */
	int death_signal;  /* sent when the parent thread dies; 0: none */
};

struct proc {
	pid_t pid; /* 0 when there is none */
	int pidfd; /* readable when it has ended; -1 when there is none (Linux before 5.3) */
};

#define PROC_NONE ((struct proc){.pid = 0, .pidfd = -1})

/* Starts it. An exec that fails is reported here, not by the child's exit. */
bool proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err) MUST_CHECK;
/*
 * Waits until it has ended. *ret_status is wait(2)'s. false with err when
 * the deadline passes first (kind SYSTEM; the child lives on).
 */
bool proc_wait(struct proc *proc, uint64_t deadline_ns, int *ret_status,
               struct err *err) MUST_CHECK;
/* True when it has ended; fills *ret_status then. Never blocks. */
bool proc_ended(struct proc *proc, int *ret_status);
/* Signals the child alone; one that has ended is fine. */
void proc_signal(const struct proc *proc, int signal_number);
/* SIGKILL to its whole group (to it alone, when that is ours), then waits. */
void proc_kill(struct proc *proc);
/* Who a pid is: start time and boot, so that a later process with the same number is told apart.
   "" when there is none. Returns text. */
#define PROC_IDENTITY_BYTES 80
char *proc_identity(pid_t pid, char text[PROC_IDENTITY_BYTES]);
/* Is the process of that number still the one with that identity? A zombie is not. */
bool proc_is_alive(pid_t pid, const char *identity);
/*
 * SIGKILL to pid and to all its children, and theirs, none of which can
 * start another meanwhile; waits until they are gone. pid itself is only
 * waited for when it is no child of ours (the caller reaps those).
 *
 * With dir (else NULL) also to every process whose working folder is
 * dir or lies below it, whoever its parent is: what a server leaves behind when only its first
 * process was killed. pid 0: those alone.
 */
bool proc_kill_family(pid_t pid, const char *dir, uint64_t deadline_ns, struct err *err) MUST_CHECK;
/* Waits until no process works in dir or below it, or the deadline passes; signals none. */
void proc_await_end(const char *dir, uint64_t deadline_ns);
/* "exited with 1", "was ended by signal 9 (Killed)". */
const char *proc_status_text(int status, char *text, size_t size);

struct proc_result {
	int status;        /* wait(2)'s */
	struct buf out;    /* standard output */
	struct buf errors; /* standard error */
};
/*
 * Runs to the end with both streams captured (at most max_bytes each) and
 * input (may be NULL) on standard input. Kills the group at the deadline.
 * The caller finishes both buffers, also after a failure.
 */
bool proc_run(const struct proc_spec *spec, const char *input, size_t max_bytes,
              uint64_t deadline_ns, struct proc_result *ret, struct err *err) MUST_CHECK;

#endif
