/* SPDX-License-Identifier: PostgreSQL */
/*
 * A throwaway PostgreSQL cluster: made from a template data directory,
 * started, stopped or killed, removed.
 *
 * Unix socket only, in a folder of mode 0700; no TCP port; peer
 * authentication, so that only the user who runs keylab gets in. Durability
 * settings (fsync, full_page_writes, synchronous_commit) are always written
 * out as on. A cluster is registered (clusters/ID/owner) before it starts;
 * cluster_reap ends and removes those whose keylab is no more.
 *
 * The server dies with the thread that started it (PR_SET_PDEATHSIG), so
 * start clusters from a thread that lives as long as they do. A struct
 * cluster belongs to one thread at a time.
 */
#ifndef KEYLAB_PG_CLUSTER_H
#define KEYLAB_PG_CLUSTER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/proc.h"
#include "pg/home.h"
#include "pg/server.h"

/* The database that scenarios work in; the lab schema is in it. */
#define CLUSTER_DATABASE "lab"
/* The superuser that keylab connects as. */
#define CLUSTER_USER "keylab"

struct cluster_setting {
	const char *name;
	const char *value;
};

struct cluster {
	const struct home *home;     /* borrowed */
	const struct server *server; /* borrowed */
	char *dir;                   /* HOME/clusters/ID; owned */
	char *data_dir;              /* owned */
	char *socket_dir;            /* owned */
	char *log_path;              /* owned */
	struct proc postmaster;      /* PROC_NONE while it does not run */
	bool started;                /* once: its family is looked for at the end */
	bool keep;                   /* leave the folder behind for a look, whatever it takes */
};

enum cluster_stop_mode {
	CLUSTER_STOP_FAST,      /* SIGINT: checkpoint, clean end */
	CLUSTER_STOP_IMMEDIATE, /* SIGQUIT: no checkpoint, recovery at the next start */
	CLUSTER_STOP_KILL,      /* SIGKILL to every server process */
};

/* A new cluster, registered, not started. template_dir comes from template_get. */
bool cluster_create(const struct home *home, const struct server *server, const char *template_dir,
                    const struct cluster_setting *settings, size_t settings_count,
                    struct cluster **ret, struct err *err) MUST_CHECK;
/* Starts it and waits until it takes connections. On failure err shows the log's last lines. */
bool cluster_start(struct cluster *cluster, uint64_t deadline_ns, struct err *err) MUST_CHECK;
/* Ends it; a fast or immediate stop that takes too long ends in a kill, and is an error. */
bool cluster_stop(struct cluster *cluster, enum cluster_stop_mode mode, uint64_t deadline_ns,
                  struct err *err) MUST_CHECK;
/*
 * Kills what runs; removes the folder unless it is kept. Accepts NULL. The struct is gone whatever
 * happens; false: a server or a folder is left, which the next reaping tries again.
 */
bool cluster_destroy(struct cluster *cluster, struct err *err) MUST_CHECK;
void cluster_destroy_p(struct cluster **cluster);
/* Its folder shall stay for a look, unless the disk could not hold another cluster like it: then
   what comes next would fail for want of room. Is it kept? */
bool cluster_keep(struct cluster *cluster);
/* Has the postmaster ended by itself? */
bool cluster_is_running(struct cluster *cluster);
/*
 * Power loss (power.c). cluster_sync writes all of the data folder's file
 * system to its device and makes sure that the kernel tells what is not there;
 * cluster_drop_unsynced, of a server that was killed, empties every page of
 * the data folder that the device has not got. ERR_ENVIRONMENT where the
 * kernel does not tell.
 */
bool cluster_sync(const struct cluster *cluster, struct err *err) MUST_CHECK;
bool cluster_drop_unsynced(const struct cluster *cluster, uint64_t *ret_pages,
                           struct err *err) MUST_CHECK;
/* Appends the last lines of the server's log. */
void cluster_log_tail(const struct cluster *cluster, size_t lines, struct buf *ret);

/* X(name): what initdb is told, besides -D and -U. */
#define CLUSTER_INITDB_OPTIONS(X)                                                                  \
	X("--encoding=UTF8")                                                                       \
	X("--locale=C")                                                                            \
	X("--auth=peer")                                                                           \
	X("--data-checksums")

/*
 * Kills and removes what dead keylabs left behind (and, with remove_kept, what
 * failed runs kept). A living keylab's clusters are not touched. Goes on past
 * what cannot be removed; that is an error only with remove_kept: at a start it
 * is something to tell, and no reason not to begin.
 */
struct cluster_reaped {
	size_t clusters;    /* folders removed */
	size_t servers;     /* that still ran */
	size_t kept;        /* folders of failed runs left in place */
	size_t living;      /* clusters of keylabs that run */
	struct err trouble; /* what could not be removed first; ERR_NONE: all was */
};
bool cluster_reap(const struct home *home, bool remove_kept, struct cluster_reaped *ret,
                  struct err *err) MUST_CHECK;

/* Removes all templates and copies of servers, which the next run makes again. Those of a living
   keylab too: ask cluster_reap first whether there is one. */
bool cluster_forget_made(const struct home *home, struct err *err) MUST_CHECK;

/* ---- templates (template.c) ---- */

/* What a dataset's folder under sql/dataset/ is called; NULL-terminated. */
const char *const *template_datasets(void);

/* Told once when something slow begins ("initdb", "dataset book"). May be NULL. */
struct template_progress {
	void (*begin)(void *arg, const char *what);
	void *arg;
};

/*
 * The data directory of a cluster after initdb with the lab schema, and the
 * dataset when there is one (NULL: none); made at the first call for a
 * server build, found in HOME/templates afterwards. A half-made one is never
 * found: it gets its name when it is whole. All of it is keylab's, not the
 * server user's. *ret_dir is owned.
 */
bool template_get(const struct home *home, const struct server *server, const char *dataset,
                  const struct template_progress *progress, char **ret_dir,
                  struct err *err) MUST_CHECK;

#endif
