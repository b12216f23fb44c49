/* SPDX-License-Identifier: PostgreSQL */
/* The table of workers' options, and reading them. */
#include "run/worker_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "run/journal.h"

#define FORMAT 1u
#define NODES 2u /* formats with node numbers */
#define PREFIXES 4u
#define BLOCKS 8u
#define SEGMENT 16u
#define STATEMENT 32u
#define ANY 63u

#define BATCH_DEFAULT 1000
#define PATIENCE_DEFAULT_NS (10 * NS_PER_S)

/* In the order in which docs/scenarios.md lists them. */
static const struct option_row {
	unsigned families;
	struct worker_option option;
} rows[] = {
        {ANY, {"generator", OPTION_NAME, true, 0, 0}},
        {ANY, {"processes", OPTION_COUNT, false, 1, JOURNAL_PROCESSES_MAX}},
        {ANY, {"threads", OPTION_COUNT, false, 1, JOURNAL_THREADS_MAX}},
        {ANY, {"ids", OPTION_COUNT, true, 1, JOURNAL_IDS_MAX}},
        {ANY, {"write", OPTION_SQL, false, 0, 0}},
        {ANY, {"batch", OPTION_COUNT, false, 1, 100000}},
        {ANY, {"record", OPTION_TEXT, false, 0, 0}},
        {ANY, {"retry", OPTION_DURATION, false, 1, 3600000}},
        {ANY, {"pace", OPTION_DURATION, false, 1, 3600000}},
        {ANY, {"together", OPTION_COUNT, false, 1, JOURNAL_IDS_MAX}},
        {ANY, {"rounds", OPTION_COUNT, false, 1, JOURNAL_IDS_MAX}},
        {ANY, {"freeze", OPTION_TEXT, false, 0, 0}},
        {FORMAT, {"seed", OPTION_COUNT, false, 0, INT64_MAX}},
        {FORMAT, {"clock_ms", OPTION_COUNT, false, 1, INT64_MAX}},
        {FORMAT, {"readings_per_ms", OPTION_COUNT, false, 0, 1000000}},
        {FORMAT, {"clock_steps", OPTION_TEXT, false, 0, 0}},
        {NODES, {"node", OPTION_TEXT, false, 0, 0}},
        {NODES, {"back_limit", OPTION_DURATION, false, 1, 3600000}},
        {NODES, {"acquire", OPTION_SQL, false, 0, 0}},
        {NODES, {"renew", OPTION_SQL, false, 0, 0}},
        {NODES, {"release", OPTION_SQL, false, 0, 0}},
        {PREFIXES, {"prefix", OPTION_TEXT, false, 0, 0}},
        {BLOCKS, {"block_size", OPTION_COUNT, false, 1, INT64_MAX}},
        {BLOCKS, {"block_count", OPTION_COUNT, false, 1, INT64_MAX}},
        {SEGMENT, {"tag", OPTION_TEXT, true, 0, 0}},
        {SEGMENT, {"fetch", OPTION_SQL, true, 0, 0}},
        {SEGMENT, {"step", OPTION_COUNT, false, 0, INT64_MAX}},
        {SEGMENT, {"low_percent", OPTION_COUNT, false, 1, 100}},
        {SEGMENT, {"settle", OPTION_FLAG, false, 0, 0}},
        {SEGMENT, {"patience", OPTION_DURATION, false, 1, 3600000}},
        {STATEMENT, {"statement", OPTION_SQL, true, 0, 0}},
        {STATEMENT, {"then", OPTION_SQL, false, 0, 0}},
};

static unsigned families_of(const char *generator, const struct id_format **ret_format)
{
	*ret_format = NULL;
	if (!strcmp(generator, "segment"))
		return SEGMENT;
	if (!strcmp(generator, "sql"))
		return STATEMENT;
	const struct id_format *format = id_format_find(generator);
	if (!format)
		return 0;
	*ret_format = format;
	unsigned families = FORMAT;
	if (format->has_node)
		families |= NODES;
	if (format->has_prefix)
		families |= PREFIXES;
	if (format->has_blocks)
		families |= BLOCKS;
	return families;
}

