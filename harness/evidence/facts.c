/* SPDX-License-Identifier: PostgreSQL */
/* Reading a run's claims and environment from the store. */
#include "evidence/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sql.h"
#include "store/machine.h"

/* How many bytes the UTF-8 character at `at` has; 0 when it is none (RFC 3629, section 4). */
static size_t utf8_len(const unsigned char *at)
{
	static const struct {
		unsigned char first, last, low, high;
		size_t len;
	} forms[] = {
	        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
	        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
	        {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		if (at[0] < forms[i].first || at[0] > forms[i].last)
			continue;
		for (size_t byte = 1; byte < forms[i].len; byte++) {
			unsigned char low = byte == 1 ? forms[i].low : 0x80;
			unsigned char high = byte == 1 ? forms[i].high : 0xbf;

			if (at[byte] < low || at[byte] > high)
				return 0;
		}
		return forms[i].len;
	}
	return 0;
}

static const char *keep(struct facts *facts, const char *text)
{
	CLEANUP(buf_finish) struct buf clean;
	const unsigned char *at = (const unsigned char *)text;

	buf_init(&clean, 0);
	while (*at) {
		size_t len = utf8_len(at);

		if (len)
			buf_add_len(&clean, at, len);
		else
			buf_add(&clean, "\xef\xbf\xbd");
		at += len ? len : 1;
	}
	if (clean.failed)
		facts->arena.failed = true;
	return clean.failed ? NULL : arena_strdup(&facts->arena, clean.data);
}

static const char *column(struct facts *facts, struct query *query, int index)
{
	return keep(facts, query_get_text(query, index));
}

static struct fact_value value_of(struct facts *facts, struct query *query, int index)
{
	struct fact_value value = {.text = column(facts, query, index)};
	char *end;

	if (query_is_null(query, index))
		return value;
	value.kind = FACT_TEXT;
	if (!query_is_number(query, index))
		return value;
	value.number = query_get_real(query, index);
	value.integer = strtoll(value.text, &end, 10);
	value.kind = *end ? FACT_REAL : FACT_INTEGER;
	if (value.kind == FACT_REAL)
		value.text = arena_printf(&facts->arena, "%.15g", value.number);
	return value;
}

static void read_claim(struct facts *facts, struct query *query, struct claim_fact *ret)
{
	*ret = (struct claim_fact){
	        .document = column(facts, query, 0),
	        .scenario = column(facts, query, 1),
	        .name = column(facts, query, 2),
	        .sentence = column(facts, query, 3),
	        .source = column(facts, query, 4),
	        .published = column(facts, query, 5),
	        .published_value = value_of(facts, query, 6),
	        .unit = column(facts, query, 7),
	        .metric_type = column(facts, query, 8),
	        .predicate = column(facts, query, 9),
	        .sql = column(facts, query, 10),
	        .control = query_get_int(query, 11),
	        .in_scope = query_get_int(query, 12),
	        .scope = column(facts, query, 13),
	        .expected = verdict_stored(query_get_text(query, 14)),
	        .because = column(facts, query, 15),
	        .verdict = verdict_stored(query_get_text(query, 16)),
	        .reason = column(facts, query, 17),
	        .value = value_of(facts, query, 18),
	        .low = value_of(facts, query, 19),
	        .high = value_of(facts, query, 20),
	        .n = query_get_int(query, 21),
	        .path = column(facts, query, 22),
	        .scenario_ns = (uint64_t)query_get_int(query, 23),
	        .sha256 = column(facts, query, 24),
	};
}

static bool read_claims(struct facts *facts, struct err *err)
{
	struct query query = {0};
	size_t cap = 0;
	bool row = true, ok = query_prepare(facts->store, sql_store_evidence_claims, &query, err);

	if (ok)
		query_int(&query, ":run_id", facts->run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		if (facts->claims_count == cap) {
			size_t grown = cap ? cap * 2 : 64;

			facts->claims = arena_grow(&facts->arena, facts->claims, cap, grown,
			                           sizeof(*facts->claims));
			cap = grown;
		}
		if (facts->arena.failed)
			break;
		read_claim(facts, &query, &facts->claims[facts->claims_count++]);
	}
	query_finish(&query);
	return ok;
}

static bool read_secondaries(struct facts *facts, struct err *err)
{
	struct secondaries list = {0};

	if (!secondaries_load(facts->store, facts->run_id, &list, err))
		return false;
	for (size_t i = 0; i < facts->claims_count; i++) {
		struct claim_fact *claim = &facts->claims[i];
		const struct secondary *found =
		        secondaries_find(&list, claim->scenario, claim->name);

		claim->has_p = found != NULL;
		claim->p = found ? found->p : 0;
		claim->adjusted_p = found ? found->adjusted : 0;
	}
	secondaries_finish(&list);
	return true;
}

static bool read_environment(struct facts *facts, struct err *err)
{
	struct query query = {0};
	bool row = true,
	     ok = query_prepare(facts->store, sql_store_evidence_environment, &query, err);

	if (ok)
		query_int(&query, ":run_id", facts->run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		size_t count = facts->environment_count;

		facts->environment = arena_grow(&facts->arena, facts->environment, count, count + 1,
		                                sizeof(*facts->environment));
		if (facts->arena.failed)
			break;
		facts->environment[facts->environment_count++] =
		        (struct fact_pair){column(facts, &query, 0), column(facts, &query, 1)};
	}
	query_finish(&query);
	return ok;
}

static bool read_run(struct facts *facts, struct err *err)
{
	struct query query = {0};
	bool row = false, ok = query_prepare(facts->store, sql_store_evidence_run, &query, err);

	if (ok)
		query_int(&query, ":run_id", facts->run_id);
	ok = ok && query_step(&query, &row, err);
	if (ok && !row)
		ok = err_set(err, ERR_USAGE, "%s holds no run %lld", facts->store->path,
		             (long long)facts->run_id);
	if (ok) {
		facts->started_at = column(facts, &query, 0);
		facts->finished_at = column(facts, &query, 1);
		facts->status = column(facts, &query, 2);
		facts->profile = column(facts, &query, 3);
		facts->kind = column(facts, &query, 4);
		facts->seed = column(facts, &query, 5);
		facts->keylab_version = column(facts, &query, 6);
		facts->keylab_commit = column(facts, &query, 7);
		facts->wall_ns = (uint64_t)query_get_int(&query, 8);
		facts->version_num = (int)query_get_int(&query, 9);
		facts->one_version = query_get_int(&query, 10) == 1;
		facts->version = column(facts, &query, 11);
		facts->server_sha256 = column(facts, &query, 12);
		facts->set_by_hand = column(facts, &query, 13);
	}
	query_finish(&query);
	return ok;
}

static bool make_fingerprint(struct facts *facts, struct err *err)
{
	CLEANUP(buf_finish) struct buf text;
	char hash[HASH_TEXT_BYTES];

	buf_init(&text, 0);
	for (size_t i = 0; machine_parts[i]; i++) {
		const char *value = facts_environment(facts, machine_parts[i]);

		buf_printf(&text, "%s=%.*s\n", machine_parts[i],
		           (int)machine_value_len(machine_parts[i], value), value);
	}
	if (!buf_ok(&text, err) || !hash_bytes(text.data, text.len, hash, err))
		return false;
	snprintf(facts->fingerprint, sizeof(facts->fingerprint), "%.12s", hash);
	return true;
}

bool facts_load(struct store *store, int64_t run_id, struct facts *ret, struct err *err)
{
	struct facts facts = {.store = store, .run_id = run_id};

	arena_init(&facts.arena, 0);
	store_lock(store);
	bool ok = (run_id || store_newest_run(store, &facts.run_id, err)) &&
	          read_run(&facts, err) && read_environment(&facts, err) &&
	          read_claims(&facts, err);
	store_unlock(store);
	if (ok && facts.arena.failed)
		ok = err_set(err, ERR_SYSTEM, "out of memory");
	ok = ok && read_secondaries(&facts, err);
	if (!ok || !make_fingerprint(&facts, err)) {
		facts_finish(&facts);
		return false;
	}
	*ret = facts;
	return true;
}

void facts_finish(struct facts *facts)
{
	arena_finish(&facts->arena);
	*facts = (struct facts){0};
}

const struct claim_fact *facts_find(const struct facts *facts, const char *scenario,
                                    const char *claim)
{
	for (size_t i = 0; i < facts->claims_count; i++)
		if (!strcmp(facts->claims[i].scenario, scenario) &&
		    !strcmp(facts->claims[i].name, claim))
			return &facts->claims[i];
	return NULL;
}

const char *facts_environment(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->environment_count; i++)
		if (!strcmp(facts->environment[i].name, name))
			return facts->environment[i].value;
	return "";
}

