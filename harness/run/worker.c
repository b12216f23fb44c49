/* SPDX-License-Identifier: PostgreSQL */
/* A worker process: its threads and their loop. */
#include "run/worker.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WRITE_WAIT_NS (60 * NS_PER_S)

/* src/include/catalog/pg_type.dat */
#define INT4_OID 23
#define INT8_ARRAY_OID 1016
#define TEXT_ARRAY_OID 1009

bool worker_connect(const struct worker *worker, struct conn **conn, struct err *err)
{
	struct err inner;

	if (*conn && conn_is_alive(*conn))
		return true;
	conn_close(*conn);
	*conn = NULL;
	if (conn_open_string(worker->conninfo, worker->holder, conn, &inner))
		return true;
	/* src/backend/utils/errcodes.txt: sqlclient_unable_to_establish_sqlconnection */
	return err_set(err, ERR_ENVIRONMENT, "SQLSTATE 08001: %s", inner.message);
}

bool worker_outcome_ok(const struct outcome *outcome, struct err *err)
{
	if (outcome->kind == OUTCOME_OK)
		return true;
	return err_set(err, ERR_ENVIRONMENT, "SQLSTATE %s: %s", outcome->sqlstate,
	               outcome->message.data);
}

void worker_freeze(struct worker *worker)
{
	atomic_store(&worker->process->state, JOURNAL_FROZEN);
	/* To this very thread: it goes no further, and the others stop with it. */
	raise(SIGSTOP);
	atomic_store(&worker->process->state, JOURNAL_RUNNING);
}

/* ---- notes ---- */

/* Where an error says what the server's code was; "" when it was no server's. */
static void take_sqlstate(const char *message, char ret[6])
{
	static const char word[] = "SQLSTATE ";
	const char *at = strstr(message, word);

	ret[0] = '\0';
	if (at && strlen(at) >= sizeof(word) - 1 + 5) {
		memcpy(ret, at + sizeof(word) - 1, 5);
		ret[5] = '\0';
	}
}

static void note_fault(struct worker_thread *thread, bool write, const char *message)
{
	uint64_t count = atomic_load(&thread->head->faults);

	if (count < JOURNAL_FAULTS_MAX) {
		struct journal_fault *fault = &thread->head->fault[count];

		fault->at_ns = clock_now_ns();
		fault->write = write;
		take_sqlstate(message, fault->sqlstate);
		snprintf(fault->message, sizeof(fault->message), "%s", message);
	}
	atomic_store(&thread->head->faults, count + 1);
}

/* false when the journal is full. */
static bool note_entry(struct worker_thread *thread, enum journal_kind kind,
                       const struct minted *minted)
{
	struct journal_thread *head = thread->head;
	uint64_t count = atomic_load(&head->entries);

	if (count < thread->worker->journal->entries_each) {
		struct journal_entry *entry = &thread->entries[count];

		*entry = (struct journal_entry){.at_ns = clock_now_ns(), .kind = (uint8_t)kind};
		if (minted) {
			entry->last = minted->last;
			entry->epoch = minted->epoch;
			entry->len = minted->id.len;
			memcpy(entry->bytes, minted->id.bytes, minted->id.len);
		}
		/* Whole before it can be seen; then the counters. */
		atomic_store(&head->entries, count + 1);
	}
	if (kind == JOURNAL_ISSUED)
		atomic_fetch_add(&head->issued, 1);
	else
		atomic_fetch_add(kind == JOURNAL_REFUSED ? &head->refused : &head->cut_off, 1);
	return count + 1 < thread->worker->journal->entries_each;
}

/* ---- writing ---- */

/* Of `write`: ids, their places, epochs, process, thread. */
static const Oid write_types[] = {TEXT_ARRAY_OID, INT8_ARRAY_OID, INT8_ARRAY_OID, INT4_OID,
                                  INT4_OID};

/*
 * Before the common beginning, so that no parsing is in the times. A fault is the first write's
 * to say: what the statement needs may not be there yet.
 */
static void prepare_write(struct worker_thread *thread)
{
	CLEANUP(outcome_finish) struct outcome outcome;
	struct err err;

	outcome_init(&outcome);
	if (!conn_prepare(thread->conn, thread->worker->options->write, write_types,
	                  COUNT_OF(write_types), deadline_after(WRITE_WAIT_NS), &outcome, &err)) {
		conn_close(thread->conn);
		thread->conn = NULL;
	}
}

/* How long the write took that ends with the thread's last id. */
static void note_write(struct worker_thread *thread, uint64_t write_ns)
{
	for (uint64_t i = atomic_load(&thread->head->entries); i-- > 0;)
		if (thread->entries[i].kind == JOURNAL_ISSUED) {
			thread->entries[i].write_ns = write_ns;
			return;
		}
}