/* One table a set of families, made at its first use. */
const struct worker_option *worker_options_of(const char *generator)
{
	static struct worker_option tables[ANY + 1][COUNT_OF(rows) + 1];
	const struct id_format *format;
	unsigned families = families_of(generator, &format);

	if (!families)
		return NULL;
	struct worker_option *table = tables[families];
	for (size_t i = 0, n = 0; !table[0].name && i < COUNT_OF(rows); i++)
		if (rows[i].families == ANY || rows[i].families & families) {
			/* The first entry last: it says that the table is whole. */
			if (n)
				table[n] = rows[i].option;
			n++;
		}
	table[0] = rows[0].option;
	return table;
}

const char *const *worker_generators(void)
{
	static const char *names[32];
	size_t n = 0;

	names[n++] = "segment";
	names[n++] = "sql";
	for (size_t i = 0; i < id_format_count && n + 1 < COUNT_OF(names); i++)
		names[n++] = id_formats[i]->name;
	return names;
}

/* ---- reading ---- */

struct reader {
	const struct pairs *pairs;
	struct err *err;
	bool failed;
};

static const char *text_of(const struct reader *reader, const char *name)
{
	const struct pair *pair = pairs_find(reader->pairs, name);

	return pair ? pair->text : NULL;
}

static int64_t number_of(struct reader *reader, const char *name, enum quantity_kind wanted,
                         int64_t absent)
{
	const char *text = text_of(reader, name);
	enum quantity_kind kind;
	int64_t number;

	if (!text || reader->failed)
		return absent;
	if (!quantity_parse_integer(text, &number, &kind, reader->err)) {
		reader->failed = !err_within(reader->err, "`%s`", name);
		return absent;
	}
	if (kind != wanted)
		reader->failed =
		        !err_set(reader->err, ERR_INPUT, "`%s` is \"%s\"; write a %s", name, text,
		                 wanted == QUANTITY_COUNT ? "number" : "duration");
	return number;
}

static uint64_t count_of(struct reader *reader, const char *name, int64_t absent)
{
	return (uint64_t)number_of(reader, name, QUANTITY_COUNT, absent);
}

static uint64_t ns_of(struct reader *reader, const char *name, uint64_t absent_ns)
{
	if (!text_of(reader, name))
		return absent_ns;
	return (uint64_t)number_of(reader, name, QUANTITY_DURATION, 0) * NS_PER_MS;
}

/* "issued 25", "check 500", "write 7" */
static void read_freeze(struct reader *reader, struct worker_options *ret)
{
	static const struct {
		const char *name;
		enum freeze_point point;
	} points[] = {{"issued", FREEZE_ISSUED}, {"check", FREEZE_CHECK}, {"write", FREEZE_WRITE}};
	const char *text = text_of(reader, "freeze");
	char word[16];
	long long at;
	int len = 0;

	if (!text || reader->failed)
		return;
	if (sscanf(text, "%15s %lld%n", word, &at, &len) == 2 && !text[len] && at > 0)
		for (size_t i = 0; i < COUNT_OF(points); i++)
			if (!strcmp(points[i].name, word)) {
				ret->freeze = points[i].point;
				ret->freeze_at = (uint64_t)at;
				return;
			}
	reader->failed = !err_set(reader->err, ERR_INPUT,
	                          "`freeze` is \"%s\"; write issued, check or write, and the "
	                          "number of the id, as: issued 25",
	                          text);
}

/* "500 -5000, 900 20" */
static void read_clock_steps(struct reader *reader, struct worker_options *ret)
{
	const char *text = text_of(reader, "clock_steps");

	for (const char *at = text; at && !reader->failed;) {
		long long after, by_ms;
		int len = 0;

		if (sscanf(at, " %lld %lld %n", &after, &by_ms, &len) != 2 || after < 0 ||
		    (at[len] && at[len] != ',') || ret->steps_count == CLOCK_STEPS_MAX) {
			reader->failed =
			        !err_set(reader->err, ERR_INPUT,
			                 "`clock_steps` is \"%s\"; write after how many ids and by "
			                 "how many "
			                 "milliseconds, at most %d times, as: 500 -5000, 900 20",
			                 text, CLOCK_STEPS_MAX);
			return;
		}
		ret->steps[ret->steps_count++] =
		        (struct clock_step){.after = after, .by_ms = by_ms};
		at = at[len] ? at + len + 1 : NULL;
	}
}

