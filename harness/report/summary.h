/* SPDX-License-Identifier: PostgreSQL */
/*
 * Samples summed up as they pass by: number, lowest, highest and sum for each
 * scenario, step, arm, metric and label. No sample is kept.
 */
#ifndef KEYLAB_REPORT_SUMMARY_H
#define KEYLAB_REPORT_SUMMARY_H

#include "report/model.h"

/* Groups beyond these are not told apart from nothing: the page shows a few dozen at most. */
#define SUMMARIES_MAX 20000

struct summaries {
	struct arena *arena;   /* borrowed; holds the texts */
	struct summary *items; /* owned until summaries_hand_over */
	size_t count;
	uint32_t *slots; /* owned; index + 1 of an item, 0 when free */
	bool failed;     /* out of memory; sticky */
};

void summaries_init(struct summaries *summaries, struct arena *arena);
/* A row of report-samples.sql; scenario is its first column. */
void summaries_add(struct summaries *summaries, struct scenario_row *scenario, struct query *query);
/* Gives each scenario its own, in the order in which they first came. */
bool summaries_hand_over(struct summaries *summaries) MUST_CHECK;
void summaries_finish(struct summaries *summaries);

#endif