static void add_pending(struct worker_thread *thread, const struct minted *minted)
{
	const struct worker_options *options = thread->worker->options;
	char text[ID_TEXT_BYTES];
	struct err err;
	const char *separator = thread->pending ? "," : "{";

	if (options->source != SOURCE_FORMAT)
		snprintf(text, sizeof(text), "%" PRId64, id_int64(&minted->id));
	else if (!id_generator_print(thread->generator, &minted->id, text, &err))
		text[0] = '\0';
	buf_printf(&thread->ids, "%s%s", separator, text);
	buf_printf(&thread->positions, "%s%" PRIu64, separator, atomic_load(&thread->head->issued));
	buf_printf(&thread->epochs, "%s%" PRId64, separator, minted->epoch);
	thread->pending++;
}

/* Writes what is pending. What becomes of it is counted; the ids are issued in any case. */
static void flush(struct worker_thread *thread)
{
	const struct worker *worker = thread->worker;
	char process[16], number[16];
	CLEANUP(outcome_finish) struct outcome outcome;
	struct err err = {0};

	outcome_init(&outcome);
	if (!thread->pending)
		return;
	buf_add_char(&thread->ids, '}');
	buf_add_char(&thread->positions, '}');
	buf_add_char(&thread->epochs, '}');
	snprintf(process, sizeof(process), "%u", worker->number + 1);
	snprintf(number, sizeof(number), "%u", thread->number + 1);
	const char *const params[] = {thread->ids.data, thread->positions.data, thread->epochs.data,
	                              process, number};
	bool ok = worker_connect(worker, &thread->conn, &err) &&
	          conn_run_prepared(thread->conn, worker->options->write, write_types, params,
	                            COUNT_OF(params), deadline_after(WRITE_WAIT_NS), &outcome,
	                            &err) &&
	          worker_outcome_ok(&outcome, &err);
	if (ok) {
		atomic_fetch_add(&thread->head->written, thread->pending);
		note_write(thread, outcome.duration_ns);
	} else
		atomic_fetch_add(outcome.kind == OUTCOME_ERROR ? &thread->head->write_refused
		                                               : &thread->head->write_cut_off,
		                 thread->pending);
	if (!ok)
		note_fault(thread, true, err.message);
	buf_clear(&thread->ids);
	buf_clear(&thread->positions);
	buf_clear(&thread->epochs);
	thread->pending = 0;
}

/* ---- the loop ---- */

static void pause_for(uint64_t ns)
{
	const struct timespec left = {.tv_sec = (time_t)(ns / NS_PER_S),
	                              .tv_nsec = (long)(ns % NS_PER_S)};

	nanosleep(&left, NULL);
}

/* What comes after an id: it is written, and the thread may have to stop or to wait. */
static void after_issue(struct worker_thread *thread, const struct minted *minted)
{
	struct worker *worker = thread->worker;
	const struct worker_options *options = worker->options;
	bool here = options->freeze_at && atomic_load(&thread->head->issued) == options->freeze_at;

	if (options->write)
		add_pending(thread, minted);
	if (here && options->freeze == FREEZE_WRITE)
		worker_freeze(worker);
	if (thread->pending >= options->batch || (here && options->freeze == FREEZE_ISSUED))
		flush(thread);
	if (here && options->freeze == FREEZE_ISSUED) {
		/* Nothing under way when it stops: what the store gave is in memory. */
		if (worker->segment)
			(void)segment_settle(worker->segment, deadline_after(WRITE_WAIT_NS));
		worker_freeze(worker);
	}
	if (options->pace_ns)
		pause_for(options->pace_ns);
}

/* One attempt; false when the thread's work is at its end. */
static bool attempt(struct worker_thread *thread)
{
	struct worker *worker = thread->worker;
	const struct worker_options *options = worker->options;
	enum journal_kind kind = JOURNAL_REFUSED;
	struct minted minted;
	struct err err = {0};

	atomic_fetch_add(&thread->head->attempted, 1);
	if (worker_mint(thread, &minted, &kind, &err)) {
		bool room = note_entry(thread, JOURNAL_ISSUED, &minted);

		after_issue(thread, &minted);
		return room;
	}
	bool room = note_entry(thread, kind, NULL);
	note_fault(thread, false, err.message);
	if (!options->retry_ns || !room)
		return false;
	pause_for(options->retry_ns);
	return true;
}

