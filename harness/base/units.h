/* SPDX-License-Identifier: PostgreSQL */
/*
 * Numbers with units, read and printed from one table.
 *
 * Counts use powers of ten (k, M, G), sizes PostgreSQL's powers of 1024 (B,
 * kB, MB, GB, TB: PostgreSQL documentation, "Parameter Names and Values"),
 * durations ms, s, min, h, d.
 */
#ifndef KEYLAB_BASE_UNITS_H
#define KEYLAB_BASE_UNITS_H

#include "base/base.h"
#include "base/err.h"

enum quantity_kind {
	QUANTITY_COUNT,    /* plain number, or k M G */
	QUANTITY_SIZE,     /* bytes */
	QUANTITY_DURATION, /* milliseconds */
};

struct quantity {
	enum quantity_kind kind;
	double value; /* in the kind's base unit */
};

/* Reads all of text ("200k", "128MB", "30 s"); false when it is no quantity. */
bool quantity_parse(const char *text, struct quantity *ret);
/* The same for a whole, exactly representable number >= 0; err says why not. */
bool quantity_parse_integer(const char *text, int64_t *ret, enum quantity_kind *ret_kind,
                            struct err *err) MUST_CHECK;

/*
 * What a published figure says: number, how many digits stand behind its
 * point, and the factor of its unit ("551 MB": 551, 0, 1048576; "3.8": 3.8, 1, 1).
 * Thousands separators are read ("1,958,825").
 */
struct figure {
	double number; /* as printed, in its own unit */
	int decimals;
	double factor; /* base units per unit: number * factor is in bytes, ms, … */
	char unit[16]; /* as printed; empty when there is none */
};
bool figure_parse(const char *text, struct figure *ret);
/* True when value (base unit), rounded as the figure is, prints the same. */
bool figure_prints(const struct figure *figure, double value);

/*
 * value as a person reads it in the given unit ("bytes" -> "551 MB" as
 * pg_size_pretty would, "ns" -> "12.3 ms", else grouped digits). Writes at
 * most size bytes and returns text.
 */
char *unit_format(double value, const char *unit, char *text, size_t size);
/* The unit that a metric's name ends in ("wal_bytes" -> "bytes"); "count" when none. */
const char *unit_of_metric(const char *metric);

#endif
