/* SPDX-License-Identifier: PostgreSQL */
/* The ustar format. */
#include "base/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512
/* What eleven octal digits can say. */
#define MAX_BYTES 077777777777LL

/* The header's fields are texts; numbers are octal, with a NUL behind them. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char linked[100], magic[6], version[2], owner[32], group[32], major[8], minor[8];
	char prefix[155], unused[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static bool put(int fd, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return err_errno(err, "cannot write the archive");
		at += done;
		len -= (size_t)done;
	}
	return true;
}

/* Digits that fit, so that snprintf's NUL is the field's end. */
static void octal(char *field, size_t size, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%0*llo", (int)size - 1, (unsigned long long)value);
	memcpy(field, digits, size);
}

/* The whole name where it fits; else cut at a slash that leaves both parts short enough. */
static bool set_name(struct header *header, const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || name[0] == '/')
		return false;
	if (len <= sizeof(header->name)) {
		memcpy(header->name, name, len);
		return true;
	}
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t before = (size_t)(slash - name), behind = len - before - 1;

		if (before > sizeof(header->prefix) || behind == 0 || behind > sizeof(header->name))
			continue;
		memcpy(header->prefix, name, before);
		memcpy(header->name, slash + 1, behind);
		return true;
	}
	return false;
}

static bool put_header(int fd, const char *name, int64_t len, int64_t mtime_s, struct err *err)
{
	struct header header = {.type = '0', .magic = "ustar", .version = {'0', '0'}};
	const unsigned char *bytes = (const unsigned char *)&header;
	unsigned sum = 0;

	if (!set_name(&header, name))
		return err_set(err, ERR_INPUT, "\"%.300s\" is no name for a tar archive", name);
	if (len > MAX_BYTES || mtime_s < 0 || mtime_s > MAX_BYTES)
		return err_set(err, ERR_INPUT, "%s is too large for a tar archive", name);
	octal(header.mode, sizeof(header.mode), 0644);
	octal(header.uid, sizeof(header.uid), 0);
	octal(header.gid, sizeof(header.gid), 0);
	octal(header.size, sizeof(header.size), len);
	octal(header.mtime, sizeof(header.mtime), mtime_s);
	/* The sum of all bytes, its own field taken for spaces; six digits, NUL, space. */
	memset(header.checksum, ' ', sizeof(header.checksum));
	for (size_t i = 0; i < sizeof(header); i++)
		sum += bytes[i];
	octal(header.checksum, 7, sum);
	return put(fd, &header, sizeof(header), err);
}

static bool put_padding(int fd, int64_t len, struct err *err)
{
	static const char zeros[BLOCK];

	return put(fd, zeros, (size_t)((BLOCK - len % BLOCK) % BLOCK), err);
}

bool tar_add(int fd, const char *name, const void *bytes, size_t len, int64_t mtime_s,
             struct err *err)
{
	return put_header(fd, name, (int64_t)len, mtime_s, err) && put(fd, bytes, len, err) &&
	       put_padding(fd, (int64_t)len, err);
}

bool tar_add_file(int fd, const char *name, const char *path, int64_t mtime_s, struct err *err)
{
	CLEANUP(close_p) int from = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	char chunk[65536];

	if (from < 0 || fstat(from, &s) < 0)
		return err_errno(err, "cannot read %s", path);
	if (!put_header(fd, name, s.st_size, mtime_s, err))
		return false;
	for (int64_t left = s.st_size; left > 0;) {
		size_t want = left < (int64_t)sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t got = read(from, chunk, want);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_set(err, ERR_SYSTEM, "%s became shorter while it was read",
			               path);
		if (!put(fd, chunk, (size_t)got, err))
			return false;
		left -= got;
	}
	return put_padding(fd, s.st_size, err);
}

bool tar_end(int fd, struct err *err)
{
	static const char zeros[2 * BLOCK];

	return put(fd, zeros, sizeof(zeros), err);
}
