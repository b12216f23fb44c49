/* SPDX-License-Identifier: PostgreSQL */
/* keylab check: every mistake of scenario files. */
#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"

static int check_main(const struct command *command, int argc, char **argv)
{
	CLEANUP(scenario_set_finish) struct scenario_set set = {0};
	CLEANUP(buf_finish) struct buf messages;
	struct err err;

	buf_init(&messages, 0);
	int option = next_option(command, argc, argv, "", NULL);
	if (option != -1)
		return option_stops(option);
	if (!load_scenarios(argv + optind, (size_t)(argc - optind), &set, &messages, &err))
		return fail(&err);
	fprintf(stderr, "%zu of %zu scenarios are well-formed\n", set.count,
	        set.count + set.faulty);
	return print_result(&messages, set.faulty ? EXIT_USAGE : EXIT_AS_EXPECTED);
}

const struct command command_check = {
        .name = "check",
        .summary = "find every mistake in scenario files",
        .usage = "keylab check [NAME|DOCUMENT|FILE]...\n\n"
                 "Reads scenario files (all of them without a name) and prints each mistake as\n"
                 "file:line:column: what is wrong; how to mend it. Needs no server.\n"
                 "Exit: 0 when there is none, 64 otherwise.\n\n"
                 "./run.sh check without a name is another thing, the long check of keylab's own "
                 "sources;\n"
                 "with names or files it is this one.\n",
        .main = check_main,
};
