/* SPDX-License-Identifier: PostgreSQL */
/* ${…}: names, scopes, quoting, arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scenario/scenario.h"

static struct pair outer_pairs[] = {
        {.name = "rows", .text = "1000"},   {.name = "rounds", .text = "3"},
        {.name = "size", .text = "8kB"},    {.name = "word", .text = "it's ${rows}"},
        {.name = "zero", .text = "0"},      {.name = "same", .text = "outer"},
        {.name = "pause", .text = "1.5s"},  {.name = "quoted", .text = "q"},
        {.name = "long_1", .text = "long"},
};
static struct pair inner_pairs[] = {
        {.name = "same", .text = "inner"},
        {.name = "arm", .text = "uuidv7"},
};
static const struct pairs outer_list = {.items = outer_pairs, .count = COUNT_OF(outer_pairs)};
static const struct pairs inner_list = {.items = inner_pairs, .count = COUNT_OF(inner_pairs)};
static const struct scope outer = {.pairs = &outer_list};
static const struct scope empty = {.outer = &outer};
static const struct scope inner = {.outer = &empty, .pairs = &inner_list};

static void gives(const char *text, const char *expected)
{
	struct buf out;
	struct err err;

	buf_init(&out, 0);
	if (!subst_expand(text, &inner, &out, &err))
		fail_msg("%s: %s", text, err.message);
	assert_string_equal(out.data, expected);
	buf_finish(&out);
}

static void fails(const char *text, enum err_kind kind, const char *says)
{
	struct buf out;
	struct err err = {0};

	buf_init(&out, 0);
	if (subst_expand(text, &inner, &out, &err))
		fail_msg("%s gave %s", text, out.data);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.message, says))
		fail_msg("\"%s\" is not in \"%s\"", says, err.message);
	buf_finish(&out);
}

static void names(void **state)
{
	(void)state;
	gives("", "");
	gives("nothing here", "nothing here");
	gives("t_${arm} of ${rows}", "t_uuidv7 of 1000");
	gives("${ arm }${arm}", "uuidv7uuidv7");
	gives("${same}", "inner");
	gives("${size}", "8kB");
	gives("${quoted}", "q");
	gives("${long_1}", "long");
	/* once only */
	gives("${word}", "it's ${rows}");
	gives("${quote word}", "'it''s ${rows}'");
	gives("${quote\trows}", "'1000'");
}

static void dollars(void **state)
{
	(void)state;
	gives("$", "$");
	gives("$1 $$ body $$ $", "$1 $$ body $$ $");
	gives("$${arm}", "${arm}");
	gives("$${", "${");
	gives("$$${arm}", "$${arm}");
	gives("{arm} $ {arm} }", "{arm} $ {arm} }");
	gives("$tag$${rows}", "$tag${rows}");
}

static void arithmetic(void **state)
{
	(void)state;
	gives("${rows / rounds}", "333");
	gives("${rows/rounds*rounds}", "999");
	gives("${rows * (rounds - 1)}", "2000");
	gives("${2 + 3 * 4}", "14");
	gives("${(2 + 3) * 4}", "20");
	gives("${10 - 2 - 3}", "5");
	gives("${100 / 10 / 5}", "2");
	gives("${rounds - rows}", "-997");
	gives("${(1 - 8) / 2}", "-3");
	gives("${size}", "8kB");
	gives("${size / 2}", "4096");
	gives("${pause + 0}", "1500");
	gives("${7}", "7");
	gives("${((((1))))}", "1");
	gives("${9223372036854775807}", "9223372036854775807");
	gives("${ 1\n+\n2 }", "3");
}

static void faults(void **state)
{
	(void)state;
	fails("${nobody}", ERR_INTERNAL, "nobody");
	fails("${rows / zero}", ERR_INPUT, "division by zero");
	fails("${rows / (1 - 1)}", ERR_INPUT, "division by zero");
	fails("${9223372036854775807 + 1}", ERR_INPUT, "2^63");
	fails("${9223372036854775808}", ERR_INPUT, "2^63");
	fails("${9223372036854775807 * 2}", ERR_INPUT, "2^63");
	fails("${(0 - 9223372036854775807 - 1) / (0 - 1)}", ERR_INPUT, "2^63");
	fails("${word + 1}", ERR_INPUT, "cannot be computed");
	fails("${rows", ERR_INPUT, "has no }");
	fails("${}", ERR_INPUT, "missing");
	fails("${ }", ERR_INPUT, "missing");
	fails("${rows +}", ERR_INPUT, "missing");
	fails("${* rows}", ERR_INPUT, "missing");
	fails("${(rows}", ERR_INPUT, "closing )");
	fails("${rows)}", ERR_INPUT, "cannot stand there");
	fails("${rows rounds}", ERR_INPUT, "cannot stand there");
	fails("${rows % 2}", ERR_INPUT, "cannot stand there");
	fails("${1.5}", ERR_INPUT, "whole numbers");
	fails("${2k}", ERR_INPUT, "whole numbers");
	fails("${quote}", ERR_INPUT, "needs a name");
	fails("${quote rows + 1}", ERR_INPUT, "takes one name");
	fails("${ro-ws}", ERR_INTERNAL, "ro");
}

static void deep_brackets(void **state)
{
	char text[4096] = "${";

	(void)state;
	memset(text + 2, '(', 4000);
	text[4002] = '\0';
	fails(text, ERR_INPUT, "has no }");
	text[4002] = '}';
	text[4003] = '\0';
	fails(text, ERR_INPUT, "nested deeper");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names),         cmocka_unit_test(dollars),
	        cmocka_unit_test(arithmetic),    cmocka_unit_test(faults),
	        cmocka_unit_test(deep_brackets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
