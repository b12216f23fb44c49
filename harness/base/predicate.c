/* SPDX-License-Identifier: PostgreSQL */
/* Predicates: reading them, and asking them about values and ranges. */
#include "base/predicate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char forms[] =
        "predicates look like = 3, = text, != 0, < 50, <= 4, > 3, >= 10, between 88 and 92, "
        "within 1% of published, within 2 of published, prints published, is true, and several "
        "with and";

/* ---- reading ---- */

static const struct word {
	const char *text;
	enum predicate_op op;
} words[] = {
        /* the longer ones first */
        {"!=", PREDICATE_NE},
        {"<>", PREDICATE_NE},
        {"<=", PREDICATE_LE},
        {">=", PREDICATE_GE},
        {"<", PREDICATE_LT},
        {">", PREDICATE_GT},
        {"==", PREDICATE_EQ},
        {"=", PREDICATE_EQ},
        {"between ", PREDICATE_BETWEEN},
        {"within ", PREDICATE_WITHIN},
        {"prints ", PREDICATE_PRINTS},
        {"is ", PREDICATE_TRUE},
};

static const struct word *word_at(const char *text)
{
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (!strncmp(text, words[i].text, strlen(words[i].text)))
			return &words[i];
	return NULL;
}

static const char *skip_spaces(const char *text)
{
	return text + strspn(text, " \t\r\n");
}

/* Where " and " stands before another term, or the end of the text. */
static const char *term_end(const char *text, const char **ret_next)
{
	const char *at = text;

	/* A quoted text may hold anything. */
	if (*at == '"') {
		const char *close = strchr(at + 1, '"');

		if (close)
			at = close + 1;
	}
	for (; (at = strstr(at, " and ")); at++) {
		const char *next = skip_spaces(at + 4);

		if (word_at(next)) {
			*ret_next = next;
			return at;
		}
	}
	*ret_next = NULL;
	return text + strlen(text);
}

