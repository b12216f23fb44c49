/* SPDX-License-Identifier: PostgreSQL */
/*
 * A worker process: keylab started anew, with its group's journal as standard
 * input and its number as the only argument, so that it can be killed, stopped
 * and frozen like any program. It mints ids in threads, notes each in the
 * journal, and writes them to its table.
 *
 * worker_main is the whole of it. The rest is shared by worker*.c alone.
 */
#ifndef KEYLAB_RUN_WORKER_H
#define KEYLAB_RUN_WORKER_H

#include "ids/lease.h"
#include "ids/segment.h"
#include "pg/conn.h"
#include "run/journal.h"
#include "run/worker_options.h"

/* Runs worker `number` (from 1) of the journal on file descriptor fd. Its exit code. */
int worker_main(int fd, long number);

/* What all threads of the process use. */
struct worker {
	struct journal *journal;
	struct journal_process *process;
	uint32_t number; /* from 0 */
	const struct worker_options *options;
	const char *conninfo;
	char holder[96]; /* "GROUP-2": for logs of who got what */
	/* SOURCE_SEGMENT: the allocator, and the connection of its thread. */
	struct segment_allocator *segment;
	struct conn *segment_conn;
	/* SOURCE_FORMAT with a lease: the same. Requests come one at a time. */
	struct lease *lease;
	struct conn *lease_conn;
	int64_t not_before_ms;
	_Atomic bool stopping;
};

/* An id, with what belongs to it. */
struct minted {
	struct id id;
	int64_t last;  /* of a range; 0 */
	int64_t epoch; /* of the lease; 0 */
};

struct worker_thread {
	struct worker *worker;
	uint32_t number; /* from 0, in its process */
	struct journal_thread *head;
	struct journal_entry *entries;
	pthread_t thread;
	struct conn *conn; /* its own: for `write` and for SOURCE_SQL; NULL while there is none */
	struct id_generator *generator;
	struct id_manual_clock clock;
	size_t steps_done; /* of the clock */
	int64_t epoch;     /* that the last check gave */
	/* ids that are in the journal and not yet written, as array literals */
	struct buf ids, positions, epochs;
	uint64_t pending;
};

/* worker_mint.c */
bool worker_sources_open(struct worker *worker, struct err *err) MUST_CHECK;
void worker_sources_close(struct worker *worker);
bool worker_thread_open(struct worker_thread *thread, struct err *err) MUST_CHECK;
void worker_thread_close(struct worker_thread *thread);
/* One attempt. false with err and *ret_kind refused or cut off. */
bool worker_mint(struct worker_thread *thread, struct minted *ret, enum journal_kind *ret_kind,
                 struct err *err) MUST_CHECK;
/* Puts the generator's own counters into the journal. */
void worker_note_counts(struct worker_thread *thread);

/* worker.c: stops the whole process here, until somebody lets it go on. */
void worker_freeze(struct worker *worker);
/* Connects when there is no connection, or a lost one. */
bool worker_connect(const struct worker *worker, struct conn **conn, struct err *err) MUST_CHECK;
/* The outcome as an err: "SQLSTATE 02000: …"; true when it is ok. */
bool worker_outcome_ok(const struct outcome *outcome, struct err *err);

#endif
