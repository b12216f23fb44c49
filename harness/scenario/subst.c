/* SPDX-License-Identifier: PostgreSQL */
/* ${name}, ${quote name}, ${a * (b - 1)}; $${ for a literal ${. */
#include "scenario/subst.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"

#define NAME_MAX_LEN 63
#define EXPRESSION_MAX_DEPTH 32

struct expression {
	const char *at; /* next character; the expression ends with } */
	const struct subst_names *names;
	int depth;
	struct err *err;
};

static void skip_space(struct expression *e)
{
	while (*e->at == ' ' || *e->at == '\t' || *e->at == '\n' || *e->at == '\r')
		e->at++;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Reads a name, if one starts here. */
static bool read_name(struct expression *e, char name[NAME_MAX_LEN + 1])
{
	size_t len = 0;

	if (!isalpha((unsigned char)*e->at) && *e->at != '_')
		return err_set(e->err, ERR_INPUT,
		               "a name or a number is missing; write ${name}, ${quote name} or ${a "
		               "+ 1}");
	while (is_name_char(e->at[len]))
		len++;
	if (len > NAME_MAX_LEN)
		return err_set(e->err, ERR_INPUT, "a name has at most %d letters; shorten it",
		               NAME_MAX_LEN);
	memcpy(name, e->at, len);
	name[len] = '\0';
	e->at += len;
	return true;
}

static bool find_name(struct expression *e, const char *name, bool arithmetic, const char **ret)
{
	const char *text = e->names->find(e->names->context, name, arithmetic);

	if (!text)
		return err_set(e->err, ERR_INTERNAL, "nothing is called `%s` here", name);
	*ret = text;
	return true;
}

static bool read_sum(struct expression *e, int64_t *ret);

static bool read_factor(struct expression *e, int64_t *ret)
{
	char name[NAME_MAX_LEN + 1];
	const char *text = NULL;
	enum quantity_kind kind;

	skip_space(e);
	if (*e->at == '(') {
		if (++e->depth > EXPRESSION_MAX_DEPTH)
			return err_set(e->err, ERR_INPUT,
			               "brackets are nested deeper than %d; remove some",
			               EXPRESSION_MAX_DEPTH);
		e->at++;
		if (!read_sum(e, ret))
			return false;
		skip_space(e);
		if (*e->at != ')')
			return err_set(e->err, ERR_INPUT, "a closing ) is missing; add it");
		e->at++;
		e->depth--;
		return true;
	}
	if (isdigit((unsigned char)*e->at)) {
		int64_t number = 0;

		for (; isdigit((unsigned char)*e->at); e->at++)
			if (__builtin_mul_overflow(number, 10, &number) ||
			    __builtin_add_overflow(number, *e->at - '0', &number))
				return err_set(e->err, ERR_INPUT,
				               "a number is larger than 2^63; write a smaller one");
		if (is_name_char(*e->at) || *e->at == '.')
			return err_set(e->err, ERR_INPUT,
			               "arithmetic takes whole numbers without units; write 2000, "
			               "or (a * 3 / 2)");
		*ret = number;
		return true;
	}
	if (!read_name(e, name) || !find_name(e, name, true, &text))
		return false;
	if (!quantity_parse_integer(text, ret, &kind, e->err))
		return err_within(e->err, "`%s` cannot be computed with", name);
	return true;
}

static bool apply(struct expression *e, char operator, int64_t right, int64_t *ret)
{
	bool overflow = false;

	if (operator== '+')
		overflow = __builtin_add_overflow(*ret, right, ret);
	else if (operator== '-')
		overflow = __builtin_sub_overflow(*ret, right, ret);
	else if (operator== '*')
		overflow = __builtin_mul_overflow(*ret, right, ret);
	else if (!right)
		return err_set(e->err, ERR_INPUT, "division by zero");
	else if (*ret == INT64_MIN && right == -1)
		overflow = true;
	else
		*ret /= right;
	if (overflow)
		return err_set(e->err, ERR_INPUT, "the result is larger than 2^63");
	return true;
}

static bool read_product(struct expression *e, int64_t *ret)
{
	if (!read_factor(e, ret))
		return false;
	for (;;) {
		int64_t right;

		skip_space(e);
		char operator= * e->at;
		if (operator!= '*' && operator!= '/')
			return true;
		e->at++;
		if (!read_factor(e, &right))
			return false;
		/* Dry numbers are stand-ins: their quotients and sizes say nothing. */
		if (!e->names->dry && !apply(e, operator, right, ret))
			return false;
	}
}

static bool read_sum(struct expression *e, int64_t *ret)
{
	if (!read_product(e, ret))
		return false;
	for (;;) {
		int64_t right;

		skip_space(e);
		char operator= * e->at;
		if (operator!= '+' && operator!= '-')
			return true;
		e->at++;
		if (!read_product(e, &right))
			return false;
		if (!e->names->dry && !apply(e, operator, right, ret))
			return false;
	}
}

/* `name` and `quote name`; *ret_done stays false for arithmetic. */
static bool expand_name(struct expression *e, struct buf *ret, bool *ret_done)
{
	const char *start = e->at;
	char name[NAME_MAX_LEN + 1];
	const char *text = NULL;
	bool quote = false;

	if (isdigit((unsigned char)*e->at) || *e->at == '(')
		return true;
	if (!read_name(e, name))
		return false;
	skip_space(e);
	if (!strcmp(name, "quote") && is_name_char(*e->at)) {
		quote = true;
		if (!read_name(e, name))
			return false;
		skip_space(e);
		if (*e->at != '}')
			return err_set(e->err, ERR_INPUT,
			               "`quote` takes one name; write ${quote %s}", name);
	}
	if (!quote && !strcmp(name, "quote"))
		return err_set(e->err, ERR_INPUT, "`quote` needs a name; write ${quote name}");
	if (*e->at != '}') {
		e->at = start;
		return true;
	}
	if (!find_name(e, name, false, &text))
		return false;
	if (ret && quote)
		buf_add_sql_literal(ret, text);
	else if (ret)
		buf_add(ret, text);
	*ret_done = true;
	return true;
}

static bool expand_one(const char *inside, const struct subst_names *names, struct buf *ret,
                       struct err *err)
{
	struct expression e = {.at = inside, .names = names, .err = err};
	int64_t number;
	bool done = false;

	skip_space(&e);
	if (!expand_name(&e, ret, &done))
		return false;
	if (done)
		return true;
	if (!read_sum(&e, &number))
		return false;
	skip_space(&e);
	if (*e.at != '}')
		return err_set(err, ERR_INPUT,
		               "\"%.20s\" cannot stand there; arithmetic has + - * / and brackets",
		               e.at);
	if (ret)
		buf_printf(ret, "%" PRId64, number);
	return true;
}

const char *subst_end(const char *text)
{
	const char *end = strchr(text, '}');

	return end ? end + 1 : NULL;
}

/* The next ${ or $${ at or behind text, or NULL. */
static const char *next_mark(const char *text)
{
	for (; (text = strchr(text, '$')); text++)
		if (text[1] == '{' || (text[1] == '$' && text[2] == '{'))
			return text;
	return NULL;
}

bool subst_is_needed(const char *text)
{
	return next_mark(text) != NULL;
}

bool subst_walk(const char *text, const struct subst_names *names, struct buf *ret,
                struct subst_fault *ret_fault, struct err *err)
{
	const char *at = text, *mark;

	while ((mark = next_mark(at))) {
		if (ret)
			buf_add_len(ret, at, (size_t)(mark - at));
		if (mark[1] == '$') {
			if (ret)
				buf_add(ret, "${");
			at = mark + 3;
			continue;
		}
		const char *end = subst_end(mark);
		bool good = end ? expand_one(mark + 2, names, ret, err)
		                : err_set(err, ERR_INPUT,
		                          "a ${ has no }; close it, or write $${ for a literal ${");

		if (!good) {
			if (ret_fault) {
				ret_fault->offset = (size_t)(mark - text);
				ret_fault->len = end ? (size_t)(end - mark) : 2;
			}
			return end ? err_within(err, "%.*s",
			                        end - mark < 80 ? (int)(end - mark) : 80, mark)
			           : false;
		}
		at = end;
	}
	if (ret)
		buf_add(ret, at);
	return ret ? buf_ok(ret, err) : true;
}

static const char *find_in_scope(void *context, const char *name, bool arithmetic)
{
	(void)arithmetic;
	for (const struct scope *scope = context; scope; scope = scope->outer) {
		const struct pair *pair = scope->pairs ? pairs_find(scope->pairs, name) : NULL;

		if (pair)
			return pair->text;
	}
	return NULL;
}

bool subst_expand(const char *text, const struct scope *scope, struct buf *ret, struct err *err)
{
	/* The context is only read, by find_in_scope. */
	union {
		const struct scope *from;
		void *to;
	} context = {.from = scope};
	struct subst_names names = {.find = find_in_scope, .context = context.to};

	return subst_walk(text, &names, ret, NULL, err);
}
