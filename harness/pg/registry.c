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
/* For initdb's servers, whose input has ended: they end by themselves, and take their shared memory
   along. SIGTERM would not help: it ends them where they are. */
#define END_WAIT_NS (5 * NS_PER_S)

/* -1 with err. Closing it unlocks. */
static int registry_lock(const struct home *home, struct err *err)
{
	CLEANUP(free_p) char *path = fs_join(err, home->root, "clusters/lock");

	return path ? fs_lock(path, err) : -1;
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

char *registry_far_socket_dir(const char *dir, struct err *err)
{
	const char *slash = strrchr(dir, '/');

	return fs_printf(err, "/tmp/keylab-s-%s", slash ? slash + 1 : dir);
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
	/* The server user passes through, and can neither list nor write. */
	if (!owner_note(dir, "keylab", who, err) ||
	    (home->drop && (chown(dir, (uid_t)-1, home->server_gid) < 0 || chmod(dir, 0710) < 0) &&
	     !err_errno(err, "%s", dir))) {
		if (!fs_remove_tree(dir, NULL))
			err_within(err, "and %s is left behind", dir);
		free(dir);
		return false;
	}
	*ret_dir = dir;
	return true;
}

struct owner {
	pid_t keylab;
	char keylab_identity[PROC_IDENTITY_BYTES];
	pid_t server; /* of the last start */
	char server_identity[PROC_IDENTITY_BYTES];
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
		}
	}
}

struct segment {
	unsigned long key;
	int id;
};

/* Of a server that is killed: its key and id are the 7th line of postmaster.pid
   (src/include/utils/pidfile.h). False where there is none. */
