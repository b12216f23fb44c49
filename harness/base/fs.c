/* SPDX-License-Identifier: PostgreSQL */
/* Reading, writing, copying and removing files and trees. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
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

static bool remove_entry(int dir, const char *name, void *arg, struct err *err)
{
	(void)arg;
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return true;
	if (errno != EISDIR && errno != EPERM)
		return err_errno(err, "cannot remove %s", name);
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0)
		return err_errno(err, "cannot remove %s", name);
	if (!each_entry(fd, remove_entry, NULL, err))
		return err_within(err, "%s", name);
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_errno(err, "cannot remove %s", name);
	return true;
}

bool fs_remove_tree(const char *path, struct err *err)
{
	if (!remove_entry(AT_FDCWD, path, NULL, err))
		return err_within(err, "removing %s", path);
	return true;
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
	CLEANUP(close_p) int from = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0)
		return err_errno(err, "cannot read %s", name);
	CLEANUP(close_p)
	int to = openat(copy->to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                st->st_mode & 07777);
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
	int from = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
	if (fchmod(to, mode & 07777) < 0)
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
