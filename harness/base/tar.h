/* SPDX-License-Identifier: PostgreSQL */
/*
 * A tar archive, written front to back: plain files in the ustar interchange
 * format (POSIX.1-2017, pax), owned by nobody in particular (uid 0, no
 * names), mode 0644. The same calls give the same bytes. Files are written in
 * the order of the calls; nothing is checked for names that come twice.
 */
#ifndef KEYLAB_BASE_TAR_H
#define KEYLAB_BASE_TAR_H

#include "base/base.h"
#include "base/err.h"

/* A file of the archive that is open at fd. name: relative, at most 255 bytes, with a / where it
 * has to be cut in two (100 behind it, 155 before). mtime_s: seconds since 1970. */
bool tar_add(int fd, const char *name, const void *bytes, size_t len, int64_t mtime_s,
             struct err *err) MUST_CHECK;
/* The same with the contents of another file, which must not change meanwhile. */
bool tar_add_file(int fd, const char *name, const char *path, int64_t mtime_s,
                  struct err *err) MUST_CHECK;
/* The two empty blocks at the end. The caller closes fd. */
bool tar_end(int fd, struct err *err) MUST_CHECK;

#endif
