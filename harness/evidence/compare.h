/* SPDX-License-Identifier: PostgreSQL */
/* Runs side by side: what differs between them, then claims by rows and runs by columns. */
#ifndef KEYLAB_EVIDENCE_COMPARE_H
#define KEYLAB_EVIDENCE_COMPARE_H

#include "evidence/facts.h"

#define COMPARE_MAX_RUNS 16

/*
 * runs[0] is the base. Exact figures get their exact difference, others the ratio to the base,
 * a timing its interval as well; timings of two machines are not comparable. Appends a text
 * for people, or one JSON object. ret_differ: some claim's verdict differs from the base's.
 */
bool compare_runs(struct store *store, const struct facts *runs, size_t count, bool json,
                  struct buf *ret, bool *ret_differ, struct err *err) MUST_CHECK;

#endif
