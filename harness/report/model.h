/* SPDX-License-Identifier: PostgreSQL */
/*
 * What a page shows, read from the store into memory: runs, scenarios,
 * claims. No HTML, no gnuplot, and never a single sample: those are summed up
 * by SQL. Everything lives in the model's arena and stays as it was read.
 */
#ifndef KEYLAB_REPORT_MODEL_H
#define KEYLAB_REPORT_MODEL_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "base/predicate.h"
#include "base/units.h"
#include "store/store.h"
#include "store/verdict.h"

/* From the loudest to the quietest. */
extern const enum verdict_kind report_verdict_order[VERDICT_KIND_COUNT];
const char *report_verdict_word(enum verdict_kind verdict);
const char *report_verdict_mark(enum verdict_kind verdict);
/* "holds", "is refuted": behind one claim or several. */
const char *report_verdict_clause(enum verdict_kind verdict, bool plural);
/* Lower case, for class names. */
const char *report_verdict_class(enum verdict_kind verdict);

/* A value of the store: nothing, a number or a text. */
struct value {
	enum { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT } kind;
	double number;
	const char *text;
};

struct claim {
	struct scenario_row *scenario; /* borrowed */
	const char *name;
	const char *anchor; /* id of its card on the page, unique */
	const char *sentence, *source, *published, *unit, *metric_type, *predicate, *sql;
	const char *scope, *because, *reason;
	const char *literals; /* the texts in quotes of its SQL, one behind the other */
	struct value published_value, value, low, high;
	enum verdict_kind verdict, expected;
	int64_t n;
	bool control, in_scope;
	bool parsed; /* predicate_terms is filled */
	struct predicate predicate_terms;
	bool has_figure;      /* figure is filled */
	struct figure figure; /* what was published */
	bool has_p;           /* a timing over blocks: its sign-flip p, and adjusted by Holm */
	double p, adjusted_p;
};

struct named {
	const char *name, *value, *extra;
};
struct named_list {
	struct named *items;
	size_t count;
};

/* The first of the statements of one place, step name and arm. */
struct statement {
	const char *verb, *name, *arm, *sql, *position;
	int64_t times;
};

struct summary {
	struct scenario_row *scenario; /* borrowed */
	const char *step, *metric, *unit, *arm, *label;
	int64_t n;
	struct value low, high, total;
};

struct incident {
	const char *at, *kind, *text, *position;
};

struct chart_row {
	const char *name, *kind, *title, *data;
	const char *x_label, *x_unit, *y_label, *y_unit;
	bool x_log, y_log;
	const char **claims; /* names, as the scenario wrote them */
	size_t claims_count;
	struct chart *drawn; /* chart.h; NULL until charts_load */
	unsigned number;     /* of the figure, from 1; 0 when it is not shown */
};

struct scenario_row {
	const char *name, *anchor, *document, *title, *source, *about, *path, *sha256;
	const char *status, *reason, *samples_sha256;
	struct named_list limits, params, arms, settings; /* extra: origin; -; unit */
	struct claim **claims;
	size_t claims_count;
	struct chart_row *charts;
	size_t charts_count;
	struct statement *statements;
	size_t statements_count;
	struct summary *summaries;
	size_t summaries_count;
	struct incident *incidents;
	size_t incidents_count;
};

struct cluster_row {
	const char *version, *server_sha256, *initdb_options;
	int64_t version_num, clusters;
};

struct run_row {
	int64_t id, wall_ns, server_ns;
	const char *started_at, *finished_at; /* 2026-10-06 12:34:56, UTC */
	const char *status, *profile, *seed, *argv, *version, *commit;
	struct named_list environment, settings;
	struct cluster_row *clusters;
	size_t clusters_count;
	struct scenario_row *scenarios;
	size_t scenarios_count;
	struct claim *claims; /* of all scenarios, in their order */
	size_t claims_count;
	struct incident *incidents; /* of no scenario */
	size_t incidents_count;
	size_t secondaries; /* claims of the whole run that have a p, shown or not */
	size_t in_scope;    /* claims in scope */
	size_t counted[VERDICT_KIND_COUNT]; /* of those */
	size_t unexpected;                  /* of those */
};

struct model {
	struct arena arena;
	struct run_row *runs; /* as asked for; the first is the one in full */
	size_t runs_count;
};

/* runs NULL: the newest finished run. document NULL: every document. */
bool model_load(struct store *store, const int64_t *runs, size_t runs_count, const char *document,
                struct model *ret, struct err *err) MUST_CHECK;
void model_finish(struct model *model);

/* The same claim of another run; NULL when it is not there. */
const struct claim *run_find_claim(const struct run_row *run, const char *scenario,
                                   const char *claim);
/* "" when there is none of that name. */
const char *named_find(const struct named_list *list, const char *name);
/* Does the SQL speak of name as a text literal, 'name'? */
bool sql_mentions(const char *sql, const char *name);

#endif
