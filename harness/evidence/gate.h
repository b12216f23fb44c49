/* SPDX-License-Identifier: PostgreSQL */
/* A run against a baseline, metric by metric (docs/ci.md). */
#ifndef KEYLAB_EVIDENCE_GATE_H
#define KEYLAB_EVIDENCE_GATE_H

#include "evidence/baseline.h"

/* What became of a metric; the worst first. X(name, word) */
#define CHANGES(X)                                                                                 \
	X(REGRESSED, "regressed")                                                                  \
	X(MISSING, "missing")                                                                      \
	X(WARNED, "warning")    /* a timing that cannot fail here */                               \
	X(IMPROVED, "improved") /* beyond the tolerance: accept it as the new baseline */          \
	X(NEW, "new")           /* no baseline knows it */                                         \
	X(SAME, "same")

enum change {
#define X(name, word) CHANGE_##name,
	CHANGES(X)
#undef X
	        CHANGE_COUNT
};
const char *change_word(enum change change);

struct gate_line {
	enum change change;
	const char *document, *scenario, *claim;
	const char *text; /* both numbers and the tolerance, in a sentence; "" for SAME */
};

struct gate {
	struct arena arena;
	struct gate_line *lines; /* the worst first, each kind in the order of names */
	size_t lines_count;
	size_t counts[CHANGE_COUNT];
};

/* Which scenarios count: names of scenarios or documents; none: all. */
struct gate_filter {
	char *const *names;
	size_t count;
};

/*
 * Compares and adds to *gate, which starts zeroed with gate_init. A baseline of another
 * machine makes timings warnings. Lines borrow from facts and baseline.
 */
void gate_init(struct gate *gate);
void gate_finish(struct gate *gate); /* accepts a zeroed one */
bool gate_compare(struct gate *gate, const struct baseline *baseline, const struct facts *facts,
                  const struct gate_filter *filter, struct err *err) MUST_CHECK;
/* Claims in scope that none of the baselines knows. */
bool gate_add_new(struct gate *gate, const struct baseline *const *baselines, size_t count,
                  const struct facts *facts, const struct gate_filter *filter,
                  struct err *err) MUST_CHECK;
void gate_sort(struct gate *gate);

/* The exit code that the lines mean: 1 regressed, 2 missing or nothing compared, 0. */
int gate_exit_code(const struct gate *gate);

/*
 * Plants faults, one of each kind, in a run and in a baseline that are made here, and checks that
 * each is found and that the clean copy passes. Appends a line each. false in *ret_ok when
 * the gate is blind for one.
 */
bool gate_self_test(struct buf *ret, bool *ret_ok, struct err *err) MUST_CHECK;

#endif
