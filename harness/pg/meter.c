/* SPDX-License-Identifier: PostgreSQL */
/* The table of meters, and their readings. */
#include "pg/meter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "sql.h"

const struct meter meters[] = {
        {.name = "btree",
         .use = METER_OBJECT,
         .needs = "pgstattuple",
         .version = 15,
         .sql = sql_probe_btree,
         .type = "counter"},
        {.name = "clock",
         .use = METER_AROUND,
         .version = 15,
         .before = meter_clock_before,
         .after = meter_clock_after},
        {.name = "lsn",
         .use = METER_AROUND,
         .needs = "pg_walinspect",
         .version = 15,
         .before = meter_lsn_before,
         .after = meter_lsn_after},
        {.name = "size",
         .use = METER_OBJECT,
         .version = 15,
         .sql = sql_probe_size,
         .type = "counter"},
        {.name = "statement",
         .use = METER_WRAP,
         .version = 15,
         .wrap = "explain (analyze, wal, buffers, timing off, format json) ",
         .take = meter_statement_take},
};
const size_t meters_count = COUNT_OF(meters);

const struct meter *meter_find(const char *name)
{
	for (size_t i = 0; i < meters_count; i++)
		if (!strcmp(meters[i].name, name))
			return &meters[i];
	return NULL;
}

void readings_finish(struct readings *readings)
{
	for (size_t i = 0; i < readings->count; i++)
		free(readings->items[i].text);
	free(readings->items);
	*readings = (struct readings){0};
}

static struct reading *readings_new(struct readings *readings, const char *metric, const char *type,
                                    struct err *err)
{
	if (readings->count == readings->cap) {
		size_t cap = readings->cap ? readings->cap * 2 : 16;
		struct reading *grown = realloc(readings->items, cap * sizeof(*grown));

		if (!grown) {
			err_set(err, ERR_SYSTEM, "out of memory");
			return NULL;
		}
		readings->items = grown;
		readings->cap = cap;
	}
	struct reading *reading = &readings->items[readings->count];
	*reading = (struct reading){.labels = "{}"};
	if (strlen(metric) >= sizeof(reading->metric)) {
		err_set(err, ERR_INPUT, "\"%.80s…\" is too long for a metric's name", metric);
		return NULL;
	}
	memcpy(reading->metric, metric, strlen(metric) + 1);
	snprintf(reading->unit, sizeof(reading->unit), "%s", unit_of_metric(metric));
	snprintf(reading->type, sizeof(reading->type), "%s", type);
	return reading;
}

/* Whole text as a number? SQL's booleans stay text. */
static void set_value(struct reading *reading, const char *value)
{
	char *end;

	errno = 0;
	long long integer = strtoll(value, &end, 10);
	if (end != value && !*end && !errno) {
		reading->is_integer = true;
		reading->integer = integer;
		return;
	}
	/* An integer beyond 64 bits (an id, say) stays text: a double would not hold its digits. */
	double real = strtod(value, &end);
	bool plain = strspn(value, "+-0123456789.eE") == strlen(value);
	bool whole = strspn(value, "+-0123456789") == strlen(value);
	if (end != value && !*end && plain && !whole && isfinite(real)) {
		reading->real = real;
		return;
	}
	reading->is_text = true;
}

/* Puts the last one's labels on and counts it. */
static bool readings_keep(struct readings *readings, const char *labels, struct err *err)
{
	struct reading *reading = &readings->items[readings->count];

	if (labels) {
		if (strlen(labels) >= sizeof(reading->labels)) {
			free(reading->text);
			return err_set(err, ERR_INPUT, "labels are too long: %s", labels);
		}
		memcpy(reading->labels, labels, strlen(labels) + 1);
	}
	readings->count++;
	return true;
}

bool readings_add(struct readings *readings, const char *metric, const char *type,
                  const char *value, const char *labels, struct err *err)
{
	if (!value)
		return true;
	struct reading *reading = readings_new(readings, metric, type, err);
	if (!reading)
		return false;
	set_value(reading, value);
	if (reading->is_text && !(reading->text = strdup(value)))
		return err_set(err, ERR_SYSTEM, "out of memory");
	return readings_keep(readings, labels, err);
}

bool readings_add_text(struct readings *readings, const char *metric, const char *type,
                       const char *text, const char *labels, struct err *err)
{
	struct reading *reading = readings_new(readings, metric, type, err);

	if (!reading)
		return false;
	reading->is_text = true;
	if (!(reading->text = strdup(text)))
		return err_set(err, ERR_SYSTEM, "out of memory");
	return readings_keep(readings, labels, err);
}

bool readings_add_int(struct readings *readings, const char *metric, const char *type,
                      int64_t value, struct err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return readings_add(readings, metric, type, text, NULL, err);
}

static const char *type_of_metric(const char *metric)
{
	const char *unit = unit_of_metric(metric);

	return !strcmp(unit, "ns") || !strcmp(unit, "us") || !strcmp(unit, "ms") ||
	                       !strcmp(unit, "s")
	               ? "timing"
	               : "counter";
}

bool readings_add_row(struct readings *readings, const PGresult *result, int row, const char *type,
                      const char *labels, struct err *err)
{
	for (int column = 0; column < PQnfields(result); column++) {
		const char *metric = PQfname(result, column);

		if (!readings_add(readings, metric, type ? type : type_of_metric(metric),
		                  PQgetisnull(result, row, column)
		                          ? NULL
		                          : PQgetvalue(result, row, column),
		                  labels, err))
			return false;
	}
	return true;
}
