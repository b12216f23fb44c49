/* SPDX-License-Identifier: PostgreSQL */
/*
 * The folder where keylab keeps what is not a result (templates, clusters,
 * copied server binaries), and the user that its servers run as.
 *
 *     HOME/templates/KEY/     a data directory after initdb, ready to copy
 *     HOME/clusters/ID/       one cluster: data/, s/ (socket), log, owner
 *     HOME/servers/KEY/       server binaries copied to where the server user can read them
 *
 * PostgreSQL refuses root. As root, servers run as an unprivileged user and
 * every folder on the way to HOME must let that user pass.
 */
#ifndef KEYLAB_PG_HOME_H
#define KEYLAB_PG_HOME_H

#include <sys/types.h>

#include "base/base.h"
#include "base/err.h"

struct home {
	char *root;        /* absolute; owned */
	char *client_name; /* the operating system's name of who runs keylab; owned */
	char *server_name; /* and of who runs the servers; owned */
	bool drop;         /* servers run as another user than keylab */
	uid_t server_uid;
	gid_t server_gid;
};

/*
 * root NULL: $XDG_CACHE_HOME (cache) or ~/.cache (user_home) plus /keylab;
 * as root /var/cache/keylab. server_user NULL: as root "postgres" when there
 * is one, else "nobody".
 */
struct home_options {
	const char *root;
	const char *cache;
	const char *user_home;
	const char *server_user;
};

bool home_open(const struct home_options *options, struct home **ret, struct err *err) MUST_CHECK;
void home_close(struct home *home);
void home_close_p(struct home **home);

/* As root, may the server user pass every folder down to path and read it? Else true. */
bool home_server_can_read(const struct home *home, const char *path);

#endif
