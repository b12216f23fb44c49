/* SPDX-License-Identifier: PostgreSQL */
/*
 * Writing what a run does. Every call is a transaction of its own, so a
 * killed run keeps all it had; a step goes in together with its samples.
 */
#ifndef KEYLAB_STORE_RECORD_H
#define KEYLAB_STORE_RECORD_H

#include "store/store.h"

struct record_run {
	const char *profile;
	int64_t seed;
	const char *argv; /* JSON array */
	const char *version, *commit;
};
bool record_run_begin(struct store *store, const struct record_run *run, int64_t *ret_run_id,
                      struct err *err) MUST_CHECK;
/* status: finished, interrupted, failed. */
bool record_run_end(struct store *store, int64_t run_id, const char *status, uint64_t wall_ns,
                    uint64_t server_ns, struct err *err) MUST_CHECK;
/* Marks runs as interrupted whose keylab is gone. */
bool record_sweep(struct store *store, struct err *err) MUST_CHECK;

/* status: running, done, error, interrupted, not_run. Times are 0 to leave as they are. */
bool record_scenario_state(struct store *store, int64_t run_id, const char *scenario,
                           const char *status, const char *reason, struct err *err) MUST_CHECK;

struct record_step {
	int64_t run_id;
	const char *scenario;
	int64_t cluster_id; /* 0: none */
	const char *verb, *name, *session, *arm;
	int64_t rep;
	const char *labels;   /* JSON object */
	const char *position; /* file:line:column */
	const char *sql;
	int64_t started_us;
	uint64_t duration_ns;
	const char *outcome, *sqlstate, *message;
};
struct record_sample {
	const char *metric, *unit, *type, *labels;
	int64_t rep;       /* 0: the step's */
	struct bind value; /* the name is filled in here */
};
bool record_step(struct store *store, const struct record_step *step,
                 const struct record_sample *samples, size_t samples_count, int64_t *ret_step_id,
                 struct err *err) MUST_CHECK;

/* kind: blocked, server log, notice, warning. step_id 0: none. */
bool record_incident(struct store *store, int64_t run_id, const char *scenario, int64_t step_id,
                     const char *kind, const char *text, struct err *err) MUST_CHECK;

/* SHA-256 over all samples of a scenario with their steps, in the order they were taken. */
bool samples_digest(struct store *store, int64_t run_id, const char *scenario, char ret[65],
                    struct err *err) MUST_CHECK;

#endif
