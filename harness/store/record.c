/* SPDX-License-Identifier: PostgreSQL */
/* Writing runs, scenarios' states, steps, samples and incidents. */
#include "store/record.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/proc.h"
#include "sql.h"

/* How much text is hashed at once: bounds the memory for any number of samples. */
#define DIGEST_CHUNK_BYTES ((size_t)64 << 10)

bool record_run_begin(struct store *store, const struct record_run *run, int64_t *ret_run_id,
                      struct err *err)
{
	char identity[PROC_IDENTITY_BYTES];
	const struct bind binds[] = {
	        B_INT(":started_us", clock_wall_us()),
	        B_TEXT(":profile", run->profile),
	        B_INT(":seed", run->seed),
	        B_TEXT(":argv", run->argv),
	        B_TEXT(":keylab_version", run->version),
	        B_TEXT(":keylab_commit", run->commit),
	        B_INT(":pid", getpid()),
	        B_TEXT(":pid_started", proc_identity(getpid(), identity)),
	};

	if (!store_exec(store, sql_store_add_run, binds, COUNT_OF(binds), err))
		return false;
	*ret_run_id = store_last_id(store);
	return true;
}

bool record_run_end(struct store *store, int64_t run_id, const char *status, uint64_t wall_ns,
                    uint64_t server_ns, struct err *err)
{
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),       B_INT(":finished_us", clock_wall_us()),
	        B_TEXT(":status", status),      B_INT(":wall_ns", wall_ns),
	        B_INT(":server_ns", server_ns),
	};

	return store_exec(store, sql_store_end_run, binds, COUNT_OF(binds), err);
}

static bool interrupt_one(struct store *store, int64_t run_id, struct err *err)
{
	const struct bind bind = B_INT(":run_id", run_id);

	return store_exec(store, sql_store_interrupt_scenarios, &bind, 1, err) &&
	       store_exec(store, sql_store_interrupt_run, &bind, 1, err);
}

/* One run of a dead keylab, or 0. Its statement is over before anything is written. */
static bool find_dead(struct store *store, int64_t *ret_run_id, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql_store_running, &query, err);

	*ret_run_id = 0;
	while (ok && !*ret_run_id && (ok = query_step(&query, &row, err)) && row)
		if (!proc_is_alive((pid_t)query_get_int(&query, 1), query_get_text(&query, 2)))
			*ret_run_id = query_get_int(&query, 0);
	query_finish(&query);
	return ok;
}

bool record_sweep(struct store *store, struct err *err)
{
	for (;;) {
		int64_t run_id;

		if (!find_dead(store, &run_id, err))
			return false;
		if (!run_id)
			return true;
		if (!interrupt_one(store, run_id, err))
			return false;
	}
}

bool record_scenario_state(struct store *store, int64_t run_id, const char *scenario,
                           const char *status, const char *reason, struct err *err)
{
	bool starts = !strcmp(status, "running");
	char digest[HASH_TEXT_BYTES];

	store_lock(store);
	bool ok = starts || samples_digest(store, run_id, scenario, digest, err);
	store_unlock(store);
	if (!ok)
		return false;
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),
	        B_TEXT(":scenario", scenario),
	        B_TEXT(":status", status),
	        B_TEXT(":reason", reason),
	        starts ? B_INT(":started_us", clock_wall_us()) : B_NULL(":started_us"),
	        starts ? B_NULL(":finished_us") : B_INT(":finished_us", clock_wall_us()),
	        starts ? B_NULL(":samples_sha256") : B_TEXT(":samples_sha256", digest),
	};
	return store_exec(store, sql_store_set_scenario, binds, COUNT_OF(binds), err);
}

