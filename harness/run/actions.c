/* SPDX-License-Identifier: PostgreSQL */
/* What each verb does. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "run/walk.h"
#include "sql.h"

#define WAIT_POLL_MS 5

char *walk_expand(struct walk *walk, const struct step *step, const char *text,
                  const struct scope *scope, enum walk_end *ret_end, struct err *err)
{
	struct buf out;
	struct err inner = {0};
	char *result = NULL;

	buf_init(&out, 0);
	if (subst_expand(text, scope, &out, &inner))
		result = buf_steal(&out, &inner);
	buf_finish(&out);
	if (result)
		return result;
	if (inner.kind == ERR_INPUT) {
		*ret_end = walk_end_at(walk, step, "%s", inner.message);
	} else {
		*err = inner;
		*ret_end = WALK_FAILS;
	}
	return NULL;
}

enum walk_end walk_no_session(struct walk *walk, const struct step *step, struct err *err)
{
	if (err->kind == ERR_ENVIRONMENT)
		return walk_end_at(walk, step, "%s", err->message);
	return WALK_FAILS;
}

static bool is_expected(const struct step *step, const struct outcome *outcome)
{
	const struct step_expect *expect = &step->expect;

	if (outcome->kind != OUTCOME_ERROR)
		return false;
	return (!expect->sqlstate || !strcmp(expect->sqlstate, outcome->sqlstate)) &&
	       (!expect->constraint || !strcmp(expect->constraint, outcome->constraint.data)) &&
	       (!expect->message || strstr(outcome->message.data, expect->message));
}

enum walk_end walk_judge(struct walk *walk, const struct step *step, const struct outcome *outcome)
{
	if (outcome->kind == OUTCOME_OK || step->expect.given || step->allow_errors)
		return WALK_GOES_ON;
	if (outcome->kind == OUTCOME_BLOCKED)
		return walk_end_at(walk, step, "%s", outcome->message.data);
	return walk_end_at(walk, step, "SQLSTATE %s: %s", outcome->sqlstate, outcome->message.data);
}

bool walk_note_blocked(struct walk *walk, const struct outcome *outcome, int64_t step_id,
                       struct err *err)
{
	if (outcome->kind != OUTCOME_BLOCKED)
		return true;
	return record_incident(walk->request->store, walk->run_id, walk->scenario->name, step_id,
	                       "blocked", outcome->message.data, err);
}

/* A step's row, a note when it was blocked, and what the server said meanwhile (session may be
 * NULL). */
static bool record_whole(struct walk *walk, const struct step_record *record,
                         struct session *session, struct err *err)
{
	int64_t step_id;

	return walk_record(walk, record, &step_id, err) &&
	       walk_note_blocked(walk, record->outcome, step_id, err) &&
	       (!session || walk_record_pending(walk, session, record->step, record->frame, err));
}

/* The outcome of a step that is called `as: NAME`, as samples. */
static bool outcome_readings(const struct outcome *outcome, struct readings *ret, struct err *err)
{
	/* A text, though most SQLSTATEs look like numbers. */
	return readings_add_text(ret, "sqlstate", "event", outcome->sqlstate, NULL, err) &&
	       readings_add_text(ret, "constraint", "event", outcome->constraint.data, NULL, err) &&
	       readings_add_text(ret, "message", "event", outcome->message.data, NULL, err) &&
	       readings_add_int(ret, "rows", "event", (int64_t)outcome->rows, err);
}

/*
 * Records a finished statement and judges it by what its own step expects:
 * `sent` is the background step that a JOIN has collected, NULL for SQL.
 */
