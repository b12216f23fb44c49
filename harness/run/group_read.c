/* SPDX-License-Identifier: PostgreSQL */
/* A group's journal as samples, and as rows of a table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "run/group.h"

/* Of a thread: later spans are left out. */
#define SPANS_MAX 100
#define COPY_CHUNK_BYTES 65536

/* Where readings go, and the labels of the next ones. */
struct out {
	struct readings *readings;
	char labels[96];
	struct err *err;
	bool failed;
};

static void put(struct out *out, const char *metric, const char *type, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	out->failed = out->failed ||
	              !readings_add(out->readings, metric, type, text, out->labels, out->err);
}

/* A text, though most SQLSTATEs look like numbers. */
static void put_text(struct out *out, const char *metric, const char *text)
{
	if (out->failed ||
	    !readings_add_text(out->readings, metric, "event", text, NULL, out->err)) {
		out->failed = true;
		return;
	}
	struct reading *last = &out->readings->items[out->readings->count - 1];
	snprintf(last->labels, sizeof(last->labels), "%s", out->labels);
}

static uint64_t since(uint64_t at_ns, uint64_t origin_ns)
{
	return at_ns > origin_ns ? at_ns - origin_ns : 0;
}

/* ---- figures ---- */

struct sums {
	uint64_t attempted, issued, refused, cut_off, waits, back_steps, overflows;
	uint64_t written, write_refused, write_cut_off, faults;
};

/* Adds a thread's; an attempt that a kill has ended is cut off. */
static bool add_thread(struct group *group, uint32_t process, uint32_t number, struct sums *sums,
                       struct err *err)
{
	struct journal_thread *thread = journal_thread_of(group->journal, process, number);
	const struct journal_entry *entries = journal_entries(group->journal, process, number);
	uint64_t attempted = atomic_load(&thread->attempted);
	uint64_t ended = atomic_load(&thread->entries);
	uint64_t kinds[JOURNAL_CUT_OFF + 1] = {0};

	/* What the journal holds, not what the counters say: those come second, and a kill between.
	 */
	for (uint64_t i = 0; i < ended; i++)
		kinds[entries[i].kind]++;
	uint64_t counted = atomic_load(&thread->issued) + atomic_load(&thread->refused) +
	                   atomic_load(&thread->cut_off);
	bool by_signal = WIFSIGNALED(group->status[process]);
	if (by_signal && attempted == ended + 1)
		kinds[JOURNAL_CUT_OFF]++;
	else if (attempted != ended || (counted != ended && !(by_signal && counted + 1 == ended)))
		return err_set(err, ERR_INTERNAL,
		               "worker %s-%u, thread %u: of %" PRIu64 " attempts %" PRIu64
		               " are in the journal and %" PRIu64 " counted",
		               group->name, process + 1, number + 1, attempted, ended, counted);
	sums->attempted += attempted;
	sums->issued += kinds[JOURNAL_ISSUED];
	sums->refused += kinds[JOURNAL_REFUSED];
	sums->cut_off += kinds[JOURNAL_CUT_OFF];
	sums->waits += atomic_load(&thread->waits);
	sums->back_steps += atomic_load(&thread->back_steps);
	sums->overflows += atomic_load(&thread->overflows);
	sums->written += atomic_load(&thread->written);
	sums->write_refused += atomic_load(&thread->write_refused);
	sums->write_cut_off += atomic_load(&thread->write_cut_off);
	sums->faults += atomic_load(&thread->faults);
	return true;
}

/* What only a process that ended by itself can say. */
static void put_sources(struct out *out, const struct group *group, uint32_t process,
                        const struct sums *sums)
{
	const struct journal_process *head = &group->journal->process[process];

	if (WIFSIGNALED(group->status[process]))
		return;
	if (group->options.source == SOURCE_SEGMENT) {
		put(out, "segments", "event", head->segments);
		put(out, "segments_ahead", "event", head->segments_ahead);
		put(out, "waits", "event", head->segment_waits);
		put(out, "fetch_failures", "event", head->segment_failures);
		put(out, "allocated", "event", head->allocated);
		put(out, "unused", "event", head->unused);
	} else if (group->options.source == SOURCE_FORMAT) {
		put(out, "waits", "event", sums->waits);
		put(out, "back_steps", "event", sums->back_steps);
		put(out, "overflows", "event", sums->overflows);
	}
}

