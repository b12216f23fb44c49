/* SPDX-License-Identifier: PostgreSQL */
/*
 * Running scenarios: clusters, sessions, steps in the written order, samples
 * into the store as they are taken, verdicts at the end of each scenario.
 *
 * What a server does is an outcome, recorded with its SQLSTATE; err is kept
 * for trouble of the harness. A scenario that cannot go on ends as an error
 * and the next one runs. Call from one thread.
 */
#ifndef KEYLAB_RUN_RUN_H
#define KEYLAB_RUN_RUN_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "pg/cluster.h"
#include "scenario/scenario.h"
#include "store/store.h"

/* Where a run is. Texts are borrowed for the time of the call. */
struct run_moment {
	size_t scenario_index, scenarios; /* from 0 */
	const char *scenario;
	const char *arm;                  /* "" outside */
	const char *step;                 /* its name, or its verb */
	size_t step_index, steps;         /* of this scenario, loops unrolled */
	size_t run_step_index, run_steps; /* of the whole run */
	bool ends_scenario;               /* its verdicts are in */
	uint64_t scenario_ns;             /* then: how long it took */
	const char *status;               /* and done, error, not_run, interrupted */
	const char *reason;
};
/* Called from one thread at a time. */
struct run_watcher {
	void (*moment)(void *arg, const struct run_moment *moment);
	/* Something worth a line whatever the verbosity: a slow preparation, a warning. */
	void (*message)(void *arg, const char *text);
	void *arg;
};

struct run_request {
	struct store *store;
	const struct home *home;
	const struct server *server;
	const char *build;                 /* what its user calls the server; NULL: nothing */
	struct scenario *const *scenarios; /* checked */
	size_t scenarios_count;
	enum profile profile;
	const char *const *overrides; /* "name=value"; each scenario takes those that it has */
	size_t overrides_count;
	int64_t seed;
	const char *argv; /* JSON array */
	const char *version, *commit;
	size_t jobs;    /* scenarios side by side; 0 is 1 */
	bool same_arms; /* every arm has the first one's texts: what differs then is noise */
	bool keep;      /* leave every cluster's folder behind */
	struct run_watcher watcher;
};

struct run_result {
	int64_t run_id;
	bool interrupted;
	size_t errors;        /* scenarios that ended as an error */
	bool machine_trouble; /* one of them for want of a server, memory or disk */
};

/*
 * Runs them all. true even when scenarios failed or the run was interrupted
 * (ret says so); false when there is no run to speak of (store, no memory).
 */
bool run_all(const struct run_request *request, struct run_result *ret, struct err *err) MUST_CHECK;

/*
 * Several runs of the same scenarios, a server each, that take turns: every scenario goes through
 * all of them, one way and back, before the next one begins, so that whatever drifts meets all
 * alike. The requests differ in server and build alone; jobs is not looked at. rets has count
 * results.
 */
bool run_side_by_side(const struct run_request *requests, size_t count, struct run_result *rets,
                      struct err *err) MUST_CHECK;

/* A scenario's parameters in such a run, with those of the overrides that it has (others are
   another scenario's). Of the request only the profile and the overrides are looked at; ret's texts
   are the arena's. */
bool run_params(const struct run_request *request, const struct scenario *scenario,
                struct arena *arena, struct pairs *ret, struct err *err) MUST_CHECK;

/* What the checker must know about meters and datasets. Static; fill it from one thread. */
const struct scenario_vocabulary *run_vocabulary(void);

#endif