static enum walk_end finish_statement(struct walk *walk, const struct step *step,
                                      const struct step *sent, const struct frame *frame,
                                      struct session *session, const char *sql,
                                      const struct outcome *outcome, struct err *err)
{
	struct readings readings = {0};
	const struct step *asked = sent ? sent : step;
	bool as_expected = asked->expect.given && is_expected(asked, outcome);
	bool samples = asked->name != NULL;
	bool ok = !samples || outcome_readings(outcome, &readings, err);
	const struct step_record record = {
	        .step = step,
	        .frame = frame,
	        .name = sent ? sent->name : NULL,
	        .session = session->name,
	        .sql = sql,
	        .outcome = outcome,
	        .outcome_text = as_expected ? "expected" : NULL,
	        .readings = &readings,
	};

	ok = ok && record_whole(walk, &record, session, err);
	readings_finish(&readings);
	return ok ? walk_judge(walk, asked, outcome) : WALK_FAILS;
}

static enum walk_end send_in_background(struct walk *walk, const struct step *step,
                                        struct session *session, char **sql, struct err *err)
{
	struct err inner = {0};

	if (!conn_send(session->conn, *sql, &inner)) {
		if (inner.kind == ERR_INPUT)
			return walk_end_at(walk, step, "%s", inner.message);
		*err = inner;
		return WALK_FAILS;
	}
	session->sent = step;
	free(session->sent_sql);
	session->sent_sql = *sql;
	*sql = NULL;
	return WALK_GOES_ON;
}

static enum walk_end do_sql(struct walk *walk, const struct step *step, const struct scope *scope,
                            const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p) char *sql = walk_expand(walk, step, step->sql, scope, &end, err);
	CLEANUP(outcome_finish) struct outcome outcome;
	struct session *session;

	outcome_init(&outcome);
	if (!sql)
		return end;
	if (!session_get(walk, step->session, &session, err))
		return walk_no_session(walk, step, err);
	if (step->background)
		return send_in_background(walk, step, session, &sql, err);
	if (session->sent)
		return walk_end_at(walk, step,
		                   "session %s still runs a statement in the background; "
		                   "join it first",
		                   session->name);
	if (!conn_run(session->conn, sql, deadline_after(step->deadline_ns), &outcome, err))
		return WALK_FAILS;
	return finish_statement(walk, step, NULL, frame, session, sql, &outcome, err);
}

static enum walk_end do_join(struct walk *walk, const struct step *step, const struct scope *scope,
                             const struct frame *frame, struct err *err)
{
	CLEANUP(outcome_finish) struct outcome outcome;
	struct session *session;

	(void)scope;
	outcome_init(&outcome);
	if (!session_get(walk, step->name, &session, err))
		return walk_no_session(walk, step, err);
	if (!session->sent)
		return walk_end_at(walk, step, "session %s runs nothing in the background",
		                   session->name);
	const struct step *sent = session->sent;
	CLEANUP(free_p) char *sql = session->sent_sql;
	session->sent = NULL;
	session->sent_sql = NULL;
	if (!conn_collect(session->conn, deadline_after(step->deadline_ns), &outcome, err))
		return WALK_FAILS;
	return finish_statement(walk, step, sent, frame, session, sql, &outcome, err);
}

/* ---- MEASURE ---- */

struct measurement {
	const struct meter *around[8];
	struct meter_state states[8];
	size_t around_count;
	const struct meter *wrap;
};

static void choose_meters(const struct step *step, struct measurement *ret)
{
	for (size_t i = 0; i < step->meters.count; i++) {
		const struct meter *meter = meter_find(step->meters.items[i]);

		if (meter && meter->use == METER_WRAP)
			ret->wrap = meter;
		else if (meter && ret->around_count < COUNT_OF(ret->around))
			ret->around[ret->around_count++] = meter;
	}
}

/* Runs the statement with its meters; what they read is in readings when it went well. */
static bool run_measured(struct walk *walk, const struct step *step, struct session *session,
                         const char *sql, struct outcome *outcome, struct readings *readings,
                         struct err *err)
{
	struct measurement measurement = {0};
	CLEANUP(buf_finish) struct buf text;

