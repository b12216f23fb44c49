/* SPDX-License-Identifier: PostgreSQL */
/* Connections with deadlines, and outcomes. */
#include "pg/conn.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "sql.h"

#define CONNECT_WAIT_NS (30 * NS_PER_S)
#define CONNECT_POLL_MS 1000
/* The harness's own statements; the longest copies a database with a large dataset. */
#define QUERY_WAIT_NS (600 * NS_PER_S)
/* The same of a server that may hang: before its deadline somebody else looks who blocks whom. */
#define LOOK_WAIT_NS (10 * NS_PER_S)
/* How long a COPY that was given up may take to say so. */
#define COPY_END_WAIT_NS NS_PER_S
/* How long a cancelled statement may take to end before its connection is given up. */
#define CANCEL_WAIT_NS (10 * NS_PER_S)
#define PREPARED_NAME "keylab"

struct conn {
	PGconn *pg;
	char *conninfo; /* to open a second one that looks at who blocks this one */
	bool busy;      /* something was sent and not collected */
	bool copying;   /* a COPY to the client is under way */
	uint64_t sent_ns;
	int64_t sent_us;
	char *prepared; /* the text of the statement PREPARED_NAME; NULL: none yet; owned */
	conn_notice_fn *notice;
	void *notice_arg;
};

const char *outcome_name(enum outcome_kind kind)
{
	static const char *const names[] = {
#define X(name, text) [OUTCOME_##name] = text,
	        OUTCOMES(X)
#undef X
	};
	return names[kind];
}

void outcome_init(struct outcome *outcome)
{
	*outcome = (struct outcome){.sqlstate = "00000"};
	buf_init(&outcome->message, 0);
	buf_init(&outcome->constraint, 0);
}

void outcome_finish(struct outcome *outcome)
{
	PQclear(outcome->result);
	outcome->result = NULL;
	buf_finish(&outcome->message);
	buf_finish(&outcome->constraint);
}

static void outcome_clear(struct outcome *outcome)
{
	outcome_finish(outcome);
	outcome_init(outcome);
}

static const char *field(const PGresult *result, int code)
{
	const char *text = PQresultErrorField(result, code);

	return text ? text : "";
}

static void on_notice(void *arg, const PGresult *result)
{
	struct conn *conn = arg;

	if (conn->notice)
		conn->notice(conn->notice_arg, field(result, PG_DIAG_SEVERITY_NONLOCALIZED),
		             field(result, PG_DIAG_SQLSTATE),
		             field(result, PG_DIAG_MESSAGE_PRIMARY),
		             field(result, PG_DIAG_MESSAGE_DETAIL));
}

void conn_clear_environment(void)
{
	/* Those that are no option of a connection, and the two that could make the list fail. */
	static const char *const others[] = {"PGSERVICE",   "PGSERVICEFILE", "PGSYSCONFDIR",
	                                     "PGDATESTYLE", "PGTZ",          "PGGEQO",
	                                     "PGREQUIRESSL"};

	for (size_t i = 0; i < COUNT_OF(others); i++)
		unsetenv(others[i]);
	PQconninfoOption *options = PQconndefaults();
	for (PQconninfoOption *option = options; option && option->keyword; option++)
		if (option->envvar)
			unsetenv(option->envvar);
	PQconninfoFree(options);
}

/* Not PQconnectdbParams: a server that is stopped holds it, whoever asks us to stop. */
static bool wait_connected(PGconn *pg, uint64_t deadline_ns, struct err *err)
{
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;

	while (PQstatus(pg) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
	       state != PGRES_POLLING_FAILED) {
		struct pollfd fd = {.fd = PQsocket(pg),
		                    .events = state == PGRES_POLLING_WRITING ? POLLOUT : POLLIN};

		if (!interrupt_check(err))
			return false;
		if (deadline_passed(deadline_ns))
			return err_set(err, ERR_ENVIRONMENT,
			               "cannot connect: the server did not answer in time");
		if (poll(&fd, 1, deadline_poll_ms(deadline_ns, CONNECT_POLL_MS)) > 0)
			state = PQconnectPoll(pg);
	}
	return PQstatus(pg) == CONNECTION_OK ||
	       err_set(err, ERR_ENVIRONMENT, "cannot connect: %s", PQerrorMessage(pg));
}

