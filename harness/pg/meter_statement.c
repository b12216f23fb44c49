/* SPDX-License-Identifier: PostgreSQL */
/*
 * Meter: the statement's own counters, from the top node of EXPLAIN
 * (ANALYZE, WAL, BUFFERS, FORMAT JSON), which holds the sums of the nodes
 * below it (PostgreSQL: src/backend/commands/explain.c, show_buffer_usage and
 * show_wal_usage). TIMING is off: per-node clocks would cost what is measured.
 */
#include <jansson.h>
#include <stdio.h>

#include "pg/meter.h"

static const struct counter {
	const char *key; /* as EXPLAIN says it */
	const char *metric;
	const char *type;
} counters[] = {
        {"WAL Bytes", "wal_bytes", "counter"},
        {"WAL Records", "wal_records", "counter"},
        {"WAL FPI", "wal_fpi", "counter"},
        {"Shared Hit Blocks", "shared_hit_blocks", "counter"},
        {"Shared Read Blocks", "shared_read_blocks", "counter"},
        {"Shared Dirtied Blocks", "shared_dirtied_blocks", "counter"},
        {"Shared Written Blocks", "shared_written_blocks", "counter"},
        {"Actual Rows", "plan_rows", "exact"},
};

/* Rows that a modifying statement without RETURNING put through are those of the node below. */
static json_t *rows_node(json_t *plan)
{
	json_t *below = json_array_get(json_object_get(plan, "Plans"), 0);
	const char *type = json_string_value(json_object_get(plan, "Node Type"));

	return type && below && !__builtin_strcmp(type, "ModifyTable") ? below : plan;
}

static bool take_plan(json_t *root, struct readings *ret, struct err *err)
{
	json_t *top = json_array_get(root, 0);
	json_t *plan = json_object_get(top, "Plan");
	json_t *time_ms = json_object_get(top, "Execution Time");

	if (!plan)
		return err_set(err, ERR_INTERNAL, "EXPLAIN gave no plan");
	for (size_t i = 0; i < COUNT_OF(counters); i++) {
		bool rows = !__builtin_strcmp(counters[i].metric, "plan_rows");
		json_t *value = json_object_get(rows ? rows_node(plan) : plan, counters[i].key);

		if (!json_is_number(value))
			return err_set(err, ERR_ENVIRONMENT, "EXPLAIN has no \"%s\"",
			               counters[i].key);
		if (!readings_add_int(ret, counters[i].metric, counters[i].type,
		                      (int64_t)json_number_value(value), err))
			return false;
	}
	if (!json_is_number(time_ms))
		return err_set(err, ERR_ENVIRONMENT, "EXPLAIN has no \"Execution Time\"");
	return readings_add_int(ret, "execution_ns", "timing",
	                        (int64_t)(json_number_value(time_ms) * 1e6), err);
}

bool meter_statement_take(const char *value, struct readings *ret, struct err *err)
{
	json_error_t fault;
	json_t *root = json_loads(value, 0, &fault);

	if (!root)
		return err_set(err, ERR_INTERNAL, "EXPLAIN's JSON: %s", fault.text);
	bool ok = take_plan(root, ret, err);
	json_decref(root);
	return ok;
}
