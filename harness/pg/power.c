/* SPDX-License-Identifier: PostgreSQL */
/*
 * Power loss, as far as a running machine can show it: what the operating
 * system has not written to its device yet is taken out of the data folder.
 * cachestat(2) (Linux 6.5) says which pages those are.
 */
#include "pg/cluster.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* the same number on every architecture */
#endif

struct cache_range {
	uint64_t offset, len;
};
struct cache_counts {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* Pages of the range that are not on the device. false when the kernel does not say. */
static bool count_unsynced(int fd, uint64_t offset, uint64_t len, uint64_t *ret)
{
	struct cache_range range = {.offset = offset, .len = len};
	struct cache_counts counts = {0};

	if (syscall(SYS_cachestat, fd, &range, &counts, 0) < 0)
		return false;
	*ret = counts.dirty + counts.writeback;
	return true;
}

static bool not_told(struct err *err)
{
	return err_set(err, ERR_ENVIRONMENT,
	               "the kernel does not say here which pages are not written yet (cachestat, "
	               "Linux 6.5, on a file system with a device)");
}

/*
 * A file without a name in the data folder, or, where the file system has none of those, with one
 * that nobody can know: the folder is the server user's, who may have put a link to somebody
 * else's file wherever we are expected.
 */
static int open_probe(int dir_fd, const char *dir, struct err *err)
{
	int fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	CLEANUP(free_p) char *prefix = fs_join(err, dir, "keylab.probe-");
	CLEANUP(free_p) char *path = NULL;
	fd = prefix ? fs_open_temp(prefix, 0600, &path, err) : -1;
	if (path)
		unlink(path);
	return fd;
}

/* A page that was just written must be told from one that has been synced. */
static bool check_told(int dir_fd, const char *dir, struct err *err)
{
	CLEANUP(close_p) int fd = open_probe(dir_fd, dir, err);
	uint64_t before = 0, after = 1;
	char page[4096] = {1};

	if (fd < 0)
		return false;
	if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
		return err_errno(err, "writing a file in %s", dir);
	if (!count_unsynced(fd, 0, 0, &before) || fdatasync(fd) < 0 ||
	    !count_unsynced(fd, 0, 0, &after) || before != 1 || after != 0)
		return not_told(err);
	return true;
}

bool cluster_sync(const struct cluster *cluster, struct err *err)
{
	CLEANUP(close_p)
	int fd = open(cluster->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		return err_errno(err, "syncing %s", cluster->data_dir);
	return check_told(fd, cluster->data_dir, err);
}

/* Empties the pages of one file that are not on the device. */
static bool drop_pages(int fd, uint64_t size, uint64_t *lost, struct err *err)
{
	static const char empty[4096];
	uint64_t all = 0;

	if (!count_unsynced(fd, 0, 0, &all))
		return not_told(err);
	for (uint64_t at = 0; all && at < size; at += sizeof(empty)) {
		uint64_t here = 0;
		size_t len = size - at < sizeof(empty) ? (size_t)(size - at) : sizeof(empty);

		if (!count_unsynced(fd, at, sizeof(empty), &here))
			return not_told(err);
		if (!here)
			continue;
		if (pwrite(fd, empty, len, (off_t)at) != (ssize_t)len)
			return err_errno(err, "emptying a page");
		(*lost)++;
	}
	return true;
}

/* Of a folder's descriptor, which it closes. */
static bool drop_tree(int dir_fd, uint64_t *lost, struct err *err)
{
	DIR *dir = fdopendir(dir_fd);
	bool ok = true;

	if (!dir) {
		close(dir_fd);
		return err_errno(err, "reading a folder");
	}
	for (struct dirent *entry; ok && (entry = readdir(dir));) {
		struct stat status;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		int flags = S_ISDIR(status.st_mode) ? O_RDONLY | O_DIRECTORY : O_RDWR;
		if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
			continue;
		int fd = openat(dirfd(dir), entry->d_name, flags | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			ok = err_errno(err, "%s", entry->d_name);
		} else if (S_ISDIR(status.st_mode)) {
			ok = drop_tree(fd, lost, err);
		} else {
			ok = drop_pages(fd, (uint64_t)status.st_size, lost, err);
			close(fd);
		}
	}
	closedir(dir);
	return ok;
}

bool cluster_drop_unsynced(const struct cluster *cluster, uint64_t *ret_pages, struct err *err)
{
	uint64_t lost = 0;
	int fd = open(cluster->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "%s", cluster->data_dir);
	if (!drop_tree(fd, &lost, err))
		return false;
	*ret_pages = lost;
	return true;
}
