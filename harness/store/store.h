/* SPDX-License-Identifier: PostgreSQL */
/*
 * The one SQLite file of results: opening, migrating, and a small statement
 * on top of SQLite's that every other file of this room (and the report)
 * uses.
 *
 * Statements come from files (sql/store/…, embedded as sql_store_…). Several
 * threads may share a store: store_exec locks for its statement, store_begin
 * until the commit or rollback, and whoever steps through a query itself holds
 * store_lock meanwhile. Several processes may have the same file open (WAL
 * mode, a busy timeout).
 */
#ifndef KEYLAB_STORE_STORE_H
#define KEYLAB_STORE_STORE_H

#include <pthread.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"

/* SQLite's version: "3.40.1". */
const char *store_library_version(void);

struct sqlite3;
struct sqlite3_stmt;

struct store {
	struct sqlite3 *db;
	char *path;            /* owned */
	pthread_mutex_t mutex; /* recursive */
	uint64_t reader_steps; /* of the statement of a reader, so far */
};

enum store_mode {
	STORE_READ,  /* the file must exist; nothing is written, not even a migration */
	STORE_WRITE, /* created when it does not exist, migrated when it is older */
};

/*
 * A file that is no SQLite database, is another program's, or was made by a
 * newer keylab is ERR_INPUT and is left as it was. So is one whose tables or
 * views are not those that keylab makes (there may be others besides).
 */
bool store_open(const char *path, enum store_mode mode, struct store **ret,
                struct err *err) MUST_CHECK;
void store_close(struct store *store); /* accepts NULL */
void store_close_p(struct store **store);

void store_lock(struct store *store);
void store_unlock(struct store *store);
/* Locks too; the commit, or the rollback that a failed commit needs as well, unlocks. */
bool store_begin(struct store *store, struct err *err) MUST_CHECK;
bool store_commit(struct store *store, struct err *err) MUST_CHECK;
void store_rollback(struct store *store);

/* ---- statements ---- */

/*
 * A prepared statement. Parameters are named in the SQL (:run_id) and bound
 * by name; binding a name that the SQL does not have is ERR_INTERNAL.
 * Binding errors are sticky: query_step reports them.
 */
struct query {
	struct sqlite3_stmt *stmt; /* owned */
	struct store *store;       /* borrowed */
	struct err fault;          /* the first binding error */
	bool reader;               /* somebody else wrote it: its work is bounded */
};

bool query_prepare(struct store *store, const char *sql, struct query *ret,
                   struct err *err) MUST_CHECK;
void query_finish(struct query *query); /* accepts a zeroed one */
/* For reuse: forgets the rows, keeps the plan, clears the bindings. */
void query_reset(struct query *query);

void query_int(struct query *query, const char *name, int64_t value);
void query_real(struct query *query, const char *name, double value);
void query_text(struct query *query, const char *name, const char *value); /* NULL is null */
void query_null(struct query *query, const char *name);

/* *ret_row false at the end. An SQL error is kind INPUT for SQL that a user wrote (see
   store_fault), SYSTEM for the disk, INTERNAL for the rest. */
bool query_step(struct query *query, bool *ret_row, struct err *err) MUST_CHECK;
/* Runs a statement that gives no rows, and resets it. */
bool query_run(struct query *query, struct err *err) MUST_CHECK;

int64_t query_get_int(struct query *query, int column);
double query_get_real(struct query *query, int column);
/* "" for null; valid until the next step. */
const char *query_get_text(struct query *query, int column);
bool query_is_null(struct query *query, int column);
/* Is it an integer or a real (not text)? */
bool query_is_number(struct query *query, int column);
int query_columns(struct query *query);
const char *query_column_name(struct query *query, int column);
/* The newest finished run, or else the newest; ERR_INPUT when the store holds none. */
bool store_newest_run(struct store *store, int64_t *ret, struct err *err) MUST_CHECK;
int64_t store_last_id(struct store *store);

/*
 * A whole and compact copy in a new file, with what still lies in the
 * write-ahead log. The same rows in the same order give the same bytes.
 */
bool store_copy(struct store *store, const char *path, struct err *err) MUST_CHECK;

/* ---- a statement with its values in one call ---- */

enum bind_kind {
	BIND_INT,
	BIND_REAL,
	BIND_TEXT,
	BIND_NULL,
};
struct bind {
	const char *name; /* ":run_id" */
	enum bind_kind kind;
	int64_t integer;
	double real;
	const char *text; /* NULL is null */
};
#define B_INT(name, value) ((struct bind){(name), BIND_INT, (int64_t)(value), 0, NULL})
#define B_REAL(name, value) ((struct bind){(name), BIND_REAL, 0, (value), NULL})
#define B_TEXT(name, value) ((struct bind){(name), BIND_TEXT, 0, 0, (value)})
#define B_NULL(name) ((struct bind){(name), BIND_NULL, 0, 0, NULL})

void query_bind(struct query *query, const struct bind *binds, size_t count);
/* Prepares, binds, runs, forgets; rows are ignored. */
bool store_exec(struct store *store, const char *sql, const struct bind *binds, size_t count,
                struct err *err) MUST_CHECK;
/*
 * Prepares a statement that a scenario's author wrote: it may only read, from
 * the store alone. Anything else (an INSERT, ATTACH, a pragma) is ERR_INPUT.
 * So is more work than READER_STEPS_MAX of SQLite's virtual machine; they are
 * counted, not timed, so that one store comes to one verdict on every machine.
 * One at a time, and nothing else on the store until it is finished.
 */
#define READER_STEPS_MAX UINT64_C(20000000)
bool query_prepare_reader(struct store *store, const char *sql, struct query *ret,
                          struct err *err) MUST_CHECK;

#endif
