/* SPDX-License-Identifier: PostgreSQL */
/* The verb mint: ids of a generator of the harness into a table, by binary COPY. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ids/ids.h"
#include "run/walk.h"

#define PIECE_BYTES 65536
#define GENERATORS_MAX 64

/* What the COPY is fed from. */
struct minting {
	struct id_generator *generator; /* owned */
	struct id_options options;
	struct id_manual_clock clock; /* with `rate` or `clock_ms` */
	bool manual;
	double first_ms, rate; /* of the manual clock: ids per second */
	bool numbered;
	int64_t rows, done;
	bool began, ended;
	uint64_t mint_ns; /* spent in the generator */
	char piece[PIECE_BYTES];
	size_t piece_len;
};

const char *const *mint_generator_names(void)
{
	static const char *names[GENERATORS_MAX + 1];

	for (size_t i = 0; i < id_format_count && i < GENERATORS_MAX; i++)
		names[i] = id_formats[i]->name;
	return names;
}

/* ---- options ---- */

static bool set_number(struct minting *minting, const char *name, int64_t value)
{
	struct id_options *options = &minting->options;

	if (!strcmp(name, "node")) {
		options->node = value;
	} else if (!strcmp(name, "block_size")) {
		options->block_size = value;
	} else if (!strcmp(name, "block_count")) {
		options->block_count = value;
	} else if (!strcmp(name, "seed")) {
		options->has_seed = true;
		options->seed = (uint64_t)value;
	} else if (!strcmp(name, "clock_ms")) {
		minting->manual = true;
		minting->first_ms = (double)value;
	} else if (!strcmp(name, "rate")) {
		minting->manual = true;
		minting->rate = (double)value;
	} else if (!strcmp(name, "every_ms")) {
		minting->manual = true;
		minting->rate = 1000.0 / (double)value;
	} else {
		return false;
	}
	return true;
}

static bool set_option(struct minting *minting, const char *name, const char *text,
                       struct arena *arena, struct err *err)
{
	enum quantity_kind kind;
	int64_t value;

	if (!strcmp(name, "prefix")) {
		minting->options.prefix = arena_strdup(arena, text);
		return minting->options.prefix || err_set(err, ERR_SYSTEM, "out of memory");
	}
	if (!quantity_parse_integer(text, &value, &kind, err))
		return err_within(err, "option %s", name);
	if (kind != QUANTITY_COUNT ||
	    (!value && (!strcmp(name, "rate") || !strcmp(name, "every_ms"))))
		return err_set(err, ERR_INPUT, "option %s: \"%s\" is no number that it can take",
		               name, text);
	return set_number(minting, name, value) ||
	       err_set(err, ERR_INTERNAL, "no option %s of a generator", name);
}

static void start_clock(struct minting *minting)
{
	if (!minting->manual)
		return;
	if (!minting->first_ms)
		minting->first_ms = (double)(clock_wall_us() / 1000);
	if (!minting->rate)
		minting->rate = 1000;
	id_manual_clock_init(&minting->clock, (int64_t)minting->first_ms, 0);
	minting->options.clock = &minting->clock.clock;
}

/* The clock of id number n; a wait may have moved it on already. */
static void set_clock(struct minting *minting, int64_t n)
{
	/* Only a clock that we move has a rate. */
	if (!minting->manual)
		return;
	double at_ms = minting->first_ms + (double)n * 1000.0 / minting->rate;
	int64_t ms = (int64_t)at_ms;
	if (ms < minting->clock.time.ms)
		return;
	minting->clock.time.ms = ms;
	minting->clock.time.sub_ns = (uint32_t)((at_ms - (double)ms) * 1e6);
}

/* ---- binary COPY (PostgreSQL documentation, COPY, "Binary Format") ---- */

static void put_be(struct minting *minting, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		minting->piece[minting->piece_len++] = (char)(value >> (8 * i));
}

static void put_bytes(struct minting *minting, const void *bytes, size_t len)
{
	put_be(minting, len, 4);
	memcpy(minting->piece + minting->piece_len, bytes, len);
	minting->piece_len += len;
}

