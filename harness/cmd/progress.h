/* SPDX-License-Identifier: PostgreSQL */
/* The progress of a run on stderr: one line that changes on a terminal, a line a scenario
 * elsewhere. */
#ifndef KEYLAB_CMD_PROGRESS_H
#define KEYLAB_CMD_PROGRESS_H

#include "run/run.h"

struct progress {
	bool quiet;
	bool verbose; /* a line for every step */
	bool terminal;
	uint64_t started_ns; /* of the run */
	uint64_t shown_ns;   /* when the line was last drawn */
	bool line_is_open;   /* something stands on the terminal's line */
};

void progress_init(struct progress *progress, bool quiet, bool verbose);
/* For struct run_watcher; arg is the struct progress. */
void progress_moment(void *arg, const struct run_moment *moment);
void progress_message(void *arg, const char *text);
/* Leaves the terminal's line clean. */
void progress_finish(struct progress *progress);

#endif