/* text..end without spaces around, as a string. */
static bool copy_trimmed(const char *text, const char *end, char *ret, size_t size, struct err *err)
{
	text = skip_spaces(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	size_t len = end > text ? (size_t)(end - text) : 0;
	if (len >= size)
		return err_set(err, ERR_INPUT, "the predicate's text has more than %zu bytes",
		               size - 1);
	memcpy(ret, text, len);
	ret[len] = '\0';
	return true;
}

static bool read_number(const char *text, double *ret, enum quantity_kind *ret_kind,
                        struct err *err)
{
	struct quantity quantity;
	struct figure figure;

	if (quantity_parse(text, &quantity)) {
		*ret = quantity.value;
		*ret_kind = quantity.kind;
		return true;
	}
	if (!*text)
		return err_set(err, ERR_INPUT, "a number is missing; %s", forms);
	if (figure_parse(text, &figure) && strchr(text, ','))
		return err_set(err, ERR_INPUT, "\"%s\" has thousands separators; write %.15g", text,
		               figure.number);
	return err_set(err, ERR_INPUT, "\"%s\" is no number; write 50, 3.8, 5MB or 60s", text);
}

/* "88 and 92" */
static bool read_between(const char *operand, struct predicate_term *term, struct err *err)
{
	const char *and = strstr(operand, " and ");
	enum quantity_kind kind_b;
	char low[256];

	if (!and)
		return err_set(err, ERR_INPUT,
		               "between needs two numbers; write between 88 and 92");
	if (!copy_trimmed(operand, and, low, sizeof(low), err) ||
	    !read_number(low, &term->a, &term->kind, err) ||
	    !read_number(skip_spaces(and+5), &term->b, &kind_b, err))
		return false;
	if (term->kind != kind_b)
		return err_set(err, ERR_INPUT,
		               "the two numbers of between have different units; write both in "
		               "one");
	if (term->a > term->b)
		return err_set(err, ERR_INPUT,
		               "between %g and %g holds for nothing; write the smaller number "
		               "first",
		               term->a, term->b);
	return true;
}

/* "1% of published", "2 of published" */
static bool read_within(const char *operand, struct predicate_term *term, struct err *err)
{
	const char *of = strstr(operand, " of ");
	char number[256];

	if (!of || strcmp(skip_spaces(of + 4), "published"))
		return err_set(err, ERR_INPUT,
		               "within needs \"of published\"; write within 1%% of published, or "
		               "between two numbers");
	if (!copy_trimmed(operand, of, number, sizeof(number), err))
		return false;
	size_t len = strlen(number);
	bool share = len && number[len - 1] == '%';
	if (share) {
		for (number[--len] = '\0'; len && number[len - 1] == ' ';)
			number[--len] = '\0';
		term->op = PREDICATE_WITHIN_SHARE;
	}
	if (!read_number(number, &term->a, &term->kind, err))
		return false;
	if (share && term->kind != QUANTITY_COUNT)
		return err_set(err, ERR_INPUT,
		               "a share has no unit; write within 1%% of published");
	if (share)
		term->a /= 100;
	if (term->a < 0)
		return err_set(err, ERR_INPUT, "within a negative distance holds for nothing");
	return true;
}

/* EQ, NE: a number, or a text as it stands. */
static bool read_equal(const char *operand, struct predicate_term *term, struct err *err)
{
	struct quantity quantity;
	struct figure figure;
	size_t len = strlen(operand);

	if (!len)
		return err_set(err, ERR_INPUT, "what it must equal is missing; %s", forms);
	if (quantity_parse(operand, &quantity)) {
		term->a = quantity.value;
		term->kind = quantity.kind;
		return true;
	}
	if (figure_parse(operand, &figure) && strchr(operand, ','))
		return err_set(err, ERR_INPUT,
		               "\"%s\" has thousands separators; write %.15g, or a list with a "
		               "space "
		               "behind each comma",
		               operand, figure.number);
	if (figure_parse(operand, &figure) && !strcmp(figure.unit, "%"))
		return err_set(err, ERR_INPUT,
		               "\"%s\" has a %%; write %.15g and give the claim unit: percent",
		               operand, figure.number);
	if (operand[0] == '"') {
		if (len < 3 || operand[len - 1] != '"')
			return err_set(err, ERR_INPUT,
			               "the text %s has no closing quote, or is empty; write = "
			               "\"text\"",
			               operand);
		operand++;
		len -= 2;
	}
	if (len >= sizeof(term->text))
		return err_set(err, ERR_INPUT, "a text has at most %zu bytes",
		               sizeof(term->text) - 1);
	memcpy(term->text, operand, len);
	term->text[len] = '\0';
	return true;
}

static bool read_term(const struct word *word, const char *operand, struct predicate *predicate,
                      struct err *err)
{
	struct predicate_term *term = &predicate->terms[predicate->count];

	term->op = word->op;
	switch (word->op) {
	case PREDICATE_EQ:
	case PREDICATE_NE:
		return read_equal(operand, term, err);
	case PREDICATE_BETWEEN:
		return read_between(operand, term, err);
	case PREDICATE_WITHIN:
	case PREDICATE_WITHIN_SHARE:
		predicate->needs_published = true;
		return read_within(operand, term, err);
	case PREDICATE_PRINTS:
		predicate->needs_published = true;
		if (strcmp(operand, "published"))
			return err_set(err, ERR_INPUT,
			               "prints takes published only; write prints published");
		return true;
	case PREDICATE_TRUE:
		if (strcmp(operand, "true"))
			return err_set(err, ERR_INPUT, "is takes true only; write is true, or = %s",
			               operand);
		return true;
	default:
		return read_number(operand, &term->a, &term->kind, err);
	}
}

bool predicate_parse(const char *text, struct predicate *ret, struct err *err)
{
	struct predicate predicate = {.count = 0};
	const char *at = skip_spaces(text);

	while (at) {
		const struct word *word = word_at(at);
		const char *next;
		char operand[512];

		if (!word)
			return err_set(err, ERR_INPUT, "\"%.60s\" is no predicate; %s", at, forms);
		if (predicate.count == PREDICATE_MAX_TERMS)
			return err_set(err, ERR_INPUT,
			               "a predicate has at most %d terms; make two claims of it",
			               PREDICATE_MAX_TERMS);
		at = skip_spaces(at + strlen(word->text));
		const char *end = term_end(at, &next);
		if (!copy_trimmed(at, end, operand, sizeof(operand), err) ||
		    !read_term(word, operand, &predicate, err))
			return false;
		predicate.count++;
		at = next;
	}
	*ret = predicate;
	return true;
}

bool predicate_published(const char *published, bool has_value, double value, struct figure *ret)
{
	if (has_value && !figure_parse(published, ret))
		*ret = (struct figure){.number = value, .factor = 1};
	return has_value;
}

/* ---- asking ---- */

/* The numbers that satisfy a term are those between two bounds (all terms but NE). */
struct interval {
	double low, high;
	bool low_open, high_open; /* the bound itself does not satisfy it */
};

static const struct interval everything = {.low = -INFINITY, .high = INFINITY};
/* What a text or a missing figure leaves of the numbers. */
static const struct interval nothing = {.low = INFINITY, .high = -INFINITY};

/* Rounding is half away from zero, so the outer bound is open and the inner one is not. */
static struct interval printed_interval(const struct figure *figure)
{
	double scale = pow(10, figure->decimals);
	double k = round(figure->number * scale);

	return (struct interval){.low = (k - 0.5) / scale * figure->factor,
	                         .high = (k + 0.5) / scale * figure->factor,
	                         .low_open = k <= 0,
	                         .high_open = k >= 0};
}

static struct interval term_interval(const struct predicate_term *term,
                                     const struct figure *published)
{
	double figure = published ? published->number * published->factor : 0;
	struct interval interval = everything;

	switch (term->op) {
	case PREDICATE_EQ:
		if (term->text[0])
			return nothing;
		return (struct interval){.low = term->a, .high = term->a};
	case PREDICATE_NE:
		return everything;
	case PREDICATE_LT:
	case PREDICATE_LE:
		interval.high = term->a;
		interval.high_open = term->op == PREDICATE_LT;
		return interval;
	case PREDICATE_GT:
	case PREDICATE_GE:
		interval.low = term->a;
		interval.low_open = term->op == PREDICATE_GT;
		return interval;
	case PREDICATE_BETWEEN:
		return (struct interval){.low = term->a, .high = term->b};
	case PREDICATE_WITHIN_SHARE:
	case PREDICATE_WITHIN:
		if (!published)
			return nothing;
		double reach = term->op == PREDICATE_WITHIN ? term->a : term->a * fabs(figure);
		return (struct interval){.low = figure - reach, .high = figure + reach};
	case PREDICATE_PRINTS:
		return published ? printed_interval(published) : nothing;
	case PREDICATE_TRUE:
		return (struct interval){.low = 1, .high = 1};
	}
	return nothing;
}

static bool excludes(const struct predicate_term *term, double value)
{
	return term->op == PREDICATE_NE && !term->text[0] && value == term->a;
}

static bool term_number(const struct predicate_term *term, double value,
                        const struct figure *published)
{
	/* Its own arithmetic decides, so that no rounding of a bound can. */
	if (term->op == PREDICATE_PRINTS)
		return published && figure_prints(published, value);
	struct interval interval = term_interval(term, published);
	if (interval.low_open ? !(value > interval.low) : !(value >= interval.low))
		return false;
	if (interval.high_open ? !(value < interval.high) : !(value <= interval.high))
		return false;
	return !excludes(term, value);
}

bool predicate_number(const struct predicate *predicate, double value,
                      const struct figure *published)
{
	if (isnan(value))
		return false;
	for (size_t i = 0; i < predicate->count; i++)
		if (!term_number(&predicate->terms[i], value, published))
			return false;
	return predicate->count > 0;
}

static bool term_text(const struct predicate_term *term, const char *value)
{
	struct quantity quantity;
	bool equal;

	switch (term->op) {
	case PREDICATE_EQ:
	case PREDICATE_NE:
		if (term->text[0])
			equal = !strcmp(value, term->text);
		else
			equal = quantity_parse(value, &quantity) && quantity.value == term->a;
		return equal == (term->op == PREDICATE_EQ);
	case PREDICATE_TRUE:
		return !strcmp(value, "t") || !strcmp(value, "true") || !strcmp(value, "1");
	default:
		return false;
	}
}

bool predicate_text(const struct predicate *predicate, const char *value)
{
	for (size_t i = 0; i < predicate->count; i++)
		if (!term_text(&predicate->terms[i], value))
			return false;
	return predicate->count > 0;
}

static struct interval meet(struct interval a, struct interval b)
{
	if (b.low > a.low || (b.low == a.low && b.low_open)) {
		a.low = b.low;
		a.low_open = b.low_open;
	}
	if (b.high < a.high || (b.high == a.high && b.high_open)) {
		a.high = b.high;
		a.high_open = b.high_open;
	}
	return a;
}

static bool is_empty(const struct predicate *predicate, struct interval interval)
{
	if (interval.low > interval.high ||
	    (interval.low == interval.high && (interval.low_open || interval.high_open)))
		return true;
	/* A single number may be the one that != takes away. */
	for (size_t i = 0; i < predicate->count; i++)
		if (interval.low == interval.high && excludes(&predicate->terms[i], interval.low))
			return true;
	return false;
}

enum predicate_answer predicate_range(const struct predicate *predicate, double low, double high,
                                      const struct figure *published)
{
	bool low_holds = predicate_number(predicate, low, published);
	bool high_holds = predicate_number(predicate, high, published);
	struct interval rest = {.low = low, .high = high};

	for (size_t i = 0; i < predicate->count; i++)
		rest = meet(rest, term_interval(&predicate->terms[i], published));
	if (low_holds && high_holds) {
		for (size_t i = 0; i < predicate->count; i++)
			if (predicate->terms[i].op == PREDICATE_NE &&
			    !predicate->terms[i].text[0] && predicate->terms[i].a > low &&
			    predicate->terms[i].a < high)
				return PREDICATE_STRADDLES;
		return PREDICATE_INSIDE;
	}
	if (!low_holds && !high_holds && is_empty(predicate, rest))
		return PREDICATE_OUTSIDE;
	return low == high ? PREDICATE_OUTSIDE : PREDICATE_STRADDLES;
}

void predicate_bounds(const struct predicate *predicate, const struct figure *published,
                      double *ret_low, double *ret_high)
{
	struct interval rest = everything;

	for (size_t i = 0; i < predicate->count; i++)
		rest = meet(rest, term_interval(&predicate->terms[i], published));
	*ret_low = rest.low;
	*ret_high = rest.high;
}

bool predicate_distance(const struct predicate *predicate, double value,
                        const struct figure *published, double *ret)
{
	struct interval all = everything;
	double nearest = INFINITY;

	if (isnan(value))
		return false;
	for (size_t i = 0; i < predicate->count; i++) {
		const struct predicate_term *term = &predicate->terms[i];

		if (term->op == PREDICATE_TRUE || term->text[0])
			return false;
		all = meet(all, term_interval(term, published));
		if (term->op == PREDICATE_NE)
			nearest = fmin(nearest, fabs(value - term->a));
	}
	if (all.low > all.high)
		return false;
	if (predicate_number(predicate, value, published)) {
		nearest = fmin(nearest, fmin(fabs(value - all.low), fabs(all.high - value)));
		if (!isfinite(nearest))
			return false;
		*ret = nearest;
		return true;
	}
	*ret = -fmax(0, fmax(all.low - value, value - all.high));
	return true;
}

/* ---- words ---- */

static void term_words(const struct predicate_term *term, const char *unit, struct buf *ret)
{
	char a[64], b[64];

	unit_format(term->a, unit, a, sizeof(a));
	unit_format(term->b, unit, b, sizeof(b));
	switch (term->op) {
	case PREDICATE_EQ:
	case PREDICATE_NE:
		buf_printf(ret, "%s%s", term->op == PREDICATE_EQ ? "exactly " : "anything but ",
		           term->text[0] ? term->text : a);
		break;
	case PREDICATE_LT:
		buf_printf(ret, "less than %s", a);
		break;
	case PREDICATE_LE:
		buf_printf(ret, "at most %s", a);
		break;
	case PREDICATE_GT:
		buf_printf(ret, "more than %s", a);
		break;
	case PREDICATE_GE:
		buf_printf(ret, "at least %s", a);
		break;
	case PREDICATE_BETWEEN:
		buf_printf(ret, "between %s and %s", a, b);
		break;
	case PREDICATE_WITHIN_SHARE:
		buf_printf(ret, "within %.6g %% of the published figure", term->a * 100);
		break;
	case PREDICATE_WITHIN:
		buf_printf(ret, "within %s of the published figure", a);
		break;
	case PREDICATE_PRINTS:
		buf_add(ret, "the published figure when printed to its digits");
		break;
	case PREDICATE_TRUE:
		buf_add(ret, "true");
		break;
	}
}

void predicate_words(const struct predicate *predicate, const char *unit, struct buf *ret)
{
	for (size_t i = 0; i < predicate->count; i++) {
		if (i)
			buf_add(ret, " and ");
		term_words(&predicate->terms[i], unit, ret);
	}
}
