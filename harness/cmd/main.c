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

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void print_overview(FILE *out)
{
	fputs("keylab checks claims about database keys on throwaway PostgreSQL clusters.\n\n"
	      "  keylab run --profile quick wal-checkpoints   run one scenario in seconds\n"
	      "  keylab report --open                         look at what was measured\n\n"
	      "Commands (keylab help COMMAND says more):\n",
	      out);
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
}

static int help_main(const struct command *command, int argc, char **argv)
{
	(void)command;
	const struct command *wanted = argc > 1 ? find_command(argv[1]) : NULL;

	if (argc > 1 && !wanted) {
		say(stderr, "keylab: there is no command \"%s\"; keylab help lists them\n",
		    argv[1]);
		return EXIT_USAGE;
	}
	if (wanted)
		printf("%s: %s\n\n%s", wanted->name, wanted->summary, wanted->usage);
	else
		print_overview(stdout);
	return fflush(stdout) ? EXIT_ENVIRONMENT : EXIT_AS_EXPECTED;
}

int main(int argc, char **argv)
{
	struct err err;

	/* Numbers are written with a point, whoever runs this. */
	setlocale(LC_ALL, "C.UTF-8");
	if (!interrupt_catch(&err))
		return fail(&err);
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
	                                        : find_command(argv[1]);
	if (!command) {
		say(stderr, "keylab: there is no command \"%s\"; keylab help lists them\n",
		    argv[1]);
		return EXIT_USAGE;
	}
	if (argc > 2 && command != &command_help &&
	    (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		char *words[] = {argv[0], argv[1]};

		return help_main(&command_help, 2, words);
	}
	return command->main(command, argc - 1, argv + 1);
}
