/* SPDX-License-Identifier: PostgreSQL */
/*
 * How far figures lie apart when nothing has changed: timings of identical
 * arms (keylab aa), counters of runs in a row. No tolerance of a baseline is
 * below it.
 */
#ifndef KEYLAB_EVIDENCE_NOISE_H
#define KEYLAB_EVIDENCE_NOISE_H

#include "evidence/facts.h"

/* Of a timing claim with an interval, all of whose arms were the same: the larger distance of the
   interval's ends from 1, as a share (0.25 for 25 %). false: it is no such claim. */
bool noise_of_timing(const struct claim_fact *claim, double *ret);

/* A counter claim in runs of one scenario file, profile and PostgreSQL major version. */
struct spread {
	const struct claim_fact *claim; /* of the facts that it was loaded for */
	int64_t runs;                   /* 2 and more */
	double lowest, highest;         /* in the claim's unit */
};
/* (highest - lowest) / lowest; NAN unless lowest is above 0. */
double spread_share(const struct spread *spread);

struct spreads {
	struct spread *items;
	size_t count;
};

/*
 * The counter claims in scope of `facts` (borrowed, and must stay) that have a number in two runs
 * or more of the store. What ran with --set, to no end, as identical arms, or from another text of
 * the scenario does not count. ERR_INPUT when no claim has two.
 */
bool spreads_load(struct store *store, const struct facts *facts, struct spreads *ret,
                  struct err *err) MUST_CHECK;
void spreads_finish(struct spreads *spreads); /* accepts a zeroed one */
const struct spread *spreads_find(const struct spreads *spreads, const struct claim_fact *claim);

/* What is known; both may be NULL. */
struct noise {
	const struct facts *identical; /* a run of identical arms on the machine of the timings */
	const struct spreads *spreads;
};

#endif
