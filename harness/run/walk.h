/* SPDX-License-Identifier: PostgreSQL */
/* Inside the run room: one scenario on its cluster. */
#ifndef KEYLAB_RUN_WALK_H
#define KEYLAB_RUN_WALK_H

#include "pg/conn.h"
#include "pg/meter.h"
#include "run/group.h"
#include "run/run.h"
#include "store/record.h"

#define SESSIONS_MAX 64

/* A loop around the step that runs. */
struct frame {
	const struct frame *outer;
	enum step_verb verb; /* EACH or REPEAT */
	const char *name;    /* "arm", the loop's variable, or NULL */
	const char *value;
	int64_t rep; /* REPEAT: from 1 */
};

/* A named connection, and the background step that it runs. */
struct session {
	char name[64];
	struct conn *conn;       /* NULL until used, and after a restart */
	const struct step *sent; /* in the background; NULL */
	char *sent_sql;          /* owned */
	struct pending *pending; /* what the server said by RAISE INFO */
	struct pending *pending_last;
	bool lost; /* something that it said found no memory */
	struct walk *walk;
};

/* A message of the lab schema, until its step is recorded. */
struct pending {
	struct pending *next;
	char *kind;    /* lab.prove, lab.record */
	char *payload; /* JSON */
};

struct walk {
	struct run *run; /* what the whole run shares (run.c) */
	const struct run_request *request;
	int64_t run_id;
	const struct scenario *scenario;
	size_t scenario_index;
	struct cluster *cluster;
	bool shared; /* the cluster is not ours to end */
	const char *database;
	int64_t cluster_id;
	struct conn *control; /* the harness's own connection */
	struct session sessions[SESSIONS_MAX];
	size_t sessions_count;
	struct group *groups; /* of workers that run; owned */
	bool cannot;          /* it ends because the machine lacks what it needs: NOT_RUN */
	uint64_t origin_ns;   /* the scenario's beginning: its workers' times count from here */
	struct arena arena;   /* lets and parameters */
	struct pairs params, lets;
	struct scope params_scope, lets_scope;
	const struct arm *arm; /* NULL outside */
	/* In blocks (run.c): the one arm that `each: arm` goes through, and where this is. */
	const struct arm *only_arm;
	int64_t block, position; /* from 1; 0 without blocks */
	size_t steps_done, steps_total;
	uint64_t server_ns;
	char reason[2560]; /* why the scenario cannot go on; "". Room for an err with its place */
};

/* How a list of steps ended. */
enum walk_end {
	WALK_GOES_ON,
	WALK_ENDS,  /* the scenario cannot go on; walk->reason says why */
	WALK_FAILS, /* the harness is in trouble; err says why */
};

enum walk_end walk_steps(struct walk *walk, const struct step *steps, size_t count,
                         const struct scope *scope, const struct frame *frame, struct err *err);
/* one_arm: `each: arm` goes through one arm only. */
size_t walk_count(const struct step *steps, size_t count, const struct scope *scope, bool one_arm);

/* run.c: tells the watcher where the walk is, and counts the step. */
void walk_tell(struct walk *walk, const struct step *step);

/* session.c */
bool session_get(struct walk *walk, const char *name, struct session **ret,
                 struct err *err) MUST_CHECK;
void session_close(struct session *session);
void sessions_close(struct walk *walk);
/* The harness's own connection, opened again after a restart. */
bool walk_control(struct walk *walk, struct err *err) MUST_CHECK;
struct pending *session_take_pending(struct session *session);
void pending_destroy(struct pending *pending);

/* record_step.c: a step's row and samples */
struct step_record {
	const struct step *step;
	const struct frame *frame;
	const char *name; /* NULL: the step's own */
	const char *verb; /* NULL: the step's own */
	const char *sql;
	const char *session;
	const struct outcome *outcome;   /* NULL: ok */
	const char *outcome_text;        /* NULL: outcome's */
	const struct readings *readings; /* NULL: none */
	const int64_t *reps;             /* a rep per reading; NULL: the step's */
};
bool walk_record(struct walk *walk, const struct step_record *record, int64_t *ret_step_id,
                 struct err *err) MUST_CHECK;
bool walk_record_pending(struct walk *walk, struct session *session, const struct step *step,
                         const struct frame *frame, struct err *err) MUST_CHECK;
/* Notes that the scenario ends here: "file:line:column: why". */
enum walk_end walk_end_at(struct walk *walk, const struct step *step, const char *format, ...)
        PRINTF(3, 4);

/* actions.c: what the functions of verbs share */
/* A step's text with its names replaced; NULL when that fails (*ret_end, and reason or err, say
 * why). */
char *walk_expand(struct walk *walk, const struct step *step, const char *text,
                  const struct scope *scope, enum walk_end *ret_end, struct err *err) MUST_CHECK;
/* A server that cannot be reached ends the scenario, not the run. */
enum walk_end walk_no_session(struct walk *walk, const struct step *step, struct err *err);
/* An outcome that nobody expected ends the scenario. */
enum walk_end walk_judge(struct walk *walk, const struct step *step, const struct outcome *outcome);
bool walk_note_blocked(struct walk *walk, const struct outcome *outcome, int64_t step_id,
                       struct err *err) MUST_CHECK;

/* group_actions.c: workers and faults */
void groups_close(struct walk *walk);

/* actions.c: a function a verb */
typedef enum walk_end walk_action(struct walk *walk, const struct step *step,
                                  const struct scope *scope, const struct frame *frame,
                                  struct err *err);
extern walk_action *const walk_actions[STEP_VERB_COUNT];
/* mint.c */
walk_action do_mint;
/* NULL-terminated, static. */
const char *const *mint_generator_names(void);

/* compat.c */
/* Names of sql/compat; NULL-terminated, static. */
const char *const *compat_names(void);
/* Installs what the scenario's cluster needs of it. */
bool compat_install(struct walk *walk, struct err *err) MUST_CHECK;

/* group_actions.c */
walk_action walk_workers, walk_await, walk_signal, walk_server;

/* setup.c: a scenario's rows before its first step */
bool setup_scenario(const struct run_request *request, int64_t run_id, size_t index,
                    struct err *err) MUST_CHECK;
bool setup_cluster_rows(struct walk *walk, struct err *err) MUST_CHECK;

/* environment.c */
bool environment_record(const struct run_request *request, int64_t run_id,
                        struct err *err) MUST_CHECK;

#endif
