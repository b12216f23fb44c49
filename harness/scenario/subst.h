/* SPDX-License-Identifier: PostgreSQL */
/*
 * The language inside ${…}, for the expansion and for the check: a name, an
 * SQL literal of one (`quote name`), or arithmetic on whole numbers.
 */
#ifndef KEYLAB_SCENARIO_SUBST_H
#define KEYLAB_SCENARIO_SUBST_H

#include "scenario/scenario.h"

/* What a text that says ${name} may be told about it. */
struct subst_names {
	/*
	 * The text of a name, or NULL when it is unknown. In a dry run, any
	 * text that has the right form will do; for arithmetic it must be a
	 * whole number then.
	 */
	const char *(*find)(void *context, const char *name, bool arithmetic);
	void *context;
	bool dry; /* values are not known yet: nothing is computed, no division by zero */
};

/* Where a text is wrong. */
struct subst_fault {
	size_t offset, len; /* of the ${…} */
};

/*
 * Appends text with ${…} replaced to ret (NULL: only look). Stops at the
 * first fault, which *ret_fault (may be NULL) then tells.
 */
bool subst_walk(const char *text, const struct subst_names *names, struct buf *ret,
                struct subst_fault *ret_fault, struct err *err) MUST_CHECK;
/* Is there a ${ that would be replaced? */
bool subst_is_needed(const char *text);

/*
 * The end of the ${…} that starts at text: behind its }, or NULL when there
 * is none on the way to the end of the text.
 */
const char *subst_end(const char *text);

#endif
