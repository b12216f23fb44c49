/* SPDX-License-Identifier: PostgreSQL */
/*
 * A connection on top of libpq with deadlines, and what a statement came to.
 *
 * What the server answers (an error, a deadlock, a lost connection, a block
 * until the deadline) is an outcome, not an err; err is for the harness: no
 * memory, no connection to begin with, an interrupt.
 *
 * One thread at a time.
 */
#ifndef KEYLAB_PG_CONN_H
#define KEYLAB_PG_CONN_H

#include <libpq-fe.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "pg/cluster.h"

struct conn;

/* X(name, text) */
#define OUTCOMES(X)                                                                                \
	X(OK, "ok")                                                                                \
	X(ERROR, "error")     /* the server refused it; SQLSTATE says why */                       \
	X(LOST, "cut off")    /* the connection ended before the answer */                         \
	X(BLOCKED, "blocked") /* the deadline passed; it was cancelled */
enum outcome_kind {
#define X(name, text) OUTCOME_##name,
	OUTCOMES(X)
#undef X
};
const char *outcome_name(enum outcome_kind kind);

struct outcome {
	enum outcome_kind kind;
	char sqlstate[6];      /* "00000" when ok; "08006" when lost, "57014" when blocked */
	struct buf message;    /* the server's, with detail and hint; who blocks whom */
	struct buf constraint; /* name, empty when there is none */
	PGresult *result;      /* of the last statement; NULL unless ok; owned */
	uint64_t rows;         /* returned, or affected */
	uint64_t duration_ns;  /* from sending to the whole answer, on this side */
	int64_t started_us;    /* wall clock */
};

void outcome_init(struct outcome *outcome);
void outcome_finish(struct outcome *outcome);

/* Called for each NOTICE, INFO, WARNING with its parts (never NULL). */
typedef void conn_notice_fn(void *arg, const char *severity, const char *sqlstate,
                            const char *message, const char *detail);

/* Takes what libpq reads out of the environment (PGHOSTADDR, PGOPTIONS, PGTZ, …), by which a
   session would be another one. Call it before there are threads. */
void conn_clear_environment(void);
/* Connects to a cluster's database; application is what pg_stat_activity shows. Waits 30 s, and no
   longer than until it is asked to stop. */
bool conn_open(const struct cluster *cluster, const char *database, const char *application,
               struct conn **ret, struct err *err) MUST_CHECK;
/* The same by the string of conn_string. */
bool conn_open_string(const char *conninfo, const char *application, struct conn **ret,
                      struct err *err) MUST_CHECK;
/* The string that conn_open would use, for another process of keylab. */
bool conn_string(const struct cluster *cluster, const char *database, struct buf *ret,
                 struct err *err) MUST_CHECK;
void conn_close(struct conn *conn);
void conn_close_p(struct conn **conn);
void conn_on_notice(struct conn *conn, conn_notice_fn *fn, void *arg);
/* libpq's version: 150018. */
int conn_library_version(void);
bool conn_is_alive(const struct conn *conn);

/*
 * Runs one or several statements (see sql_split), one by one, until one is
 * not ok. A single statement with a BEGIN … COMMIT around it in the text is
 * just several statements. *outcome was initialised; what it held is freed.
 */
bool conn_run(struct conn *conn, const char *sql, uint64_t deadline_ns, struct outcome *outcome,
              struct err *err) MUST_CHECK;
/* Sends one statement and returns; conn_collect waits for its answer. */
bool conn_send(struct conn *conn, const char *sql, struct err *err) MUST_CHECK;
bool conn_collect(struct conn *conn, uint64_t deadline_ns, struct outcome *outcome,
                  struct err *err) MUST_CHECK;
/*
 * One statement with parameters (text; NULL for null) of the given types;
 * what the server says is the outcome.
 */
bool conn_run_params(struct conn *conn, const char *sql, const Oid *types,
                     const char *const *params, int params_count, uint64_t deadline_ns,
                     struct outcome *outcome, struct err *err) MUST_CHECK;
/* Has the server parse a statement; a connection knows one such statement. */
bool conn_prepare(struct conn *conn, const char *sql, const Oid *types, int params_count,
                  uint64_t deadline_ns, struct outcome *outcome, struct err *err) MUST_CHECK;
/*
 * As conn_run_params, by the prepared statement; prepares it first if need be. The outcome's
 * time is that of the execution.
 */
bool conn_run_prepared(struct conn *conn, const char *sql, const Oid *types,
                       const char *const *params, int params_count, uint64_t deadline_ns,
                       struct outcome *outcome, struct err *err) MUST_CHECK;

/*
 * COPY … FROM STDIN: next gives the data piece by piece, an empty piece at
 * the end; it is called from here, until the deadline. false of next ends the
 * COPY without a row; its err is this function's.
 */
typedef bool conn_copy_fn(void *arg, const char **ret_data, size_t *ret_len, struct err *err);
bool conn_copy_in(struct conn *conn, const char *sql, conn_copy_fn *next, void *arg,
                  uint64_t deadline_ns, struct outcome *outcome, struct err *err) MUST_CHECK;

/*
 * For the harness's own statements (SQL from sql/): any outcome but ok is an
 * err. params are text, NULL for null. The caller clears *ret.
 */
bool conn_query(struct conn *conn, const char *sql, const char *const *params, int params_count,
                PGresult **ret, struct err *err) MUST_CHECK;
/* The same with a deadline; that of conn_query is ten minutes. */
bool conn_query_within(struct conn *conn, const char *sql, const char *const *params,
                       int params_count, uint64_t deadline_ns, PGresult **ret,
                       struct err *err) MUST_CHECK;
void result_clear_p(PGresult **result);

/*
 * Calls each statement of a text in turn: split at top-level semicolons,
 * outside quotes, dollar quotes, comments, brackets and BEGIN ATOMIC bodies
 * (src/fe_utils/psqlscan.l says what those are). Empty ones are left out.
 */
bool sql_split(const char *sql,
               bool (*each)(void *arg, const char *statement, size_t len, struct err *err),
               void *arg, struct err *err) MUST_CHECK;

#endif
