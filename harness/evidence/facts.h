/* SPDX-License-Identifier: PostgreSQL */
/*
 * A run as exports, baselines, the gate and comparisons see it: its claims
 * with their verdicts, and where it took place. Read once from the store,
 * then constant. Texts are valid UTF-8: a byte that is none is U+FFFD.
 */
#ifndef KEYLAB_EVIDENCE_FACTS_H
#define KEYLAB_EVIDENCE_FACTS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/err.h"
#include "store/store.h"
#include "store/verdict.h"

enum fact_kind {
	FACT_NONE,
	FACT_INTEGER,
	FACT_REAL,
	FACT_TEXT,
};
struct fact_value {
	enum fact_kind kind;
	int64_t integer;  /* INTEGER */
	double number;    /* INTEGER and REAL */
	const char *text; /* TEXT; else the number as printed, "" for none */
};

/*
 * What a claim's verdict means to whoever asks whether the run is as it should be
 * (the table of docs/exports.md). X(name, word)
 */
#define STANDINGS(X)                                                                               \
	X(AS_EXPECTED, "as expected")                                                              \
	X(UNEXPECTED, "not as expected") /* refuted, or holds although it should not */            \
	X(INCONCLUSIVE, "inconclusive")                                                            \
	X(ALLOWED, "inconclusive, allowed")                                                        \
	X(NOT_RUN, "not run")                                                                      \
	X(OUT_OF_SCOPE, "out of scope")                                                            \
	X(ERROR, "error")

enum standing {
#define X(name, word) STANDING_##name,
	STANDINGS(X)
#undef X
	        STANDING_COUNT
};

struct claim_fact {
	const char *document, *scenario, *name;
	const char *sentence, *source, *published, *unit, *predicate, *sql;
	const char *metric_type; /* exact, counter, timing, event */
	struct fact_value published_value, value, low, high;
	int64_t n;
	bool control, in_scope;
	const char *scope, *because, *reason;
	enum verdict_kind verdict, expected;
	const char *path;     /* of the scenario's file */
	const char *sha256;   /* of it with its includes */
	uint64_t scenario_ns; /* what the whole scenario took */
	/* A timing over blocks: the sign-flip p, and adjusted by Holm over the run's timings. */
	bool has_p;
	double p, adjusted_p;
};

struct fact_pair {
	const char *name, *value;
};

#define FINGERPRINT_BYTES 13

struct facts {
	struct arena arena;
	struct store *store; /* borrowed */
	int64_t run_id;
	const char *started_at, *finished_at, *status, *profile, *kind, *seed;
	const char *keylab_version, *keylab_commit;
	uint64_t wall_ns;
	int version_num;           /* 180004; 0 when there was no cluster */
	bool one_version;          /* all clusters were of it */
	const char *version;       /* version() */
	const char *server_sha256; /* of the postgres binary */
	const char *set_by_hand;   /* JSON array: parameters that --set replaced */
	struct fact_pair *environment;
	size_t environment_count;
	/* Twelve hexadecimal digits that are the same for runs whose times may be compared. */
	char fingerprint[FINGERPRINT_BYTES];
	struct claim_fact *claims;
	size_t claims_count;
};

/* run_id 0: the newest finished run. An unknown run is ERR_USAGE, a store without any ERR_INPUT. */
bool facts_load(struct store *store, int64_t run_id, struct facts *ret, struct err *err) MUST_CHECK;
void facts_finish(struct facts *facts); /* accepts a zeroed one */

const struct claim_fact *facts_find(const struct facts *facts, const char *scenario,
                                    const char *claim);
/* A value of the environment, or "". */
const char *facts_environment(const struct facts *facts, const char *name);

enum standing facts_standing(const struct claim_fact *claim, bool allow_inconclusive);
const char *standing_word(enum standing standing);
/* Why: its reason, or what was measured against what is claimed; appended, one line. */
void facts_explain(const struct claim_fact *claim, struct buf *ret);
/* "p = 0.0039, 0.031 adjusted"; appended. */
void facts_print_p(const struct claim_fact *claim, struct buf *ret);
/* A value with its unit: "3.81 ratio"; appended. */
void fact_print(const struct fact_value *value, const char *unit, struct buf *ret);

#endif
