/* SPDX-License-Identifier: PostgreSQL */
/*
 * Meters: readers of counters. A meter is one file and one row of the table
 * in meter.c.
 *
 * Three kinds, by when they read:
 * - wrap: it runs the measured statement itself, in a wrapping (EXPLAIN);
 * - around: it reads before and after the statement;
 * - object: it reads a table or an index.
 * A meter writes readings; what becomes of them (samples) is not its business.
 */
#ifndef KEYLAB_PG_METER_H
#define KEYLAB_PG_METER_H

#include "base/base.h"
#include "base/err.h"
#include "pg/conn.h"

/* One number (or text) that a meter read. */
struct reading {
	char metric[64];
	char unit[16];
	char type[16]; /* exact, counter, timing, event */
	bool is_text;
	bool is_integer;
	int64_t integer;  /* is_integer */
	double real;      /* a number that is none */
	char *text;       /* is_text; owned */
	char labels[128]; /* JSON object */
};

struct readings {
	struct reading *items; /* owned */
	size_t count, cap;
};

void readings_finish(struct readings *readings);
/* Adds value as text gives it: an integer, a real, or text; NULL adds nothing. */
bool readings_add(struct readings *readings, const char *metric, const char *type,
                  const char *value, const char *labels, struct err *err) MUST_CHECK;
/* A text, whatever it looks like. */
bool readings_add_text(struct readings *readings, const char *metric, const char *type,
                       const char *text, const char *labels, struct err *err) MUST_CHECK;
bool readings_add_int(struct readings *readings, const char *metric, const char *type,
                      int64_t value, struct err *err) MUST_CHECK;
/* Every column of a row is a metric; `type` NULL: timing for times, else counter. */
bool readings_add_row(struct readings *readings, const PGresult *result, int row, const char *type,
                      const char *labels, struct err *err) MUST_CHECK;

enum meter_use {
	METER_WRAP,
	METER_AROUND,
	METER_OBJECT,
};

/* What an around meter remembers between its two readings. */
struct meter_state {
	char position[32];
	uint64_t started_ns;
};

struct meter {
	const char *name;
	enum meter_use use;
	const char *needs; /* extension; NULL */
	int version;       /* oldest major */
	/* WRAP: the text before the statement; its one result value is given to take. */
	const char *wrap;
	bool (*take)(const char *value, struct readings *ret, struct err *err);
	/* AROUND: control is a connection of the harness's own to the same database. */
	bool (*before)(struct conn *control, struct meter_state *state, struct err *err);
	bool (*after)(struct conn *control, struct meter_state *state, struct readings *ret,
	              struct err *err);
	/* OBJECT: a statement with the object as $1. */
	const char *sql;
	const char *type; /* OBJECT: the metric type of its columns */
};

extern const struct meter meters[];
extern const size_t meters_count;
const struct meter *meter_find(const char *name); /* NULL */

/* In their files. */
bool meter_statement_take(const char *value, struct readings *ret, struct err *err);
bool meter_lsn_before(struct conn *control, struct meter_state *state, struct err *err);
bool meter_lsn_after(struct conn *control, struct meter_state *state, struct readings *ret,
                     struct err *err);
bool meter_clock_before(struct conn *control, struct meter_state *state, struct err *err);
bool meter_clock_after(struct conn *control, struct meter_state *state, struct readings *ret,
                       struct err *err);

#endif
