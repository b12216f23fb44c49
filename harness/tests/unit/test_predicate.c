/* SPDX-License-Identifier: PostgreSQL */
/* Predicates: reading, asking, ranges against a brute-force walk over their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "base/predicate.h"

static struct predicate parse(const char *text)
{
	struct predicate predicate;
	struct err err;

	if (!predicate_parse(text, &predicate, &err))
		fail_msg("%s: %s", text, err.message);
	return predicate;
}

static bool holds(const char *text, double value, const char *published)
{
	struct predicate predicate = parse(text);
	struct figure figure;

	if (published)
		assert_true(figure_parse(published, &figure));
	return predicate_number(&predicate, value, published ? &figure : NULL);
}

static bool holds_text(const char *text, const char *value)
{
	struct predicate predicate = parse(text);

	return predicate_text(&predicate, value);
}

static void numbers(void **state)
{
	(void)state;
	assert_true(holds("= 3", 3, NULL) && !holds("= 3", 3.0000001, NULL));
	assert_true(holds("!= 0", 1, NULL) && !holds("!= 0", 0, NULL));
	assert_true(holds("< 50", 49.9, NULL) && !holds("< 50", 50, NULL));
	assert_true(holds("<= 4", 4, NULL) && !holds("<=4", 4.1, NULL));
	assert_true(holds("> 3", 3.1, NULL) && !holds("> 3", 3, NULL));
	assert_true(holds(">= 10", 10, NULL) && !holds(">= 10", 9.99, NULL));
	assert_true(holds("between 88 and 92", 88, NULL) && holds("between 88 and 92", 92, NULL));
	assert_true(!holds("between 88 and 92", 92.1, NULL));
	assert_true(holds("> 1 and < 2", 1.5, NULL) && !holds("> 1 and < 2", 2, NULL));
	assert_true(holds("between 1 and 9 and != 5", 4, NULL));
	assert_true(!holds("between 1 and 9 and != 5", 5, NULL));
	assert_true(holds("is true", 1, NULL) && !holds("is true", 0, NULL));
	assert_true(holds("> 5 MB", 5 * 1048576.0 + 1, NULL) && !holds("> 5MB", 5e6, NULL));
	assert_true(holds("< 60s", 59999, NULL) && !holds("< 60s", 60000, NULL));
	assert_true(holds("= -3", -3, NULL) && holds(">= -1.5", -1.5, NULL));
	assert_false(holds("!= 3", NAN, NULL));
	assert_false(holds("> 3", NAN, NULL));
	assert_true(holds("> 3", INFINITY, NULL));
	/* A number is not equal to a text, and so it differs from it. */
	assert_true(!holds("= text", 0, NULL) && holds("!= text", 0, NULL));
}

static void published_figures(void **state)
{
	const double mb = 1048576;

	(void)state;
	assert_true(holds("within 1% of published", 556 * mb, "551 MB"));
	assert_true(!holds("within 1% of published", 557 * mb, "551 MB"));
	assert_true(holds("within 2 of published", 5.8, "3.8"));
	assert_true(!holds("within 2 of published", 5.81, "3.8"));
	assert_true(holds("within 10 % of published", -9, "-10"));
	assert_true(holds("prints published", 551.4 * mb, "551 MB"));
	assert_true(holds("prints published", 550.5 * mb, "551 MB"));
	assert_true(!holds("prints published", 551.5 * mb, "551 MB"));
	assert_true(holds("prints published", 3.849, "3.8") &&
	            !holds("prints published", 3.85001, "3.8"));
	assert_true(holds("prints published", 1958825, "1,958,825"));
	assert_true(parse("within 1% of published").needs_published);
	assert_true(parse("> 1 and prints published").needs_published);
	assert_false(parse("> 1").needs_published);
	/* Without the figure nothing can be said to hold. */
	assert_false(holds("prints published", 3, NULL));
	assert_false(holds("within 5 of published", 0, NULL));

	struct figure figure;
	assert_true(predicate_published("551 MB", true, 551 * mb, &figure));
	assert_true(figure.factor == mb && figure.number == 551);
	assert_true(predicate_published("nearly four", true, 4, &figure));
	assert_true(figure.factor == 1 && figure.number == 4);
	assert_false(predicate_published("thousands", false, 0, &figure));
	assert_false(predicate_published("1,024", false, 0, &figure));
}

static void texts(void **state)
{
	(void)state;
	assert_true(holds_text("= 1, 21, 2, 22", "1, 21, 2, 22"));
	assert_false(holds_text("= 1, 21, 2, 22", "1, 21, 2"));
	assert_true(holds_text("= 23505", "23505") && holds_text("= 00000", "00000"));
	assert_true(holds_text("= 428C9", "428C9") && holds_text("!= 428C9", "00000"));
	assert_false(holds_text("= 23505", "2350"));
	assert_true(holds_text("is true", "t") && holds_text("is true", "true"));
	assert_false(holds_text("is true", "f"));
	assert_false(holds_text("> 3", "4"));
	assert_true(holds_text("= black and white", "black and white"));
	assert_true(holds_text("= \"a and = b\"", "a and = b"));
	assert_true(holds_text("!= a and != b", "c") && !holds_text("!= a and != b", "b"));
	assert_true(holds_text("=  spaced out ", "spaced out"));
}

