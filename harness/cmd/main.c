/* SPDX-License-Identifier: PostgreSQL */
/*
 * keylab: an evidence lab for database keys. This file hands the command
 * line to a command; the map of the tree:
 *
 *   cmd/       a file per command: prints, reads the environment, sets exit codes
 *   run/       walks a scenario's steps on a cluster: walk.c (loops), actions.c (a function
 *              a verb), session.c (connections), record_step.c and setup.c (rows); workers:
 *              group*.c (keylab's side), worker*.c (theirs), journal.c (what they share)
 *   evidence/  exports, baselines, the gate, comparisons: facts.c (a run's claims), a file a
 *              format (export.c has their table), baseline.c, gate.c, compare.c
 *   report/    the evidence page: model.c (store to structs), page.c and card.c (HTML),
 *              chart.c (gnuplot)
 *   store/     the SQLite file: store.c (open, migrate, statements), record.c (writes),
 *              verdict.c (samples to verdicts), import.c
 *   pg/        PostgreSQL: server.c (find binaries), home.c (folder and user), template.c,
 *              cluster.c, registry.c (who owns which), conn.c (deadlines, outcomes),
 *              meter*.c (a file a meter)
 *   ids/       id generators and codecs (a file a format), segment allocator, leases
 *   scenario/  the language: node.c (YAML), parse.c, check.c, subst.c, plan.c, print.c
 *   base/      err buf arena clock units predicate stats fs hash proc interrupt
 *
 * Arrows go from the top down only. The statements are files in sql/, the
 * page's style and gnuplot text files in report/, both embedded by the build.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "cmd/cmd.h"
#include "pg/conn.h"
#include "run/worker.h"

static int help_main(const struct command *command, int argc, char **argv);

static const struct command command_help = {
        .name = "help",
        .summary = "explain a command",
        .usage = "keylab help [COMMAND]\n",
        .main = help_main,
};

/* In the order in which a newcomer needs them. */
static const struct command *const commands[] = {
        &command_doctor,  &command_list,   &command_check,  &command_plan,     &command_run,
        &command_report,  &command_export, &command_verify, &command_baseline, &command_gate,
        &command_compare, &command_aa,     &command_import, &command_predict,  &command_clean,
        &command_cluster, &command_id,     &command_help,
};

static const struct command *find_command(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		if (!strncmp(commands[i]->name, name, len) && !commands[i]->name[len])
			return commands[i];
	return NULL;
}

bool is_command(const char *word, size_t len)
{
	return find_command(word, len);
}

static void print_overview(FILE *out)
{
	say(out, "keylab checks claims about database keys on throwaway PostgreSQL clusters.\n\n"
	         "  keylab run --profile quick wal-checkpoints   run one scenario in seconds\n"
	         "  keylab report --open                         look at what was measured\n\n"
	         "Commands (keylab help COMMAND says more):\n");
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
}

static int no_command(const char *word)
{
	say(stderr, "keylab: there is no command \"%s\"; keylab help lists them\n", word);
	return EXIT_USAGE;
}

static int help_main(const struct command *command, int argc, char **argv)
{
	int option = next_option(command, argc, argv, "", NULL);

	if (option != -1)
		return option_stops(option);
	if (argc - optind > 1)
		return usage_error(command, "\"%s\" was not expected", argv[optind + 1]);
	if (optind == argc) {
		print_overview(stdout);
		return EXIT_HELPED;
	}
	const struct command *wanted = find_command(argv[optind], strlen(argv[optind]));
	if (!wanted)
		return no_command(argv[optind]);
	print_help(wanted);
	return EXIT_HELPED;
}

int main(int argc, char **argv)
{
	struct err err;

	/* Numbers are written with a point, whoever runs this. */
	setlocale(LC_ALL, "C.UTF-8");
	if (!interrupt_catch(&err))
		return fail(&err);
	conn_clear_environment();
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	/* No command of people's: what a `workers` step starts, with its journal as input. */
	if (!strcmp(argv[1], "worker"))
		return worker_main(0, argc > 2 ? strtol(argv[2], NULL, 10) : 0);
	if (!strcmp(argv[1], "--version")) {
		printf("keylab %s\n", KEYLAB_VERSION);
		return EXIT_AS_EXPECTED;
	}
	const struct command *command = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")
	                                        ? &command_help
	                                        : find_command(argv[1], strlen(argv[1]));
	if (!command)
		return no_command(argv[1]);
	int code = command->main(command, argc - 1, argv + 1);
	if (code != EXIT_HELPED)
		return code;
	return fflush(stdout) ? EXIT_ENVIRONMENT : EXIT_AS_EXPECTED;
}