static bool add_samples(struct store *store, int64_t step_id, const struct record_sample *samples,
                        size_t count, struct err *err)
{
	struct query query = {0};
	bool ok = !count || query_prepare(store, sql_store_add_sample, &query, err);

	for (size_t i = 0; ok && i < count; i++) {
		struct bind value = samples[i].value;

		value.name = ":value";
		const struct bind binds[] = {
		        B_INT(":step_id", step_id),
		        B_TEXT(":metric", samples[i].metric),
		        B_TEXT(":unit", samples[i].unit),
		        B_TEXT(":metric_type", samples[i].type),
		        value,
		        samples[i].rep ? B_INT(":rep", samples[i].rep) : B_NULL(":rep"),
		        B_TEXT(":labels", samples[i].labels),
		};
		query_bind(&query, binds, COUNT_OF(binds));
		ok = query_run(&query, err);
	}
	query_finish(&query);
	return ok;
}

static bool add_step(struct store *store, const struct record_step *step, struct err *err)
{
	const struct bind binds[] = {
	        B_INT(":run_id", step->run_id),
	        B_TEXT(":scenario", step->scenario),
	        step->cluster_id ? B_INT(":cluster_id", step->cluster_id) : B_NULL(":cluster_id"),
	        B_TEXT(":verb", step->verb),
	        B_TEXT(":name", step->name),
	        B_TEXT(":session", step->session),
	        B_TEXT(":arm", step->arm),
	        B_INT(":rep", step->rep),
	        B_TEXT(":labels", step->labels),
	        B_TEXT(":position", step->position),
	        B_TEXT(":sql", step->sql),
	        B_INT(":started_us", step->started_us),
	        B_INT(":duration_ns", step->duration_ns),
	        B_TEXT(":outcome", step->outcome),
	        B_TEXT(":sqlstate", step->sqlstate),
	        B_TEXT(":message", step->message),
	};

	return store_exec(store, sql_store_add_step, binds, COUNT_OF(binds), err);
}

bool record_step(struct store *store, const struct record_step *step,
                 const struct record_sample *samples, size_t samples_count, int64_t *ret_step_id,
                 struct err *err)
{
	if (!store_begin(store, err))
		return false;
	bool ok = add_step(store, step, err);
	int64_t step_id = store_last_id(store);
	ok = ok && add_samples(store, step_id, samples, samples_count, err) &&
	     store_commit(store, err);
	if (!ok) {
		store_rollback(store);
		return false;
	}
	*ret_step_id = step_id;
	return true;
}

bool record_incident(struct store *store, int64_t run_id, const char *scenario, int64_t step_id,
                     const char *kind, const char *text, struct err *err)
{
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),
	        B_TEXT(":scenario", scenario),
	        step_id ? B_INT(":step_id", step_id) : B_NULL(":step_id"),
	        B_INT(":at_us", clock_wall_us()),
	        B_TEXT(":kind", kind),
	        B_TEXT(":text", text),
	};

	return store_exec(store, sql_store_add_incident, binds, COUNT_OF(binds), err);
}

/* The chunk, behind the digest of all before it, becomes the digest of all so far. */
static bool fold(struct buf *chunk, char digest[HASH_TEXT_BYTES], struct err *err)
{
	if (!buf_ok(chunk, err) || !hash_bytes(chunk->data, chunk->len, digest, err))
		return false;
	buf_clear(chunk);
	buf_add(chunk, digest);
	return true;
}

bool samples_digest(struct store *store, int64_t run_id, const char *scenario, char ret[65],
                    struct err *err)
{
	const struct bind binds[] = {B_INT(":run_id", run_id), B_TEXT(":scenario", scenario)};
	struct query query = {0};
	CLEANUP(buf_finish) struct buf chunk;
	bool row = true, ok = query_prepare(store, sql_store_scenario_samples, &query, err);

	buf_init(&chunk, 0);
	if (ok)
		query_bind(&query, binds, COUNT_OF(binds));
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		buf_add(&chunk, query_get_text(&query, 0));
		buf_add_char(&chunk, '\n');
		if (chunk.len > DIGEST_CHUNK_BYTES)
			ok = fold(&chunk, ret, err);
	}
	query_finish(&query);
	return ok && fold(&chunk, ret, err);
}
