/* SPDX-License-Identifier: PostgreSQL */
/*
 * Deriving a claim's verdict from the stored samples and nothing else; the
 * run does it once, verify again. No server, no scenario file.
 */
#ifndef KEYLAB_STORE_VERDICT_H
#define KEYLAB_STORE_VERDICT_H

#include "store/store.h"

/* X(name, text) */
#define VERDICTS(X)                                                                                \
	X(HOLDS, "HOLDS")                                                                          \
	X(REFUTED, "REFUTED")                                                                      \
	X(INCONCLUSIVE, "INCONCLUSIVE")                                                            \
	X(NOT_RUN, "NOT_RUN")                                                                      \
	X(ERROR, "ERROR")
enum verdict_kind {
#define X(name, text) VERDICT_##name,
	VERDICTS(X)
#undef X
	        VERDICT_KIND_COUNT
};
const char *verdict_name(enum verdict_kind kind);
/* The kind of that name; false: there is none. */
bool verdict_read(const char *name, enum verdict_kind *ret);
/* What a store's column says; ERROR for what is no verdict. */
enum verdict_kind verdict_stored(const char *name);

struct verdict {
	enum verdict_kind kind;
	char reason[512]; /* "" when the numbers speak for themselves */
	bool has_value;
	bool is_text;
	char *text;       /* is_text; owned */
	double value;     /* else: the one value, or the median of several */
	bool is_integer;  /* the value is a whole number and is stored as one */
	double low, high; /* range (counter), interval (timing); equal to value for one */
	int64_t n;        /* repetitions; for an event the trials */
};

void verdict_finish(struct verdict *verdict);

/* Runs the claim's SQL and judges. A fault in that SQL is the verdict ERROR, not an err. */
bool verdict_derive(struct store *store, int64_t run_id, const char *scenario, const char *claim,
                    struct verdict *ret, struct err *err) MUST_CHECK;
/* Derives and writes it into the claim's row. */
bool verdict_record(struct store *store, int64_t run_id, const char *scenario, const char *claim,
                    struct verdict *ret, struct err *err) MUST_CHECK;
/* Derives and compares with the row; *ret_same false and a sentence in difference otherwise. */
bool verdict_compare(struct store *store, int64_t run_id, const char *scenario, const char *claim,
                     bool *ret_same, struct buf *difference, struct err *err) MUST_CHECK;

/*
 * The secondary p-values of a run: the exact sign-flip p of each timing claim over blocks, and
 * the same adjusted by Holm for standing beside the run's others. Computed from the samples, as
 * verdicts are.
 */
struct secondary {
	char *scenario, *claim; /* owned */
	double p, adjusted;
};
struct secondaries {
	struct secondary *items; /* owned */
	size_t count;
};
bool secondaries_load(struct store *store, int64_t run_id, struct secondaries *ret,
                      struct err *err) MUST_CHECK;
void secondaries_finish(struct secondaries *secondaries); /* accepts a zeroed one */
/* NULL when the claim has none. */
const struct secondary *secondaries_find(const struct secondaries *secondaries,
                                         const char *scenario, const char *claim);

/* A claim's whole statement: the `sample` table in front of the value's SELECT. */
void verdict_statement(int64_t run_id, const char *scenario, const char *value_sql,
                       struct buf *ret);

#endif
