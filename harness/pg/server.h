/* SPDX-License-Identifier: PostgreSQL */
/*
 * Finding PostgreSQL server binaries, in the order of design.md: named
 * (--pg-bin), PG_CONFIG, PATH, the distribution's versioned folders, the
 * pinned packages that run.sh fetched.
 */
#ifndef KEYLAB_PG_SERVER_H
#define KEYLAB_PG_SERVER_H

#include "base/base.h"
#include "base/err.h"
#include "pg/home.h"

#define SERVER_OLDEST_MAJOR 15

/* X(name, text) */
#define SERVER_ORIGINS(X)                                                                          \
	X(NAMED, "--pg-bin")                                                                       \
	X(CONFIG, "PG_CONFIG")                                                                     \
	X(PATH, "PATH")                                                                            \
	X(DISTRIBUTION, "distribution")                                                            \
	X(PINNED, "pinned package")
enum server_origin {
#define X(name, text) SERVER_##name,
	SERVER_ORIGINS(X)
#undef X
};
const char *server_origin_name(enum server_origin origin);

struct server {
	char *bin_dir;   /* where initdb and postgres are run from (a copy where need be) */
	char *found_in;  /* where they were found */
	char *version;   /* "PostgreSQL 18.4" */
	int version_num; /* 180004 */
	char sha256[65]; /* of the postgres binary */
	enum server_origin origin;
};

struct server_search {
	const char *named;     /* --pg-bin; NULL */
	const char *pg_config; /* value of PG_CONFIG; NULL */
	const char *path;      /* value of PATH; NULL */
	const char *pinned;    /* colon-separated bin folders; NULL */
};

struct server_list {
	struct server **items; /* owned */
	size_t count;
	char *rejected; /* a line each: folder and why it is no server to use; owned */
};

/*
 * All usable servers in order of precedence. A folder that was named (by
 * --pg-bin or PG_CONFIG) and is not usable is an error; others that are not
 * are listed in rejected. With a named one nothing else is looked at.
 */
bool server_find(const struct server_search *search, const struct home *home,
                 struct server_list *ret, struct err *err) MUST_CHECK;
void server_list_finish(struct server_list *list);
/* The first whose major version is at least major; else the first; NULL when there is none. */
const struct server *server_pick(const struct server_list *list, int major);

#endif