static bool open_within(const char *conninfo, const char *application, uint64_t deadline_ns,
                        struct conn **ret, struct err *err)
{
	/* Later words overrule the string's; its own dbname word is expanded. */
	const char *const words[] = {"dbname", "application_name", "client_encoding", NULL};
	const char *const values[] = {conninfo, application, "UTF8", NULL};
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn || !(conn->conninfo = strdup(conninfo))) {
		free(conn);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	conn->pg = PQconnectStartParams(words, values, 1);
	if (!wait_connected(conn->pg, deadline_ns, err)) {
		conn_close(conn);
		return false;
	}
	PQsetNoticeReceiver(conn->pg, on_notice, conn);
	/* A server that does not read must not hold us beyond a deadline. */
	PQsetnonblocking(conn->pg, 1);
	*ret = conn;
	return true;
}

bool conn_open_string(const char *conninfo, const char *application, struct conn **ret,
                      struct err *err)
{
	return open_within(conninfo, application, deadline_after(CONNECT_WAIT_NS), ret, err);
}

/* A word of a connection string, quoted as libpq reads it. */
static void add_word(struct buf *buf, const char *name, const char *value)
{
	buf_printf(buf, "%s='", name);
	for (const char *at = value; *at; at++) {
		if (*at == '\'' || *at == '\\')
			buf_add_char(buf, '\\');
		buf_add_char(buf, *at);
	}
	buf_add(buf, "' ");
}

bool conn_string(const struct cluster *cluster, const char *database, struct buf *ret,
                 struct err *err)
{
	add_word(ret, "host", cluster->socket_dir);
	add_word(ret, "port", "5432");
	add_word(ret, "user", CLUSTER_USER);
	add_word(ret, "dbname", database);
	return buf_ok(ret, err);
}

bool conn_open(const struct cluster *cluster, const char *database, const char *application,
               struct conn **ret, struct err *err)
{
	CLEANUP(buf_finish) struct buf info;

	buf_init(&info, 0);
	return conn_string(cluster, database, &info, err) &&
	       conn_open_string(info.data, application, ret, err);
}

void conn_close(struct conn *conn)
{
	if (!conn)
		return;
	PQfinish(conn->pg);
	free(conn->conninfo);
	free(conn->prepared);
	free(conn);
}

void conn_close_p(struct conn **conn)
{
	conn_close(*conn);
}

void conn_on_notice(struct conn *conn, conn_notice_fn *fn, void *arg)
{
	conn->notice = fn;
	conn->notice_arg = arg;
}

int conn_library_version(void)
{
	return PQlibVersion();
}

bool conn_is_alive(const struct conn *conn)
{
	return PQstatus(conn->pg) == CONNECTION_OK;
}

static void outcome_lost(struct conn *conn, struct outcome *outcome)
{
	outcome->kind = OUTCOME_LOST;
	memcpy(outcome->sqlstate, "08006", 6);
	buf_clear(&outcome->message);
	buf_add(&outcome->message, PQerrorMessage(conn->pg));
}

static void outcome_take_error(struct outcome *outcome, const PGresult *result)
{
	const char *sqlstate = field(result, PG_DIAG_SQLSTATE);

	outcome->kind = OUTCOME_ERROR;
	snprintf(outcome->sqlstate, sizeof(outcome->sqlstate), "%s",
	         sqlstate[0] ? sqlstate : "XX000");
	buf_clear(&outcome->message);
	buf_add(&outcome->message, field(result, PG_DIAG_MESSAGE_PRIMARY));
	if (field(result, PG_DIAG_MESSAGE_DETAIL)[0])
		buf_printf(&outcome->message, " (%s)", field(result, PG_DIAG_MESSAGE_DETAIL));
	buf_clear(&outcome->constraint);
	buf_add(&outcome->constraint, field(result, PG_DIAG_CONSTRAINT_NAME));
}