static void put_process(struct out *out, const struct group *group, uint32_t process,
                        const struct sums *sums)
{
	const struct journal_process *head = &group->journal->process[process];
	int status = group->status[process];

	snprintf(out->labels, sizeof(out->labels), "{\"process\":%u}", process + 1);
	put(out, "attempted", "event", sums->attempted);
	put(out, "issued", "event", sums->issued);
	put(out, "refused", "event", sums->refused);
	put(out, "cut_off", "event", sums->cut_off);
	/* As a shell has it: 128 and the signal. */
	put(out, "exit_code", "event",
	    (uint64_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
	if (group->options.write) {
		put(out, "written", "event", sums->written);
		put(out, "write_refused", "event", sums->write_refused);
		put(out, "write_cut_off", "event", sums->write_cut_off);
	}
	if (group->options.acquire) {
		put(out, "lease_node", "event", head->lease_node);
		put(out, "lease_epoch", "event", head->lease_epoch);
	}
	put(out, "faults", "event", sums->faults);
	put_sources(out, group, process, sums);
}

/* ---- times ---- */

static void put_span(struct out *out, const struct journal_entry *first,
                     const struct journal_entry *last, uint64_t count, uint64_t origin_ns)
{
	bool serving = first->kind == JOURNAL_ISSUED;

	put(out, serving ? "serving_from_ns" : "refusing_from_ns", "timing",
	    since(first->at_ns, origin_ns));
	put(out, serving ? "serving_to_ns" : "refusing_to_ns", "timing",
	    since(last->at_ns, origin_ns));
	put(out, serving ? "serving_ids" : "refusing_attempts", "event", count);
}

static void label(struct out *out, uint32_t process, uint32_t thread, const char *what,
                  uint64_t number)
{
	snprintf(out->labels, sizeof(out->labels),
	         "{\"process\":%u,\"thread\":%u,\"%s\":%" PRIu64 "}", process + 1, thread + 1, what,
	         number);
}

/* Stretches in which every attempt came to the same: numbers, or none. */
static void put_spans(struct out *out, struct group *group, uint32_t process, uint32_t number,
                      uint64_t origin_ns)
{
	struct journal_thread *thread = journal_thread_of(group->journal, process, number);
	const struct journal_entry *entries = journal_entries(group->journal, process, number);
	uint64_t count = atomic_load(&thread->entries), begin = 0, spans = 0;

	for (uint64_t i = 0; i < count && spans < SPANS_MAX; i++) {
		bool serving = entries[i].kind == JOURNAL_ISSUED;

		if (i + 1 < count && serving == (entries[i + 1].kind == JOURNAL_ISSUED))
			continue;
		label(out, process, number, "span", ++spans);
		put_span(out, &entries[begin], &entries[i], i + 1 - begin, origin_ns);
		begin = i + 1;
	}
}

static void put_faults(struct out *out, struct group *group, uint32_t process, uint32_t number,
                       uint64_t origin_ns)
{
	struct journal_thread *thread = journal_thread_of(group->journal, process, number);
	uint64_t count = atomic_load(&thread->faults);

	for (uint64_t i = 0; i < count && i < JOURNAL_FAULTS_MAX; i++) {
		const struct journal_fault *fault = &thread->fault[i];

		label(out, process, number, "fault", i + 1);
		put(out, "fault_at_ns", "timing", since(fault->at_ns, origin_ns));
		put_text(out, fault->write ? "write_sqlstate" : "sqlstate", fault->sqlstate);
		put_text(out, fault->write ? "write_message" : "message", fault->message);
	}
}

bool group_readings(struct group *group, uint64_t origin_ns, struct readings *ret, struct err *err)
{
	struct out out = {.readings = ret, .err = err};

	for (uint32_t p = 0; p < group->options.processes; p++) {
		struct sums sums = {0};

		for (uint32_t t = 0; t < group->options.threads; t++)
			if (!add_thread(group, p, t, &sums, err))
				return false;
		put_process(&out, group, p, &sums);
		for (uint32_t t = 0; t < group->options.threads; t++) {
			put_spans(&out, group, p, t, origin_ns);
			put_faults(&out, group, p, t, origin_ns);
		}
	}
	if (out.failed)
		return false;
	return !group->options.write || group_write_readings(group, ret, err);
}

/* ---- rows ---- */

enum column {
	COLUMN_PROCESS,
	COLUMN_THREAD,
	COLUMN_POSITION,
	COLUMN_ID,
	COLUMN_LAST,
	COLUMN_EPOCH,
	COLUMN_AT_NS,
	COLUMN_COUNT,
};
static const char *const column_names[COLUMN_COUNT] = {
        [COLUMN_PROCESS] = "process", [COLUMN_THREAD] = "thread", [COLUMN_POSITION] = "position",
        [COLUMN_ID] = "id",           [COLUMN_LAST] = "last",     [COLUMN_EPOCH] = "epoch",
        [COLUMN_AT_NS] = "at_ns",
};

static bool find_column(const char *name, size_t len, enum column *ret)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (strlen(column_names[i]) == len && !memcmp(column_names[i], name, len)) {
			*ret = (enum column)i;
			return true;
		}
	return false;
}

/* The columns of "TABLE (a, b)", which are journal fields by name. */
static bool read_columns(const char *record, enum column *ret, size_t *ret_count, struct err *err)
{
	const char *at = strchr(record, '(');
	size_t count = 0;

	while (at && *at != ')') {
		at++;
		at += strspn(at, " \t\r\n");
		size_t len = strcspn(at, " \t\r\n,)");
		if (count == COLUMN_COUNT || !find_column(at, len, &ret[count]))
			return err_set(err, ERR_INPUT,
			               "`record` has the column \"%.*s\"; the journal has process, "
			               "thread, position, id, last, epoch, at_ns",
			               (int)len, at);
		count++;
		at += len;
		at += strspn(at, " \t\r\n");
		if (!*at)
			at = NULL;
	}
	if (!count || !at)
		return err_set(err, ERR_INPUT,
		               "`record` is \"%s\"; write a table and its columns, as: issued "
		               "(position, id)",
		               record);
	*ret_count = count;
	return true;
}

static bool add_id(const struct group *group, const struct journal_entry *entry, struct buf *row,
                   struct err *err)
{
	struct id id = {.len = entry->len};
	char text[ID_TEXT_BYTES];

	memcpy(id.bytes, entry->bytes, entry->len);
	if (group->options.source != SOURCE_FORMAT) {
		buf_printf(row, "%" PRId64, id_int64(&id));
		return true;
	}
	if (!id_print(group->options.format, &id, group->options.ids_options.prefix, text, err))
		return false;
	/* No format prints what COPY would read as its own. */
	buf_add(row, text);
	return true;
}

/* Where in the journal a COPY is. */
struct feed {
	struct group *group;
	uint64_t origin_ns;
	enum column columns[COLUMN_COUNT];
	size_t columns_count;
	uint32_t process, thread;
	uint64_t next, position;
	struct buf rows;
};

static bool add_row(struct feed *feed, const struct journal_entry *entry, struct err *err)
{
	struct buf *rows = &feed->rows;

	for (size_t i = 0; i < feed->columns_count; i++) {
		buf_add(rows, i ? "\t" : "");
		switch (feed->columns[i]) {
		case COLUMN_PROCESS:
			buf_printf(rows, "%u", feed->process + 1);
			break;
		case COLUMN_THREAD:
			buf_printf(rows, "%u", feed->thread + 1);
			break;
		case COLUMN_POSITION:
			buf_printf(rows, "%" PRIu64, feed->position);
			break;
		case COLUMN_ID:
			if (!add_id(feed->group, entry, rows, err))
				return false;
			break;
		case COLUMN_LAST:
			if (entry->last)
				buf_printf(rows, "%" PRId64, entry->last);
			else
				buf_add(rows, "\\N");
			break;
		case COLUMN_EPOCH:
			buf_printf(rows, "%" PRId64, entry->epoch);
			break;
		case COLUMN_AT_NS:
			buf_printf(rows, "%" PRIu64, since(entry->at_ns, feed->origin_ns));
			break;
		case COLUMN_COUNT:
			break;
		}
	}
	buf_add_char(rows, '\n');
	return true;
}

/* The rows of one thread, from where it stopped, until there are enough for a piece. */
static bool feed_thread(struct feed *feed, struct err *err)
{
	struct journal_thread *thread =
	        journal_thread_of(feed->group->journal, feed->process, feed->thread);
	const struct journal_entry *entries =
	        journal_entries(feed->group->journal, feed->process, feed->thread);
	uint64_t count = atomic_load(&thread->entries);

	for (; feed->next < count && feed->rows.len < COPY_CHUNK_BYTES; feed->next++) {
		if (entries[feed->next].kind != JOURNAL_ISSUED)
			continue;
		feed->position++;
		if (!add_row(feed, &entries[feed->next], err))
			return false;
	}
	if (feed->next < count)
		return true;
	feed->next = feed->position = 0;
	if (++feed->thread == feed->group->options.threads) {
		feed->thread = 0;
		feed->process++;
	}
	return true;
}

/* A conn_copy_fn. */
static bool feed_next(void *arg, const char **ret_data, size_t *ret_len, struct err *err)
{
	struct feed *feed = arg;

	buf_clear(&feed->rows);
	while (feed->process < feed->group->options.processes && feed->rows.len < COPY_CHUNK_BYTES)
		if (!feed_thread(feed, err))
			return false;
	if (!buf_ok(&feed->rows, err))
		return false;
	*ret_data = feed->rows.data;
	*ret_len = feed->rows.len;
	return true;
}

bool group_record(struct group *group, struct conn *conn, uint64_t origin_ns, uint64_t deadline_ns,
                  struct err *err)
{
	struct feed feed = {.group = group, .origin_ns = origin_ns};
	CLEANUP(buf_finish) struct buf sql;
	CLEANUP(outcome_finish) struct outcome outcome;

	buf_init(&sql, 0);
	outcome_init(&outcome);
	if (!group->options.record)
		return true;
	if (!read_columns(group->options.record, feed.columns, &feed.columns_count, err))
		return false;
	buf_printf(&sql, "copy %s from stdin", group->options.record);
	buf_init(&feed.rows, 0);
	bool ok = buf_ok(&sql, err) &&
	          conn_copy_in(conn, sql.data, feed_next, &feed, deadline_ns, &outcome, err);
	buf_finish(&feed.rows);
	if (ok && outcome.kind != OUTCOME_OK)
		ok = err_set(err, ERR_ENVIRONMENT, "SQLSTATE %s: %s", outcome.sqlstate,
		             outcome.message.data);
	return ok || err_within(err, "recording in %s", group->options.record);
}