static void read_node(struct reader *reader, struct worker_options *ret)
{
	const char *text = text_of(reader, "node");
	char *end;

	if (!text || reader->failed)
		return;
	ret->node_is_process = !strcmp(text, "process");
	ret->node_is_thread = !strcmp(text, "thread");
	if (ret->node_is_process || ret->node_is_thread)
		return;
	ret->ids_options.node = strtoll(text, &end, 10);
	if (end == text || *end || ret->ids_options.node < 0)
		reader->failed =
		        !err_set(reader->err, ERR_INPUT,
		                 "`node` is \"%s\"; write a number, process or thread", text);
}

static void read_format(struct reader *reader, struct worker_options *ret)
{
	struct id_options *options = &ret->ids_options;

	options->has_seed = text_of(reader, "seed") != NULL;
	options->seed = count_of(reader, "seed", 0);
	options->prefix = text_of(reader, "prefix");
	options->block_size = (int64_t)count_of(reader, "block_size", 0);
	options->block_count = (int64_t)count_of(reader, "block_count", 0);
	options->back_limit_ms = (int64_t)(ns_of(reader, "back_limit", 0) / NS_PER_MS);
	ret->has_clock = text_of(reader, "clock_ms") != NULL;
	ret->clock_ms = (int64_t)count_of(reader, "clock_ms", 0);
	ret->readings_per_ms = (uint32_t)count_of(reader, "readings_per_ms", 0);
	ret->acquire = text_of(reader, "acquire");
	ret->renew = text_of(reader, "renew");
	ret->release = text_of(reader, "release");
	read_clock_steps(reader, ret);
	read_node(reader, ret);
	if (reader->failed)
		return;
	if (!ret->has_clock && (ret->steps_count || ret->readings_per_ms))
		reader->failed =
		        !err_set(reader->err, ERR_INPUT,
		                 "`clock_steps` and `readings_per_ms` are of a clock moved "
		                 "by hand; add clock_ms: where it starts");
	if (!ret->acquire != !ret->renew || (ret->release && !ret->acquire))
		reader->failed = !err_set(reader->err, ERR_INPUT,
		                          "a lease needs both `acquire` and `renew`");
	if (ret->acquire && ret->threads > 1)
		reader->failed = !err_set(reader->err, ERR_INPUT,
		                          "a leased node is for one thread; write threads: 1");
}

static void read_source(struct reader *reader, struct worker_options *ret)
{
	const char *settle = text_of(reader, "settle");

	switch (ret->source) {
	case SOURCE_FORMAT:
		read_format(reader, ret);
		break;
	case SOURCE_SEGMENT:
		ret->tag = text_of(reader, "tag");
		ret->fetch = text_of(reader, "fetch");
		ret->step = (int64_t)count_of(reader, "step", 0);
		ret->low_percent = (unsigned)count_of(reader, "low_percent", 0);
		ret->settle = settle && !strcmp(settle, "true");
		ret->patience_ns = ns_of(reader, "patience", PATIENCE_DEFAULT_NS);
		break;
	case SOURCE_SQL:
		ret->statement = text_of(reader, "statement");
		ret->then = text_of(reader, "then");
		break;
	}
}

bool worker_options_read(const struct pairs *pairs, struct worker_options *ret, struct err *err)
{
	struct reader reader = {.pairs = pairs, .err = err};
	struct worker_options options = {0};
	const char *generator = text_of(&reader, "generator");
	unsigned families = generator ? families_of(generator, &options.format) : 0;

	if (!families)
		return err_set(err, ERR_INPUT, "there is no generator \"%s\"",
		               generator ? generator : "");
	options.source = families & SEGMENT     ? SOURCE_SEGMENT
	                 : families & STATEMENT ? SOURCE_SQL
	                                        : SOURCE_FORMAT;
	options.processes = (uint32_t)count_of(&reader, "processes", 1);
	options.threads = (uint32_t)count_of(&reader, "threads", 1);
	options.ids = count_of(&reader, "ids", 1);
	options.write = text_of(&reader, "write");
	options.batch = count_of(&reader, "batch", BATCH_DEFAULT);
	options.record = text_of(&reader, "record");
	options.retry_ns = ns_of(&reader, "retry", 0);
	options.pace_ns = ns_of(&reader, "pace", 0);
	options.together = count_of(&reader, "together", 0);
	options.rounds = count_of(&reader, "rounds", 0);
	read_freeze(&reader, &options);
	read_source(&reader, &options);
	if (reader.failed)
		return false;
	if (options.freeze == FREEZE_CHECK && !options.acquire)
		return err_set(err, ERR_INPUT,
		               "`freeze` at check is for a leased node; add acquire and renew");
	*ret = options;
	return true;
}