static bool read_segment(const char *data_dir, struct segment *ret)
{
	CLEANUP(free_p) char *path = fs_join(NULL, data_dir, "postmaster.pid");
	CLEANUP(buf_finish) struct buf text;

	buf_init(&text, 4096);
	if (!path || !fs_read_nofollow(path, 4096, &text, NULL))
		return false;
	const char *line = text.data;
	for (int number = 1; line && number < 7; number++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line && sscanf(line, "%lu %d", &ret->key, &ret->id) == 2;
}

/* What names it is the server user's: only what belongs to that user, and is nobody's any more, is
   removed. */
static void remove_segment(const struct home *home, const struct segment *segment)
{
	struct shmid_ds state;

	if (shmctl(segment->id, IPC_STAT, &state) == 0 &&
	    (unsigned long)(unsigned int)state.shm_perm.__key == segment->key &&
	    state.shm_nattch == 0 && state.shm_perm.cuid == home->server_uid)
		shmctl(segment->id, IPC_RMID, NULL);
}

bool registry_note_memory(const char *dir, struct err *err)
{
	CLEANUP(free_p) char *data_dir = fs_join(err, dir, "data");
	struct segment segment;
	char text[64];

	if (!data_dir)
		return false;
	if (!read_segment(data_dir, &segment))
		return true;
	snprintf(text, sizeof(text), "%lu %d", segment.key, segment.id);
	return owner_note(dir, "memory", text, err);
}

/*
 * A killed postmaster leaves a small System V segment behind. The next one in its folder takes over
 * postmaster.pid before it has removed that segment: killed in between, it leaves one that only the
 * owner file knows.
 */
static void remove_shared_memory(const struct home *home, const char *dir, const char *data_dir)
{
	CLEANUP(free_p) char *path = dir ? fs_join(NULL, dir, "owner") : NULL;
	CLEANUP(buf_finish) struct buf text;
	struct segment segment;
	char *rest = NULL;

	if (read_segment(data_dir, &segment))
		remove_segment(home, &segment);
	buf_init(&text, 1 << 20);
	if (!path || !fs_read(path, 1 << 20, &text, NULL))
		return;
	for (char *line = strtok_r(text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "memory %lu %d", &segment.key, &segment.id) == 2)
			remove_segment(home, &segment);
}

void registry_keep(const struct home *home, const char *dir)
{
	CLEANUP(free_p) char *data_dir = fs_join(NULL, dir, "data");
	CLEANUP(free_p) char *path = fs_join(NULL, dir, "keep");

	/* Whoever has seen enough may remove the folder by hand. */
	if (data_dir)
		remove_shared_memory(home, dir, data_dir);
	if (path && !fs_write(path, "", 0, 0600, NULL))
		return;
}

bool registry_remove(const struct home *home, const char *dir, struct err *err)
{
	CLEANUP(free_p) char *data_dir = fs_join(err, dir, "data");
	CLEANUP(free_p) char *far = registry_far_socket_dir(dir, err);

	if (!data_dir || !far)
		return false;
	remove_shared_memory(home, dir, data_dir);
	/* The folder last: it is what the next reaping goes by. */
	if (fs_remove_tree(far, err) && fs_remove_tree(dir, err))
		return true;
	err_within(err,
	           "nothing of %s is needed any more, but it could not be removed (by hand: "
	           "rm -rf %s)",
	           dir, dir);
	return false;
}

static bool reap_one(const struct home *home, const char *dir, bool remove_kept,
                     struct cluster_reaped *count, struct err *err)
{
	CLEANUP(free_p) char *keep = fs_join(err, dir, "keep");
	CLEANUP(free_p) char *data_dir = fs_join(err, dir, "data");
	pid_t server = 0;
	struct owner owner;

	if (!keep || !data_dir)
		return false;
	bool stays = fs_exists(keep) && !remove_kept;
	owner_read(dir, &owner);
	if (proc_is_alive(owner.keylab, owner.keylab_identity)) {
		count->living++;
		return true;
	}
	if (proc_is_alive(owner.server, owner.server_identity)) {
		count->servers++;
		server = owner.server;
	}
	/* Whoever works in a kept folder, or has started its server by hand, is having a look. */
	if (stays && !server) {
		count->kept++;
		return true;
	}
	/* Also what is left of a server whose first process is dead, or was never noted. */
	if (!proc_kill_family(server, data_dir, deadline_after(REAP_WAIT_NS), err))
		return err_within(err, "the server of %s", dir);
	if (stays) {
		count->kept++;
		return true;
	}
	if (!registry_remove(home, dir, err))
		return false;
	count->clusters++;
	return true;
}

static bool remove_unfinished(const struct home *home, const char *path, struct err *err)
{
	proc_await_end(path, deadline_after(END_WAIT_NS));
	if (!proc_kill_family(0, path, deadline_after(REAP_WAIT_NS), err))
		return err_within(err, "a server in %s", path);
	remove_shared_memory(home, NULL, path);
	return fs_remove_tree(path, err);
}

bool registry_remove_unfinished(const struct home *home, const char *folder, struct err *err)
{
	struct err ignored; /* after the first */
	DIR *dir = opendir(folder);
	bool ok = true;

	if (!dir)
		return err_errno(err, "%s", folder);
	for (struct dirent *item; (item = readdir(dir));) {
		if (strncmp(item->d_name, "new-", 4))
			continue;
		CLEANUP(free_p) char *path = fs_join(err, folder, item->d_name);
		if (!path || !remove_unfinished(home, path, ok ? err : &ignored))
			ok = false;
	}
	closedir(dir);
	return ok;
}

/* In HOME/templates or HOME/servers, unless somebody is making one. */
static bool reap_unfinished(const struct home *home, const char *name, struct err *err)
{
	CLEANUP(free_p) char *folder = fs_join(err, home->root, name);
	CLEANUP(free_p) char *lock_path = folder ? fs_join(err, folder, "lock") : NULL;
	CLEANUP(close_p)
	int lock =
	        lock_path ? open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;

	if (!lock_path)
		return false;
	if (lock < 0)
		return err_errno(err, "%s", lock_path);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK || err_errno(err, "%s", lock_path);
	return registry_remove_unfinished(home, folder, err);
}

/* All but the lock, which others may be waiting for. */
static bool empty_folder(const struct home *home, const char *name, struct err *err)
{
	CLEANUP(free_p) char *folder = fs_join(err, home->root, name);
	CLEANUP(free_p) char *lock_path = folder ? fs_join(err, folder, "lock") : NULL;
	CLEANUP(close_p) int lock = lock_path ? fs_lock(lock_path, err) : -1;
	bool ok = true;

	if (lock < 0)
		return false;
	DIR *dir = opendir(folder);
	if (!dir)
		return err_errno(err, "%s", folder);
	for (struct dirent *item; ok && (item = readdir(dir));) {
		if (item->d_name[0] == '.' || !strcmp(item->d_name, "lock"))
			continue;
		CLEANUP(free_p) char *path = fs_join(err, folder, item->d_name);
		ok = path && fs_remove_tree(path, err);
	}
	closedir(dir);
	return ok;
}

bool cluster_forget_made(const struct home *home, struct err *err)
{
	return empty_folder(home, "templates", err) && empty_folder(home, "servers", err);
}

bool cluster_reap(const struct home *home, bool remove_kept, struct cluster_reaped *ret,
                  struct err *err)
{
	CLEANUP(close_p) int lock = registry_lock(home, err);
	CLEANUP(free_p) char *folder = fs_join(err, home->root, "clusters");
	struct cluster_reaped count = {0};
	struct err ignored; /* after the first */
	bool ok = true;

	if (lock < 0 || !folder)
		return false;
	DIR *dir = opendir(folder);
	if (!dir)
		return err_errno(err, "%s", folder);
	for (struct dirent *item; (item = readdir(dir));) {
		struct err *fault = ok ? &count.trouble : &ignored;

		if (strncmp(item->d_name, "c-", 2))
			continue;
		CLEANUP(free_p) char *path = fs_join(fault, folder, item->d_name);
		if (!path || !reap_one(home, path, remove_kept, &count, fault))
			ok = false;
	}
	closedir(dir);
	ok = reap_unfinished(home, "templates", ok ? &count.trouble : &ignored) && ok;
	ok = reap_unfinished(home, "servers", ok ? &count.trouble : &ignored) && ok;
	*ret = count;
	if (ok || !remove_kept)
		return true;
	if (err)
		*err = count.trouble;
	return false;
}