static bool put_row(struct minting *minting, struct err *err)
{
	const struct id_format *format = id_generator_format(minting->generator);
	char text[ID_TEXT_BYTES];
	struct id id;

	set_clock(minting, minting->done);
	if (!id_generator_next(minting->generator, &id, err))
		return false;
	put_be(minting, minting->numbered ? 2 : 1, 2);
	if (strcmp(format->pg_type, "text")) {
		put_bytes(minting, id.bytes, id.len);
	} else {
		if (!id_generator_print(minting->generator, &id, text, err))
			return false;
		put_bytes(minting, text, strlen(text));
	}
	minting->done++;
	if (minting->numbered) {
		put_be(minting, 8, 4);
		put_be(minting, (uint64_t)minting->done, 8);
	}
	return true;
}

static bool next_piece(void *arg, const char **ret_data, size_t *ret_len, struct err *err)
{
	static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
	struct minting *minting = arg;
	const size_t row_bytes = 2 + 4 + ID_TEXT_BYTES + 12;
	uint64_t started_ns = clock_now_ns();

	minting->piece_len = 0;
	if (!minting->began) {
		memcpy(minting->piece, head, sizeof(head));
		minting->piece_len = sizeof(head);
		minting->began = true;
	}
	while (minting->done < minting->rows && minting->piece_len + row_bytes + 2 <= PIECE_BYTES)
		if (!put_row(minting, err))
			return err_within(err, "id %lld of %lld", (long long)minting->done + 1,
			                  (long long)minting->rows);
	if (minting->done == minting->rows && !minting->ended &&
	    minting->piece_len + 2 <= PIECE_BYTES) {
		put_be(minting, 0xffff, 2);
		minting->ended = true;
	}
	minting->mint_ns += clock_now_ns() - started_ns;
	*ret_data = minting->piece;
	*ret_len = minting->piece_len;
	return true;
}

/* ---- the step ---- */

/* The step's texts with their names replaced. */
struct mint_texts {
	char *generator, *rows, *into, *column, *number; /* owned; number may be NULL */
};

static void mint_texts_finish(struct mint_texts *texts)
{
	free(texts->generator);
	free(texts->rows);
	free(texts->into);
	free(texts->column);
	free(texts->number);
}

static bool expand_texts(struct walk *walk, const struct step *step, const struct scope *scope,
                         struct mint_texts *ret, enum walk_end *ret_end, struct err *err)
{
	const struct step_mint *mint = &step->mint;

	return (ret->generator = walk_expand(walk, step, mint->generator, scope, ret_end, err)) &&
	       (ret->rows = walk_expand(walk, step, mint->rows, scope, ret_end, err)) &&
	       (ret->into = walk_expand(walk, step, mint->into, scope, ret_end, err)) &&
	       (ret->column = walk_expand(walk, step, mint->column, scope, ret_end, err)) &&
	       (!mint->number ||
	        (ret->number = walk_expand(walk, step, mint->number, scope, ret_end, err)));
}

static bool expand_options(struct walk *walk, const struct step *step, const struct scope *scope,
                           struct minting *minting, enum walk_end *ret_end, struct err *err)
{
	for (size_t i = 0; i < step->mint.options.count; i++) {
		const struct pair *option = &step->mint.options.items[i];
		CLEANUP(free_p)
		char *text = walk_expand(walk, step, option->text, scope, ret_end, err);
		struct err inner;

		if (!text)
			return false;
		if (!set_option(minting, option->name, text, &walk->arena, &inner)) {
			*ret_end = walk_end_at(walk, step, "%s", inner.message);
			return false;
		}
	}
	return true;
}

/* Everything up to the first id; what a scenario got wrong ends it. */
static bool prepare(struct walk *walk, const struct step *step, const struct scope *scope,
                    struct mint_texts *texts, struct minting *ret, enum walk_end *ret_end,
                    struct err *err)
{
	const struct id_format *format;
	enum quantity_kind kind;
	struct err inner;

