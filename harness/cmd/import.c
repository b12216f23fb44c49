/* SPDX-License-Identifier: PostgreSQL */
/* keylab import: runs of another store into this one. */
#include "store/import.h"

#include <getopt.h>

#include "cmd/cmd.h"

static int import_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'}, {0}};
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(buf_finish) struct buf out;
	const char *db = DEFAULT_DB;
	struct err err;

	buf_init(&out, 0);
	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		if (option != 'd')
			return option_stops(option);
		db = optarg;
	}
	if (optind == argc)
		return usage_error(command, "name the store to import");
	if (!store_open(db, STORE_WRITE, &store, &err))
		return fail(&err);
	for (int i = optind; i < argc; i++) {
		struct import_result result;

		if (!store_import(store, argv[i], &result, &err))
			return fail(&err);
		buf_printf(&out, "%s: %zu runs imported, numbered from %lld", argv[i],
		           result.imported, (long long)result.first_run_id);
		if (result.known)
			buf_printf(&out, "; %zu were here already", result.known);
		if (result.running)
			buf_printf(&out, "; %zu still run", result.running);
		buf_add_char(&out, '\n');
	}
	return print_result(&out, EXIT_AS_EXPECTED);
}

const struct command command_import = {
        .name = "import",
        .summary = "take over the runs of another store",
        .usage = "keylab import FILE... [--db FILE]\n\n"
                 "Copies every run of the named stores that this one does not have into "
                 "it (" DEFAULT_DB "),\n"
                 "under new numbers, so that runs of many machines meet in one file. Samples and "
                 "verdicts\n"
                 "are verified on the way; the named files are left as they are. A store without "
                 "a\n"
                 "new run is refused (64).\n",
        .main = import_main,
};
