/* SPDX-License-Identifier: PostgreSQL */
/* keylab clean: removes what killed and failed runs left behind. */
#include <getopt.h>
#include <stdio.h>

#include "base/fs.h"
#include "cmd/cmd.h"
#include "store/record.h"

static int clean_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"all", no_argument, NULL, 'a'},
	                                        {"db", required_argument, NULL, 'd'},
	                                        {0}};
	CLEANUP(home_close_p) struct home *home = NULL;
	CLEANUP(store_close_p) struct store *store = NULL;
	const char *db = DEFAULT_DB;
	struct cluster_reaped reaped;
	bool all = false;
	struct err err;

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		if (option == 'a')
			all = true;
		else if (option == 'd')
			db = optarg;
		else
			return option_stops(option);
	}
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	if (!open_home(&home, &err) || !cluster_reap(home, true, &reaped, &err))
		return fail(&err);
	if (fs_exists(db) &&
	    (!store_open(db, STORE_WRITE, &store, &err) || !record_sweep(store, &err)))
		return fail(&err);
	if (all && reaped.living) {
		err_set(&err, ERR_ENVIRONMENT,
		        "%zu clusters belong to runs that go on, and --all would take templates "
		        "and "
		        "server programs from them; wait for their end, or leave --all out",
		        reaped.living);
		return fail(&err);
	}
	if (all && !cluster_forget_made(home, &err))
		return fail(&err);
	printf("%zu clusters removed, %zu of them still had a server running; %zu belong to runs "
	       "that go on\n",
	       reaped.clusters, reaped.servers, reaped.living);
	return fflush(stdout) ? EXIT_ENVIRONMENT : EXIT_AS_EXPECTED;
}

const struct command command_clean = {
        .name = "clean",
        .summary = "remove what killed and failed runs left behind",
        .usage = "keylab clean [--db FILE] [--all]\n\n"
                 "Ends servers and removes folders whose keylab is gone, also those that failed "
                 "runs\n"
                 "kept for a look, and marks their runs in the store as interrupted. Runs that go "
                 "on\n"
                 "are not touched. --all also removes the cached templates and copies of server\n"
                 "programs.\n",
        .main = clean_main,
};
