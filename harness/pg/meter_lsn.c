/* SPDX-License-Identifier: PostgreSQL */
/*
 * Meter: all WAL records between the insert positions before and after, by
 * pg_walinspect (PostgreSQL documentation, F.36). Unlike the statement's own
 * counters it sees what other processes wrote meanwhile.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "pg/meter.h"
#include "sql.h"

/* The WAL writer flushes every wal_writer_delay, 200 ms. */
#define FLUSH_WAIT_NS (30 * NS_PER_S)
#define FLUSH_POLL_MS 5

static bool position(struct conn *control, char ret[32], struct err *err)
{
	CLEANUP(result_clear_p) PGresult *result = NULL;

	if (!conn_query(control, sql_probe_insert_position, NULL, 0, &result, err))
		return false;
	snprintf(ret, 32, "%s", PQgetvalue(result, 0, 0));
	return true;
}

bool meter_lsn_before(struct conn *control, struct meter_state *state, struct err *err)
{
	return position(control, state->position, err);
}

/* Records are read from the files, so they must be there. */
static bool wait_flushed(struct conn *control, const char *to, struct err *err)
{
	const char *const params[] = {to};
	uint64_t deadline_ns = deadline_after(FLUSH_WAIT_NS);

	for (;;) {
		CLEANUP(result_clear_p) PGresult *result = NULL;

		if (!conn_query(control, sql_probe_wal_flushed, params, 1, &result, err))
			return false;
		if (PQgetvalue(result, 0, 0)[0] == 't')
			return true;
		if (deadline_passed(deadline_ns))
			return err_set(err, ERR_ENVIRONMENT, "WAL up to %s was not flushed in time",
			               to);
		poll(NULL, 0, FLUSH_POLL_MS);
	}
}

static bool add_manager(struct readings *ret, const PGresult *result, int row, struct err *err)
{
	const char *manager = PQgetvalue(result, row, 0);
	CLEANUP(buf_finish) struct buf labels;

	buf_init(&labels, 0);
	if (manager[0]) {
		buf_add(&labels, "{\"rmgr\":");
		buf_add_json(&labels, manager);
		buf_add_char(&labels, '}');
	}
	if (!buf_ok(&labels, err))
		return false;
	for (int column = 1; column < PQnfields(result); column++) {
		/* A sum over no record is null, and means 0. */
		const char *value =
		        PQgetisnull(result, row, column) ? "0" : PQgetvalue(result, row, column);

		if (!readings_add(ret, PQfname(result, column), "counter", value,
		                  manager[0] ? labels.data : NULL, err))
			return false;
	}
	return true;
}

bool meter_lsn_after(struct conn *control, struct meter_state *state, struct readings *ret,
                     struct err *err)
{
	char to[32];
	const char *const range[] = {state->position, to};
	CLEANUP(result_clear_p) PGresult *distance = NULL;
	CLEANUP(result_clear_p) PGresult *records = NULL;

	if (!position(control, to, err) || !wait_flushed(control, to, err) ||
	    !conn_query(control, sql_probe_wal_distance, range, 2, &distance, err) ||
	    !conn_query(control, sql_probe_wal_range, range, 2, &records, err) ||
	    !readings_add_row(ret, distance, 0, "counter", NULL, err))
		return false;
	for (int row = 0; row < PQntuples(records); row++)
		if (!add_manager(ret, records, row, err))
			return false;
	return true;
}
