/* SPDX-License-Identifier: PostgreSQL */
/* Making, starting, ending and removing clusters. */
#include "pg/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "pg/registry.h"

/* How often the state of a starting server is looked at, while nothing else wakes us. */
#define READY_POLL_MS 2
#define KILL_WAIT_NS (30 * NS_PER_S)

/*
 * Who gets in and where, and that no shared memory outlives a kill (mmap also because a
 * container's /dev/shm may hold 64 MB only). In keylab.conf, for who starts a kept cluster by hand;
 * and on the command line, which ALTER SYSTEM and the files do not overrule.
 */
static const struct cluster_setting guarded_settings[] = {
        {"listen_addresses", ""},
        {"port", "5432"},
        {"unix_socket_permissions", "0700"},
        {"dynamic_shared_memory_type", "mmap"},
        {"shared_memory_type", "mmap"},
};
#define PLACES 3 /* set_places */

/* Fixed for every cluster. Durability is what PostgreSQL's defaults are, but written out. */
static const struct cluster_setting fixed_settings[] = {
        {"fsync", "on"},
        {"full_page_writes", "on"},
        {"synchronous_commit", "on"},
        {"wal_sync_method", "fdatasync"},
        {"logging_collector", "off"},
        {"log_destination", "stderr"},
        {"log_line_prefix", "%m [%p] "},
        {"timezone", "UTC"},
        {"log_timezone", "UTC"},
};

/* postgresql.conf's quoting: '' for a quote, and no line breaks. */
static bool add_setting(struct buf *conf, const char *name, const char *value, struct err *err)
{
	if (strpbrk(value, "\n\r"))
		return err_set(err, ERR_INPUT, "setting %s: its value holds a line break", name);
	buf_printf(conf, "%s = ", name);
	buf_add_sql_literal(conf, value);
	buf_add_char(conf, '\n');
	return true;
}

/* The settings that are guarded, too, and name this cluster's own folders. */
static bool set_places(const struct cluster *cluster, struct cluster_setting ret[PLACES],
                       char **hba, char **ident, struct err *err)
{
	*hba = fs_join(err, cluster->data_dir, "pg_hba.conf");
	*ident = fs_join(err, cluster->data_dir, "pg_ident.conf");
	ret[0] = (struct cluster_setting){"unix_socket_directories", cluster->socket_dir};
	ret[1] = (struct cluster_setting){"hba_file", *hba};
	ret[2] = (struct cluster_setting){"ident_file", *ident};
	return *hba && *ident;
}

static bool add_settings(struct buf *conf, const struct cluster_setting *settings, size_t count,
                         struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (!add_setting(conf, settings[i].name, settings[i].value, err))
			return false;
	return true;
}

static bool write_settings(struct cluster *cluster, const struct cluster_setting *settings,
                           size_t settings_count, struct err *err)
{
	CLEANUP(free_p) char *path = fs_join(err, cluster->data_dir, "keylab.conf");
	CLEANUP(free_p) char *hba = NULL, *ident = NULL;
	CLEANUP(buf_finish) struct buf conf;
	struct cluster_setting places[PLACES];

	buf_init(&conf, 0);
	if (!path || !set_places(cluster, places, &hba, &ident, err) ||
	    !add_settings(&conf, guarded_settings, COUNT_OF(guarded_settings), err) ||
	    !add_settings(&conf, places, PLACES, err) ||
	    !add_settings(&conf, fixed_settings, COUNT_OF(fixed_settings), err) ||
	    !add_settings(&conf, settings, settings_count, err) || !buf_ok(&conf, err) ||
	    !fs_write_fast(path, conf.data, conf.len, 0600, err))
		return false;
	if (cluster->home->drop &&
	    lchown(path, cluster->home->server_uid, cluster->home->server_gid) < 0)
		return err_errno(err, "%s", path);
	return true;
}

/* A socket's path holds 107 bytes; the cluster's own folder may be too deep for that. */
static bool choose_socket_dir(struct cluster *cluster, struct err *err)
{
	struct sockaddr_un address;
	const struct home *home = cluster->home;

	cluster->socket_dir = fs_join(err, cluster->dir, "s");
	if (cluster->socket_dir && strlen(cluster->socket_dir) + strlen("/.s.PGSQL.5432.lock") >=
	                                   sizeof(address.sun_path)) {
		free(cluster->socket_dir);
		cluster->socket_dir = registry_far_socket_dir(cluster->dir, err);
	}
	if (!cluster->socket_dir)
		return false;
	/* Never one that is there already, whoever made it. */
	if (mkdir(cluster->socket_dir, 0700) < 0)
		return err_errno(err, "cannot make the folder %s", cluster->socket_dir);
	if (home->drop && lchown(cluster->socket_dir, home->server_uid, home->server_gid) < 0)
		return err_errno(err, "%s", cluster->socket_dir);
	return true;
}

