/* SPDX-License-Identifier: PostgreSQL */
/* Finding and preparing keylab's own folder and the servers' user. */
#include "pg/home.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

static bool find_users(struct home *home, const char *wanted, struct err *err)
{
	const struct passwd *self = getpwuid(geteuid());

	if (!self)
		return err_set(err, ERR_ENVIRONMENT,
		               "user %ld has no name here, and PostgreSQL needs one; add it to "
		               "/etc/passwd",
		               (long)geteuid());
	home->client_name = strdup(self->pw_name);
	home->drop = geteuid() == 0;
	if (!home->drop) {
		home->server_name = strdup(self->pw_name);
		home->server_uid = self->pw_uid;
		home->server_gid = self->pw_gid;
		return (home->client_name && home->server_name) ||
		       err_set(err, ERR_SYSTEM, "out of memory");
	}
	const struct passwd *user = wanted ? getpwnam(wanted) : getpwnam("postgres");
	if (!user && !wanted)
		user = getpwnam("nobody");
	if (!user || user->pw_uid == 0)
		return err_set(err, ERR_ENVIRONMENT,
		               "PostgreSQL refuses root, and there is no user \"%s\" to run it as; "
		               "name one in KEYLAB_SERVER_USER",
		               wanted ? wanted : "nobody");
	home->server_name = strdup(user->pw_name);
	home->server_uid = user->pw_uid;
	home->server_gid = user->pw_gid;
	return (home->client_name && home->server_name) ||
	       err_set(err, ERR_SYSTEM, "out of memory");
}

static char *choose_root(const struct home_options *options, struct err *err)
{
	if (options->root)
		return fs_absolute(err, options->root);
	if (geteuid() == 0)
		return fs_printf(err, "/var/cache/keylab");
	if (options->cache && options->cache[0] == '/')
		return fs_printf(err, "%s/keylab", options->cache);
	if (options->user_home && options->user_home[0] == '/')
		return fs_printf(err, "%s/.cache/keylab", options->user_home);
	err_set(err, ERR_ENVIRONMENT,
	        "no folder to keep clusters in: neither HOME nor XDG_CACHE_HOME is set; "
	        "name one in KEYLAB_HOME");
	return NULL;
}

static bool allowed(const struct home *home, const struct stat *st, unsigned other_bits)
{
	unsigned owner_bits = other_bits << 6, group_bits = other_bits << 3;

	if (st->st_uid == home->server_uid)
		return (st->st_mode & owner_bits) == owner_bits;
	if (st->st_gid == home->server_gid)
		return (st->st_mode & group_bits) == group_bits;
	return (st->st_mode & other_bits) == other_bits;
}

bool home_server_can_read(const struct home *home, const char *path)
{
	CLEANUP(free_p) char *copy = strdup(path);
	struct stat st;

	if (!home->drop)
		return access(path, R_OK) == 0;
	if (!copy || stat(path, &st) < 0)
		return false;
	if (!allowed(home, &st, S_ISDIR(st.st_mode) ? 05 : 04))
		return false;
	for (char *slash = strrchr(copy, '/'); slash && slash != copy; slash = strrchr(copy, '/')) {
		*slash = '\0';
		if (stat(copy, &st) < 0 || !allowed(home, &st, 01))
			return false;
	}
	return true;
}

/*
 * Tells ext4 to spread what is made in this folder over the disk ("top
 * directory", ioctl_iflags(2)). Otherwise all clusters' files come from the
 * block group of their parent, where the inodes of clusters that were just
 * removed are passed over one by one: 1.4 ms a file instead of 0.03 ms after
 * some dozens of clusters. Other file systems do not know it, nor need it.
 */
static void spread(const char *path)
{
	CLEANUP(close_p) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int flags;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 || (flags & FS_TOPDIR_FL))
		return;
	flags |= FS_TOPDIR_FL;
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* Makes it with that mode; one that is there stays as it is, if nobody else may write to it. */
static bool make_folder(const char *path, mode_t mode, struct err *err)
{
	bool made = !fs_exists(path);
	struct stat st;

	if (!fs_mkdirs(path, mode, err))
		return false;
	if ((made && chmod(path, mode) < 0) || stat(path, &st) < 0)
		return err_errno(err, "%s", path);
	if (st.st_uid != geteuid())
		return err_set(err, ERR_ENVIRONMENT,
		               "%s belongs to another user; name a folder of your own in "
		               "KEYLAB_HOME",
		               path);
	if (st.st_mode & 022)
		return err_set(err, ERR_ENVIRONMENT,
		               "others may write to %s; name a folder in KEYLAB_HOME that is not "
		               "there yet, or that only you may write to",
		               path);
	return true;
}

/* Folders that others may pass but not list; nobody else may write. */
static bool make_folders(struct home *home, struct err *err)
{
	static const char *const names[] = {"templates", "clusters", "servers"};
	mode_t mode = home->drop ? 0711 : 0700;

	if (!make_folder(home->root, mode, err))
		return err_within(err, "keylab's folder (KEYLAB_HOME names another)");
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		CLEANUP(free_p) char *path = fs_join(err, home->root, names[i]);

		if (!path || !make_folder(path, mode, err))
			return false;
		if (access(path, W_OK) < 0)
			return err_errno(err, "%s (KEYLAB_HOME names another folder)", path);
		spread(path);
	}
	return true;
}

static bool check_way(const struct home *home, struct err *err)
{
	CLEANUP(free_p) char *probe = fs_join(err, home->root, "clusters/x");
	struct stat st;

	if (!probe)
		return false;
	for (char *slash = strrchr(probe, '/'); slash && slash != probe;
	     slash = strrchr(probe, '/')) {
		*slash = '\0';
		if (stat(probe, &st) < 0)
			return err_errno(err, "%s", probe);
		if (!allowed(home, &st, 01))
			return err_set(err, ERR_ENVIRONMENT,
			               "user %s, as whom the server runs, may not pass %s; name "
			               "another folder in KEYLAB_HOME",
			               home->server_name, probe);
	}
	return true;
}

bool home_open(const struct home_options *options, struct home **ret, struct err *err)
{
	struct home *home = calloc(1, sizeof(*home));

	if (!home)
		return err_set(err, ERR_SYSTEM, "out of memory");
	home->root = choose_root(options, err);
	if (!home->root || !find_users(home, options->server_user, err) ||
	    !make_folders(home, err) || (home->drop && !check_way(home, err))) {
		home_close(home);
		return false;
	}
	*ret = home;
	return true;
}

void home_close(struct home *home)
{
	if (!home)
		return;
	free(home->root);
	free(home->client_name);
	free(home->server_name);
	free(home);
}

void home_close_p(struct home **home)
{
	home_close(*home);
}