static void outcome_take(struct outcome *outcome, PGresult *result)
{
	switch (PQresultStatus(result)) {
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
	case PGRES_EMPTY_QUERY:
		if (outcome->kind != OUTCOME_OK)
			break;
		PQclear(outcome->result);
		outcome->result = result;
		outcome->rows = PQresultStatus(result) == PGRES_TUPLES_OK
		                        ? (uint64_t)PQntuples(result)
		                        : strtoull(PQcmdTuples(result), NULL, 10);
		return;
	default:
		/* COPY and pipelines are not for scenario text; say so instead of hanging. */
		if (PQresultStatus(result) == PGRES_COPY_IN ||
		    PQresultStatus(result) == PGRES_COPY_OUT) {
			outcome->kind = OUTCOME_ERROR;
			memcpy(outcome->sqlstate, "0A000", 6);
			buf_clear(&outcome->message);
			buf_add(&outcome->message,
			        "COPY from or to the client is not possible here");
		} else {
			outcome_take_error(outcome, result);
		}
		break;
	}
	PQclear(result);
}

/* Throws away what has come of a COPY to the client. True: it is over. */
static bool drain_copy(struct conn *conn)
{
	char *row;
	int len;

	while ((len = PQgetCopyData(conn->pg, &row, 1)) > 0)
		PQfreemem(row);
	return len < 0;
}

/* Takes every result that is there. *ret_done when the command is over. */
static void take_results(struct conn *conn, struct outcome *outcome, bool *ret_done)
{
	*ret_done = false;
	if (conn->copying && !drain_copy(conn))
		return;
	conn->copying = false;
	while (!PQisBusy(conn->pg)) {
		PGresult *result = PQgetResult(conn->pg);

		if (!result) {
			*ret_done = true;
			return;
		}
		ExecStatusType status = PQresultStatus(result);
		outcome_take(outcome, result);
		if (status == PGRES_COPY_IN)
			PQputCopyEnd(conn->pg, "not possible here");
		/* Until it has been read to its end, libpq gives this same result again. */
		if (status == PGRES_COPY_OUT && !drain_copy(conn)) {
			conn->copying = true;
			return;
		}
		if (PQstatus(conn->pg) != CONNECTION_OK) {
			*ret_done = true;
			return;
		}
	}
}

/* Sends what is queued, takes what has come; waits for either. *ret_lost: there is no connection.
 */
static void exchange(struct conn *conn, uint64_t deadline_ns, bool *ret_lost)
{
	struct pollfd fd = {.fd = PQsocket(conn->pg), .events = POLLIN};

	if (PQflush(conn->pg) == 1)
		fd.events |= POLLOUT;
	*ret_lost =
	        poll(&fd, 1, deadline_poll_ms(deadline_ns, 1000)) > 0 && !PQconsumeInput(conn->pg);
}

/* Waits until the command is over, the deadline passes, or keylab is asked to stop. */
static bool wait_results(struct conn *conn, uint64_t deadline_ns, struct outcome *outcome,
                         bool *ret_done, struct err *err)
{
	for (;;) {
		take_results(conn, outcome, ret_done);
		if (*ret_done)
			return true;
		if (!interrupt_check(err))
			return false;
		if (deadline_passed(deadline_ns))
			return true;
		exchange(conn, deadline_ns, ret_done);
		if (*ret_done)
			return true;
	}
}

/*
 * Who holds what this connection waits for, in a sentence a blocker. False: the server does not
 * answer. Not by conn_run_params: late itself, that would come back here.
 */
static bool describe_blockers(const struct conn *conn, struct buf *ret)
{
	CLEANUP(conn_close_p) struct conn *other = NULL;
	CLEANUP(outcome_finish) struct outcome outcome;
	char pid[32];
	const char *const params[] = {pid};
	struct err err;
	bool done = false;

	outcome_init(&outcome);
	snprintf(pid, sizeof(pid), "%d", PQbackendPID(conn->pg));
	if (!open_within(conn->conninfo, "keylab blockers", deadline_after(LOOK_WAIT_NS), &other,
	                 &err)) {
		buf_printf(ret, "; who blocks it could not be found out: %s", err.message);
		return false;
	}
	if (!PQsendQueryParams(other->pg, sql_probe_blockers, 1, NULL, params, NULL, NULL, 0) ||
	    !wait_results(other, deadline_after(LOOK_WAIT_NS), &outcome, &done, &err) || !done ||
	    !outcome.result) {
		buf_printf(ret, "; who blocks it could not be found out: %s",
		           outcome.message.len ? outcome.message.data : "no answer in time");
		return true;
	}
	for (int row = 0; row < PQntuples(outcome.result); row++)
		buf_printf(ret, "; %s", PQgetvalue(outcome.result, row, 0));
	if (!PQntuples(outcome.result))
		buf_add(ret, "; no other session holds a lock that it waits for");
	return true;
}

