/* SPDX-License-Identifier: PostgreSQL */
/* Plain numbers from a sequence: a counter of its own, or any nextval. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ids/format.h"

#define INT64_TEXT_MAX 20

void id_int64_print(int64_t number, char *text)
{
	snprintf(text, INT64_TEXT_MAX + 1, "%" PRId64, number);
}

bool id_int64_parse(const char *text, size_t len, int64_t *ret, struct err *err)
{
	int64_t number = 0;

	if (len < 1 || len > INT64_TEXT_MAX)
		return err_set(err, ERR_INPUT, "not a number of 1 to 19 digits");
	if (text[0] == '0' && len > 1)
		return err_set(err, ERR_INPUT, "a leading zero");
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return err_set(err, ERR_INPUT, "no digit at character %zu", i + 1);
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, text[i] - '0', &number))
			return err_set(err, ERR_INPUT, "does not fit a bigint");
	}
	*ret = number;
	return true;
}

struct bigint_state {
	int64_t last; /* 0 before the first */
};

bool id_nextval(struct id_generator *generator, int64_t *last, int64_t *ret, struct err *err)
{
	const struct id_options *options = &generator->options;

	if (options->nextval) {
		if (options->nextval(options->nextval_context, ret, err))
			return true;
		generator->cut_off = true;
		return false;
	}
	if (*last == INT64_MAX)
		return err_set(err, ERR_INPUT, "all numbers up to %" PRId64 " are used up",
		               INT64_MAX);
	*ret = ++*last;
	return true;
}

static bool bigint_next(struct id_generator *generator, struct id *ret, struct err *err)
{
	struct bigint_state *state = (struct bigint_state *)generator->state;
	int64_t number;

	if (!id_nextval(generator, &state->last, &number, err))
		return false;
	*ret = id_from_int64(number);
	return true;
}

static void bigint_encode(const struct id *id, char *text)
{
	id_int64_print(id_int64(id), text);
}

static bool bigint_decode(const char *text, size_t len, struct id *ret, struct err *err)
{
	int64_t number;

	if (!id_int64_parse(text, len, &number, err))
		return false;
	*ret = id_from_int64(number);
	return true;
}

static bool bigint_inspect(const struct id *id, const struct id_options *options,
                           struct id_parts *ret, struct err *err)
{
	(void)options;
	if (id_int64(id) < 1)
		return err_set(err, ERR_INPUT, "below 1, where sequences start");
	id_parts_add_number(ret, "sequence", id_int64(id));
	return true;
}

const struct id_format id_format_bigint = {
        .name = "bigint",
        .title = "bigint from a sequence",
        .source = "PostgreSQL documentation, \"Identity Columns\"",
        .pg_type = "bigint",
        .coordination = "one sequence",
        .stored_bytes = 8,
        .text_bytes = 19,
        .sorts_by_time = true,
        .state_bytes = sizeof(struct bigint_state),
        .next = bigint_next,
        .encode = bigint_encode,
        .decode = bigint_decode,
        .inspect = bigint_inspect,
};
