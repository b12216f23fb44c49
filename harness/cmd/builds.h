/* SPDX-License-Identifier: PostgreSQL */
/* The servers that one `keylab run` goes through: one, or several side by side. */
#ifndef KEYLAB_CMD_BUILDS_H
#define KEYLAB_CMD_BUILDS_H

#include "cmd/cmd.h"

#define BUILDS_MAX 8

/* What the command line asks for. Texts are borrowed from it. */
struct builds_wanted {
	const char *majors;           /* --pg 15,16,17; NULL */
	const char *bins[BUILDS_MAX]; /* --pg-bin DIR or NAME=DIR, as written */
	size_t bins_count;
};

struct builds {
	struct server_list lists[BUILDS_MAX]; /* owned */
	char *names[BUILDS_MAX];              /* owned; NULL: no name */
	const struct server *servers[BUILDS_MAX];
	size_t count;
};

/* Finds them all; needed_major is what decides when nothing is asked for. A build that is not
   there, or that two names stand for, is an err. */
bool builds_find(const struct builds_wanted *wanted, const struct home *home, int needed_major,
                 struct builds *ret, struct err *err) MUST_CHECK;
void builds_finish(struct builds *builds); /* accepts a zeroed one */

#endif
