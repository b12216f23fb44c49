/* SPDX-License-Identifier: PostgreSQL */
/*
 * What can be said of workers: the options of a `workers` step, as the check
 * knows them and as a worker reads them.
 */
#ifndef KEYLAB_RUN_WORKER_OPTIONS_H
#define KEYLAB_RUN_WORKER_OPTIONS_H

#include "base/base.h"
#include "base/err.h"
#include "ids/ids.h"
#include "scenario/scenario.h"

/* Where ids come from. */
enum worker_source {
	SOURCE_FORMAT,  /* a generator of the ids room */
	SOURCE_SEGMENT, /* a segment allocator, one a process */
	SOURCE_SQL,     /* a statement or two for each id */
};

enum freeze_point {
	FREEZE_NEVER,
	FREEZE_ISSUED, /* when the id is in the journal and written */
	FREEZE_CHECK,  /* when the lease is found good, before the id is made */
	FREEZE_WRITE,  /* when the id is in the journal, before it is written */
};

#define CLOCK_STEPS_MAX 8
struct clock_step {
	int64_t after; /* ids of the thread */
	int64_t by_ms;
};

/* Texts are borrowed from the pairs. */
struct worker_options {
	enum worker_source source;
	const struct id_format *format; /* SOURCE_FORMAT */
	uint32_t processes, threads;
	uint64_t ids;       /* of a thread */
	const char *write;  /* NULL: nowhere */
	uint64_t batch;     /* ids of a write */
	const char *record; /* NULL: nowhere */
	uint64_t retry_ns;  /* 0: a failure ends the thread */
	uint64_t pace_ns;   /* 0: none */
	uint64_t together;  /* meet before every so many ids; 0: never */
	uint64_t rounds;    /* so often; 0: always */
	enum freeze_point freeze;
	uint64_t freeze_at; /* of the thread's ids, from 1 */
	/* formats */
	struct id_options ids_options;
	bool node_is_process, node_is_thread;
	bool has_clock;
	int64_t clock_ms;
	uint32_t readings_per_ms;
	struct clock_step steps[CLOCK_STEPS_MAX];
	size_t steps_count;
	const char *acquire, *renew, *release; /* a lease's statements; NULL */
	/* segments */
	const char *tag, *fetch;
	int64_t step;
	unsigned low_percent;
	bool settle;
	uint64_t patience_ns;
	/* SOURCE_SQL */
	const char *statement, *then;
};

/* Reads expanded texts; what the check could not know is ERR_INPUT. */
bool worker_options_read(const struct pairs *pairs, struct worker_options *ret,
                         struct err *err) MUST_CHECK;

/* The options of a generator, ended by one without a name; NULL when there is no such generator. */
const struct worker_option *worker_options_of(const char *generator);
/* NULL-terminated. */
const char *const *worker_generators(void);

#endif