static void *thread_main(void *argument)
{
	struct worker_thread *thread = argument;
	struct worker *worker = thread->worker;
	const struct worker_options *options = worker->options;
	uint64_t issued;

	atomic_fetch_add(&worker->process->threads_ready, 1);
	journal_wait_go(worker->journal);
	while ((issued = atomic_load(&thread->head->issued)) < options->ids) {
		/* With two statements the meeting is between them. */
		if (options->together && !options->then && issued % options->together == 0 &&
		    (!options->rounds || issued / options->together < options->rounds))
			journal_meet(worker->journal);
		if (!attempt(thread))
			break;
	}
	flush(thread);
	atomic_store(&thread->head->ended_ns, clock_now_ns());
	journal_leave(worker->journal);
	assert(atomic_load(&thread->head->attempted) ==
	       atomic_load(&thread->head->issued) + atomic_load(&thread->head->refused) +
	               atomic_load(&thread->head->cut_off));
	return NULL;
}

static bool run_threads(struct worker *worker, struct worker_thread *threads, struct err *err)
{
	uint32_t count = worker->options->threads;

	for (uint32_t i = 0; i < count; i++) {
		threads[i].worker = worker;
		threads[i].number = i;
		threads[i].head = journal_thread_of(worker->journal, worker->number, i);
		threads[i].entries = journal_entries(worker->journal, worker->number, i);
		if (!worker_thread_open(&threads[i], err))
			return false;
		if (worker->options->write)
			prepare_write(&threads[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		if ((errno = pthread_create(&threads[i].thread, NULL, thread_main, &threads[i])))
			return err_errno(err, "starting a thread");
	/* The first to be here is READY for the whole process when all its threads are. */
	while (atomic_load(&worker->process->threads_ready) < count)
		pause_for(NS_PER_MS / 10);
	atomic_store(&worker->process->state, JOURNAL_READY);
	journal_wait_go(worker->journal);
	atomic_compare_exchange_strong(&worker->process->state, &(int){JOURNAL_READY},
	                               JOURNAL_RUNNING);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i].thread, NULL);
	if (worker->segment)
		(void)segment_settle(worker->segment, deadline_after(WRITE_WAIT_NS));
	for (uint32_t i = count; i-- > 0;)
		worker_note_counts(&threads[i]);
	return true;
}

static bool work(struct worker *worker, struct err *err)
{
	struct worker_thread *threads = calloc(worker->options->threads, sizeof(*threads));

	if (!threads)
		return err_set(err, ERR_SYSTEM, "out of memory");
	bool ok = worker_sources_open(worker, err) && run_threads(worker, threads, err);
	if (ok) {
		for (uint32_t i = 0; i < worker->options->threads; i++)
			worker_thread_close(&threads[i]);
		worker_sources_close(worker);
	}
	free(threads);
	return ok;
}

/* {"conninfo": …, "name": …, "options": {name: text}} into what borrows from root. */
static bool read_spec(json_t *root, struct worker *worker, struct worker_options *options,
                      struct pair *pairs, size_t pairs_max, struct err *err)
{
	json_t *map = json_object_get(root, "options"), *value;
	const char *name = json_string_value(json_object_get(root, "name")), *key;
	struct pairs list = {.items = pairs};

	worker->conninfo = json_string_value(json_object_get(root, "conninfo"));
	if (!map || !name || !worker->conninfo)
		return err_set(err, ERR_INTERNAL, "the journal holds no spec");
	json_object_foreach(map, key, value)
	{
		if (list.count == pairs_max)
			return err_set(err, ERR_INTERNAL, "more than %zu options", pairs_max);
		pairs[list.count++] = (struct pair){.name = key, .text = json_string_value(value)};
	}
	snprintf(worker->holder, sizeof(worker->holder), "%.60s-%u", name, worker->number + 1);
	return worker_options_read(&list, options, err);
}

int worker_main(int fd, long number)
{
	struct worker worker = {0};
	struct worker_options options;
	struct pair pairs[64];
	struct err err = {0};
	json_error_t fault;

	if (!journal_map(fd, &worker.journal, &err) || number < 1 ||
	    number > (long)worker.journal->processes)
		return 64;
	worker.number = (uint32_t)number - 1;
	worker.process = &worker.journal->process[worker.number];
	worker.options = &options;
	json_t *root = json_loads(journal_spec(worker.journal), 0, &fault);
	bool ok = read_spec(root, &worker, &options, pairs, COUNT_OF(pairs), &err) &&
	          work(&worker, &err);
	if (!ok)
		snprintf(worker.process->failure, sizeof(worker.process->failure), "%.1000s",
		         err.message);
	atomic_store(&worker.process->state, JOURNAL_ENDED);
	json_decref(root);
	return ok ? 0 : 1;
}
