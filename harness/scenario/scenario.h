/* SPDX-License-Identifier: PostgreSQL */
/*
 * A scenario as the language of docs/scenarios.md states it.
 *
 * Three passes make it, none of which needs a server: scenario_parse reads
 * YAML into nodes and nodes into this tree; scenario_check binds names and
 * finds what can never run; scenario_plan (plan.h) lists the steps. Both
 * first passes report all mistakes of a file, not only the first.
 *
 * Everything lives in the scenario's arena and is immutable after the check,
 * so it may then be read by many threads.
 */
#ifndef KEYLAB_SCENARIO_SCENARIO_H
#define KEYLAB_SCENARIO_SCENARIO_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/predicate.h"

/* The YAML that something was read from (node.h): for the check's messages alone. */
struct node;

/* Where something stands; line and column count from 1. */
struct place {
	const char *file; /* as named on the command line, or as included */
	int line;
	int column;
};

/* X(name, text): a profile, from small to large. */
#define PROFILES(X)                                                                                \
	X(QUICK, "quick")                                                                          \
	X(CHAPTER, "chapter")                                                                      \
	X(LARGE, "large")
enum profile {
#define X(name, text) PROFILE_##name,
	PROFILES(X)
#undef X
	        PROFILE_COUNT
};
const char *profile_name(enum profile profile);
bool profile_parse(const char *text, enum profile *ret);

/* A list of name/text pairs in the written order. */
struct pair {
	const char *name;
	const char *text;
	struct place place; /* of the text */
};
struct pairs {
	struct pair *items;
	size_t count;
};
/* NULL when there is none of that name. */
const struct pair *pairs_find(const struct pairs *pairs, const char *name);

struct texts {
	const char **items;
	size_t count;
};

struct param {
	const char *name;
	struct place place;
	const char *value[PROFILE_COUNT]; /* as written; every profile filled */
	bool given[PROFILE_COUNT];        /* false: taken from a neighbour */
	const struct node *node;
};

struct arm {
	const char *name;
	const char *label;
	struct place place;
	struct pairs texts; /* label among them */
	const struct node *node;
};

struct cluster_need {
	int version; /* oldest major; 15 when absent */
	struct pairs settings;
	struct texts extensions;
	const char *dataset; /* NULL: none */
	struct texts compat; /* files of sql/compat, without .sql */
	bool shared;
	const char *blocks;      /* the parameter that says how many blocks; NULL: none */
	const struct node *node; /* NULL: no `cluster` in the file */
};

/* X(name, key): the verbs. The key is what the YAML says. */
#define STEP_VERBS(X)                                                                              \
	X(SQL, "sql")                                                                              \
	X(MEASURE, "measure")                                                                      \
	X(PROBE, "probe")                                                                          \
	X(READ, "read")                                                                            \
	X(MINT, "mint")                                                                            \
	X(PROVE, "prove")                                                                          \
	X(LET, "let")                                                                              \
	X(CHECKPOINT, "checkpoint")                                                                \
	X(SET, "set")                                                                              \
	X(RESTART, "restart")                                                                      \
	X(WAIT, "wait")                                                                            \
	X(JOIN, "join")                                                                            \
	X(CLOSE, "close")                                                                          \
	X(WORKERS, "workers")                                                                      \
	X(AWAIT, "await")                                                                          \
	X(SIGNAL, "signal")                                                                        \
	X(SERVER, "server")                                                                        \
	X(EACH, "each")                                                                            \
	X(REPEAT, "repeat")
/* include leaves no step: its list is spliced in by the parser. */
enum step_verb {
#define X(name, key) STEP_##name,
	STEP_VERBS(X)
#undef X
	        STEP_VERB_COUNT
};
const char *step_verb_name(enum step_verb verb);

struct step_expect {
	bool given;
	const char *sqlstate;   /* NULL: any error */
	const char *constraint; /* NULL: not looked at */
	const char *message;    /* NULL: not looked at; else a part of it */
};

