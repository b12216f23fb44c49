/* SPDX-License-Identifier: PostgreSQL */
/*
 * The predicate of a claim ("> 3", "between 88 and 92", "within 1% of
 * published", "prints published", "= 1, 21, 2", "is true"; several with
 * "and") and what follows from it for a value or a range of values.
 *
 * A predicate is parsed, asked, finished; it holds no pointer to its text.
 */
#ifndef KEYLAB_BASE_PREDICATE_H
#define KEYLAB_BASE_PREDICATE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/units.h"

enum predicate_op {
	PREDICATE_EQ,
	PREDICATE_NE,
	PREDICATE_LT,
	PREDICATE_LE,
	PREDICATE_GT,
	PREDICATE_GE,
	PREDICATE_BETWEEN,      /* a <= value <= b */
	PREDICATE_WITHIN_SHARE, /* |value - published| <= a * |published|; a = 0.01 for 1% */
	PREDICATE_WITHIN,       /* |value - published| <= a */
	PREDICATE_PRINTS,       /* rounded as the published figure is, it is the same */
	PREDICATE_TRUE,         /* 1, or the text t or true */
};

#define PREDICATE_MAX_TERMS 4

struct predicate_term {
	enum predicate_op op;
	double a, b; /* numbers, in the value's base unit (bytes, ms, or as they stand) */
	enum quantity_kind kind; /* of the numbers: COUNT when no unit was written */
	char text[256]; /* EQ, NE: the right side as written, when it is no number; else "" */
};

struct predicate {
	struct predicate_term terms[PREDICATE_MAX_TERMS]; /* all must hold */
	size_t count;
	bool needs_published; /* some term speaks of the published figure */
};

/* false with err (ERR_INPUT: what is wrong, and how predicates look). */
bool predicate_parse(const char *text, struct predicate *ret, struct err *err) MUST_CHECK;

/*
 * The published figure as predicates are asked with: with the digits and the
 * unit of its text where that is a figure, or else the value alone. false
 * without a value: then the text is words, whatever it looks like.
 */
bool predicate_published(const char *published, bool has_value, double value,
                         struct figure *ret) MUST_CHECK;

/*
 * Does it hold for the number? published may be NULL unless needs_published
 * (without it such a predicate does not hold). A value that is no number holds
 * nothing.
 */
bool predicate_number(const struct predicate *predicate, double value,
                      const struct figure *published);
/*
 * The same for a text value: only EQ, NE and TRUE can hold. EQ and NE of a
 * number compare as numbers when the text is one ("00000" is 0), else a text
 * is not equal to a number.
 */
bool predicate_text(const struct predicate *predicate, const char *value);

enum predicate_answer {
	PREDICATE_INSIDE,    /* every number of the range satisfies it */
	PREDICATE_OUTSIDE,   /* none does */
	PREDICATE_STRADDLES, /* some do */
};
/*
 * For all real numbers from low to high (low <= high). "> 3 and < 2" is
 * OUTSIDE for every range.
 */
enum predicate_answer predicate_range(const struct predicate *predicate, double low, double high,
                                      const struct figure *published);

/* The stretch of numbers that it holds for; an end that is none is infinite. */
void predicate_bounds(const struct predicate *predicate, const struct figure *published,
                      double *ret_low, double *ret_high);

/*
 * In words for the report: "more than 3", "within 1 % of the published
 * figure". unit formats the numbers ("bytes", "ratio", "").
 */
void predicate_words(const struct predicate *predicate, const char *unit, struct buf *ret);

/*
 * How far value is from the nearest bound at which the answer changes, in
 * the value's unit; not above zero when the predicate does not hold. false
 * when there is no such bound (text, TRUE, a missing published figure).
 */
bool predicate_distance(const struct predicate *predicate, double value,
                        const struct figure *published, double *ret);

#endif
