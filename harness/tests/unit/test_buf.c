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

static void shown_as(const char *text, const char *wanted)
{
	struct buf buf;

	buf_init(&buf, 0);
	buf_add_printable(&buf, text);
	assert_string_equal(buf.data, wanted);
	assert_int_equal(text_is_printable(text), !strcmp(text, wanted));
	/* What it gives needs no second time. */
	assert_true(text_is_printable(buf.data));
	buf_finish(&buf);
}

static void prints_for_terminals(void **state)
{
	(void)state;
	shown_as("", "");
	shown_as("plain, tab\t, line\n", "plain, tab\t, line\n");
	shown_as("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x98",
	         "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x98");
	shown_as("\033]0;title\007", "\\x1b]0;title\\x07");
	shown_as("a\rb\bc\x7f", "a\\x0db\\x08c\\x7f");
	shown_as("\xc2\x9b"
	         "2J",
	         "\\xc2\\x9b2J"); /* C1: CSI in one character */
	shown_as("\x9b"
	         "2J",
	         "\\x9b2J");                         /* and as a bare byte */
	shown_as("\xe2\x80\xae", "\\xe2\\x80\\xae"); /* U+202E, right-to-left override */
	shown_as("\xd8\x9c", "\\xd8\\x9c");          /* U+061C */
	shown_as("\xc0\x9b", "\\xc0\\x9b");          /* overlong */
	shown_as("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	shown_as("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	shown_as("cut \xe2\x82", "cut \\xe2\\x82");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(grows),
	        cmocka_unit_test(caps),
	        cmocka_unit_test(steals),
	        cmocka_unit_test(quotes),
	        cmocka_unit_test(prints_for_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