bool cluster_create(const struct home *home, const struct server *server, const char *template_dir,
                    const struct cluster_setting *settings, size_t settings_count,
                    struct cluster **ret, struct err *err)
{
	struct cluster *cluster = calloc(1, sizeof(*cluster));
	uid_t uid = home->drop ? home->server_uid : (uid_t)-1;
	gid_t gid = home->drop ? home->server_gid : (gid_t)-1;

	if (!cluster)
		return err_set(err, ERR_SYSTEM, "out of memory");
	cluster->home = home;
	cluster->server = server;
	cluster->postmaster = PROC_NONE;
	if (!registry_add(home, &cluster->dir, err))
		goto fail;
	cluster->data_dir = fs_join(err, cluster->dir, "data");
	cluster->log_path = fs_join(err, cluster->dir, "log");
	if (!cluster->data_dir || !cluster->log_path || !choose_socket_dir(cluster, err) ||
	    !fs_copy_tree(template_dir, cluster->data_dir, uid, gid, err) ||
	    !write_settings(cluster, settings, settings_count, err))
		goto fail;
	*ret = cluster;
	return true;
fail:
	cluster_destroy_p(&cluster);
	return err_within(err, "making a cluster in %s (KEYLAB_HOME names another folder)",
	                  home->root);
}

bool cluster_keep(struct cluster *cluster)
{
	struct statvfs disk;
	uint64_t bytes;

	if (cluster->keep)
		return true;
	cluster->keep = statvfs(cluster->data_dir, &disk) == 0 &&
	                fs_tree_bytes(cluster->data_dir, &bytes, NULL) &&
	                bytes < (uint64_t)disk.f_bavail * disk.f_frsize;
	return cluster->keep;
}

