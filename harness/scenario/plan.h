/* SPDX-License-Identifier: PostgreSQL */
/*
 * What a scenario would do at a profile: its steps in order with every ${}
 * filled in, loops over arms and values unrolled, repetitions shown once
 * with their number. Needs no server; what only a run can know (a `let`) is
 * shown as <name>.
 */
#ifndef KEYLAB_SCENARIO_PLAN_H
#define KEYLAB_SCENARIO_PLAN_H

#include "scenario/scenario.h"

struct plan_step {
	const struct step *step; /* borrowed from the scenario */
	enum plan_event {
		PLAN_STEP,  /* one step; a loop is never one */
		PLAN_BEGIN, /* a loop's body begins: values of EACH one by one, REPEAT once */
		PLAN_END,
	} event;
	size_t depth;              /* loops around it */
	uint64_t times;            /* how often it runs in all: product of the repeats around it */
	const char *arm;           /* "" outside of each: arm */
	const char *value;         /* PLAN_BEGIN: the value, or the count of a repeat */
	const struct scope *scope; /* names in force, for subst_expand */
};

/* Called in the order of the run; false with err stops the walk. */
typedef bool plan_visit(void *context, const struct plan_step *step, struct err *err);

/* params are scenario_params' (borrowed). */
bool plan_walk(const struct scenario *scenario, const struct pairs *params, plan_visit *visit,
               void *context, struct err *err) MUST_CHECK;

/* For a person: a line a step, indented by loop, with totals. */
bool plan_print(const struct scenario *scenario, const struct pairs *params, enum profile profile,
                struct buf *ret, struct err *err) MUST_CHECK;
/*
 * For a program: {"scenario", "document", "profile", "params": {…}, "steps":
 * [{"verb", "name", "arm", "session", "times", "depth", "file", "line", "sql"
 * …}], "totals": {verb: times}}.
 */
bool plan_print_json(const struct scenario *scenario, const struct pairs *params,
                     enum profile profile, struct buf *ret, struct err *err) MUST_CHECK;

#endif