/* Asks for the end of the statement. PQcancel waits for the server without a deadline. */
static void cancel(struct conn *conn, bool answers, struct buf *why)
{
	char errors[256] = "the server does not answer";
	PGcancel *request = answers ? PQgetCancel(conn->pg) : NULL;

	if (!request || !PQcancel(request, errors, sizeof(errors)))
		buf_printf(why, "; it could not be cancelled: %s", errors);
	PQfreeCancel(request);
}

/* Closes the connection; a new one when the server answers, else none that can be used. */
static void reconnect(struct conn *conn, bool answers)
{
	conn->copying = false;
	/* The new session knows no statement. */
	free(conn->prepared);
	conn->prepared = NULL;
	if (!answers) {
		PQresetStart(conn->pg);
		return;
	}
	PQreset(conn->pg);
	PQsetnonblocking(conn->pg, 1);
}

static bool outcome_block(struct conn *conn, struct outcome *outcome, struct err *err)
{
	bool done = false;
	CLEANUP(buf_finish) struct buf why;

	buf_init(&why, 0);
	buf_add(&why, "still running at its deadline");
	bool answers = describe_blockers(conn, &why);
	cancel(conn, answers, &why);
	if (answers && !wait_results(conn, deadline_after(CANCEL_WAIT_NS), outcome, &done, err))
		return false;
	outcome->kind = OUTCOME_BLOCKED;
	memcpy(outcome->sqlstate, "57014", 6);
	buf_clear(&outcome->message);
	buf_add(&outcome->message, why.data);
	if (!done) {
		buf_add(&outcome->message,
		        "; it did not end when it was cancelled, so its connection "
		        "was closed");
		reconnect(conn, answers);
	}
	return true;
}

static bool send_text(struct conn *conn, const char *sql, struct err *err)
{
	conn->sent_us = clock_wall_us();
	conn->sent_ns = clock_now_ns();
	conn->busy = true;
	if (!PQsendQuery(conn->pg, sql) && PQstatus(conn->pg) == CONNECTION_OK) {
		conn->busy = false;
		return err_set(err, ERR_INTERNAL, "sending a statement: %s",
		               PQerrorMessage(conn->pg));
	}
	return true;
}

bool conn_send(struct conn *conn, const char *sql, struct err *err)
{
	if (conn->busy)
		return err_set(err, ERR_INPUT,
		               "the session already runs a statement in the background; join it "
		               "first");
	return send_text(conn, sql, err);
}

bool conn_collect(struct conn *conn, uint64_t deadline_ns, struct outcome *outcome, struct err *err)
{
	bool done = false;

	outcome_clear(outcome);
	outcome->started_us = conn->sent_us;
	if (!wait_results(conn, deadline_ns, outcome, &done, err))
		return false;
	if (!done && !outcome_block(conn, outcome, err))
		return false;
	if (PQstatus(conn->pg) != CONNECTION_OK && outcome->kind != OUTCOME_BLOCKED)
		outcome_lost(conn, outcome);
	if (outcome->kind != OUTCOME_OK) {
		PQclear(outcome->result);
		outcome->result = NULL;
	}
	outcome->duration_ns = clock_now_ns() - conn->sent_ns;
	conn->busy = false;
	return true;
}

