/* SPDX-License-Identifier: PostgreSQL */
/* Reading and printing numbers with units. */
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
	const char *name;
	enum quantity_kind kind;
	double factor; /* base units in one */
} units[] = {
        {"", QUANTITY_COUNT, 1},
        {"k", QUANTITY_COUNT, 1e3},
        {"M", QUANTITY_COUNT, 1e6},
        {"G", QUANTITY_COUNT, 1e9},
        {"B", QUANTITY_SIZE, 1},
        {"bytes", QUANTITY_SIZE, 1},
        {"kB", QUANTITY_SIZE, 1024},
        {"MB", QUANTITY_SIZE, 1024.0 * 1024},
        {"GB", QUANTITY_SIZE, 1024.0 * 1024 * 1024},
        {"TB", QUANTITY_SIZE, 1024.0 * 1024 * 1024 * 1024},
        {"ms", QUANTITY_DURATION, 1},
        {"s", QUANTITY_DURATION, 1000},
        {"min", QUANTITY_DURATION, 60 * 1000},
        {"h", QUANTITY_DURATION, 3600 * 1000},
        {"d", QUANTITY_DURATION, 86400 * 1000},
};

static const struct unit *unit_find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/*
 * The plain decimal number at the start of text, with optional thousands
 * separators; no hexadecimal, no "inf". Returns the end, or NULL.
 */
static const char *number_read(const char *text, bool separators, double *ret, int *ret_decimals)
{
	char digits[64];
	size_t len = 0;
	const char *at = text;
	int decimals = 0;
	bool any = false, exponent = false;

	if (*at == '-' || *at == '+')
		digits[len++] = *at++;
	for (bool point = false; *at && len < sizeof(digits) - 1; at++) {
		if (isdigit((unsigned char)*at)) {
			any = true;
			if (point)
				decimals++;
		} else if (*at == '.' && !point && isdigit((unsigned char)at[1])) {
			point = true;
		} else if (*at == ',' && separators && any && !point &&
		           isdigit((unsigned char)at[1]) && isdigit((unsigned char)at[2]) &&
		           isdigit((unsigned char)at[3])) {
			continue;
		} else {
			break;
		}
		digits[len++] = *at;
	}
	if (any && (*at == 'e' || *at == 'E')) {
		const char *power = at + 1 + (at[1] == '-' || at[1] == '+');

		exponent = isdigit((unsigned char)*power);
		for (; exponent && (at < power || isdigit((unsigned char)*at)) &&
		       len < sizeof(digits) - 1;
		     at++)
			digits[len++] = *at;
	}
	if (!any || isdigit((unsigned char)*at))
		return NULL;
	digits[len] = '\0';
	*ret = strtod(digits, NULL);
	*ret_decimals = exponent ? 0 : decimals;
	return at;
}

bool quantity_parse(const char *text, struct quantity *ret)
{
	double number;
	int decimals;
	const char *end = number_read(text, false, &number, &decimals);

	if (!end)
		return false;
	while (*end == ' ')
		end++;
	const struct unit *unit = unit_find(end);
	if (!unit || !isfinite(number))
		return false;
	*ret = (struct quantity){.kind = unit->kind, .value = number * unit->factor};
	return true;
}

bool quantity_parse_integer(const char *text, int64_t *ret, enum quantity_kind *ret_kind,
                            struct err *err)
{
	struct quantity quantity;

	if (!quantity_parse(text, &quantity))
		return err_set(err, ERR_INPUT,
		               "\"%s\" is no number; write 5000, 200k, 1M, 128MB or 30s", text);
	/* From 2^53 on a double does not tell a whole number from its neighbour. */
	if (quantity.value < 0 || quantity.value >= 9007199254740992.0 ||
	    quantity.value != floor(quantity.value))
		return err_set(err, ERR_INPUT,
		               "\"%s\" is no whole number from 0 to below 2^53; write 5000, 200k "
		               "or 1M",
		               text);
	*ret = (int64_t)quantity.value;
	*ret_kind = quantity.kind;
	return true;
}

