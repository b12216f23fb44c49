/* SPDX-License-Identifier: PostgreSQL */
/* Reading, writing, copying and removing files and trees. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"

#define LOCK_POLL_MS 20

bool fs_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool fs_is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *fs_printf(struct err *err, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return NULL;
	}
	return text;
}

char *fs_join(struct err *err, const char *dir, const char *name)
{
	return fs_printf(err, "%s/%s", dir, name);
}

char *fs_absolute(struct err *err, const char *path)
{
	char cwd[PATH_MAX];

	if (path[0] == '/')
		return fs_printf(err, "%s", path);
	if (!getcwd(cwd, sizeof(cwd))) {
		err_errno(err, "cannot tell the current folder");
		return NULL;
	}
	return fs_printf(err, "%s/%s", cwd, path);
}

/* Closes fd, which is -1 with errno when it could not be opened. */
static bool read_all(int fd, const char *path, size_t max_bytes, struct buf *ret, struct err *err)
{
	CLEANUP(close_p) int open_fd = fd;
	char chunk[16384];
	size_t total = 0;

	if (open_fd < 0)
		return err_errno(err, "cannot read %s", path);
	for (;;) {
		ssize_t got = read(open_fd, chunk, sizeof(chunk));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "cannot read %s", path);
		if (got == 0)
			break;
		total += (size_t)got;
		if (total > max_bytes)
			return err_set(err, ERR_INPUT, "%s is larger than %zu bytes", path,
			               max_bytes);
		buf_add_len(ret, chunk, (size_t)got);
	}
	return buf_ok(ret, err);
}

bool fs_read(const char *path, size_t max_bytes, struct buf *ret, struct err *err)
{
	return read_all(open(path, O_RDONLY | O_CLOEXEC), path, max_bytes, ret, err);
}

bool fs_read_nofollow(const char *path, size_t max_bytes, struct buf *ret, struct err *err)
{
	/* Non-blocking: a pipe without a writer, or a lease on the file, would be waited for. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return err_set(err, ERR_SYSTEM, "cannot read %s: it is no regular file", path);
	}
	return read_all(fd, path, max_bytes, ret, err);
}

static bool write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = write(fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		at += put;
		len -= (size_t)put;
	}
	return true;
}

/* 12 characters that nobody guesses. */
static bool random_name(char name[13], struct err *err)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[12];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_errno(err, "getrandom");
	for (size_t i = 0; i < sizeof(bytes); i++)
		name[i] = alphabet[bytes[i] % 32];
	name[12] = '\0';
	return true;
}

/* -1 with errno, or (no path) with err. */
static int open_temp(const char *prefix, mode_t mode, char **ret_path, struct err *err)
{
	char suffix[13];

	*ret_path = random_name(suffix, err) ? fs_printf(err, "%s%s", prefix, suffix) : NULL;
	if (!*ret_path)
		return -1;
	return open(*ret_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

int fs_open_temp(const char *prefix, mode_t mode, char **ret_path, struct err *err)
{
	char *path;
	int fd = open_temp(prefix, mode, &path, err);

	if (fd < 0) {
		if (path)
			err_errno(err, "cannot write %s", path);
		free(path);
		return -1;
	}
	*ret_path = path;
	return fd;
}

bool fs_write(const char *path, const void *bytes, size_t len, mode_t mode, struct err *err)
{
	CLEANUP(free_p) char *prefix = fs_printf(err, "%s.", path);
	CLEANUP(free_p) char *temp = NULL;
	CLEANUP(close_p) int fd = prefix ? open_temp(prefix, mode, &temp, err) : -1;

	if (!temp)
		return false;
	if (fd < 0)
		return err_errno(err, "cannot write %s", path);
	if (!write_all(fd, bytes, len) || fsync(fd) < 0 || rename(temp, path) < 0) {
		err_errno(err, "cannot write %s", path);
		unlink(temp);
		return false;
	}
	return true;
}

bool fs_write_fast(const char *path, const void *bytes, size_t len, mode_t mode, struct err *err)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return err_errno(err, "cannot write %s", path);
	CLEANUP(close_p)
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0 || !write_all(fd, bytes, len))
		return err_errno(err, "cannot write %s", path);
	return true;
}

