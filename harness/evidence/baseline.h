/* SPDX-License-Identifier: PostgreSQL */
/*
 * Baselines: reviewed text that the gate compares a run with. A file holds
 * the metrics of one PostgreSQL major version and one profile; timings are in
 * a file of their machine's, all others in one for any machine. The format is
 * in docs/ci.md.
 */
#ifndef KEYLAB_EVIDENCE_BASELINE_H
#define KEYLAB_EVIDENCE_BASELINE_H

#include "evidence/noise.h"

/* The fingerprint of a file whose metrics are the same on every machine. */
#define BASELINE_ANY "any"

/* Which way a metric gets worse. X(name, word) */
#define DIRECTIONS(X)                                                                              \
	X(BOTH, "both")                                                                            \
	X(UP, "up")     /* a larger value is worse */                                              \
	X(DOWN, "down") /* a smaller one is */

enum direction {
#define X(name, word) DIRECTION_##name,
	DIRECTIONS(X)
#undef X
};
const char *direction_word(enum direction direction);

struct metric {
	const char *document, *scenario, *claim;
	const char *type, *unit;
	struct fact_value value, low, high; /* low and high: range or interval, if there is one */
	int64_t n;
	enum verdict_kind verdict;
	enum direction direction;
	double rel_tol; /* 0.05: five per cent off is still the same */
	/* A counter whose value is chance: not compared; only its predicate must go on holding. */
	bool by_predicate;
	const char *why;  /* a reviewer's, for the tolerance; "" when there is none */
	double abs_floor; /* in the unit: a difference up to this is none */
	/* As a share: of a timing the least effect that identical arms showed on its machine
	   (keylab aa), of a counter how far runs in a row lay apart. The tolerance is not below it.
	 */
	bool has_noise;
	double noise;
	const char *run; /* when the run started that it comes from */
};

/* One act of `keylab baseline --accept`. */
struct acceptance {
	const char *run, *commit, *reason;
};

struct baseline {
	struct arena arena;
	int pg_major;
	const char *profile, *fingerprint;
	struct acceptance *acceptances;
	size_t acceptances_count;
	struct metric *metrics; /* by document, scenario, claim */
	size_t metrics_count;
};

/* Reads a file's text; whatever is wrong with it is ERR_INPUT and names `path`. */
bool baseline_parse(const char *path, const char *text, struct baseline *ret,
                    struct err *err) MUST_CHECK;
bool baseline_read(const char *path, struct baseline *ret, struct err *err) MUST_CHECK;
/* The same text for the same baseline: keys sorted, a metric a line. */
bool baseline_print(const struct baseline *baseline, struct buf *ret, struct err *err) MUST_CHECK;
void baseline_finish(struct baseline *baseline); /* accepts a zeroed one */

/*
 * What accepting the run makes of `old` (may be NULL): metrics of the run's scenarios are
 * replaced, those of other scenarios stay. timings: only the timing metrics, for the run's
 * machine; else all but them. A tolerance that stands in `old` stays, with its reason, unless
 * the noise (may be NULL) is above it: a counter's tolerance is then twice its spread in runs in a
 * row, and a counter that spreads by half and more is compared by its predicate only.
 */
bool baseline_accept(const struct baseline *old, const struct facts *facts, bool timings,
                     const char *reason, const struct noise *noise, struct baseline *ret,
                     struct err *err) MUST_CHECK;
/* Is there anything in the run that such a file would hold? */
bool baseline_applies(const struct facts *facts, bool timings);

/* DIR/18/quick-any.json, or DIR/18/quick-<fingerprint>.json; owned. */
char *baseline_path(const char *dir, const struct facts *facts, bool timings,
                    struct err *err) MUST_CHECK;

const struct metric *baseline_find(const struct baseline *baseline, const char *scenario,
                                   const char *claim);

#endif
