/* SPDX-License-Identifier: PostgreSQL */
/* Where a worker's ids come from: generators, leases, segments, statements. */
#include "run/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* How long a worker waits for an answer of its server. */
#define ANSWER_WAIT_NS (60 * NS_PER_S)

/* src/include/catalog/pg_type.dat */
#define INT8_OID 20
#define TEXT_OID 25

/* Asks with parameters; a new connection first, if need be. false: no answer, or a refusal. */
static bool ask(const struct worker *worker, struct conn **conn, const char *sql, const Oid *types,
                const char *const *params, int count, struct outcome *outcome, struct err *err)
{
	return worker_connect(worker, conn, err) &&
	       conn_run_params(*conn, sql, types, params, count, deadline_after(ANSWER_WAIT_NS),
	                       outcome, err) &&
	       worker_outcome_ok(outcome, err);
}

/* Column of the first row as a number; false when there is none. */
static bool number_at(const struct outcome *outcome, int column, int64_t *ret)
{
	char *end;

	if (!outcome->result || PQntuples(outcome->result) < 1 ||
	    column >= PQnfields(outcome->result) || PQgetisnull(outcome->result, 0, column))
		return false;
	const char *text = PQgetvalue(outcome->result, 0, column);
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

static bool not_numbers(const char *what, const char *columns, struct err *err)
{
	return err_set(err, ERR_ENVIRONMENT, "SQLSTATE 02000: `%s` gave no row with the numbers %s",
	               what, columns);
}

/* ---- segments ---- */

/* Runs in the allocator's own thread. */
static bool fetch_segment(void *context, const char *tag, int64_t step, struct segment_range *ret,
                          struct err *err)
{
	struct worker *worker = context;
	CLEANUP(outcome_finish) struct outcome outcome;
	static const Oid types[] = {TEXT_OID, INT8_OID, TEXT_OID};
	char number[32];
	const char *const params[] = {tag, number, worker->holder};

	outcome_init(&outcome);
	snprintf(number, sizeof(number), "%" PRId64, step);
	if (!ask(worker, &worker->segment_conn, worker->options->fetch, types, params,
	         COUNT_OF(params), &outcome, err))
		return false;
	return (number_at(&outcome, 0, &ret->first) && number_at(&outcome, 1, &ret->last)) ||
	       not_numbers("fetch", "first and last", err);
}

static bool open_segment(struct worker *worker, struct err *err)
{
	const struct worker_options *options = worker->options;
	const struct segment_options segment = {
	        .tag = options->tag,
	        .fetch = fetch_segment,
	        .context = worker,
	        .step = options->step,
	        .low_percent = options->low_percent,
	        .wait_ns = options->patience_ns,
	};

	return worker_connect(worker, &worker->segment_conn, err) &&
	       segment_create(&segment, &worker->segment, err);
}

static bool mint_segment(struct worker_thread *thread, struct minted *ret,
                         enum journal_kind *ret_kind, struct err *err)
{
	struct segment_allocator *segment = thread->worker->segment;
	int64_t number;

	/* Paced by the allocator: what it fetches ahead is there before the next number. */
	if (thread->worker->options->settle)
		(void)segment_settle(segment, deadline_after(ANSWER_WAIT_NS));
	if (!segment_next(segment, &number, err)) {
		/* A store that answers no is of another kind than one that is silent. */
		*ret_kind = err->kind == ERR_ENVIRONMENT ? JOURNAL_REFUSED : JOURNAL_CUT_OFF;
		return false;
	}
	*ret = (struct minted){.id = id_from_int64(number)};
	return true;
}

/* ---- leases ---- */

static bool acquire_lease(void *context, struct lease_grant *ret, struct err *err)
{
	struct worker *worker = context;
	CLEANUP(outcome_finish) struct outcome outcome;
	static const Oid types[] = {TEXT_OID};
	const char *const params[] = {worker->holder};
	int64_t ttl_ms;

	outcome_init(&outcome);
	if (!ask(worker, &worker->lease_conn, worker->options->acquire, types, params, 1, &outcome,
	         err))
		return false;
	if (!number_at(&outcome, 0, &ret->node) || !number_at(&outcome, 1, &ret->epoch) ||
	    !number_at(&outcome, 2, &ttl_ms) || ttl_ms < 1)
		return not_numbers("acquire", "node, epoch and ttl_ms", err);
	ret->ttl_ns = (uint64_t)ttl_ms * NS_PER_MS;
	if (!number_at(&outcome, 3, &worker->not_before_ms))
		worker->not_before_ms = 0;
	return true;
}

static bool ask_for_grant(struct worker *worker, const char *sql, const struct lease_grant *grant,
                          struct outcome *outcome, struct err *err)
{
	static const Oid types[] = {INT8_OID, INT8_OID, TEXT_OID};
	char node[32], epoch[32];
	const char *const params[] = {node, epoch, worker->holder};

	snprintf(node, sizeof(node), "%" PRId64, grant->node);
	snprintf(epoch, sizeof(epoch), "%" PRId64, grant->epoch);
	return ask(worker, &worker->lease_conn, sql, types, params, COUNT_OF(params), outcome, err);
}

static bool renew_lease(void *context, const struct lease_grant *grant, enum lease_answer *ret,
                        uint64_t *ret_ttl_ns, struct err *err)
{
	struct worker *worker = context;
	CLEANUP(outcome_finish) struct outcome outcome;
	int64_t ttl_ms;

	outcome_init(&outcome);
	if (!ask_for_grant(worker, worker->options->renew, grant, &outcome, err))
		return false;
	*ret = number_at(&outcome, 0, &ttl_ms) ? LEASE_RENEWED : LEASE_LOST;
	*ret_ttl_ns = *ret == LEASE_RENEWED ? (uint64_t)ttl_ms * NS_PER_MS : 0;
	return true;
}

static bool release_lease(void *context, const struct lease_grant *grant, struct err *err)
{
	struct worker *worker = context;
	CLEANUP(outcome_finish) struct outcome outcome;

	outcome_init(&outcome);
	return ask_for_grant(worker, worker->options->release, grant, &outcome, err);
}

static bool open_lease(struct worker *worker, struct err *err)
{
	const struct lease_options options = {
	        .acquire = acquire_lease,
	        .renew = renew_lease,
	        .release = worker->options->release ? release_lease : NULL,
	        .context = worker,
	};
	int64_t node, epoch;

	if (!worker_connect(worker, &worker->lease_conn, err) ||
	    !lease_create(&options, &worker->lease, err) || !lease_acquire(worker->lease, err) ||
	    !lease_start_renewals(worker->lease, err) ||
	    !lease_hold(worker->lease, &node, &epoch, err))
		return false;
	worker->process->lease_node = (uint64_t)node;
	worker->process->lease_epoch = (uint64_t)epoch;
	return true;
}

/* An id_node_fn: the check, and the gap between it and the id. */
static bool leased_node(void *context, int64_t *ret, struct err *err)
{
	struct worker_thread *thread = context;
	const struct worker_options *options = thread->worker->options;

	if (!lease_hold(thread->worker->lease, ret, &thread->epoch, err))
		return false;
	if (options->freeze == FREEZE_CHECK &&
	    atomic_load(&thread->head->issued) + 1 == options->freeze_at)
		worker_freeze(thread->worker);
	return true;
}

/* ---- formats ---- */

static bool open_generator(struct worker_thread *thread, struct err *err)
{
	const struct worker *worker = thread->worker;
	const struct worker_options *options = worker->options;
	struct id_options ids = options->ids_options;

	if (options->node_is_process)
		ids.node = worker->number;
	if (options->node_is_thread)
		ids.node = (int64_t)worker->number * options->threads + thread->number;
	if (ids.has_seed)
		ids.seed += (uint64_t)worker->number * options->threads + thread->number;
	if (options->has_clock) {
		id_manual_clock_init(&thread->clock, options->clock_ms, options->readings_per_ms);
		ids.clock = &thread->clock.clock;
	}
	if (worker->lease) {
		ids.node_from = leased_node;
		ids.node_context = thread;
		ids.not_before_ms = worker->not_before_ms;
	}
	return id_generator_create(options->format, &ids, &thread->generator, err);
}

static bool mint_format(struct worker_thread *thread, struct minted *ret,
                        enum journal_kind *ret_kind, struct err *err)
{
	const struct worker_options *options = thread->worker->options;
	uint64_t issued = atomic_load(&thread->head->issued);
	uint64_t cut_off = id_generator_counts(thread->generator)->cut_off;

	while (thread->steps_done < options->steps_count &&
	       issued >= (uint64_t)options->steps[thread->steps_done].after)
		id_manual_clock_step(&thread->clock, options->steps[thread->steps_done++].by_ms);
	*ret = (struct minted){0};
	if (!id_generator_next(thread->generator, &ret->id, err)) {
		*ret_kind = id_generator_counts(thread->generator)->cut_off > cut_off
		                    ? JOURNAL_CUT_OFF
		                    : JOURNAL_REFUSED;
		return false;
	}
	ret->epoch = thread->epoch;
	return true;
}

void worker_note_counts(struct worker_thread *thread)
{
	struct worker *worker = thread->worker;
	struct journal_process *process = worker->process;

	if (thread->generator) {
		const struct id_counts *counts = id_generator_counts(thread->generator);

		atomic_store(&thread->head->waits, counts->waits);
		atomic_store(&thread->head->back_steps, counts->back_steps);
		atomic_store(&thread->head->overflows, counts->overflows);
	}
	if (thread->number)
		return;
	if (worker->segment) {
		struct segment_counts counts = segment_counts(worker->segment);

		process->segments = counts.fetches;
		process->segments_ahead = counts.fetches_ahead;
		process->segment_waits = counts.waits;
		process->segment_failures = counts.fetch_failures;
		process->allocated = counts.allocated;
		process->unused = counts.unused;
	}
	if (worker->lease) {
		struct lease_counts counts = lease_counts(worker->lease);

		process->lease_renewed = counts.renewed;
		process->lease_lost = counts.lost;
	}
}

/* ---- statements ---- */

/*
 * One statement, or a read and then a write of what was read, as a program
 * does that has no atomic statement. In between all threads meet, for as many
 * rounds as was said.
 */
static bool mint_sql(struct worker_thread *thread, struct minted *ret, enum journal_kind *ret_kind,
                     struct err *err)
{
	struct worker *worker = thread->worker;
	const struct worker_options *options = worker->options;
	CLEANUP(outcome_finish) struct outcome outcome;
	static const Oid types[] = {INT8_OID};
	int64_t first = 0, last = 0;

	outcome_init(&outcome);
	*ret_kind = JOURNAL_CUT_OFF;
	if (!ask(worker, &thread->conn, options->statement, NULL, NULL, 0, &outcome, err)) {
		if (outcome.kind == OUTCOME_ERROR)
			*ret_kind = JOURNAL_REFUSED;
		return false;
	}
	*ret_kind = JOURNAL_REFUSED;
	if (!number_at(&outcome, 0, &first))
		return not_numbers("statement", "first and, if it is a range, last", err);
	if (options->then) {
		char number[32];
		const char *const params[] = {number};

		if (options->together &&
		    (!options->rounds || atomic_load(&thread->head->issued) < options->rounds))
			journal_meet(worker->journal);
		snprintf(number, sizeof(number), "%" PRId64, first);
		if (!ask(worker, &thread->conn, options->then, types, params, 1, &outcome, err)) {
			if (outcome.kind != OUTCOME_ERROR)
				*ret_kind = JOURNAL_CUT_OFF;
			return false;
		}
		if (!number_at(&outcome, 0, &first))
			return not_numbers("then", "first and, if it is a range, last", err);
	}
	if (!number_at(&outcome, 1, &last))
		last = 0;
	*ret = (struct minted){.id = id_from_int64(first), .last = last};
	return true;
}

/* ---- all of them ---- */

bool worker_sources_open(struct worker *worker, struct err *err)
{
	if (worker->options->source == SOURCE_SEGMENT)
		return open_segment(worker, err);
	return !worker->options->acquire || open_lease(worker, err);
}

void worker_sources_close(struct worker *worker)
{
	segment_destroy(worker->segment);
	conn_close(worker->segment_conn);
	lease_destroy(worker->lease);
	conn_close(worker->lease_conn);
}

bool worker_thread_open(struct worker_thread *thread, struct err *err)
{
	const struct worker_options *options = thread->worker->options;

	buf_init(&thread->ids, 0);
	buf_init(&thread->positions, 0);
	buf_init(&thread->epochs, 0);
	if ((options->write || options->source == SOURCE_SQL) &&
	    !worker_connect(thread->worker, &thread->conn, err))
		return false;
	return options->source != SOURCE_FORMAT || open_generator(thread, err);
}

void worker_thread_close(struct worker_thread *thread)
{
	id_generator_destroy(thread->generator);
	conn_close(thread->conn);
	buf_finish(&thread->ids);
	buf_finish(&thread->positions);
	buf_finish(&thread->epochs);
}

bool worker_mint(struct worker_thread *thread, struct minted *ret, enum journal_kind *ret_kind,
                 struct err *err)
{
	switch (thread->worker->options->source) {
	case SOURCE_SEGMENT:
		return mint_segment(thread, ret, ret_kind, err);
	case SOURCE_SQL:
		return mint_sql(thread, ret, ret_kind, err);
	case SOURCE_FORMAT:
		break;
	}
	return mint_format(thread, ret, ret_kind, err);
}