void cluster_log_tail(const struct cluster *cluster, size_t lines, struct buf *ret)
{
	CLEANUP(buf_finish) struct buf log;
	int fd = open(cluster->log_path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char chunk[8192];

	if (fd < 0)
		return;
	/* The end of it is enough, however long it is. */
	lseek(fd, size > (off_t)sizeof(chunk) ? size - (off_t)sizeof(chunk) : 0, SEEK_SET);
	ssize_t got = read(fd, chunk, sizeof(chunk));
	close(fd);
	buf_init(&log, 0);
	if (got > 0)
		buf_add_len(&log, chunk, (size_t)got);
	const char *at = log.data + log.len;
	while (at > log.data && (at[-1] != '\n' || at == log.data + log.len || lines-- > 1))
		at--;
	buf_add(ret, at);
}

/* The last line of postmaster.pid says "ready" (src/include/utils/pidfile.h). */
static bool pidfile_is_ready(const struct cluster *cluster)
{
	CLEANUP(free_p) char *path = fs_join(NULL, cluster->data_dir, "postmaster.pid");
	CLEANUP(buf_finish) struct buf text;

	buf_init(&text, 4096);
	if (!path || !fs_read_nofollow(path, 4096, &text, NULL))
		return false;
	const char *line = text.data;
	for (int number = 1; line && number < 8; number++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	/* The file of a killed predecessor names another process. */
	return line && strtol(text.data, NULL, 10) == cluster->postmaster.pid &&
	       !strncmp(line, "ready", 5);
}

static bool fail_with_log(struct cluster *cluster, struct err *err, const char *what)
{
	CLEANUP(buf_finish) struct buf tail;

	buf_init(&tail, 0);
	cluster_log_tail(cluster, 12, &tail);
	bool kept = cluster_keep(cluster);
	return err_set(err, ERR_ENVIRONMENT, "%s %s; its log%s%s%s ends with:\n%s",
	               cluster->server->version, what, kept ? " (" : "",
	               kept ? cluster->log_path : "", kept ? ")" : "", tail.data);
}

static bool wait_ready(struct cluster *cluster, uint64_t deadline_ns, struct err *err)
{
	for (;;) {
		int status;
		char text[64], what[128];

		if (pidfile_is_ready(cluster))
			return true;
		if (proc_ended(&cluster->postmaster, &status)) {
			snprintf(what, sizeof(what), "did not start: it %s",
			         proc_status_text(status, text, sizeof(text)));
			return fail_with_log(cluster, err, what);
		}
		if (deadline_passed(deadline_ns))
			return fail_with_log(cluster, err, "was not ready in time");
		if (!interrupt_check(err))
			return false;
		struct pollfd fd = {.fd = cluster->postmaster.pidfd, .events = POLLIN};
		poll(&fd, 1, deadline_poll_ms(deadline_ns, READY_POLL_MS));
	}
}

/* postgres -D DATA -c NAME=VALUE…, for each setting that is guarded; NULL with err. */
static const char **server_argv(const struct cluster *cluster, const char *program,
                                struct arena *arena, struct err *err)
{
	enum { COUNT = COUNT_OF(guarded_settings) + PLACES };
	CLEANUP(free_p) char *hba = NULL, *ident = NULL;
	struct cluster_setting settings[COUNT];
	const char **argv = arena_alloc(arena, (3 + 2 * COUNT + 1) * sizeof(*argv));

	memcpy(settings, guarded_settings, sizeof(guarded_settings));
	if (!set_places(cluster, settings + COUNT_OF(guarded_settings), &hba, &ident, err))
		return NULL;
	if (argv) {
		argv[0] = program;
		argv[1] = "-D";
		argv[2] = cluster->data_dir;
		for (size_t i = 0; i < COUNT; i++) {
			argv[3 + 2 * i] = "-c";
			argv[4 + 2 * i] =
			        arena_printf(arena, "%s=%s", settings[i].name, settings[i].value);
		}
	}
	if (arena->failed) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return NULL;
	}
	return argv;
}

bool cluster_start(struct cluster *cluster, uint64_t deadline_ns, struct err *err)
{
	const struct home *home = cluster->home;
	CLEANUP(free_p) char *program = fs_join(err, cluster->server->bin_dir, "postgres");
	CLEANUP(close_p)
	int log = open(cluster->log_path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
	               0600);
	CLEANUP(arena_finish) struct arena arena;
	const char **argv;

	arena_init(&arena, 0);
	if (!program || !(argv = server_argv(cluster, program, &arena, err)))
		return false;
	if (log < 0)
		return err_errno(err, "cannot write %s", cluster->log_path);
	struct proc_spec spec = {
	        .argv = argv,
	        .dir = "/",
	        .uid = home->server_uid,
	        .gid = home->server_gid,
	        .drop = home->drop,
	        .stdin_fd = -1,
	        .stdout_fd = log,
	        .stderr_fd = log,
	        .death_signal = SIGQUIT,
	};
	cluster->started = true;
	if (!proc_start(&spec, &cluster->postmaster, err) ||
	    !registry_note_server(cluster->dir, cluster->postmaster.pid, err))
		return false;
	if (wait_ready(cluster, deadline_ns, err) && registry_note_memory(cluster->dir, err))
		return true;
	proc_kill(&cluster->postmaster);
	return false;
}

static bool kill_server(struct cluster *cluster, struct err *err)
{
	int status;

	/* A postmaster that was killed leaves backends that nobody is the parent of. */
	if (!cluster->postmaster.pid)
		return !cluster->started ||
		       proc_kill_family(0, cluster->data_dir, deadline_after(KILL_WAIT_NS), err);
	bool ok = proc_kill_family(cluster->postmaster.pid, cluster->data_dir,
	                           deadline_after(KILL_WAIT_NS), err);
	return proc_wait(&cluster->postmaster, deadline_after(KILL_WAIT_NS), &status, err) && ok;
}

bool cluster_stop(struct cluster *cluster, enum cluster_stop_mode mode, uint64_t deadline_ns,
                  struct err *err)
{
	int status;
	struct err ignored;

	if (mode == CLUSTER_STOP_KILL || !cluster->postmaster.pid)
		return kill_server(cluster, err);
	proc_signal(&cluster->postmaster, mode == CLUSTER_STOP_FAST ? SIGINT : SIGQUIT);
	if (proc_wait(&cluster->postmaster, deadline_ns, &status, err))
		return true;
	err_set(err, ERR_ENVIRONMENT,
	        "the server did not stop before the deadline and was killed; a longer deadline: "
	        "gives it more time");
	if (!kill_server(cluster, &ignored))
		err_within(err, "%s", ignored.message);
	return false;
}

bool cluster_is_running(struct cluster *cluster)
{
	int status;

	return cluster->postmaster.pid && !proc_ended(&cluster->postmaster, &status);
}

bool cluster_destroy(struct cluster *cluster, struct err *err)
{
	if (!cluster)
		return true;
	bool ok = kill_server(cluster, err);
	if (cluster->dir && cluster->keep)
		registry_keep(cluster->home, cluster->dir);
	else if (cluster->dir && ok)
		ok = registry_remove(cluster->home, cluster->dir, err);
	free(cluster->dir);
	free(cluster->data_dir);
	free(cluster->socket_dir);
	free(cluster->log_path);
	free(cluster);
	return ok;
}

void cluster_destroy_p(struct cluster **cluster)
{
	struct err ignored;

	/* Where there is nobody to tell; the next start removes it. */
	if (!cluster_destroy(*cluster, &ignored))
		return;
}