bool fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
	CLEANUP(free_p) char *copy = strdup(path);

	if (!copy)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (char *at = copy + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return err_errno(err, "cannot make the folder %s", copy);
		*at = '/';
	}
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return err_errno(err, "cannot make the folder %s", path);
	if (!fs_is_dir(path))
		return err_set(err, ERR_SYSTEM, "%s is there, but is no folder", path);
	return true;
}

char *fs_make_temp_dir(const char *prefix, struct err *err)
{
	for (int attempt = 0; attempt < 16; attempt++) {
		char suffix[13];

		if (!random_name(suffix, err))
			return NULL;
		char *path = fs_printf(err, "%s%s", prefix, suffix);
		if (!path)
			return NULL;
		if (mkdir(path, 0700) == 0)
			return path;
		if (errno != EEXIST) {
			err_errno(err, "cannot make the folder %s", path);
			free(path);
			return NULL;
		}
		free(path);
	}
	err_set(err, ERR_SYSTEM, "no free name for a folder %s…", prefix);
	return NULL;
}

/*
 * Walks a folder's entries by descriptor, so that a symlink swapped in while
 * we work is never followed. Takes fd.
 */
static bool each_entry(int fd, bool (*entry)(int dir, const char *name, void *arg, struct err *err),
                       void *arg, struct err *err)
{
	DIR *dir = fdopendir(fd);
	bool ok = true;

	if (!dir) {
		close(fd);
		return err_errno(err, "cannot list a folder");
	}
	for (struct dirent *item; ok;) {
		errno = 0;
		item = readdir(dir);
		if (!item) {
			ok = errno == 0 || err_errno(err, "cannot list a folder");
			break;
		}
		if (strcmp(item->d_name, ".") && strcmp(item->d_name, ".."))
			ok = entry(dirfd(dir), item->d_name, arg, err);
	}
	closedir(dir);
	return ok;
}

/*
 * A folder that is being emptied. However deep a tree is, only the folder at work is open; the way
 * back is "..", if that is still the folder that we came from.
 */
struct level {
	struct level *above;
	char *name;
	dev_t device;
	ino_t inode;
	char **folders; /* in it; their names, still to be removed */
	size_t folders_count;
};

static void level_pop(struct level **top)
{
	struct level *level = *top;

	*top = level->above;
	while (level->folders_count)
		free(level->folders[--level->folders_count]);
	free(level->folders);
	free(level->name);
	free(level);
}

static bool level_add(struct level *level, const char *name)
{
	size_t count = level->folders_count;

	/* Grows at every power of two. */
	if ((count & (count - 1)) == 0) {
		char **grown = realloc(level->folders, (count ? 2 * count : 1) * sizeof(char *));

		if (!grown)
			return false;
		level->folders = grown;
	}
	level->folders[count] = strdup(name);
	if (!level->folders[count])
		return false;
	level->folders_count++;
	return true;
}

/* Removes what is no folder; *ret_folder when it is one. */
static bool remove_plain(int dir, const char *name, bool *ret_folder, struct err *err)
{
	*ret_folder = false;
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return true;
	*ret_folder = errno == EISDIR || errno == EPERM;
	return *ret_folder || err_errno(err, "cannot remove %s", name);
}

static bool level_entry(int dir, const char *name, void *arg, struct err *err)
{
	bool folder;

	return remove_plain(dir, name, &folder, err) &&
	       (!folder || level_add(arg, name) || err_set(err, ERR_SYSTEM, "out of memory"));
}

