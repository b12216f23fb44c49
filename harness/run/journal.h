/* SPDX-License-Identifier: PostgreSQL */
/*
 * What workers have done, in memory that they share with keylab: a group's
 * journal. It outlives the kill -9 of a worker, as a log file would, and an
 * id is in it, and counted, before the worker can show it to anybody.
 *
 * The group's spec (JSON) lies in it too; a worker gets nothing else but its
 * number. Each field has one writer, said beside it; counters are read by
 * keylab while they grow.
 */
#ifndef KEYLAB_RUN_JOURNAL_H
#define KEYLAB_RUN_JOURNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "base/err.h"
#include "ids/ids.h"

#define JOURNAL_PROCESSES_MAX 64
#define JOURNAL_THREADS_MAX 64 /* of one process */
#define JOURNAL_WORKERS_MAX 256
#define JOURNAL_IDS_MAX 20000000
/* Attempts that failed, of one thread, beside its ids. */
#define JOURNAL_FAILURES_MAX 10000
#define JOURNAL_FAULTS_MAX 16

enum journal_kind {
	JOURNAL_ISSUED = 1,
	JOURNAL_REFUSED,
	JOURNAL_CUT_OFF,
};

/* One attempt that has ended. */
struct journal_entry {
	uint64_t at_ns; /* monotonic */
	int64_t last;   /* of a range whose first number is the id; else the id's own place, 0 */
	int64_t epoch;  /* of the lease; 0 */
	/* Of the write that this id was the last of: from sending to its answer; 0: of none. */
	uint64_t write_ns;
	uint8_t kind;
	uint8_t len;
	unsigned char bytes[ID_MAX_BYTES];
};

/* What went wrong: of the first few attempts and writes of a thread. */
struct journal_fault {
	uint64_t at_ns;
	bool write; /* of a write; else of an attempt */
	char sqlstate[6];
	char message[256];
};

/* Written by the one thread it belongs to. attempted = issued + refused + cut off, but for
   an attempt that a kill has ended. */
struct journal_thread {
	_Atomic uint64_t attempted, issued, refused, cut_off;
	_Atomic uint64_t entries; /* that can be read */
	_Atomic uint64_t waits, back_steps, overflows;
	_Atomic uint64_t written, write_refused, write_cut_off; /* ids */
	_Atomic uint64_t ended_ns; /* monotonic, behind its last write; 0: it was killed */
	_Atomic uint64_t faults;   /* of all; the first are kept */
	struct journal_fault fault[JOURNAL_FAULTS_MAX];
};

enum journal_state {
	JOURNAL_STARTING,
	JOURNAL_READY, /* connected, waiting for the others */
	JOURNAL_RUNNING,
	JOURNAL_FROZEN, /* about to stop itself, or stopped */
	JOURNAL_ENDED,
};

/* Written by the process's own threads. */
struct journal_process {
	_Atomic int state;
	_Atomic uint32_t threads_ready;
	char failure[1024]; /* why it could not work; read when it has ended */
	/* Of the segment allocator, when it has ended by itself. */
	uint64_t segments, segments_ahead, segment_waits, segment_failures, allocated, unused;
	uint64_t lease_node, lease_epoch, lease_renewed, lease_lost;
};

struct journal {
	size_t bytes;
	size_t spec_offset;
	size_t entries_offset;
	uint64_t entries_each; /* room of a thread */
	uint32_t processes, threads;
	_Atomic uint32_t go; /* keylab: 1 when all may begin */
	_Atomic uint64_t started_ns;
	/* Threads that meet every so often; as many as have not ended, those of
	   a killed process among them. */
	pthread_mutex_t lock;
	pthread_cond_t met;
	uint32_t present, waiting;
	uint64_t meetings;
	struct journal_process process[JOURNAL_PROCESSES_MAX];
	struct journal_thread thread[]; /* processes × threads; a process's stand together */
};

/* Makes one; *ret_fd is for the workers (their standard input). The caller unmaps and closes. */
bool journal_create(uint32_t processes, uint32_t threads, uint64_t ids_each, const char *spec,
                    struct journal **ret, int *ret_fd, struct err *err) MUST_CHECK;
/* Maps what another process made. */
bool journal_map(int fd, struct journal **ret, struct err *err) MUST_CHECK;
void journal_unmap(struct journal *journal);

const char *journal_spec(const struct journal *journal);
/* process and thread count from 0. */
struct journal_thread *journal_thread_of(struct journal *journal, uint32_t process,
                                         uint32_t thread);
struct journal_entry *journal_entries(struct journal *journal, uint32_t process, uint32_t thread);

/* Worker: waits until keylab says go. */
void journal_wait_go(struct journal *journal);
/* keylab: lets them go. */
void journal_go(struct journal *journal);
/* Worker: waits until all that have not left are here. */
void journal_meet(struct journal *journal);
void journal_leave(struct journal *journal);

#endif