/* Ids for a table, made on keylab's side. All texts before substitution. */
struct step_mint {
	const char *generator; /* a format of ids/ids.h */
	const char *rows;      /* how many */
	const char *into;      /* the table, which is there already */
	const char *column;    /* "id" when absent */
	const char *number;    /* column that counts them from 1; NULL: none */
	struct pairs options;  /* names of mint_option_names */
};
/* What `options` may hold; NULL-terminated. */
extern const char *const mint_option_names[];

struct step {
	enum step_verb verb;
	struct place place;     /* of the verb's key */
	const char *name;       /* MEASURE PROBE READ MINT PROVE LET: its name; SQL: `as`, or NULL;
	                           JOIN CLOSE: the session; RESTART SERVER: the mode;
	                           WORKERS AWAIT SIGNAL: the group of workers;
	                           EACH REPEAT: the loop's variable ("arm", `as`), or NULL */
	const char *sql;        /* SQL MEASURE PROBE PROVE LET WAIT: before substitution */
	struct place sql_place; /* of that text */
	const char *of;         /* READ: the object */
	struct texts meters;    /* MEASURE READ */
	struct pairs settings;  /* SET; WORKERS: its options */
	struct step_mint mint;  /* MINT */
	const char *until;      /* AWAIT: before substitution; NULL: ended */
	const char *send;       /* SIGNAL: kill, stop or continue */
	const char *process;    /* SIGNAL: which of them, before substitution; NULL: all */
	struct texts values;    /* EACH: the values; for "arm" the arms' names (`only` applied) */
	const char *count;      /* REPEAT: before substitution */
	struct step *steps;     /* EACH REPEAT */
	size_t steps_count;

	const char *session; /* "main" when absent */
	bool background;
	struct step_expect expect;
	bool allow_errors;
	uint64_t deadline_ns; /* 5 min when absent */
	const struct node *node;
};

/* What an `await` waits for (await.c). */
enum await_kind {
	AWAIT_ENDED,    /* all of the group's processes have ended */
	AWAIT_FROZEN,   /* all that have not ended have stopped themselves */
	AWAIT_IDS,      /* count ids issued by the group since it began */
	AWAIT_MORE_IDS, /* count ids issued since the step began */
	AWAIT_REFUSALS, /* count attempts refused or cut off since the step began */
	AWAIT_TIME,     /* wait_ns since the group began */
};
struct await {
	enum await_kind kind;
	uint64_t count;
	uint64_t wait_ns;
};
/* Reads the expanded text of `until`; false when it is none. */
bool await_parse(const char *text, struct await *ret);

/* X(name, text) */
#define METRIC_TYPES(X)                                                                            \
	X(EXACT, "exact")                                                                          \
	X(COUNTER, "counter")                                                                      \
	X(TIMING, "timing")                                                                        \
	X(EVENT, "event")
enum metric_type {
#define X(name, text) METRIC_##name,
	METRIC_TYPES(X)
#undef X
	        METRIC_TYPE_COUNT
};
const char *metric_type_name(enum metric_type type);

struct claim {
	const char *id;
	struct place place;
	const char *says;      /* before substitution */
	const char *source;    /* "" when absent */
	const char *published; /* "" when absent */
	bool has_published_value;
	double published_value; /* in the value's unit */
	const char *value;      /* SQL before substitution; for a proved claim, made by check */
	const char *unit;       /* "" when absent */
	enum metric_type type;
	const char *holds;            /* predicate as written */
	bool profiles[PROFILE_COUNT]; /* where it is in scope */
	const char *scope;            /* reason when out of scope; "" */
	bool control;
	const char *expect;  /* "HOLDS" when absent */
	const char *because; /* "" */
	bool proved;         /* check: a `prove` step gives its value */
	const struct node *node;
};

struct axis {
	const char *label;
	const char *unit; /* "" when absent */
	bool log;
};

struct chart {
	const char *id;
	struct place place;
	const char *kind;  /* "lines" "dots" "bars" "lanes" "table" */
	const char *title; /* before substitution */
	const char *data;  /* SQL before substitution */
	struct axis x, y;  /* as written: not expanded */
	struct texts claims;
	const struct node *node;
};