	*ret_end = WALK_FAILS;
	if (!expand_texts(walk, step, scope, texts, ret_end, err) ||
	    !expand_options(walk, step, scope, ret, ret_end, err))
		return false;
	start_clock(ret);
	ret->numbered = texts->number != NULL;
	format = id_format_require(texts->generator, &inner);
	if (!format || !quantity_parse_integer(texts->rows, &ret->rows, &kind, &inner) ||
	    !id_generator_create(format, &ret->options, &ret->generator, &inner)) {
		*ret_end = walk_end_at(walk, step, "%s", inner.message);
		return false;
	}
	return true;
}

/* The counts, and what the format promises: a claim may set the one beside a measurement. */
static bool mint_readings(const struct minting *minting, struct readings *ret, struct err *err)
{
	const struct id_format *format = id_generator_format(minting->generator);
	const struct id_counts *counts = id_generator_counts(minting->generator);

	return readings_add_int(ret, "issued_ids", "exact", (int64_t)counts->issued, err) &&
	       readings_add_int(ret, "wait_count", "event", (int64_t)counts->waits, err) &&
	       readings_add_int(ret, "overflow_count", "event", (int64_t)counts->overflows, err) &&
	       readings_add_int(ret, "mint_ns", "timing", (int64_t)minting->mint_ns, err) &&
	       readings_add_int(ret, "promised_bytes", "exact", format->stored_bytes, err) &&
	       readings_add_int(ret, "printed_bytes", "exact", format->text_bytes, err) &&
	       readings_add_int(ret, "random_bits", "exact", format->random_bits, err) &&
	       readings_add_int(ret, "promises_order", "exact", format->sorts_by_time, err) &&
	       readings_add_text(ret, "coordination", "exact", format->coordination, NULL, err);
}

static void copy_statement(const struct mint_texts *texts, struct buf *ret)
{
	buf_printf(ret, "copy %s (%s%s%s) from stdin (format binary)", texts->into, texts->column,
	           texts->number ? ", " : "", texts->number ? texts->number : "");
}

static enum walk_end mint(struct walk *walk, const struct step *step, const struct frame *frame,
                          const struct mint_texts *texts, struct minting *minting, struct err *err)
{
	CLEANUP(outcome_finish) struct outcome outcome;
	CLEANUP(buf_finish) struct buf sql;
	struct readings readings = {0};
	struct session *session;
	struct err inner = {0};
	int64_t step_id;

	outcome_init(&outcome);
	buf_init(&sql, 0);
	copy_statement(texts, &sql);
	if (!buf_ok(&sql, err))
		return WALK_FAILS;
	if (!session_get(walk, step->session, &session, err))
		return walk_no_session(walk, step, err);
	if (session->sent)
		return walk_end_at(walk, step,
		                   "session %s still runs a statement in the background; "
		                   "join it first",
		                   session->name);
	if (!conn_copy_in(session->conn, sql.data, next_piece, minting,
	                  deadline_after(step->deadline_ns), &outcome, &inner)) {
		/* A generator that refuses is the scenario's affair. */
		if (inner.kind == ERR_INPUT || inner.kind == ERR_USAGE)
			return walk_end_at(walk, step, "%s", inner.message);
		*err = inner;
		return WALK_FAILS;
	}
	bool ok = outcome.kind != OUTCOME_OK || mint_readings(minting, &readings, err);
	const struct step_record record = {
	        .step = step,
	        .frame = frame,
	        .session = session->name,
	        .sql = sql.data,
	        .outcome = &outcome,
	        .readings = &readings,
	};
	ok = ok && walk_record(walk, &record, &step_id, err) &&
	     walk_note_blocked(walk, &outcome, step_id, err) &&
	     walk_record_pending(walk, session, step, frame, err);
	readings_finish(&readings);
	return ok ? walk_judge(walk, step, &outcome) : WALK_FAILS;
}

enum walk_end do_mint(struct walk *walk, const struct step *step, const struct scope *scope,
                      const struct frame *frame, struct err *err)
{
	CLEANUP(free_p) struct minting *minting = calloc(1, sizeof(*minting));
	CLEANUP(mint_texts_finish) struct mint_texts texts = {0};
	enum walk_end end;

	if (!minting) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return WALK_FAILS;
	}
	if (prepare(walk, step, scope, &texts, minting, &end, err))
		end = mint(walk, step, frame, &texts, minting, err);
	id_generator_destroy(minting->generator);
	return end;
}
