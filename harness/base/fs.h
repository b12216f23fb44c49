/* SPDX-License-Identifier: PostgreSQL */
/* Files and folders. Paths are UTF-8 or bytes; none is ever handed to a shell. */
#ifndef KEYLAB_BASE_FS_H
#define KEYLAB_BASE_FS_H

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"

bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* May the process execute it (a regular file)? */
bool fs_is_executable(const char *path);

/* "DIR/NAME" as an owned string; NULL with err. */
char *fs_join(struct err *err, const char *dir, const char *name) MUST_CHECK;
/* Like printf into an owned string. */
char *fs_printf(struct err *err, const char *format, ...) PRINTF(2, 3) MUST_CHECK;
/* The absolute form of path (which need not exist); owned. */
char *fs_absolute(struct err *err, const char *path) MUST_CHECK;

/* Appends the whole file, at most max_bytes (an error beyond). */
bool fs_read(const char *path, size_t max_bytes, struct buf *ret, struct err *err) MUST_CHECK;
/* The same in a folder that somebody else writes to: a regular file or an error. No link is
   followed, no pipe waited for. */
bool fs_read_nofollow(const char *path, size_t max_bytes, struct buf *ret,
                      struct err *err) MUST_CHECK;
/*
 * A new file PREFIXxxxxxxxxxxxx with an unpredictable name, to write and read; -1 with err. Never
 * one that is there already, nor what a link of that name leads to. *ret_path is owned.
 */
int fs_open_temp(const char *prefix, mode_t mode, char **ret_path, struct err *err) MUST_CHECK;
/* Writes to a temporary name beside path and renames: all or nothing. */
bool fs_write(const char *path, const void *bytes, size_t len, mode_t mode,
              struct err *err) MUST_CHECK;
/*
 * The same for a file that nobody else looks at yet and that need not outlive
 * a crash of the machine: no temporary name, no fsync. One that is there is
 * replaced.
 */
bool fs_write_fast(const char *path, const void *bytes, size_t len, mode_t mode,
                   struct err *err) MUST_CHECK;
/* Creates path with that mode, and its parents with 0755; existing folders are fine. */
bool fs_mkdirs(const char *path, mode_t mode, struct err *err) MUST_CHECK;
/* A new folder PREFIXxxxxxxxx with an unpredictable name, mode 0700; owned path. */
char *fs_make_temp_dir(const char *prefix, struct err *err) MUST_CHECK;
/*
 * Opens a file (made if need be, mode 0600, no symlink) and locks it, one process at a time; waits
 * for that, and no longer than until it is asked to stop. -1 with err. Closing it unlocks.
 */
int fs_lock(const char *path, struct err *err) MUST_CHECK;
/* Removes a tree without following symlinks; one that is not there is fine. */
bool fs_remove_tree(const char *path, struct err *err) MUST_CHECK;

/*
 * Copies a tree (regular files, folders, symlinks) to a path that must not
 * exist, by reflink where the file system can, else copy_file_range(2).
 * Modes are kept. owner/group (uid_t)-1 leave the owner alone. A failed copy
 * is removed.
 */
bool fs_copy_tree(const char *from, const char *to, uid_t owner, gid_t group,
                  struct err *err) MUST_CHECK;
/* Gives the whole tree to owner:group, symlinks themselves included. */
bool fs_chown_tree(const char *path, uid_t owner, gid_t group, struct err *err) MUST_CHECK;
/* Sum of the sizes of the regular files below path. */
bool fs_tree_bytes(const char *path, uint64_t *ret_bytes, struct err *err) MUST_CHECK;

#endif