struct scenario {
	struct arena arena;
	const char *path; /* as given */
	const char *text; /* of the file alone */
	char sha256[65];  /* of the file's text and, in order, its includes' */
	const char *name;
	const char *document;
	const char *title;
	const char *source; /* "" when absent */
	const char *about;
	bool early; /* it takes long: where scenarios run side by side it begins before others */
	struct cluster_need cluster;
	struct param *params;
	size_t params_count;
	struct arm *arms;
	size_t arms_count;
	struct step *steps;
	size_t steps_count;
	struct claim *claims;
	size_t claims_count;
	struct chart *charts;
	size_t charts_count;
	struct texts limits;
	const struct node *node;
};

/* What may be said of workers, beside `workers: NAME`. */
enum worker_option_kind {
	OPTION_NAME,
	OPTION_TEXT,
	OPTION_SQL,
	OPTION_COUNT,    /* min to max */
	OPTION_DURATION, /* min to max milliseconds */
	OPTION_FLAG,     /* true or false */
};
struct worker_option {
	const char *name; /* NULL ends a table */
	enum worker_option_kind kind;
	bool needed;
	int64_t min, max;
};

/*
 * What the checker must know of the rest of the program: which meters exist
 * and on which verb, which datasets. The caller fills it, so that this room
 * needs neither the server's nor the store's.
 */
struct scenario_vocabulary {
	/* True when there is a meter of that name for the verb; *ret_needs (may be
	   set to NULL) is the extension it needs, *ret_version its oldest major. */
	bool (*meter)(const char *name, enum step_verb verb, const char **ret_needs,
	              int *ret_version);
	/* NULL-terminated names for messages. */
	const char *const *meter_names;
	const char *const *dataset_names;
	/* Files of sql/compat and id generators; NULL: taken as they come. */
	const char *const *compat_names;
	const char *const *generator_names;
	/* What workers can be told for a generator; NULL when there is no such generator. */
	const struct worker_option *(*worker_options)(const char *generator);
	/* NULL-terminated. */
	const char *const *(*worker_generators)(void);
};

/*
 * Reads and checks a file. On success *ret is the caller's
 * (scenario_destroy). Otherwise false, and messages holds every mistake, a
 * line each: "file:line:column: what; fix"; err says how many.
 */
bool scenario_load(const char *path, const struct scenario_vocabulary *vocabulary,
                   struct scenario **ret, struct buf *messages, struct err *err) MUST_CHECK;
/*
 * The same for a text in memory: path says what the file would be called and
 * where its includes are looked for. vocabulary may be NULL in both: meters
 * and datasets are then taken as they come.
 */
bool scenario_load_text(const char *path, const char *text, size_t len,
                        const struct scenario_vocabulary *vocabulary, struct scenario **ret,
                        struct buf *messages, struct err *err) MUST_CHECK;
/* Accepts NULL. */
void scenario_destroy(struct scenario *scenario);

/* Prints it back as YAML in the canonical order; loading that gives the same tree. */
void scenario_print(const struct scenario *scenario, struct buf *ret);

/* ---- substitution (subst.c) ---- */

/* Names in force, innermost last. Values are borrowed. */
struct scope {
	const struct scope *outer; /* NULL at the top */
	const struct pairs *pairs; /* borrowed */
};

/*
 * Appends text with ${…} replaced. The check has seen every name, so an
 * unknown one here is ERR_INTERNAL unless it is an arithmetic fault
 * (division by zero), which is ERR_INPUT.
 */
bool subst_expand(const char *text, const struct scope *scope, struct buf *ret,
                  struct err *err) MUST_CHECK;

/*
 * The parameters for a profile with "name=value" overrides. Unknown names
 * and values of another kind are ERR_INPUT. ret's arrays live in arena.
 */
bool scenario_params(const struct scenario *scenario, enum profile profile,
                     const char *const *overrides, size_t overrides_count, struct arena *arena,
                     struct pairs *ret, struct err *err) MUST_CHECK;

#endif
