/* SPDX-License-Identifier: PostgreSQL */
/* Telling processes apart and ending whole families, by /proc. */
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

struct stat_line {
	char state;
	long parent;
	unsigned long long start_ticks;
};

/*
 * The beginning of a file of /proc, as a text. Without an allocation: want of memory would look
 * as if the process were gone.
 */
static bool read_start(const char *path, char *ret, size_t size)
{
	CLEANUP(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;

	while (fd >= 0 && len < size - 1) {
		ssize_t got = read(fd, ret + len, size - 1 - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	ret[len] = '\0';
	return len > 0;
}

/* proc(5): the command's name, in brackets, may hold anything; read behind the last one. */
static bool stat_read(pid_t pid, struct stat_line *ret)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	const char *rest = read_start(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	return rest && sscanf(rest + 1,
	                      " %c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
	                      "%*d %*d %llu",
	                      &ret->state, &ret->parent, &ret->start_ticks) == 3;
}

char *proc_identity(pid_t pid, char text[PROC_IDENTITY_BYTES])
{
	struct stat_line line;
	char boot[256];

	text[0] = '\0';
	if (stat_read(pid, &line) &&
	    read_start("/proc/sys/kernel/random/boot_id", boot, sizeof(boot))) {
		boot[strcspn(boot, "\n")] = '\0';
		snprintf(text, PROC_IDENTITY_BYTES, "%llu@%.40s", line.start_ticks, boot);
	}
	return text;
}

bool proc_is_alive(pid_t pid, const char *identity)
{
	char now[PROC_IDENTITY_BYTES];
	struct stat_line line;

	if (pid <= 0 || !identity[0] || !stat_read(pid, &line) || line.state == 'Z')
		return false;
	return !strcmp(proc_identity(pid, now), identity);
}

struct family {
	pid_t *pids;
	size_t count;
};

static bool family_add(struct family *family, pid_t pid)
{
	pid_t *grown = realloc(family->pids, (family->count + 1) * sizeof(pid_t));

	if (!grown)
		return false;
	family->pids = grown;
	family->pids[family->count++] = pid;
	return true;
}

static bool family_has(const struct family *family, long pid)
{
	for (size_t i = 0; i < family->count; i++)
		if (family->pids[i] == pid)
			return true;
	return false;
}

/* Does the process work in dir, or below it? */
static bool works_in(long pid, const char *dir)
{
	char path[64], folder[4096];
	size_t len = strlen(dir);

	snprintf(path, sizeof(path), "/proc/%ld/cwd", pid);
	ssize_t got = readlink(path, folder, sizeof(folder) - 1);
	if (got < (ssize_t)len)
		return false;
	folder[got] = '\0';
	/* A folder that was removed has " (deleted)" behind its name. */
	return !strncmp(folder, dir, len) &&
	       (!folder[len] || folder[len] == '/' || folder[len] == ' ');
}

/* One pass over /proc; *ret_grew when it found a member that was not known. */
static bool family_scan(struct family *family, const char *dir, bool *ret_grew)
{
	DIR *all = opendir("/proc");
	bool ok = all != NULL;

	*ret_grew = false;
	for (struct dirent *item; ok && (item = readdir(all));) {
		struct stat_line line;
		long pid = strtol(item->d_name, NULL, 10);

		if (pid <= 0 || family_has(family, pid) || !stat_read((pid_t)pid, &line))
			continue;
		if (!family_has(family, line.parent) && !(dir && works_in(pid, dir)))
			continue;
		/* Nobody ends itself, nor what has ended already. */
		if (pid == getpid() || line.state == 'Z')
			continue;
		/* Stopped first: what stands still starts no children. */
		kill((pid_t)pid, SIGSTOP);
		ok = family_add(family, (pid_t)pid);
		*ret_grew = true;
	}
	if (all)
		closedir(all);
	return ok;
}

/* A process whose end is waited for. */
struct watched {
	int pidfd;                      /* -1: it has ended, or must be looked at */
	bool look;                      /* no pidfd_open(2): Linux before 5.3, valgrind */
	unsigned long long start_ticks; /* of the one to look at */
};

static void watch(pid_t pid, struct watched *ret)
{
	struct stat_line line;

	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	ret->look = ret->pidfd < 0 && errno == ENOSYS && stat_read(pid, &line);
	if (ret->look)
		ret->start_ticks = line.start_ticks;
}

static bool wait_gone(pid_t pid, const struct watched *watched, uint64_t deadline_ns)
{
	struct stat_line line;

	while (watched->pidfd >= 0 || watched->look) {
		struct pollfd fd = {.fd = watched->pidfd, .events = POLLIN};

		if (watched->look && (!stat_read(pid, &line) || line.state == 'Z' ||
		                      line.start_ticks != watched->start_ticks))
			return true;
		if (poll(&fd, 1, deadline_poll_ms(deadline_ns, watched->look ? 10 : 1000)) > 0)
			return true;
		if (deadline_passed(deadline_ns))
			return false;
	}
	return true;
}

bool proc_kill_family(pid_t pid, const char *dir, uint64_t deadline_ns, struct err *err)
{
	CLEANUP(free_p) char *real_dir = dir ? realpath(dir, NULL) : NULL;
	struct family family = {0};
	bool grew = true, gone = true, ok;

	/* Any other reason is that there is no such folder, and nobody works in it. */
	if (dir && !real_dir && errno == ENOMEM)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (pid > 0)
		kill(pid, SIGSTOP);
	ok = pid <= 0 || family_add(&family, pid);
	while (ok && grew)
		ok = family_scan(&family, real_dir, &grew);
	struct watched *watched = calloc(family.count + 1, sizeof(*watched));
	ok = ok && watched;
	for (size_t i = 0; ok && i < family.count; i++)
		watch(family.pids[i], &watched[i]);
	/* The head last, or its children would be told of its end and act on it. */
	for (size_t i = family.count; i-- > 0;)
		kill(family.pids[i], SIGKILL);
	for (size_t i = 0; ok && i < family.count; i++) {
		gone = wait_gone(family.pids[i], &watched[i], deadline_ns) && gone;
		close_p(&watched[i].pidfd);
	}
	free(watched);
	free(family.pids);
	if (!ok)
		return err_set(err, ERR_SYSTEM, "out of memory or no /proc");
	if (!gone)
		return err_set(err, ERR_SYSTEM,
		               "processes of %ld%s%s did not end in time after SIGKILL", (long)pid,
		               dir ? " in " : "", dir ? dir : "");
	return true;
}

/* One that works there and is not of the dead; 0 when there is none. */
static pid_t find_in(const char *dir)
{
	DIR *all = opendir("/proc");
	pid_t found = 0;

	for (struct dirent *item; all && !found && (item = readdir(all));) {
		struct stat_line line;
		long pid = strtol(item->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && works_in(pid, dir) &&
		    stat_read((pid_t)pid, &line) && line.state != 'Z')
			found = (pid_t)pid;
	}
	if (all)
		closedir(all);
	return found;
}

void proc_await_end(const char *dir, uint64_t deadline_ns)
{
	CLEANUP(free_p) char *real_dir = realpath(dir, NULL);

	for (pid_t pid; real_dir && !deadline_passed(deadline_ns) && (pid = find_in(real_dir));) {
		struct watched watched;

		watch(pid, &watched);
		(void)wait_gone(pid, &watched, deadline_ns);
		close_p(&watched.pidfd);
	}
}