/* Goes into a folder of the one at work; takes its files away. One that has gone is fine. */
static bool level_push(struct level **top, int *fd, const char *name, struct err *err)
{
	int inner = openat(*fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (inner < 0)
		return errno == ENOENT || err_errno(err, "cannot remove %s", name);
	if (*fd != AT_FDCWD)
		close(*fd);
	*fd = inner;
	struct level *level = calloc(1, sizeof(*level));
	if (!level || !(level->name = strdup(name))) {
		free(level);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	level->above = *top;
	*top = level;
	if (fstat(inner, &st) < 0)
		return err_errno(err, "cannot look at %s", name);
	level->device = st.st_dev;
	level->inode = st.st_ino;
	int list = fcntl(inner, F_DUPFD_CLOEXEC, 0);
	if (list < 0)
		return err_errno(err, "cannot list %s", name);
	return each_entry(list, level_entry, level, err) || err_within(err, "%s", name);
}

/* Goes back up and removes the folder, which is empty now. */
static bool level_leave(struct level **top, int *fd, struct err *err)
{
	const struct level *level = *top, *above = level->above;
	int outer = openat(*fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (outer < 0)
		return err_errno(err, "cannot remove %s", level->name);
	close(*fd);
	*fd = outer;
	if (fstat(outer, &st) < 0)
		return err_errno(err, "cannot remove %s", level->name);
	if (st.st_dev != above->device || st.st_ino != above->inode)
		return err_set(err, ERR_SYSTEM, "cannot remove %s: somebody moves it meanwhile",
		               level->name);
	if (unlinkat(outer, level->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_errno(err, "cannot remove %s", level->name);
	level_pop(top);
	return true;
}

static bool remove_folder(const char *path, struct err *err)
{
	struct level *top = NULL;
	int fd = AT_FDCWD;
	bool ok = level_push(&top, &fd, path, err);

	while (ok && top && (top->above || top->folders_count)) {
		if (!top->folders_count) {
			ok = level_leave(&top, &fd, err);
			continue;
		}
		CLEANUP(free_p) char *name = top->folders[--top->folders_count];
		ok = level_push(&top, &fd, name, err);
	}
	while (top)
		level_pop(&top);
	if (fd != AT_FDCWD)
		close(fd);
	if (ok && rmdir(path) < 0 && errno != ENOENT)
		ok = err_errno(err, "cannot remove it");
	return ok;
}

bool fs_remove_tree(const char *path, struct err *err)
{
	bool folder;

	if (!remove_plain(AT_FDCWD, path, &folder, err) || (folder && !remove_folder(path, err)))
		return err_within(err, "removing %s", path);
	return true;
}

int fs_lock(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0) {
		err_errno(err, "%s", path);
		return -1;
	}
	/* Looked at again and again: a signal reaches one thread, and any may wait here. */
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		bool good = errno == EWOULDBLOCK || errno == EINTR || err_errno(err, "%s", path);

		if (!good || !interrupt_check(err)) {
			close(fd);
			return -1;
		}
		poll(NULL, 0, LOCK_POLL_MS);
	}
	return fd;
}

struct copy {
	int to;
	uid_t owner;
	gid_t group;
};

static bool copy_bytes(int from, int to, const char *name, struct err *err)
{
	char chunk[65536];

	if (ioctl(to, FICLONE, from) == 0)
		return true;
	for (;;) {
		ssize_t put = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);

		if (put == 0)
			return true;
		if (put < 0)
			break;
	}
	/* Not on this pair of file systems: by hand, from wherever it stopped. */
	if (errno == ENOSPC || errno == EIO)
		return err_errno(err, "cannot copy %s", name);
	for (;;) {
		ssize_t got = read(from, chunk, sizeof(chunk));

		if (got == 0)
			return true;
		if (got < 0 || !write_all(to, chunk, (size_t)got))
			return err_errno(err, "cannot copy %s", name);
	}
}

static bool set_owner(int dir, const char *name, const struct copy *copy, struct err *err)
{
	if (copy->owner == (uid_t)-1 && copy->group == (gid_t)-1)
		return true;
	if (fchownat(dir, name, copy->owner, copy->group, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, "cannot give %s to user %ld", name, (long)copy->owner);
	return true;
}

static bool copy_file(int dir, const char *name, const struct stat *st, const struct copy *copy,
                      struct err *err)
{
	/* What is there may have been exchanged since it was looked at: for a pipe, say. */
	CLEANUP(close_p)
	int from = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat now;
	if (from < 0 || fstat(from, &now) < 0)
		return err_errno(err, "cannot read %s", name);
	if (!S_ISREG(now.st_mode))
		return err_set(err, ERR_SYSTEM, "%s was exchanged while it was copied", name);
	/* Never what would run as its new owner. */
	CLEANUP(close_p)
	int to = openat(copy->to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                st->st_mode & 0777);
	if (to < 0)
		return err_errno(err, "cannot write %s", name);
	return copy_bytes(from, to, name, err) && set_owner(copy->to, name, copy, err);
}

static bool copy_link(int dir, const char *name, const struct copy *copy, struct err *err)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(dir, name, target, sizeof(target) - 1);

	if (len < 0)
		return err_errno(err, "cannot read the link %s", name);
	target[len] = '\0';
	if (symlinkat(target, copy->to, name) < 0)
		return err_errno(err, "cannot write the link %s", name);
	return set_owner(copy->to, name, copy, err);
}

static bool copy_entry(int dir, const char *name, void *arg, struct err *err);

static bool copy_dir(int dir, const char *name, const char *new_name, mode_t mode,
                     const struct copy *copy, struct err *err)
{
	/* The top may be reached through a link (bin/.. of an installation), nothing below it. */
	int follow = dir == AT_FDCWD ? 0 : O_NOFOLLOW;
	int from = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
	if (from < 0)
		return err_errno(err, "cannot read %s", name);
	/* Writable for us until its contents are in place. */
	if (mkdirat(copy->to, new_name, 0700) < 0) {
		err_errno(err, "cannot make the folder %s", new_name);
		close(from);
		return false;
	}
	CLEANUP(close_p)
	int to = openat(copy->to, new_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0) {
		err_errno(err, "cannot open the folder %s", new_name);
		close(from);
		return false;
	}
	struct copy inner = {.to = to, .owner = copy->owner, .group = copy->group};
	if (!each_entry(from, copy_entry, &inner, err))
		return err_within(err, "%s", name);
	if (fchmod(to, mode & 0777) < 0)
		return err_errno(err, "cannot set the mode of %s", new_name);
	return set_owner(copy->to, new_name, copy, err);
}

static bool copy_entry(int dir, const char *name, void *arg, struct err *err)
{
	const struct copy *copy = arg;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, "cannot look at %s", name);
	if (S_ISREG(st.st_mode))
		return copy_file(dir, name, &st, copy, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(dir, name, copy, err);
	if (S_ISDIR(st.st_mode))
		return copy_dir(dir, name, name, st.st_mode, copy, err);
	/* Sockets and pipes belong to a running server, not to its data. */
	return true;
}

bool fs_copy_tree(const char *from, const char *to, uid_t owner, gid_t group, struct err *err)
{
	struct copy copy = {.to = AT_FDCWD, .owner = owner, .group = group};
	struct stat st;
	struct err ignored;

	if (stat(from, &st) < 0)
		return err_errno(err, "cannot copy %s", from);
	if (fs_exists(to))
		return err_set(err, ERR_SYSTEM, "cannot copy to %s: it is already there", to);
	if (copy_dir(AT_FDCWD, from, to, st.st_mode, &copy, err))
		return true;
	if (!fs_remove_tree(to, &ignored))
		err_within(err, "(and the part that was copied could not be removed: %s)",
		           ignored.message);
	return err_within(err, "copying %s to %s", from, to);
}

static bool chown_entry(int dir, const char *name, void *arg, struct err *err)
{
	const struct copy *copy = arg;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && !each_entry(fd, chown_entry, arg, err))
		return false;
	return set_owner(dir, name, copy, err);
}

bool fs_chown_tree(const char *path, uid_t owner, gid_t group, struct err *err)
{
	struct copy copy = {.to = -1, .owner = owner, .group = group};

	return chown_entry(AT_FDCWD, path, &copy, err);
}

static bool add_entry_bytes(int dir, const char *name, void *arg, struct err *err)
{
	struct stat st;

	/* Files of a running server come and go. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || err_errno(err, "cannot look at %s", name);
	if (S_ISREG(st.st_mode))
		*(uint64_t *)arg += (uint64_t)st.st_size;
	if (!S_ISDIR(st.st_mode))
		return true;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || err_errno(err, "cannot list %s", name);
	return each_entry(fd, add_entry_bytes, arg, err);
}

bool fs_tree_bytes(const char *path, uint64_t *ret_bytes, struct err *err)
{
	uint64_t total = 0;

	if (!add_entry_bytes(AT_FDCWD, path, &total, err))
		return err_within(err, "%s", path);
	*ret_bytes = total;
	return true;
}