	choose_meters(step, &measurement);
	buf_init(&text, 0);
	buf_printf(&text, "%s%s", measurement.wrap ? measurement.wrap->wrap : "", sql);
	if (!buf_ok(&text, err))
		return false;
	for (size_t i = 0; i < measurement.around_count; i++)
		if (!measurement.around[i]->before(walk->control, &measurement.states[i], err))
			return false;
	if (!conn_run(session->conn, text.data, deadline_after(step->deadline_ns), outcome, err))
		return false;
	/* Last in, first out: the clock, say, does not see the other meters read. */
	for (size_t i = measurement.around_count; outcome->kind == OUTCOME_OK && i-- > 0;)
		if (!measurement.around[i]->after(walk->control, &measurement.states[i], readings,
		                                  err))
			return false;
	if (outcome->kind != OUTCOME_OK || !measurement.wrap)
		return true;
	return measurement.wrap->take(PQgetvalue(outcome->result, 0, 0), readings, err);
}

static bool count_one(void *arg, const char *statement, size_t len, struct err *err)
{
	(void)statement, (void)len, (void)err;
	++*(size_t *)arg;
	return true;
}

static enum walk_end do_measure(struct walk *walk, const struct step *step,
                                const struct scope *scope, const struct frame *frame,
                                struct err *err)
{
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p) char *sql = walk_expand(walk, step, step->sql, scope, &end, err);
	CLEANUP(outcome_finish) struct outcome outcome;
	struct readings readings = {0};
	struct session *session;
	size_t statements = 0;

	outcome_init(&outcome);
	if (!sql)
		return end;
	/* Meters read one: EXPLAIN wraps it, and the sum of several is no one's. */
	if (!sql_split(sql, count_one, &statements, err))
		return WALK_FAILS;
	if (statements != 1)
		return walk_end_at(walk, step,
		                   "`measure` takes one statement and has %zu; put the others into "
		                   "a "
		                   "step `sql`",
		                   statements);
	if (!session_get(walk, step->session, &session, err) || !walk_control(walk, err))
		return walk_no_session(walk, step, err);
	bool ok = run_measured(walk, step, session, sql, &outcome, &readings, err);
	const struct step_record record = {
	        .step = step,
	        .frame = frame,
	        .session = session->name,
	        .sql = sql,
	        .outcome = &outcome,
	        .readings = &readings,
	};
	ok = ok && record_whole(walk, &record, session, err);
	readings_finish(&readings);
	return ok ? walk_judge(walk, step, &outcome) : WALK_FAILS;
}

/* ---- PROBE, PROVE, LET: queries whose answer is the thing ---- */

/* Runs the step's query; ends the scenario unless it gave rows. */
static enum walk_end query(struct walk *walk, const struct step *step, const struct scope *scope,
                           char **ret_sql, struct session **ret_session, struct outcome *outcome,
                           struct err *err)
{
	enum walk_end end = WALK_GOES_ON;

	*ret_sql = walk_expand(walk, step, step->sql, scope, &end, err);
	if (!*ret_sql)
		return end;
	if (!session_get(walk, step->session, ret_session, err))
		return walk_no_session(walk, step, err);
	if (!conn_run((*ret_session)->conn, *ret_sql, deadline_after(step->deadline_ns), outcome,
	              err))
		return WALK_FAILS;
	return WALK_GOES_ON;
}

static bool probe_readings(const struct outcome *outcome, struct readings *readings,
                           int64_t **ret_reps, struct err *err)
{
	int rows = outcome->kind == OUTCOME_OK ? PQntuples(outcome->result) : 0;
	int64_t *reps = calloc((size_t)rows * (size_t)(rows ? PQnfields(outcome->result) : 0) + 1,
	                       sizeof(*reps));

	if (!reps)
		return err_set(err, ERR_SYSTEM, "out of memory");
	*ret_reps = reps;
	for (int row = 0; row < rows; row++) {
		size_t before = readings->count;

		if (!readings_add_row(readings, outcome->result, row, NULL, NULL, err))
			return false;
		/* A single row counts as its step does. */
		for (size_t i = before; rows > 1 && i < readings->count; i++)
			reps[i] = row + 1;
	}
	return true;
}