static void refused(void **state)
{
	static const char *const bad[] = {
	        "",
	        " ",
	        "3",
	        "often",
	        ">",
	        "> x",
	        "> 1,000",
	        "= 1,000",
	        "= 90%",
	        "between 1",
	        "between 1 and",
	        "between and 2",
	        "between 2 and 1",
	        "between 1kB and 2s",
	        "within 1%",
	        "within of published",
	        "within 1% of it",
	        "within -1 of published",
	        "within 1MB% of published",
	        "prints 5",
	        "prints ",
	        "is false",
	        "is",
	        "=",
	        "!=",
	        "> 1 and",
	        "and > 1",
	        "> 1 or > 2",
	        "= \"",
	        "= \"abc",
	        "= \"\"",
	        "> inf",
	        "> nan",
	        "> 0x10",
	        "> 1 > 2",
	        "> 1e999",
	        "> 1 and > 2 and > 3 and > 4 and > 5",
	};
	struct predicate predicate;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct err err = {0};

		if (predicate_parse(bad[i], &predicate, &err))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_true(err.message[0]);
	}
	char *text = malloc(2000);
	assert_non_null(text);
	memset(text, 'x', 1999);
	text[0] = '=';
	text[1999] = '\0';
	struct err err;
	assert_false(predicate_parse(text, &predicate, &err));
	free(text);
}

/* Every quarter from low to high, and the ends. */
static enum predicate_answer by_force(const struct predicate *predicate, double low, double high,
                                      const struct figure *published)
{
	bool any = false, all = true;

	for (double value = low; value <= high; value += 0.25) {
		bool one = predicate_number(predicate, value, published);

		any = any || one;
		all = all && one;
	}
	return all ? PREDICATE_INSIDE : any ? PREDICATE_STRADDLES : PREDICATE_OUTSIDE;
}

static void ranges(void **state)
{
	/* All bounds are whole numbers and wider than a step, so that the walk sees them. */
	static const char *const forms[] = {
	        "= 3",
	        "!= 3",
	        "< 3",
	        "<= 3",
	        "> 3",
	        ">= 3",
	        "between 2 and 5",
	        "> 2 and < 5",
	        "between 2 and 5 and != 3",
	        "!= 2 and != 4",
	        "> 5 and < 2",
	        "is true",
	        "within 2 of published",
	        "within 50% of published",
	        "prints published",
	        "= text",
	        "!= text",
	        "between 3 and 3 and != 3",
	        ">= 3 and <= 3",
	};
	struct figure figure;

	(void)state;
	assert_true(figure_parse("4", &figure));
	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		struct predicate predicate = parse(forms[i]);

		for (double low = -1; low <= 8; low += 0.5)
			for (double high = low; high <= 8; high += 0.5) {
				enum predicate_answer expected =
				        by_force(&predicate, low, high, &figure);
				enum predicate_answer got =
				        predicate_range(&predicate, low, high, &figure);

				if (got != expected)
					fail_msg("%s over %g..%g: %d, expected %d", forms[i], low,
					         high, (int)got, (int)expected);
			}
	}
}

static void near_distance(const char *text, double value, double expected)
{
	struct predicate predicate = parse(text);
	struct figure figure;
	double distance;

	assert_true(figure_parse("10", &figure));
	assert_true(predicate_distance(&predicate, value, &figure, &distance));
	if (fabs(distance - expected) > 1e-9)
		fail_msg("%s at %g: %g, expected %g", text, value, distance, expected);
}

static void distances(void **state)
{
	double ignored;

	(void)state;
	near_distance("> 3", 5, 2);
	near_distance("> 3", 1, -2);
	near_distance("> 3", 3, 0);
	near_distance("between 88 and 92", 91, 1);
	near_distance("between 88 and 92", 80, -8);
	near_distance("between 88 and 92", 100, -8);
	near_distance("= 3", 3, 0);
	near_distance("= 3", 5, -2);
	near_distance("!= 3", 5, 2);
	near_distance("within 10% of published", 10.5, 0.5);
	near_distance("within 10% of published", 12, -1);
	near_distance("prints published", 10.2, 0.3);
	struct predicate predicate = parse("is true");
	assert_false(predicate_distance(&predicate, 1, NULL, &ignored));
	predicate = parse("= text");
	assert_false(predicate_distance(&predicate, 1, NULL, &ignored));
	predicate = parse("> 3");
	assert_false(predicate_distance(&predicate, NAN, NULL, &ignored));
}

static void say(const char *text, const char *unit, const char *expected)
{
	struct predicate predicate = parse(text);
	struct buf words;

	buf_init(&words, 0);
	predicate_words(&predicate, unit, &words);
	assert_string_equal(words.data, expected);
	buf_finish(&words);
}

static void in_words(void **state)
{
	(void)state;
	say("> 3", "ratio", "more than 3");
	say("<= 4", "", "at most 4");
	say("< 50 and != 0", "", "less than 50 and anything but 0");
	say("between 88 and 92", "percent", "between 88 and 92");
	say("within 1% of published", "bytes", "within 1 % of the published figure");
	say("> 16 MB", "bytes", "more than 16 MB");
	say("= 1, 21, 2", "", "exactly 1, 21, 2");
	say("is true", "", "true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(numbers),  cmocka_unit_test(published_figures),
	        cmocka_unit_test(texts),    cmocka_unit_test(refused),
	        cmocka_unit_test(ranges),   cmocka_unit_test(distances),
	        cmocka_unit_test(in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
