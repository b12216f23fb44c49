/* SPDX-License-Identifier: PostgreSQL */
/*
 * The mistakes of a scenario, gathered so that all are reported at once,
 * sorted by place. Texts live in the arena that complaints_init was given.
 */
#ifndef KEYLAB_SCENARIO_COMPLAIN_H
#define KEYLAB_SCENARIO_COMPLAIN_H

#include "scenario/scenario.h"

/* More than a person reads; the rest is counted. */
#define COMPLAINTS_MAX 500

struct complaint {
	struct place place;
	const char *text;
	size_t number; /* in the order of finding; keeps the sort stable */
};

struct complaints {
	struct arena *arena; /* borrowed */
	struct complaint *items;
	size_t count, cap;
	size_t dropped; /* found after COMPLAINTS_MAX */
};

void complaints_init(struct complaints *complaints, struct arena *arena);
/* "what; fix". The same text at the same place is kept once. */
void complain(struct complaints *complaints, struct place place, const char *format, ...)
        PRINTF(3, 4);
/* "file:line:column: what; fix" a line each; main_file's come first. */
void complaints_print(struct complaints *complaints, const char *main_file, struct buf *ret);

/*
 * The candidate nearest to word (letters swapped, missing, too many or
 * wrong, case not counted), or NULL when none is near enough to be meant.
 * candidates ends with NULL.
 */
const char *nearest_word(const char *word, const char *const *candidates);
/* "; did you mean `X`?" for a message, or "" — in the arena; never NULL. */
const char *did_you_mean(struct arena *arena, const char *word, const char *const *candidates);
/* "a, b, c" in the arena; never NULL. */
const char *list_words(struct arena *arena, const char *const *words);

#endif