static enum walk_end do_probe(struct walk *walk, const struct step *step, const struct scope *scope,
                              const struct frame *frame, struct err *err)
{
	CLEANUP(free_p) char *sql = NULL;
	CLEANUP(free_p) int64_t *reps = NULL;
	CLEANUP(outcome_finish) struct outcome outcome;
	struct readings readings = {0};
	struct session *session = NULL;

	outcome_init(&outcome);
	enum walk_end end = query(walk, step, scope, &sql, &session, &outcome, err);
	if (end != WALK_GOES_ON || !session)
		return end;
	bool ok = probe_readings(&outcome, &readings, &reps, err);
	const struct step_record record = {
	        .step = step,
	        .frame = frame,
	        .session = session->name,
	        .sql = sql,
	        .outcome = &outcome,
	        .readings = &readings,
	        .reps = reps,
	};
	ok = ok && record_whole(walk, &record, session, err);
	readings_finish(&readings);
	return ok ? walk_judge(walk, step, &outcome) : WALK_FAILS;
}

/* The one value of an answer; NULL for SQL's null. false when it is not one value. */
static bool one_value(const struct outcome *outcome, const char **ret)
{
	if (outcome->kind != OUTCOME_OK || PQntuples(outcome->result) != 1 ||
	    PQnfields(outcome->result) != 1)
		return false;
	*ret = PQgetisnull(outcome->result, 0, 0) ? NULL : PQgetvalue(outcome->result, 0, 0);
	return true;
}

static enum walk_end not_one_value(struct walk *walk, const struct step *step,
                                   const struct outcome *outcome)
{
	enum walk_end end = walk_judge(walk, step, outcome);

	if (end != WALK_GOES_ON || outcome->kind != OUTCOME_OK)
		return end;
	return walk_end_at(walk, step,
	                   "the query gave %d rows of %d columns; it must give one value",
	                   PQntuples(outcome->result), PQnfields(outcome->result));
}

/* SQL's booleans become 1 and 0, which SQLite and predicates know. */
static const char *plain_value(const struct outcome *outcome, const char *value)
{
	const Oid bool_oid = 16;

	if (!value || PQftype(outcome->result, 0) != bool_oid)
		return value;
	return value[0] == 't' ? "1" : "0";
}

static enum walk_end do_prove(struct walk *walk, const struct step *step, const struct scope *scope,
                              const struct frame *frame, struct err *err)
{
	CLEANUP(free_p) char *sql = NULL;
	CLEANUP(outcome_finish) struct outcome outcome;
	struct readings readings = {0};
	struct session *session = NULL;
	const char *value = NULL;

	outcome_init(&outcome);
	enum walk_end end = query(walk, step, scope, &sql, &session, &outcome, err);
	if (end != WALK_GOES_ON || !session)
		return end;
	bool one = one_value(&outcome, &value);
	bool ok = !one || readings_add(&readings, "value", "exact", plain_value(&outcome, value),
	                               NULL, err);
	const struct step_record record = {
	        .step = step,
	        .frame = frame,
	        .session = session->name,
	        .sql = sql,
	        .outcome = &outcome,
	        .readings = &readings,
	};
	ok = ok && record_whole(walk, &record, session, err);
	readings_finish(&readings);
	if (!ok)
		return WALK_FAILS;
	return one ? WALK_GOES_ON : not_one_value(walk, step, &outcome);
}

static bool lets_set(struct walk *walk, const char *name, const char *value, struct err *err)
{
	for (size_t i = 0; i < walk->lets.count; i++) {
		if (strcmp(walk->lets.items[i].name, name))
			continue;
		walk->lets.items[i].text = arena_strdup(&walk->arena, value);
		return walk->lets.items[i].text || err_set(err, ERR_SYSTEM, "out of memory");
	}
	struct pair *grown = arena_grow(&walk->arena, walk->lets.items, walk->lets.count,
	                                walk->lets.count + 1, sizeof(*grown));
	if (!grown)
		return err_set(err, ERR_SYSTEM, "out of memory");
	grown[walk->lets.count] = (struct pair){.name = arena_strdup(&walk->arena, name),
	                                        .text = arena_strdup(&walk->arena, value)};
	walk->lets.items = grown;
	walk->lets.count++;
	return !walk->arena.failed || err_set(err, ERR_SYSTEM, "out of memory");
}

