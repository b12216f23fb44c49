/* SPDX-License-Identifier: PostgreSQL */
/* What the parts of the check share: names in force, and texts checked against them. */
#ifndef KEYLAB_SCENARIO_CHECK_H
#define KEYLAB_SCENARIO_CHECK_H

#include "scenario/loader.h"

enum binding_kind {
	BINDING_PARAM,
	BINDING_LET,
	BINDING_ARM, /* `arm` itself */
	BINDING_ARM_KEY,
	BINDING_LOOP,
};

struct binding {
	const char *name;
	enum binding_kind kind;
	struct place place; /* where it was bound */
	/* A whole number of its form, for arithmetic; NULL when it is a text. */
	const char *number;
};

/* A stack: what was bound last is on top. */
struct bindings {
	struct binding *items;
	size_t count, cap;
};

struct checker {
	struct loader *loader;
	struct bindings names;
	struct pairs params[PROFILE_COUNT]; /* expanded values, for trial computations */
	bool in_arm;                        /* inside each: arm */
	size_t loops;                       /* around the step */
	bool past_steps;                    /* claims and charts: no `let` any more */
};

/*
 * Puts a name in force; complains when it already means something, or is
 * reserved. The caller takes it back by setting names.count.
 */
void bind_name(struct checker *checker, struct binding binding);

/* Complains of each ${…} in the text of node (a scalar; NULL is fine) that cannot be expanded. */
void check_text(struct checker *checker, const struct node *node);
/* The same for a text that is not expanded: any ${…} in it is a mistake. */
void check_plain(struct checker *checker, const struct node *node, const char *what);
/* The same as check_text; the text must also be more than comments. */
void check_sql(struct checker *checker, const struct node *node, const char *what);
/* For one SELECT of SQLite over the samples. */
void check_select(struct checker *checker, const struct node *node, const char *what);

/* Parameters for every profile and their names; complains of values. */
void check_params(struct checker *checker);
void check_arms(struct checker *checker);
/* Names of settings; node is the map they stand in. */
void check_settings(struct loader *loader, const struct pairs *settings, const struct node *node);
void check_steps(struct checker *checker);    /* check_steps.c */
void check_sessions(struct checker *checker); /* check_sessions.c */
/* check_workers.c */
void check_workers(struct checker *checker, const struct step *step);
void check_await(struct checker *checker, const struct step *step);
void check_groups(struct checker *checker);
void check_claims(struct checker *checker); /* check_claims.c */
void check_charts(struct checker *checker); /* check_claims.c */

/* Does some step record samples under that name? */
bool records_step(const struct scenario *scenario, const char *name);

#endif
