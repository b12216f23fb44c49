/* SPDX-License-Identifier: PostgreSQL */
/*
 * Which keylab owns which cluster folder: HOME/clusters/c-…/owner holds the
 * pid of the keylab, who that pid is, the server's pid, and a socket folder
 * that lies elsewhere. A file `keep` marks what a failed run left for a look.
 *
 * Folders appear and are judged under one lock (HOME/clusters/lock), so a
 * reaper never sees one without its owner.
 */
#ifndef KEYLAB_PG_REGISTRY_H
#define KEYLAB_PG_REGISTRY_H

#include <sys/types.h>

#include "base/base.h"
#include "base/err.h"
#include "pg/home.h"

/* A new registered folder, owned by the server user; *ret_dir is owned by the caller. */
bool registry_add(const struct home *home, char **ret_dir, struct err *err) MUST_CHECK;
bool registry_note_server(const char *dir, pid_t server, struct err *err) MUST_CHECK;
bool registry_note_socket(const char *dir, const char *socket_dir, struct err *err) MUST_CHECK;
/* Marks it as kept. Failure only means that the next reaping removes it. */
void registry_keep(const char *dir);
/* Removes the folder, its socket folder and its server's shared memory. */
void registry_remove(const struct home *home, const char *dir);

#endif