static enum walk_end do_let(struct walk *walk, const struct step *step, const struct scope *scope,
                            const struct frame *frame, struct err *err)
{
	CLEANUP(free_p) char *sql = NULL;
	CLEANUP(outcome_finish) struct outcome outcome;
	struct session *session = NULL;
	const char *value = NULL;

	outcome_init(&outcome);
	enum walk_end end = query(walk, step, scope, &sql, &session, &outcome, err);
	if (end != WALK_GOES_ON || !session)
		return end;
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .session = session->name,
	                                   .sql = sql,
	                                   .outcome = &outcome};
	if (!record_whole(walk, &record, session, err))
		return WALK_FAILS;
	if (!one_value(&outcome, &value) || !value) {
		end = not_one_value(walk, step, &outcome);
		return end != WALK_GOES_ON ? end : walk_end_at(walk, step, "the value is null");
	}
	return lets_set(walk, step->name, value, err) ? WALK_GOES_ON : WALK_FAILS;
}

/* ---- READ ---- */

/* Until one meter's outcome is not ok. */
static bool read_meters(struct walk *walk, const struct step *step, const char *object,
                        struct outcome *outcome, struct readings *readings, struct err *err)
{
	const char *const params[] = {object};
	uint64_t deadline_ns = deadline_after(step->deadline_ns);

	for (size_t i = 0; i < step->meters.count && outcome->kind == OUTCOME_OK; i++) {
		const struct meter *meter = meter_find(step->meters.items[i]);

		if (!meter)
			return err_set(err, ERR_INTERNAL, "no meter %s", step->meters.items[i]);
		if (!conn_run_params(walk->control, meter->sql, NULL, params, 1, deadline_ns,
		                     outcome, err))
			return false;
		if (outcome->kind == OUTCOME_OK &&
		    !readings_add_row(readings, outcome->result, 0, meter->type, NULL, err))
			return err_within(err, "meter %s of %s", meter->name, object);
	}
	return true;
}

static enum walk_end do_read(struct walk *walk, const struct step *step, const struct scope *scope,
                             const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p) char *object = walk_expand(walk, step, step->of, scope, &end, err);
	CLEANUP(outcome_finish) struct outcome outcome;
	struct readings readings = {0};
	int64_t started_us = clock_wall_us();
	uint64_t started_ns = clock_now_ns();

	outcome_init(&outcome);
	if (!object)
		return end;
	if (!walk_control(walk, err))
		return walk_no_session(walk, step, err);
	if (!read_meters(walk, step, object, &outcome, &readings, err)) {
		readings_finish(&readings);
		return walk_no_session(walk, step, err);
	}
	outcome.started_us = started_us;
	outcome.duration_ns = clock_now_ns() - started_ns;
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .sql = object,
	                                   .outcome = &outcome,
	                                   .readings = &readings};
	bool ok = record_whole(walk, &record, NULL, err);
	readings_finish(&readings);
	return ok ? walk_judge(walk, step, &outcome) : WALK_FAILS;
}

/* ---- the server itself ---- */

/* A statement of the harness's own, recorded as the step's. */
static enum walk_end run_control(struct walk *walk, const struct step *step,
                                 const struct frame *frame, const char *sql, struct err *err)
{
	CLEANUP(outcome_finish) struct outcome outcome;

	outcome_init(&outcome);
	if (!walk_control(walk, err))
		return walk_no_session(walk, step, err);
	if (!conn_run(walk->control, sql, deadline_after(step->deadline_ns), &outcome, err))
		return WALK_FAILS;
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .session = "keylab",
	                                   .sql = sql,
	                                   .outcome = &outcome};
	if (!record_whole(walk, &record, NULL, err))
		return WALK_FAILS;
	return walk_judge(walk, step, &outcome);
}

static enum walk_end do_checkpoint(struct walk *walk, const struct step *step,
                                   const struct scope *scope, const struct frame *frame,
                                   struct err *err)
{
	(void)scope;
	return run_control(walk, step, frame, "checkpoint", err);
}

