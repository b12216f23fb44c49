/* SPDX-License-Identifier: PostgreSQL */
/* keylab cluster: a throwaway cluster for a person, a script, or a benchmark. */
#include "pg/cluster.h"

#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/proc.h"
#include "cmd/cmd.h"

#define START_WAIT_NS (120 * NS_PER_S)
#define LOOK_MS 200

static void say_slow(void *arg, const char *what)
{
	(void)arg;
	say(stderr, "keylab: preparing a template: %s\n", what);
}

/* Until somebody stops us, the server ends, or our standard input does. */
static void wait_for_end(struct cluster *cluster)
{
	while (!interrupt_count() && cluster_is_running(cluster)) {
		struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
		char byte[256];

		if (poll(&fd, 1, LOOK_MS) > 0 && read(STDIN_FILENO, byte, sizeof(byte)) <= 0)
			return;
	}
}

/* Our environment, out of which main has taken libpq's variables, with the cluster's four in front;
   an array that the caller frees. */
static const char **program_env(char *const words[4])
{
	size_t count = 0;

	while (environ[count])
		count++;
	const char **env = calloc(count + 5, sizeof(*env));
	if (!env)
		return NULL;
	size_t out = 0;
	for (; out < 4; out++)
		env[out] = words[out];
	for (size_t i = 0; i < count; i++)
		env[out++] = environ[i];
	return env;
}

/* Are we what a terminal's keys go to? Standard input may be a file meanwhile. */
static bool has_terminal(void)
{
	CLEANUP(close_p) int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return fd >= 0 && tcgetpgrp(fd) == getpgrp();
}

/*
 * Until the program ends. Ctrl-C and Ctrl-\ on the terminal reach it as they reach us, and what it
 * makes of them (psql gives up a query) is its own business. A signal that was sent to us alone is
 * handed on.
 */
static bool wait_for_program(const struct proc_spec *spec, int *ret_status, struct err *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old_interrupt, old_quit;
	struct proc proc = PROC_NONE;
	bool terminal = has_terminal(), handed_on = false;

	if (terminal && (sigaction(SIGINT, &ignore, &old_interrupt) < 0 ||
	                 sigaction(SIGQUIT, &ignore, &old_quit) < 0))
		return err_errno(err, "sigaction");
	bool started = proc_start(spec, &proc, err);
	while (started && !proc_ended(&proc, ret_status)) {
		struct pollfd fd = {.fd = proc.pidfd, .events = POLLIN};

		if (interrupt_count() && !handed_on) {
			proc_signal(&proc, SIGTERM);
			handed_on = true;
		}
		poll(&fd, 1, LOOK_MS);
	}
	if (terminal) {
		sigaction(SIGINT, &old_interrupt, NULL);
		sigaction(SIGQUIT, &old_quit, NULL);
	}
	return started;
}

/* Runs a program against the cluster; its exit code is ours. */
static int run_program(struct cluster *cluster, char **words)
{
	CLEANUP(free_p) char *program = find_program(words[0]);
	CLEANUP(free_p) char *host = fs_printf(NULL, "PGHOST=%s", cluster->socket_dir);
	static char port[] = "PGPORT=5432", user[] = "PGUSER=" CLUSTER_USER,
	            database[] = "PGDATABASE=" CLUSTER_DATABASE;
	char *const variables[4] = {host, port, user, database};
	CLEANUP(free_p) const char **env = host ? program_env(variables) : NULL;
	int status = 0;
	struct err err;

	if (!program || !env) {
		say(stderr, "keylab: there is no program %s; install it, or write its path\n",
		    words[0]);
		return EXIT_ENVIRONMENT;
	}
	words[0] = program;
	const struct proc_spec spec = {
	        .argv = (const char *const *)(uintptr_t)words,
	        .env = env,
	        .stdin_fd = STDIN_FILENO,
	        .stdout_fd = STDOUT_FILENO,
	        .stderr_fd = STDERR_FILENO,
	        .death_signal = SIGTERM,
	        /* In another one it could not read from the terminal. */
	        .in_our_group = true,
	};
	if (!wait_for_program(&spec, &status, &err))
		return fail(&err);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int cluster_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"pg-bin", required_argument, NULL, 'b'},
	                                        {"dataset", required_argument, NULL, 'd'},
	                                        {0}};
	CLEANUP(home_close_p) struct home *home = NULL;
	CLEANUP(server_list_finish) struct server_list servers = {0};
	CLEANUP(free_p) char *template_dir = NULL;
	CLEANUP(cluster_destroy_p) struct cluster *cluster = NULL;
	const struct template_progress progress = {.begin = say_slow};
	const char *pg_bin = NULL, *dataset = NULL;
	struct err err;

	for (int option; (option = next_option(command, argc, argv, "+", options)) != -1;) {
		if (option == 'b')
			pg_bin = optarg;
		else if (option == 'd')
			dataset = optarg;
		else
			return option_stops(option);
	}
	if (!open_home(&home, &err) || !find_servers(home, pg_bin, &servers, &err) ||
	    !reap_dead(home, &err))
		return fail(&err);
	const struct server *server = server_pick(&servers, 18);
	if (!server) {
		say(stderr, "keylab: no PostgreSQL server programs found (keylab doctor)\n");
		return EXIT_ENVIRONMENT;
	}
	if (!template_get(home, server, dataset, &progress, &template_dir, &err) ||
	    !cluster_create(home, server, template_dir, NULL, 0, &cluster, &err) ||
	    !cluster_start(cluster, deadline_after(START_WAIT_NS), &err))
		return fail(&err);
	if (optind < argc)
		return run_program(cluster, argv + optind);
	printf("host=%s port=5432 user=%s dbname=%s\n", cluster->socket_dir, CLUSTER_USER,
	       CLUSTER_DATABASE);
	fflush(stdout);
	wait_for_end(cluster);
	return EXIT_AS_EXPECTED;
}

const struct command command_cluster = {
        .name = "cluster",
        .summary = "start a throwaway cluster for a program or a person",
        .usage = "keylab cluster [--pg-bin DIR] [--dataset NAME] [PROGRAM [ARG]...]\n\n"
                 "With a program: runs it with PGHOST, PGPORT, PGUSER and PGDATABASE set, then "
                 "removes\n"
                 "the cluster; the exit code is the program's (keylab cluster psql). Without: "
                 "prints a\n"
                 "connection string and keeps the cluster until its standard input ends or it is\n"
                 "interrupted.\n",
        .main = cluster_main,
};
