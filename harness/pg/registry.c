/* SPDX-License-Identifier: PostgreSQL */
/* The register of clusters, and the reaping of what dead keylabs left. */
#include "pg/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/proc.h"
#include "pg/cluster.h"

#define REAP_WAIT_NS (30 * NS_PER_S)

/* -1 with err. Closing it unlocks. */
static int registry_lock(const struct home *home, struct err *err)
{
	CLEANUP(free_p) char *path = fs_join(err, home->root, "clusters/lock");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;

	if (path && (fd < 0 || flock(fd, LOCK_EX) < 0)) {
		err_errno(err, "%s", path);
		close_p(&fd);
		return -1;
	}
	return fd;
}

/* Appends "KEY VALUE\n" to the owner file. */
static bool owner_note(const char *dir, const char *key, const char *value, struct err *err)
{
	CLEANUP(free_p) char *path = fs_join(err, dir, "owner");
	CLEANUP(free_p) char *line = fs_printf(err, "%s %s\n", key, value);
	CLEANUP(close_p)
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600)
	              : -1;

	if (!path || !line)
		return false;
	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		return err_errno(err, "cannot write %s", path);
	return true;
}

bool registry_note_server(const char *dir, pid_t server, struct err *err)
{
	char text[32], identity[PROC_IDENTITY_BYTES + 32];

	snprintf(text, sizeof(text), "%ld", (long)server);
	snprintf(identity, sizeof(identity), "%s %s", text,
	         proc_identity(server, (char[PROC_IDENTITY_BYTES]){0}));
	return owner_note(dir, "server", identity, err);
}

bool registry_note_socket(const char *dir, const char *socket_dir, struct err *err)
{
	return owner_note(dir, "socket", socket_dir, err);
}

bool registry_add(const struct home *home, char **ret_dir, struct err *err)
{
	CLEANUP(close_p) int lock = registry_lock(home, err);
	CLEANUP(free_p) char *prefix = fs_join(err, home->root, "clusters/c-");
	char who[PROC_IDENTITY_BYTES + 32];
	char *dir;

	if (lock < 0 || !prefix || !(dir = fs_make_temp_dir(prefix, err)))
		return false;
	snprintf(who, sizeof(who), "%ld %s", (long)getpid(),
	         proc_identity(getpid(), (char[PROC_IDENTITY_BYTES]){0}));
	if (!owner_note(dir, "keylab", who, err) ||
	    (home->drop && chown(dir, home->server_uid, home->server_gid) < 0 &&
	     !err_errno(err, "%s", dir))) {
		if (!fs_remove_tree(dir, NULL))
			err_within(err, "and %s is left behind", dir);
		free(dir);
		return false;
	}
	*ret_dir = dir;
	return true;
}

void registry_keep(const char *dir)
{
	CLEANUP(free_p) char *path = fs_join(NULL, dir, "keep");

	if (path && !fs_write(path, "", 0, 0600, NULL))
		return;
}

struct owner {
	pid_t keylab;
	char keylab_identity[PROC_IDENTITY_BYTES];
	pid_t server; /* of the last start */
	char server_identity[PROC_IDENTITY_BYTES];
	char socket_dir[4096];
};

static void owner_read(const char *dir, struct owner *ret)
{
	CLEANUP(free_p) char *path = fs_join(NULL, dir, "owner");
	CLEANUP(buf_finish) struct buf text;
	char *rest = NULL;

	*ret = (struct owner){0};
	buf_init(&text, 1 << 20);
	if (!path || !fs_read(path, 1 << 20, &text, NULL))
		return;
	for (char *line = strtok_r(text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		long pid;
		char identity[PROC_IDENTITY_BYTES];

		if (sscanf(line, "keylab %ld %79s", &pid, identity) == 2) {
			ret->keylab = (pid_t)pid;
			memcpy(ret->keylab_identity, identity, sizeof(identity));
		} else if (sscanf(line, "server %ld %79s", &pid, identity) == 2) {
			ret->server = (pid_t)pid;
			memcpy(ret->server_identity, identity, sizeof(identity));
		} else if (!strncmp(line, "socket ", 7)) {
			snprintf(ret->socket_dir, sizeof(ret->socket_dir), "%s", line + 7);
		}
	}
}

/*
 * A killed postmaster leaves a small System V segment behind; its key and id
 * are the 7th line of postmaster.pid (src/include/utils/pidfile.h).
 */
static void remove_shared_memory(const char *dir)
{
	CLEANUP(free_p) char *path = fs_join(NULL, dir, "data/postmaster.pid");
	CLEANUP(buf_finish) struct buf text;
	unsigned long key;
	int id;
	struct shmid_ds state;

	buf_init(&text, 4096);
	if (!path || !fs_read(path, 4096, &text, NULL))
		return;
	const char *line = text.data;
	for (int number = 1; line && number < 7; number++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (line && sscanf(line, "%lu %d", &key, &id) == 2 && shmctl(id, IPC_STAT, &state) == 0 &&
	    (unsigned long)(unsigned int)state.shm_perm.__key == key && state.shm_nattch == 0)
		shmctl(id, IPC_RMID, NULL);
}

void registry_remove(const struct home *home, const char *dir)
{
	struct owner owner;

	(void)home;
	owner_read(dir, &owner);
	remove_shared_memory(dir);
	/* Made by choose_socket_dir, under a name that nobody guessed. */
	if (!strncmp(owner.socket_dir, "/tmp/keylab-s-", 14) &&
	    !fs_remove_tree(owner.socket_dir, NULL))
		return;
	if (!fs_remove_tree(dir, NULL))
		return;
}

static bool reap_one(const struct home *home, const char *dir, bool remove_kept,
                     struct cluster_reaped *count, struct err *err)
{
	CLEANUP(free_p) char *keep = fs_join(err, dir, "keep");
	struct owner owner;

	if (!keep)
		return false;
	owner_read(dir, &owner);
	if (proc_is_alive(owner.keylab, owner.keylab_identity)) {
		count->living++;
		return true;
	}
	if (proc_is_alive(owner.server, owner.server_identity)) {
		count->servers++;
		if (!proc_kill_family(owner.server, deadline_after(REAP_WAIT_NS), err))
			return err_within(err, "the server of %s", dir);
	}
	if (fs_exists(keep) && !remove_kept) {
		count->kept++;
		return true;
	}
	registry_remove(home, dir);
	if (fs_exists(dir))
		return err_set(err, ERR_SYSTEM, "%s could not be removed", dir);
	count->clusters++;
	return true;
}

bool cluster_reap(const struct home *home, bool remove_kept, struct cluster_reaped *ret,
                  struct err *err)
{
	CLEANUP(close_p) int lock = registry_lock(home, err);
	CLEANUP(free_p) char *folder = fs_join(err, home->root, "clusters");
	struct cluster_reaped count = {0};
	bool ok = lock >= 0 && folder;

	if (!ok)
		return false;
	DIR *dir = opendir(folder);
	if (!dir)
		return err_errno(err, "%s", folder);
	for (struct dirent *item; ok && (item = readdir(dir));) {
		if (strncmp(item->d_name, "c-", 2))
			continue;
		CLEANUP(free_p) char *path = fs_join(err, folder, item->d_name);
		ok = path && reap_one(home, path, remove_kept, &count, err);
	}
	closedir(dir);
	if (ok)
		*ret = count;
	return ok;
}