/* What the server says is in *outcome; *ret: one value, which is true. */
static bool asks_true(struct conn *conn, const char *sql, uint64_t deadline_ns,
                      struct outcome *outcome, bool *ret, struct err *err)
{
	const char *value = NULL;

	if (!conn_run(conn, sql, deadline_ns, outcome, err))
		return false;
	*ret = one_value(outcome, &value) && value && value[0] == 't';
	return true;
}

/* Until the server has read its files again: then pg_conf_load_time() is another one. */
static enum walk_end reload(struct walk *walk, const struct step *step, struct err *err)
{
	CLEANUP(result_clear_p) PGresult *result = NULL;
	CLEANUP(outcome_finish) struct outcome outcome;
	CLEANUP(buf_finish) struct buf sql;
	uint64_t deadline_ns = deadline_after(step->deadline_ns);
	bool reloaded = false;

	buf_init(&sql, 0);
	outcome_init(&outcome);
	if (!conn_query_within(walk->control, sql_probe_reload, NULL, 0, deadline_ns, &result, err))
		return walk_no_session(walk, step, err);
	buf_add(&sql, "select pg_conf_load_time() <> ");
	buf_add_sql_literal(&sql, PQgetvalue(result, 0, 0));
	while (!reloaded) {
		if (!asks_true(walk->control, sql.data, deadline_ns, &outcome, &reloaded, err))
			return walk_no_session(walk, step, err);
		if (outcome.kind != OUTCOME_OK || (!reloaded && deadline_passed(deadline_ns)))
			return walk_end_at(walk, step,
			                   "the server did not read its settings again in time%s%s",
			                   outcome.message.len ? ": " : "", outcome.message.data);
		if (!reloaded)
			poll(NULL, 0, WAIT_POLL_MS);
	}
	return WALK_GOES_ON;
}

/* Settings that the server read but could not put in force. */
static enum walk_end settings_in_force(struct walk *walk, const struct step *step, struct err *err)
{
	CLEANUP(result_clear_p) PGresult *result = NULL;

	if (!conn_query_within(walk->control, sql_probe_settings_not_in_force, NULL, 0,
	                       deadline_after(step->deadline_ns), &result, err))
		return walk_no_session(walk, step, err);
	if (PQntuples(result))
		return walk_end_at(walk, step, "setting %s is not in force: %s",
		                   PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1));
	return WALK_GOES_ON;
}

static enum walk_end do_set(struct walk *walk, const struct step *step, const struct scope *scope,
                            const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;

	for (size_t i = 0; i < step->settings.count && end == WALK_GOES_ON; i++) {
		const struct pair *setting = &step->settings.items[i];
		CLEANUP(free_p)
		char *value = walk_expand(walk, step, setting->text, scope, &end, err);
		CLEANUP(buf_finish) struct buf sql;

		buf_init(&sql, 0);
		if (!value)
			return end;
		buf_add(&sql, "alter system set ");
		buf_add_sql_name(&sql, setting->name);
		buf_add(&sql, " = ");
		buf_add_sql_literal(&sql, value);
		end = run_control(walk, step, frame, sql.data, err);
	}
	if (end == WALK_GOES_ON)
		end = reload(walk, step, err);
	return end == WALK_GOES_ON ? settings_in_force(walk, step, err) : end;
}

static enum cluster_stop_mode stop_mode(const char *name)
{
	if (!strcmp(name, "immediate"))
		return CLUSTER_STOP_IMMEDIATE;
	return !strcmp(name, "kill") ? CLUSTER_STOP_KILL : CLUSTER_STOP_FAST;
}

static enum walk_end do_restart(struct walk *walk, const struct step *step,
                                const struct scope *scope, const struct frame *frame,
                                struct err *err)
{
	CLEANUP(outcome_finish) struct outcome outcome;
	struct readings readings = {0};
	uint64_t started_ns = clock_now_ns(), stopped_ns;
	uint64_t deadline_ns = deadline_after(step->deadline_ns);
	int64_t step_id;

