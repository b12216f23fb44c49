/* SPDX-License-Identifier: PostgreSQL */
#include "evidence/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "sql.h"

bool noise_of_timing(const struct claim_fact *claim, double *ret)
{
	bool interval = !strcmp(claim->metric_type, "timing") && claim->in_scope &&
	                claim->n >= STATS_FEWEST && claim->low.kind != FACT_NONE &&
	                claim->low.number > 0 && claim->low.number < claim->high.number;

	if (interval)
		*ret = fmax(fmax(claim->high.number, 1 / claim->low.number) - 1, 0);
	return interval;
}

double spread_share(const struct spread *spread)
{
	return spread->lowest > 0 ? (spread->highest - spread->lowest) / spread->lowest : NAN;
}

static bool load_one(struct query *query, const struct facts *facts, const struct claim_fact *claim,
                     struct spread *ret, struct err *err)
{
	bool row = false;

	query_reset(query);
	query_text(query, ":scenario", claim->scenario);
	query_text(query, ":claim", claim->name);
	query_text(query, ":sha256", claim->sha256);
	query_text(query, ":profile", facts->profile);
	query_int(query, ":major", facts->version_num / 10000);
	if (!query_step(query, &row, err))
		return false;
	*ret = (struct spread){.claim = claim};
	if (row) {
		ret->runs = query_get_int(query, 0);
		ret->lowest = query_get_real(query, 1);
		ret->highest = query_get_real(query, 2);
	}
	return true;
}

bool spreads_load(struct store *store, const struct facts *facts, struct spreads *ret,
                  struct err *err)
{
	struct spreads spreads = {.items = calloc(facts->claims_count + 1, sizeof(*spreads.items))};
	struct query query = {0};

	if (!spreads.items)
		return err_set(err, ERR_SYSTEM, "out of memory");
	store_lock(store);
	bool ok = query_prepare(store, sql_store_counter_spread, &query, err);
	for (size_t i = 0; ok && i < facts->claims_count; i++) {
		const struct claim_fact *claim = &facts->claims[i];

		if (strcmp(claim->metric_type, "counter") != 0 || !claim->in_scope)
			continue;
		ok = load_one(&query, facts, claim, &spreads.items[spreads.count], err);
		if (ok && spreads.items[spreads.count].runs >= 2)
			spreads.count++;
	}
	query_finish(&query);
	store_unlock(store);
	if (ok && !spreads.count)
		ok = err_set(err, ERR_INPUT,
		             "no counter of run %lld was measured twice there, with the same "
		             "scenario "
		             "file, profile (%s) and PostgreSQL %d: make runs in a row first",
		             (long long)facts->run_id, facts->profile, facts->version_num / 10000);
	if (!ok) {
		spreads_finish(&spreads);
		return false;
	}
	*ret = spreads;
	return true;
}

void spreads_finish(struct spreads *spreads)
{
	free(spreads->items);
	*spreads = (struct spreads){0};
}

const struct spread *spreads_find(const struct spreads *spreads, const struct claim_fact *claim)
{
	for (size_t i = 0; spreads && i < spreads->count; i++)
		if (spreads->items[i].claim == claim)
			return &spreads->items[i];
	return NULL;
}
