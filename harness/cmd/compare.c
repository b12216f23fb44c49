/* SPDX-License-Identifier: PostgreSQL */
/* keylab compare: runs side by side. */
#include "evidence/compare.h"

#include <getopt.h>

#include "cmd/cmd.h"

struct runs {
	struct facts items[COMPARE_MAX_RUNS];
	size_t count;
};

static void runs_finish(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		facts_finish(&runs->items[i]);
}

int compare_print(const char *db, const int64_t *run_ids, size_t count, bool json)
{
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(runs_finish) struct runs runs = {0};
	CLEANUP(buf_finish) struct buf out;
	struct err err;
	bool differ;

	buf_init(&out, 0);
	if (!store_open(db, STORE_READ, &store, &err))
		return fail(&err);
	for (; runs.count < count; runs.count++)
		if (!facts_load(store, run_ids[runs.count], &runs.items[runs.count], &err))
			return fail(&err);
	if (!compare_runs(store, runs.items, runs.count, json, &out, &differ, &err))
		return fail(&err);
	return print_result(&out, EXIT_AS_EXPECTED);
}

static int compare_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {0}};
	const char *db = DEFAULT_DB;
	int64_t run_ids[COMPARE_MAX_RUNS];
	size_t count = 0;
	bool json = false;

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		if (option == 'd')
			db = optarg;
		else if (option == 'j')
			json = true;
		else
			return option_stops(option);
	}
	for (int i = optind; i < argc; i++) {
		if (count == COMPARE_MAX_RUNS)
			return usage_error(command, "at most %d runs", COMPARE_MAX_RUNS);
		if (!read_run_id(argv[i], &run_ids[count++]))
			return no_run_id(command, argv[i]);
	}
	if (count < 2)
		return usage_error(command, "name two runs or more; the first is the base");
	return compare_print(db, run_ids, count, json);
}

const struct command command_compare = {
        .name = "compare",
        .summary = "runs side by side: what differs, and what it did to each claim",
        .usage =
                "keylab compare RUN RUN... [--db FILE] [--json]\n\n"
                "Says first in which settings, parameters, servers and machines the runs differ, "
                "then\n"
                "each claim's value in every run: the exact difference to the first run for exact\n"
                "figures, else the ratio, and for timings its interval. Timings of two machines "
                "are\n"
                "not comparable. Then the secondary p of timings, adjusted by Holm. Runs of "
                "several files meet by keylab import.\n",
        .main = compare_main,
};
