/* SPDX-License-Identifier: PostgreSQL */
/*
 * The command room: the only one that prints, reads the environment and
 * decides exit codes. A command is one file here and one row of the table in
 * main.c.
 *
 * Results go to stdout, messages and progress to stderr.
 */
#ifndef KEYLAB_CMD_CMD_H
#define KEYLAB_CMD_CMD_H

#include <getopt.h>
#include <stdio.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "pg/home.h"
#include "pg/server.h"
#include "run/run.h"
#include "scenario/scenario.h"
#include "store/store.h"

/* Exit codes (README, "Exit codes"). */
enum {
	EXIT_AS_EXPECTED = 0,
	EXIT_REFUTED = 1,
	EXIT_INCONCLUSIVE = 2,
	EXIT_ENVIRONMENT = 3,
	EXIT_USAGE = 64,
	EXIT_INTERNAL = 70,
	EXIT_INTERRUPTED = 130,
	EXIT_HELPED = -1, /* its help was asked for and printed; main ends with 0 */
};

struct command {
	const char *name;
	const char *summary; /* one line for the list */
	const char *usage;   /* the whole help text */
	int (*main)(const struct command *command, int argc, char **argv);
};

extern const struct command command_aa, command_baseline, command_check, command_clean,
        command_cluster, command_compare, command_doctor, command_export, command_gate, command_id,
        command_import, command_list, command_plan, command_predict, command_report, command_run,
        command_verify;

/* Do the len bytes name one? (main.c) */
bool is_command(const char *word, size_t len);

/* ---- what commands share (common.c) ---- */

/*
 * Like fprintf, for text from outside (files, stores, servers, the command line): what could work
 * on a terminal is shown as \xNN (buf_add_printable).
 */
void say(FILE *out, const char *format, ...) PRINTF(2, 3);
/* How people call keylab here: what KEYLAB_COMMAND says (run.sh sets it), or "keylab". */
const char *command_name(void);
/* Appends a text; where it tells to run "keylab COMMAND", as all rooms' messages do, the name is
   command_name's. say() does so too. */
void add_hints(struct buf *out, const char *text);
/* Prints "keylab: message" to stderr; returns the exit code of its kind. */
int fail(const struct err *err);
/* Prints the fault and where the command's help is; returns EXIT_USAGE. */
int usage_error(const struct command *command, const char *format, ...) PRINTF(2, 3);
/*
 * getopt_long for commands, with "h" and "help" beside their own. Names count in full only: a
 * typing error is not to be taken for the beginning of another option. Returns the option's letter,
 * -1 behind the last one (optind is then the first word), or what option_stops() makes an exit code
 * of: a fault, or help, is printed by then.
 */
int next_option(const struct command *command, int argc, char **argv, const char *letters,
                const struct option *options);
/* For the letter that no option of the command has: what parsing ends with, never 0. */
int option_stops(int letter);
/* Prints the command's help; nobody has looked yet whether it arrived. */
void print_help(const struct command *command);
/* The number of a run, and nothing else: true, and *ret is above 0. */
bool read_run_id(const char *text, int64_t *ret);
/* usage_error for a text that is none. */
int no_run_id(const struct command *command, const char *text);
/* Writes to stdout and checks that it arrived; the code to return. On a terminal like say(),
   into a file or a pipe byte by byte. */
int print_result(const struct buf *text, int code);
/* Prints a comparison of the runs, the first being the base; returns the code to exit with. */
int compare_print(const char *db, const int64_t *run_ids, size_t count, bool json);
/* Prints for each timing claim of a run of identical arms how large an effect must be to be told
   from noise; returns the code to exit with. */
int aa_print(const char *db, const struct run_result *result, bool json);
/* Where PATH finds a program, or NULL; owned. */
char *find_program(const char *name);

/* keylab's folder by the environment (KEYLAB_HOME, KEYLAB_SERVER_USER, XDG_CACHE_HOME, HOME). */
bool open_home(struct home **ret, struct err *err) MUST_CHECK;
/* At a start: removes what dead keylabs left, and says what could not be. */
bool reap_dead(const struct home *home, struct err *err) MUST_CHECK;
/* All servers; named NULL looks at PG_CONFIG, PATH, the distribution, KEYLAB_PINNED. */
bool find_servers(const struct home *home, const char *named, struct server_list *ret,
                  struct err *err) MUST_CHECK;
/* The folder of scenario files: KEYLAB_SCENARIOS, ./scenarios, or the source's. */
const char *scenarios_dir(void);
/* Default path of the store. */
#define DEFAULT_DB "results/keylab.db"
/* Default store of keylab aa: its runs are no evidence for claims. */
#define DEFAULT_AA_DB "results/aa.db"
/* Default folder of baselines. */
#define DEFAULT_BASELINES "results/baselines"

/* Scenarios by name, document, or file; all of them when there are no names. */
struct scenario_set {
	struct scenario **items;
	size_t count;
	size_t faulty; /* files that could not be read, are wrong, or have another one's name */
	char **paths;  /* of all of them; owned */
	size_t paths_count;
};
/*
 * Loads and checks; messages holds what is wrong, a line each. A file that is named twice counts
 * once.
 */
bool load_scenarios(char *const *names, size_t count, struct scenario_set *ret,
                    struct buf *messages, struct err *err) MUST_CHECK;
void scenario_set_finish(struct scenario_set *set);

/* The --set of a command line: "name=value", borrowed. */
#define OVERRIDES_MAX 64
struct overrides {
	const char *items[OVERRIDES_MAX];
	size_t count;
};
/* 0, or the code of a usage_error. */
int overrides_add(const struct command *command, struct overrides *overrides, const char *text);
/* A name that is no parameter of any of them is an err. Each scenario takes those that it has. */
bool overrides_check(const struct overrides *overrides, const struct scenario_set *set,
                     struct err *err) MUST_CHECK;

/* Paths below the scenarios folder, sorted by document's order and name; owned. */
bool list_scenario_files(char ***ret, size_t *ret_count, struct err *err) MUST_CHECK;
void free_list(char **list, size_t count);

#endif