	(void)scope;
	outcome_init(&outcome);
	outcome.started_us = clock_wall_us();
	/* A clean end waits for sessions that are in a transaction: they go first. */
	if (stop_mode(step->name) == CLUSTER_STOP_FAST)
		sessions_close(walk);
	if (!cluster_stop(walk->cluster, stop_mode(step->name), deadline_ns, err))
		return walk_no_session(walk, step, err);
	stopped_ns = clock_now_ns();
	sessions_close(walk);
	if (!cluster_start(walk->cluster, deadline_ns, err))
		return walk_no_session(walk, step, err);
	outcome.duration_ns = clock_now_ns() - started_ns;
	bool ok = readings_add_int(&readings, "stop_ns", "timing",
	                           (int64_t)(stopped_ns - started_ns), err) &&
	          readings_add_int(&readings, "start_ns", "timing",
	                           (int64_t)(clock_now_ns() - stopped_ns), err);
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .outcome = &outcome,
	                                   .readings = &readings};
	ok = ok && walk_record(walk, &record, &step_id, err);
	readings_finish(&readings);
	return ok ? WALK_GOES_ON : WALK_FAILS;
}

static enum walk_end do_wait(struct walk *walk, const struct step *step, const struct scope *scope,
                             const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p) char *sql = walk_expand(walk, step, step->sql, scope, &end, err);
	CLEANUP(outcome_finish) struct outcome outcome;
	uint64_t started_ns = clock_now_ns(), deadline_ns = deadline_after(step->deadline_ns);
	struct session *session;
	bool is_true = false;

	int64_t started_us = clock_wall_us();

	outcome_init(&outcome);
	if (!sql)
		return end;
	if (!session_get(walk, step->session, &session, err))
		return walk_no_session(walk, step, err);
	while (!is_true) {
		if (!asks_true(session->conn, sql, deadline_ns, &outcome, &is_true, err))
			return walk_no_session(walk, step, err);
		if (outcome.kind != OUTCOME_OK)
			break;
		if (!is_true && deadline_passed(deadline_ns)) {
			outcome.kind = OUTCOME_BLOCKED;
			buf_add(&outcome.message,
			        "the condition did not come true before the deadline");
			break;
		}
		if (!is_true)
			poll(NULL, 0, WAIT_POLL_MS);
	}
	outcome.started_us = started_us;
	outcome.duration_ns = clock_now_ns() - started_ns;
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .session = session->name,
	                                   .sql = sql,
	                                   .outcome = &outcome};
	if (!record_whole(walk, &record, NULL, err))
		return WALK_FAILS;
	return walk_judge(walk, step, &outcome);
}

static enum walk_end do_close(struct walk *walk, const struct step *step, const struct scope *scope,
                              const struct frame *frame, struct err *err)
{
	struct session *session;
	int64_t step_id;
	const struct step_record record = {.step = step, .frame = frame};

	(void)scope;
	if (!session_get(walk, step->name, &session, err))
		return walk_no_session(walk, step, err);
	session_close(session);
	return walk_record(walk, &record, &step_id, err) ? WALK_GOES_ON : WALK_FAILS;
}

walk_action *const walk_actions[STEP_VERB_COUNT] = {
        [STEP_SQL] = do_sql,
        [STEP_MEASURE] = do_measure,
        [STEP_PROBE] = do_probe,
        [STEP_READ] = do_read,
        [STEP_PROVE] = do_prove,
        [STEP_LET] = do_let,
        [STEP_CHECKPOINT] = do_checkpoint,
        [STEP_SET] = do_set,
        [STEP_RESTART] = do_restart,
        [STEP_WAIT] = do_wait,
        [STEP_JOIN] = do_join,
        [STEP_CLOSE] = do_close,
        [STEP_MINT] = do_mint,
        [STEP_WORKERS] = walk_workers,
        [STEP_AWAIT] = walk_await,
        [STEP_SIGNAL] = walk_signal,
        [STEP_SERVER] = walk_server,
};
