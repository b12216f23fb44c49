/* SPDX-License-Identifier: PostgreSQL */
/* What a run of identical arms says: how far each ratio strays from 1. */
#include "cmd/cmd.h"
#include "evidence/noise.h"

static void say_none(const struct run_result *result, struct buf *out)
{
	buf_add(out, "no timing claim has an interval");
	if (result->interrupted)
		buf_add(out, ": the run was interrupted\n");
	else if (result->errors)
		buf_printf(out, ": %zu scenarios ended as an error\n", result->errors);
	else
		buf_add(out, "; six blocks are needed\n");
}

int aa_print(const char *db, const struct run_result *result, bool json)
{
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(facts_finish) struct facts facts = {0};
	CLEANUP(buf_finish) struct buf out;
	size_t count = 0;
	int64_t run_id = result->run_id;
	struct err err;

	buf_init(&out, 0);
	if (!store_open(db, STORE_READ, &store, &err) || !facts_load(store, run_id, &facts, &err))
		return fail(&err);
	if (json)
		buf_printf(&out,
		           "{\"schema\":\"keylab.aa\",\"version\":1,\"run_id\":%lld,"
		           "\"fingerprint\":\"%s\",\"claims\":[",
		           (long long)run_id, facts.fingerprint);
	for (size_t i = 0; i < facts.claims_count; i++) {
		const struct claim_fact *claim = &facts.claims[i];
		double least;

		if (!noise_of_timing(claim, &least))
			continue;
		if (json) {
			buf_add(&out, count ? ",\n{\"scenario\":" : "\n{\"scenario\":");
			buf_add_json(&out, claim->scenario);
			buf_add(&out, ",\"claim\":");
			buf_add_json(&out, claim->name);
			buf_printf(&out,
			           ",\"ratio\":%.15g,\"low\":%.15g,\"high\":%.15g,\"n\":%lld,"
			           "\"least_effect\":%.6g",
			           claim->value.number, claim->low.number, claim->high.number,
			           (long long)claim->n, least);
			if (claim->has_p)
				buf_printf(&out, ",\"sign_flip_p\":%.6g,\"holm_p\":%.6g", claim->p,
				           claim->adjusted_p);
			buf_add(&out, "}");
		} else {
			buf_printf(&out,
			           "%s/%s: %.3g (%.3g to %.3g, n = %lld): less than +%.3g %% is "
			           "noise",
			           claim->scenario, claim->name, claim->value.number,
			           claim->low.number, claim->high.number, (long long)claim->n,
			           100 * least);
			if (claim->has_p) {
				buf_add(&out, "; ");
				facts_print_p(claim, &out);
			}
			buf_printf(&out, "%s\n",
			           claim->low.number > 1 || claim->high.number < 1
			                   ? "; the interval misses 1: something differs between "
			                     "the arms"
			                   : "");
		}
		count++;
	}
	if (json)
		buf_add(&out, "\n]}\n");
	else if (!count)
		say_none(result, &out);
	return print_result(&out, result->interrupted       ? EXIT_INTERRUPTED
	                          : result->machine_trouble ? EXIT_ENVIRONMENT
	                          : count                   ? EXIT_AS_EXPECTED
	                                                    : EXIT_INCONCLUSIVE);
}
