/* SPDX-License-Identifier: PostgreSQL */
/* Growing texts: contents, caps, sticky failure, quoting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"

static void grows(void **state)
{
	struct buf buf;
	struct err err;

	(void)state;
	buf_init(&buf, 0);
	assert_string_equal(buf.data, "");
	for (int i = 0; i < 10000; i++)
		buf_printf(&buf, "%d,", i % 10);
	assert_int_equal(buf.len, 20000);
	for (size_t i = 0; i < 10000; i++)
		assert_true(buf.data[2 * i] == '0' + (char)(i % 10) && buf.data[2 * i + 1] == ',');
	assert_int_equal(buf.data[buf.len], '\0');
	assert_true(buf_ok(&buf, &err));
	buf_clear(&buf);
	assert_string_equal(buf.data, "");
	buf_add_len(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 3);
	buf_finish(&buf);
	buf_finish(&buf);
}

static void caps(void **state)
{
	struct buf buf;
	struct err err = {0};

	(void)state;
	/* max counts the NUL */
	buf_init(&buf, 10);
	buf_add(&buf, "123456789");
	assert_true(buf_ok(&buf, &err));
	buf_add_char(&buf, '0');
	assert_false(buf_ok(&buf, &err));
	assert_int_equal(err.kind, ERR_SYSTEM);
	assert_string_equal(buf.data, "123456789");
	/* sticky, also for what would fit */
	buf_add(&buf, "");
	buf_add_len(&buf, "x", 0);
	assert_false(buf_ok(&buf, NULL));
	assert_null(buf_steal(&buf, &err));
	buf_clear(&buf);
	buf_printf(&buf, "%s", "1234567890");
	assert_false(buf_ok(&buf, &err));
	buf_finish(&buf);
}

static void steals(void **state)
{
	struct buf buf;
	struct err err;

	(void)state;
	buf_init(&buf, 0);
	char *text = buf_steal(&buf, &err);
	assert_string_equal(text, "");
	free(text);
	buf_add(&buf, "mine");
	text = buf_steal(&buf, &err);
	assert_string_equal(text, "mine");
	assert_int_equal(buf.len, 0);
	buf_add(&buf, "again");
	assert_string_equal(buf.data, "again");
	free(text);
	buf_finish(&buf);
}

static void quotes(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 0);
	buf_add_sql_literal(&buf, "it's \\ \"so\"");
	buf_add_char(&buf, ' ');
	buf_add_sql_name(&buf, "a \"b\" 'c'");
	buf_add_char(&buf, ' ');
	buf_add_json(&buf, "a\"b\\c\n\t\x01\x7f é");
	assert_string_equal(buf.data, "'it''s \\ \"so\"' \"a \"\"b\"\" 'c'\" "
	                              "\"a\\\"b\\\\c\\n\\u0009\\u0001\\u007f é\"");
	buf_finish(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(grows),
	        cmocka_unit_test(caps),
	        cmocka_unit_test(steals),
	        cmocka_unit_test(quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