enum standing facts_standing(const struct claim_fact *claim, bool allow_inconclusive)
{
	if (!claim->in_scope)
		return STANDING_OUT_OF_SCOPE;
	if (claim->verdict == claim->expected)
		return STANDING_AS_EXPECTED;
	switch (claim->verdict) {
	case VERDICT_ERROR:
		return STANDING_ERROR;
	case VERDICT_INCONCLUSIVE:
		return allow_inconclusive ? STANDING_ALLOWED : STANDING_INCONCLUSIVE;
	case VERDICT_NOT_RUN:
		return STANDING_NOT_RUN;
	default:
		return STANDING_UNEXPECTED;
	}
}

const char *standing_word(enum standing standing)
{
	static const char *const words[] = {
#define X(name, word) [STANDING_##name] = word,
	        STANDINGS(X)
#undef X
	};
	return words[standing];
}

void fact_print(const struct fact_value *value, const char *unit, struct buf *ret)
{
	if (value->kind == FACT_REAL)
		buf_printf(ret, "%.6g", value->number);
	else
		buf_add(ret, value->kind == FACT_NONE ? "nothing" : value->text);
	if (unit[0] && value->kind != FACT_NONE && value->kind != FACT_TEXT)
		buf_printf(ret, " %s", unit);
}

void facts_explain(const struct claim_fact *claim, struct buf *ret)
{
	if (claim->value.kind != FACT_NONE) {
		buf_add(ret, "measured ");
		fact_print(&claim->value, claim->unit, ret);
		buf_printf(ret, ", holds when %s", claim->predicate);
	}
	if (claim->reason[0])
		buf_printf(ret, "%s%s", claim->value.kind == FACT_NONE ? "" : ": ", claim->reason);
	if (claim->expected != VERDICT_HOLDS && claim->in_scope)
		buf_printf(ret, "%s%s was expected",
		           claim->value.kind == FACT_NONE && !claim->reason[0] ? "" : "; ",
		           verdict_name(claim->expected));
}

void facts_print_p(const struct claim_fact *claim, struct buf *ret)
{
	buf_printf(ret, "p = %.2g, %.2g adjusted", claim->p, claim->adjusted_p);
}
