/* SPDX-License-Identifier: PostgreSQL */
/* Numbers, ranges and sentences as a reader sees them. Plain text, not escaped. */
#ifndef KEYLAB_REPORT_WORDS_H
#define KEYLAB_REPORT_WORDS_H

#include "report/model.h"

/* "551 MB", "4,858 pages", "70.2 %", the text itself; "–" for nothing. */
void words_value(struct buf *text, const struct value *value, const char *unit);
void words_number(struct buf *text, double number, const char *unit);
/* Grouped, with just so many decimals. */
void words_decimals(struct buf *text, double number, int decimals);
/* How many decimals show it well, 0 to 3; 0 for what is no number. */
int words_decimals_needed(double number);
/* Does the label say the unit already ("leaf pages", pages), or is there none? */
bool words_unit_named(const char *label, const char *unit);
/* The same to the last digit: "577,841,234 bytes". */
void words_exact(struct buf *text, double number, const char *unit);
/* The measured range, "550 MB to 552 MB"; nothing when there is none or it is one point. */
void words_range(struct buf *text, const struct claim *claim);
/* What was published, with the unit where the figure stands bare; "–" for nothing. */
void words_published(struct buf *text, const struct claim *claim);
/* "ratio more than 3", by the predicate; the predicate itself when it cannot be read. */
void words_predicate(struct buf *text, const struct claim *claim);
/* "0.8 inside the bound"; nothing when there is no bound to be near to. */
void words_distance(struct buf *text, const struct claim *claim);
/* "21 of 24 claims hold, 1 is refuted, 2 are inconclusive". */
void words_counts(struct buf *text, const struct run_row *run);
/* "18.4" of the run's servers; "18.4 and 17.6" of several; "no server". */
void words_servers(struct buf *text, const struct run_row *run);
/* "6 October 2026, 12:34 UTC" of 2026-10-06 12:34:56. */
void words_time(struct buf *text, const char *stored);
/* "./run.sh run --profile chapter NAME", with what was set, quoted for a shell. */
void words_rerun(struct buf *text, const struct run_row *run, const struct scenario_row *scenario);
/* The commands that run all of it again, a line each. */
void words_reproduce(struct buf *text, const struct run_row *run);
/* The label of an arm; its name when it has none. */
const char *words_arm(const struct scenario_row *scenario, const char *arm);
/* Copies text with home folders written as ~. */
void words_redacted(struct buf *out, const char *text);
/* "1 claim", "2 claims". */
void words_plural(struct buf *text, size_t n, const char *one, const char *many);

#endif
