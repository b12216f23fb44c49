/* SPDX-License-Identifier: PostgreSQL */
/*
 * Which keylab owns which cluster folder: HOME/clusters/c-…/owner holds the
 * pid of the keylab, who that pid is, the server's pid and its System V segments. The folder and
 * what lies in it is keylab's, but for data/ and s/, which are the server user's: nothing that the
 * reaper believes can be written by a server. A file `keep` marks what a failed run left for a
 * look.
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

/* A new registered folder, which the server user may pass; *ret_dir is owned by the caller. */
bool registry_add(const struct home *home, char **ret_dir, struct err *err) MUST_CHECK;
bool registry_note_server(const char *dir, pid_t server, struct err *err) MUST_CHECK;
/* The System V segment of the server that has just become ready there. */
bool registry_note_memory(const char *dir, struct err *err) MUST_CHECK;
/* Where the socket of a cluster lies whose own folder is too deep: in /tmp, under the cluster's
   name, which nobody can guess or list. It need not exist; owned. */
char *registry_far_socket_dir(const char *dir, struct err *err) MUST_CHECK;
/* Marks it as kept, and removes its server's shared memory. Failure only means that the next
 * reaping removes it. */
void registry_keep(const struct home *home, const char *dir);
/* What killed keylabs were making in HOME/templates or HOME/servers, new-…, with what still works
   there. Whoever makes one holds the folder's lock, and so must the caller. */
bool registry_remove_unfinished(const struct home *home, const char *folder,
                                struct err *err) MUST_CHECK;
/* Removes the folder, its socket folder and its server's shared memory; err says what is left. */
bool registry_remove(const struct home *home, const char *dir, struct err *err) MUST_CHECK;

#endif
