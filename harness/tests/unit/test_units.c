/* SPDX-License-Identifier: PostgreSQL */
/* Numbers with units, read and printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "base/units.h"

static void reads(const char *text, enum quantity_kind kind, double value)
{
	struct quantity quantity;

	if (!quantity_parse(text, &quantity))
		fail_msg("\"%s\" was refused", text);
	assert_int_equal(quantity.kind, kind);
	if (quantity.value != value)
		fail_msg("\"%s\" is %.17g, expected %.17g", text, quantity.value, value);
}

static void quantities(void **state)
{
	static const char *const bad[] = {
	        "",
	        " ",
	        "k",
	        "5K",
	        "5 mb",
	        "1e999",
	        "0x10",
	        "inf",
	        "nan",
	        "1,000",
	        "5 5",
	        "1.2.3",
	        "--5",
	        "5.",
	        ".",
	        "1 M B",
	        "5m",
	        "2 weeks",
	        "1000000000000000000000000000000000000000000000000000000000000000000000000",
	};
	struct quantity quantity;

	(void)state;
	reads("0", QUANTITY_COUNT, 0);
	reads("5000", QUANTITY_COUNT, 5000);
	reads("200k", QUANTITY_COUNT, 200e3);
	reads("1.5M", QUANTITY_COUNT, 1500000);
	reads("2G", QUANTITY_COUNT, 2e9);
	reads("-3.25", QUANTITY_COUNT, -3.25);
	reads("1e3", QUANTITY_COUNT, 1000);
	reads("8kB", QUANTITY_SIZE, 8192);
	reads("128 MB", QUANTITY_SIZE, 134217728);
	reads("1GB", QUANTITY_SIZE, 1073741824);
	reads("1 TB", QUANTITY_SIZE, 1099511627776);
	reads("17 bytes", QUANTITY_SIZE, 17);
	reads("250ms", QUANTITY_DURATION, 250);
	reads("30s", QUANTITY_DURATION, 30000);
	reads("5min", QUANTITY_DURATION, 300000);
	reads("2h", QUANTITY_DURATION, 7200000);
	reads("7d", QUANTITY_DURATION, 604800000);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (quantity_parse(bad[i], &quantity))
			fail_msg("\"%s\" was taken as %g", bad[i], quantity.value);
}

static void whole_numbers(void **state)
{
	static const char *const bad[] = {"-1",   "0.5", "1.0005k", "9007199254740992",
	                                  "1e99", "9PB", "x"};
	enum quantity_kind kind;
	int64_t number;
	struct err err;

	(void)state;
	assert_true(quantity_parse_integer("9007199254740991", &number, &kind, &err));
	assert_true(number == INT64_C(9007199254740991));
	assert_true(quantity_parse_integer("1.5k", &number, &kind, &err) && number == 1500);
	assert_true(quantity_parse_integer("1.5kB", &number, &kind, &err) && number == 1536);
	assert_int_equal(kind, QUANTITY_SIZE);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		err = (struct err){0};
		number = 42;
		if (quantity_parse_integer(bad[i], &number, &kind, &err))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_int_equal(number, 42);
	}
}

static void figures(void **state)
{
	struct figure figure;

	(void)state;
	assert_true(figure_parse("551 MB", &figure));
	assert_true(figure.number == 551 && figure.decimals == 0 && figure.factor == 1048576);
	assert_string_equal(figure.unit, "MB");
	assert_true(figure_parse("3.80", &figure));
	assert_true(figure.decimals == 2 && figure.factor == 1);
	assert_true(figure_parse("1,958,825", &figure) && figure.number == 1958825);
	assert_true(figure_parse("90 %", &figure) && figure.factor == 1);
	assert_true(figure_parse("20,000 distinct", &figure) && figure.number == 20000);
	assert_false(figure_parse("1, 21, 2", &figure));
	assert_false(figure_parse("about 4", &figure));
	assert_false(figure_parse("", &figure));
	assert_false(figure_parse("1 a-unit-with-a-very-long-name", &figure));
}

static void prints(void **state)
{
	struct figure figure;

	(void)state;
	/* Against printf's own rounding at numbers that are no ties. */
	for (int i = 0; i < 2000; i++) {
		double value = i * 0.01037;
		char text[32];

		snprintf(text, sizeof(text), "%.1f", value);
		assert_true(figure_parse(text, &figure));
		assert_true(figure_prints(&figure, value));
		assert_false(figure_prints(&figure, value + 0.11));
		assert_false(figure_prints(&figure, value - 0.11));
	}
	assert_true(figure_parse("551 MB", &figure));
	assert_true(figure_prints(&figure, 550.5 * 1048576));
	assert_false(figure_prints(&figure, 551.5 * 1048576));
}

static void shows(double value, const char *unit, const char *expected)
{
	char text[64];

	assert_string_equal(unit_format(value, unit, text, sizeof(text)), expected);
}

static void formats(void **state)
{
	char tiny[4];

	(void)state;
	shows(0, "bytes", "0 bytes");
	shows(10239, "bytes", "10239 bytes");
	shows(10240, "bytes", "10 kB");
	shows(577765376, "bytes", "551 MB");
	shows(1234567, "rows", "1,234,567");
	shows(-1234567, "", "-1,234,567");
	shows(999, "", "999");
	shows(1000, "", "1,000");
	shows(3.8, "ratio", "3.8");
	shows(1234.5, "", "1,234");
	shows(12.345678, "", "12.35");
	shows(1500, "ns", "1.50 µs");
	shows(12300000, "ns", "12.3 ms");
	shows(2e9, "ns", "2.00 s");
	shows(INFINITY, "bytes", "inf");
	unit_format(123456789, "", tiny, sizeof(tiny));
	assert_int_equal(tiny[strlen(tiny)], '\0');
}

static void metric_units(void **state)
{
	(void)state;
	assert_string_equal(unit_of_metric("wal_bytes"), "bytes");
	assert_string_equal(unit_of_metric("leaf_density_percent"), "percent");
	assert_string_equal(unit_of_metric("elapsed_ns"), "ns");
	assert_string_equal(unit_of_metric("wal_fpi"), "count");
	assert_string_equal(unit_of_metric("bytes"), "count");
	assert_string_equal(unit_of_metric(""), "count");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(quantities), cmocka_unit_test(whole_numbers),
	        cmocka_unit_test(figures),    cmocka_unit_test(prints),
	        cmocka_unit_test(formats),    cmocka_unit_test(metric_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