/* All pieces; false with err when next or the interrupt ended it. The caller ends the COPY. */
static bool copy_pieces(struct conn *conn, conn_copy_fn *next, void *arg, uint64_t deadline_ns,
                        bool *ret_in_time, struct err *err)
{
	const char *data;
	bool lost = false;
	size_t len;

	*ret_in_time = true;
	for (;;) {
		if (!interrupt_check(err) || !next(arg, &data, &len, err))
			return false;
		if (!len)
			return true;
		*ret_in_time = !deadline_passed(deadline_ns);
		/* What went wrong with the server is in its answer. */
		if (!*ret_in_time || PQputCopyData(conn->pg, data, (int)len) != 1)
			return true;
		/* On its way before the next piece is made, or they would pile up here. */
		while (!lost && PQflush(conn->pg) == 1) {
			if (!interrupt_check(err))
				return false;
			*ret_in_time = !deadline_passed(deadline_ns);
			if (!*ret_in_time)
				return true;
			exchange(conn, deadline_ns, &lost);
		}
		if (lost)
			return true;
	}
}

/* Until the server takes rows (*ret_copying), has refused or is late, which conn_collect finds out.
 */
static bool copy_begin(struct conn *conn, uint64_t deadline_ns, struct outcome *outcome,
                       bool *ret_copying, struct err *err)
{
	bool lost = false;

	*ret_copying = false;
	outcome_clear(outcome);
	while (!lost && PQisBusy(conn->pg)) {
		if (!interrupt_check(err))
			return false;
		if (deadline_passed(deadline_ns))
			return true;
		exchange(conn, deadline_ns, &lost);
	}
	if (lost)
		return true;
	PGresult *result = PQgetResult(conn->pg);
	*ret_copying = PQresultStatus(result) == PGRES_COPY_IN;
	if (!*ret_copying && result)
		outcome_take(outcome, result);
	else
		PQclear(result);
	return true;
}

bool conn_copy_in(struct conn *conn, const char *sql, conn_copy_fn *next, void *arg,
                  uint64_t deadline_ns, struct outcome *outcome, struct err *err)
{
	bool in_time = true, copying, ok = true;

	if (!conn_send(conn, sql, err) || !copy_begin(conn, deadline_ns, outcome, &copying, err))
		return false;
	if (copying) {
		ok = copy_pieces(conn, next, arg, deadline_ns, &in_time, err);
		PQputCopyEnd(conn->pg, !ok        ? "keylab could not go on"
		                       : !in_time ? "the deadline has passed"
		                                  : NULL);
	}
	struct outcome refused = *outcome;
	outcome_init(outcome);
	if (!conn_collect(conn, ok && in_time ? deadline_ns : deadline_after(COPY_END_WAIT_NS),
	                  outcome, ok ? err : NULL))
		ok = false;
	if (refused.kind != OUTCOME_OK) {
		outcome_finish(outcome);
		*outcome = refused;
	} else {
		outcome_finish(&refused);
	}
	if (!in_time && outcome->kind == OUTCOME_ERROR)
		outcome->kind = OUTCOME_BLOCKED;
	return ok;
}

/* Before the statement's first byte goes out. */
static bool begin_sending(struct conn *conn, struct err *err)
{
	if (conn->busy)
		return err_set(err, ERR_INTERNAL, "the connection is busy");
	conn->sent_us = clock_wall_us();
	conn->sent_ns = clock_now_ns();
	conn->busy = true;
	return true;
}

/* A connection that is lost already is for conn_collect to say. */
static bool was_sent(struct conn *conn, int sent, struct err *err)
{
	if (sent || PQstatus(conn->pg) != CONNECTION_OK)
		return true;
	conn->busy = false;
	return err_set(err, ERR_INTERNAL, "sending a statement: %s", PQerrorMessage(conn->pg));
}

bool conn_run_params(struct conn *conn, const char *sql, const Oid *types,
                     const char *const *params, int params_count, uint64_t deadline_ns,
                     struct outcome *outcome, struct err *err)
{
	return begin_sending(conn, err) &&
	       was_sent(conn,
	                PQsendQueryParams(conn->pg, sql, params_count, types, params, NULL, NULL,
	                                  0),
	                err) &&
	       conn_collect(conn, deadline_ns, outcome, err);
}

