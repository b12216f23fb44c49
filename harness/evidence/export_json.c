/* SPDX-License-Identifier: PostgreSQL */
/* JSON: one object; its members are those of docs/exports.md. */
#include <string.h>

#include "evidence/formats.h"

static void member(struct buf *ret, const char *name, const char *text)
{
	buf_printf(ret, ",\"%s\":", name);
	buf_add_json(ret, text);
}

/* SQLite keeps infinities, JSON does not. */
static void value_member(struct buf *ret, const char *name, const struct fact_value *value)
{
	bool plain = !strpbrk(value->text, "nN");

	buf_printf(ret, ",\"%s\":", name);
	if (value->kind == FACT_TEXT)
		buf_add_json(ret, value->text);
	else
		buf_add(ret, value->kind == FACT_NONE || !plain ? "null" : value->text);
}

static void claim_object(const struct claim_fact *claim, const struct export_options *options,
                         struct buf *ret)
{
	buf_add(ret, "{\"document\":");
	buf_add_json(ret, claim->document);
	member(ret, "scenario", claim->scenario);
	member(ret, "claim", claim->name);
	member(ret, "sentence", claim->sentence);
	member(ret, "source", claim->source);
	member(ret, "published", claim->published);
	value_member(ret, "published_value", &claim->published_value);
	value_member(ret, "value", &claim->value);
	value_member(ret, "value_low", &claim->low);
	value_member(ret, "value_high", &claim->high);
	buf_printf(ret, ",\"n\":%lld", (long long)claim->n);
	member(ret, "unit", claim->unit);
	member(ret, "metric_type", claim->metric_type);
	member(ret, "predicate", claim->predicate);
	member(ret, "verdict", verdict_name(claim->verdict));
	member(ret, "expected", verdict_name(claim->expected));
	member(ret, "standing", standing_word(facts_standing(claim, options->allow_inconclusive)));
	member(ret, "because", claim->because);
	member(ret, "reason", claim->reason);
	member(ret, "scope", claim->scope);
	buf_printf(ret, ",\"in_scope\":%s,\"control\":%s", claim->in_scope ? "true" : "false",
	           claim->control ? "true" : "false");
	member(ret, "file", claim->path);
	member(ret, "sql", claim->sql);
	buf_add_char(ret, '}');
}

static void run_object(const struct facts *facts, struct buf *ret)
{
	buf_printf(ret, "{\"run_id\":%lld", (long long)facts->run_id);
	member(ret, "started_at", facts->started_at);
	member(ret, "finished_at", facts->finished_at);
	member(ret, "status", facts->status);
	member(ret, "profile", facts->profile);
	/* A text: it may have more digits than a double holds. */
	member(ret, "seed", facts->seed);
	buf_printf(ret, ",\"wall_s\":%.3f,\"server_version_num\":%d",
	           (double)facts->wall_ns / (double)NS_PER_S, facts->version_num);
	member(ret, "server_version", facts->version);
	member(ret, "server_sha256", facts->server_sha256);
	member(ret, "keylab_version", facts->keylab_version);
	member(ret, "keylab_commit", facts->keylab_commit);
	member(ret, "fingerprint", facts->fingerprint);
	buf_printf(ret, ",\"set\":%s,\"environment\":{", facts->set_by_hand);
	for (size_t i = 0; i < facts->environment_count; i++) {
		buf_add(ret, i ? "," : "");
		buf_add_json(ret, facts->environment[i].name);
		buf_add_char(ret, ':');
		buf_add_json(ret, facts->environment[i].value);
	}
	buf_add(ret, "}}");
}

bool export_json(const struct facts *facts, const struct export_options *options, struct buf *ret,
                 struct err *err)
{
	buf_printf(ret, "{\"schema\":\"keylab.claims\",\"version\":%d,\n\"run\":", EXPORT_VERSION);
	run_object(facts, ret);
	buf_add(ret, ",\n\"claims\":[");
	for (size_t i = 0; i < facts->claims_count; i++) {
		buf_add(ret, i ? ",\n" : "\n");
		claim_object(&facts->claims[i], options, ret);
	}
	buf_add(ret, "\n]}\n");
	return buf_ok(ret, err);
}