bool figure_parse(const char *text, struct figure *ret)
{
	struct figure figure = {.factor = 1};
	const char *end = number_read(text, true, &figure.number, &figure.decimals);

	if (!end || !isfinite(figure.number))
		return false;
	while (*end == ' ')
		end++;
	if (strlen(end) >= sizeof(figure.unit))
		return false;
	const struct unit *unit = unit_find(end);
	if (unit)
		figure.factor = unit->factor;
	else if (*end && strcmp(end, "%") && !isalpha((unsigned char)*end))
		return false;
	memcpy(figure.unit, end, strlen(end) + 1);
	*ret = figure;
	return true;
}

bool figure_prints(const struct figure *figure, double value)
{
	double scale = pow(10, figure->decimals);

	/* Half away from zero, as pg_size_pretty and round(numeric) do. */
	return round(value / figure->factor * scale) == round(figure->number * scale);
}

static char *format_grouped(double value, char *text, size_t size)
{
	char plain[64];
	size_t out = 0;

	if (!isfinite(value)) {
		snprintf(text, size, "%g", value);
		return text;
	}
	if (value != floor(value) || fabs(value) >= 1e15)
		snprintf(plain, sizeof(plain), "%.*f",
		         fabs(value) < 10     ? 3
		         : fabs(value) < 1000 ? 2
		                              : 0,
		         value);
	else
		snprintf(plain, sizeof(plain), "%.0f", value);
	if (fabs(value) >= 1e15 || (value != 0 && fabs(value) < 0.001)) {
		snprintf(text, size, "%.3g", value);
		return text;
	}

	char *point = strchr(plain, '.');
	size_t whole = point ? (size_t)(point - plain) : strlen(plain);
	/* Trailing zeros behind a point say nothing. */
	if (point) {
		char *last = plain + strlen(plain) - 1;

		while (*last == '0')
			*last-- = '\0';
		if (*last == '.')
			*last = '\0';
	}
	size_t first = plain[0] == '-';
	for (size_t i = 0; plain[i] && out + 2 < size; i++) {
		if (i > first && i < whole && (whole - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = plain[i];
	}
	text[out] = '\0';
	return text;
}

/* pg_size_pretty's rule (src/backend/utils/adt/dbsize.c): below 10240 of a unit stay in it. */
static char *format_bytes(double value, char *text, size_t size)
{
	static const char *const names[] = {"bytes", "kB", "MB", "GB", "TB"};
	size_t unit = 0;

	while (unit + 1 < COUNT_OF(names) && fabs(round(value)) >= 10240) {
		value /= 1024;
		unit++;
	}
	snprintf(text, size, "%.0f %s", round(value), names[unit]);
	return text;
}

static char *format_ns(double value, char *text, size_t size)
{
	static const struct {
		double below, divide;
		const char *name;
	} steps[] = {{1e3, 1, "ns"}, {1e6, 1e3, "µs"}, {1e9, 1e6, "ms"}, {INFINITY, 1e9, "s"}};
	size_t i = 0;

	while (fabs(value) >= steps[i].below)
		i++;
	double shown = value / steps[i].divide;
	snprintf(text, size, "%.*f %s",
	         fabs(shown) < 10    ? 2
	         : fabs(shown) < 100 ? 1
	                             : 0,
	         shown, steps[i].name);
	return text;
}

char *unit_format(double value, const char *unit, char *text, size_t size)
{
	if (!strcmp(unit, "bytes") && isfinite(value))
		return format_bytes(value, text, size);
	if (!strcmp(unit, "ns") && isfinite(value))
		return format_ns(value, text, size);
	return format_grouped(value, text, size);
}

const char *unit_of_metric(const char *metric)
{
	static const char *const known[] = {"bytes", "ns",     "ms",      "us",    "s",
	                                    "pages", "blocks", "percent", "ratio", "rows",
	                                    "ids",   "points", "records"};
	const char *last = strrchr(metric, '_');

	for (size_t i = 0; last && i < COUNT_OF(known); i++)
		if (!strcmp(last + 1, known[i]))
			return known[i];
	return "count";
}