bool conn_prepare(struct conn *conn, const char *sql, const Oid *types, int params_count,
                  uint64_t deadline_ns, struct outcome *outcome, struct err *err)
{
	if (conn->prepared)
		return err_set(err, ERR_INTERNAL, "a connection prepares one statement");
	if (!begin_sending(conn, err) ||
	    !was_sent(conn, PQsendPrepare(conn->pg, PREPARED_NAME, sql, params_count, types),
	              err) ||
	    !conn_collect(conn, deadline_ns, outcome, err))
		return false;
	if (outcome->kind == OUTCOME_OK)
		conn->prepared = strdup(sql);
	return outcome->kind != OUTCOME_OK || conn->prepared ||
	       err_set(err, ERR_SYSTEM, "out of memory");
}

bool conn_run_prepared(struct conn *conn, const char *sql, const Oid *types,
                       const char *const *params, int params_count, uint64_t deadline_ns,
                       struct outcome *outcome, struct err *err)
{
	if (conn->prepared && strcmp(conn->prepared, sql) != 0)
		return err_set(err, ERR_INTERNAL, "a connection prepares one statement");
	if (!conn->prepared) {
		if (!conn_prepare(conn, sql, types, params_count, deadline_ns, outcome, err))
			return false;
		if (outcome->kind != OUTCOME_OK)
			return true;
	}
	return begin_sending(conn, err) &&
	       was_sent(conn,
	                PQsendQueryPrepared(conn->pg, PREPARED_NAME, params_count, params, NULL,
	                                    NULL, 0),
	                err) &&
	       conn_collect(conn, deadline_ns, outcome, err);
}

struct run {
	struct conn *conn;
	uint64_t deadline_ns;
	struct outcome *outcome;
	uint64_t total_ns;
	int64_t started_us;
	bool first;
};

static bool run_one(void *arg, const char *statement, size_t len, struct err *err)
{
	struct run *run = arg;

	if (!run->first && run->outcome->kind != OUTCOME_OK)
		return true;
	CLEANUP(free_p) char *text = strndup(statement, len);
	if (!text)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (!conn_send(run->conn, text, err) ||
	    !conn_collect(run->conn, run->deadline_ns, run->outcome, err))
		return false;
	run->total_ns += run->outcome->duration_ns;
	if (run->first)
		run->started_us = run->outcome->started_us;
	run->first = false;
	return true;
}

bool conn_run(struct conn *conn, const char *sql, uint64_t deadline_ns, struct outcome *outcome,
              struct err *err)
{
	struct run run = {.conn = conn,
	                  .deadline_ns = deadline_ns,
	                  .outcome = outcome,
	                  .first = true};

	outcome_clear(outcome);
	if (!sql_split(sql, run_one, &run, err))
		return false;
	outcome->duration_ns = run.total_ns;
	outcome->started_us = run.first ? clock_wall_us() : run.started_us;
	return true;
}

bool conn_query_within(struct conn *conn, const char *sql, const char *const *params,
                       int params_count, uint64_t deadline_ns, PGresult **ret, struct err *err)
{
	CLEANUP(outcome_finish) struct outcome outcome;
	bool done = false;

	outcome_init(&outcome);
	if (!interrupt_check(err))
		return false;
	/* Not PQexecParams: it waits for a server that hangs, whoever asks it to stop. */
	if (!PQsendQueryParams(conn->pg, sql, params_count, NULL, params, NULL, NULL, 0))
		return err_set(err, ERR_ENVIRONMENT, "%s", PQerrorMessage(conn->pg));
	if (!wait_results(conn, deadline_ns, &outcome, &done, err))
		return false;
	if (!done)
		return err_set(err, ERR_ENVIRONMENT, "the server did not answer in time");
	if (outcome.kind == OUTCOME_ERROR)
		return err_set(err, ERR_ENVIRONMENT, "%s: %s", outcome.sqlstate,
		               outcome.message.data);
	if (!outcome.result || PQstatus(conn->pg) != CONNECTION_OK)
		return err_set(err, ERR_ENVIRONMENT, "%s", PQerrorMessage(conn->pg));
	*ret = outcome.result;
	outcome.result = NULL;
	return true;
}

bool conn_query(struct conn *conn, const char *sql, const char *const *params, int params_count,
                PGresult **ret, struct err *err)
{
	return conn_query_within(conn, sql, params, params_count, deadline_after(QUERY_WAIT_NS),
	                         ret, err);
}

void result_clear_p(PGresult **result)
{
	PQclear(*result);
}
