/* SPDX-License-Identifier: PostgreSQL */
/* keylab run: runs scenarios into a store. */
#include "run/run.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "cmd/builds.h"
#include "cmd/cmd.h"
#include "commit.h"
#include "cmd/progress.h"
#include "sql.h"
#include "store/verdict.h"

struct options {
	const char *db;
	struct builds_wanted builds;
	bool same_arms; /* keylab aa */
	enum profile profile;
	struct overrides overrides;
	int64_t seed;
	size_t jobs;
	bool has_seed, quiet, verbose, json, keep, allow_inconclusive, dry;
};

static int parse_option(const struct command *command, int option, struct options *ret)
{
	char *end;

	switch (option) {
	case 'd':
		ret->db = optarg;
		return 0;
	case 'b':
		if (ret->builds.bins_count == BUILDS_MAX)
			return usage_error(command, "too many --pg-bin");
		ret->builds.bins[ret->builds.bins_count++] = optarg;
		return 0;
	case 'P':
		ret->builds.majors = optarg;
		return 0;
	case 'p':
		if (!profile_parse(optarg, &ret->profile))
			return usage_error(command, "\"%s\" is no profile: quick, chapter, large",
			                   optarg);
		return 0;
	case 's':
		return overrides_add(command, &ret->overrides, optarg);
	case 'S':
		ret->seed = strtoll(optarg, &end, 10);
		ret->has_seed = true;
		return end == optarg || *end ? usage_error(command, "\"%s\" is no seed", optarg)
		                             : 0;
	case 'j':
		ret->jobs = strtoul(optarg, &end, 10);
		return end == optarg || *end || !ret->jobs || ret->jobs > 16
		               ? usage_error(command, "--jobs takes a number from 1 to 16")
		               : 0;
	case 'q':
		ret->quiet = true;
		return 0;
	case 'v':
		ret->verbose = true;
		return 0;
	case 'J':
		ret->json = true;
		return 0;
	case 'k':
		ret->keep = true;
		return 0;
	case 'i':
		ret->allow_inconclusive = true;
		return 0;
	case 'n':
		ret->dry = true;
		return 0;
	default:
		return option_stops(option);
	}
}

static int parse(const struct command *command, int argc, char **argv, struct options *ret)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"pg-bin", required_argument, NULL, 'b'},
	                                        {"pg", required_argument, NULL, 'P'},
	                                        {"profile", required_argument, NULL, 'p'},
	                                        {"set", required_argument, NULL, 's'},
	                                        {"seed", required_argument, NULL, 'S'},
	                                        {"jobs", required_argument, NULL, 'j'},
	                                        {"quiet", no_argument, NULL, 'q'},
	                                        {"verbose", no_argument, NULL, 'v'},
	                                        {"json", no_argument, NULL, 'J'},
	                                        {"keep", no_argument, NULL, 'k'},
	                                        {"allow-inconclusive", no_argument, NULL, 'i'},
	                                        {"dry-run", no_argument, NULL, 'n'},
	                                        {0}};

	for (int option; (option = next_option(command, argc, argv, "qvnj:", options)) != -1;) {
		int code = parse_option(command, option, ret);

		if (code)
			return code;
	}
	return 0;
}

static bool json_argv(int argc, char **argv, struct buf *ret, struct err *err)
{
	buf_add_char(ret, '[');
	for (int i = 0; i < argc; i++) {
		buf_add(ret, i ? "," : "");
		buf_add_json(ret, argv[i]);
	}
	buf_add_char(ret, ']');
	return buf_ok(ret, err);
}

/* Scenarios side by side when nobody says how many: a processor each, and no crowd. */
static size_t default_jobs(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1 ? 1 : processors > 4 ? 4 : (size_t)processors;
}

static int64_t random_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return 42;
	return seed;
}

/* The highest version that a scenario needs decides which server is taken. */
static int needed_major(const struct scenario_set *set)
{
	int major = SERVER_OLDEST_MAJOR;

	for (size_t i = 0; i < set->count; i++)
		if (set->items[i]->cluster.version > major)
			major = set->items[i]->cluster.version;
	return major;
}

struct counts {
	int64_t by_verdict[VERDICT_KIND_COUNT]; /* in scope */
	int64_t out_of_scope;
	int64_t refuted,
	        inconclusive; /* not as expected: REFUTED (or an unexpected HOLDS), the rest */
	int64_t total;
};

static bool count_verdicts(struct store *store, int64_t run_id, struct counts *ret, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql_store_count_verdicts, &query, err);

	if (ok)
		query_int(&query, ":run_id", run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		const char *verdict = query_get_text(&query, 0);
		bool expected = query_get_int(&query, 2);
		int64_t count = query_get_int(&query, 3);

		if (!query_get_int(&query, 1)) {
			ret->out_of_scope += count;
			continue;
		}
		ret->total += count;
		ret->by_verdict[verdict_stored(verdict)] += count;
		if (expected)
			continue;
		if (!strcmp(verdict, "INCONCLUSIVE") || !strcmp(verdict, "NOT_RUN"))
			ret->inconclusive += count;
		else
			ret->refuted += count;
	}
	query_finish(&query);
	return ok;
}

/* Worst first: each claim that is not as expected. */
static bool print_unexpected(struct store *store, int64_t run_id, struct buf *out, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql_store_unexpected, &query, err);

	if (ok)
		query_int(&query, ":run_id", run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		buf_printf(out, "%s %s/%s", query_get_text(&query, 0), query_get_text(&query, 1),
		           query_get_text(&query, 2));
		if (strcmp(query_get_text(&query, 3), "HOLDS"))
			buf_printf(out, " (expected %s)", query_get_text(&query, 3));
		if (query_get_text(&query, 4)[0])
			buf_printf(out, ": measured %s, holds when %s", query_get_text(&query, 4),
			           query_get_text(&query, 5));
		if (query_get_text(&query, 6)[0])
			buf_printf(out, ": %s", query_get_text(&query, 6));
		buf_add_char(out, '\n');
	}
	query_finish(&query);
	return ok;
}

static void print_counts(const struct counts *counts, struct buf *out)
{
	static const char *const words[] = {"hold", "refuted", "inconclusive", "not run",
	                                    "in error"};

	buf_printf(out, "%lld claims:", (long long)counts->total);
	for (size_t i = 0; i < VERDICT_KIND_COUNT; i++)
		if (counts->by_verdict[i] || i == VERDICT_HOLDS)
			buf_printf(out, "%s %lld %s", i ? "," : "",
			           (long long)counts->by_verdict[i], words[i]);
	if (counts->out_of_scope)
		buf_printf(out, "; %lld out of scope at this profile",
		           (long long)counts->out_of_scope);
	buf_add_char(out, '\n');
}

static void print_json(const struct counts *counts, const struct options *options,
                       const struct run_result *result, int code, struct buf *out)
{
	buf_printf(out, "{\"version\":1,\"run_id\":%lld,\"db\":", (long long)result->run_id);
	buf_add_json(out, options->db);
	buf_printf(out, ",\"interrupted\":%s,\"exit\":%d,\"claims\":%lld,\"out_of_scope\":%lld",
	           result->interrupted ? "true" : "false", code, (long long)counts->total,
	           (long long)counts->out_of_scope);
	buf_add(out, ",\"verdicts\":{");
	for (size_t i = 0; i < VERDICT_KIND_COUNT; i++)
		buf_printf(out, "%s\"%s\":%lld", i ? "," : "", verdict_name((enum verdict_kind)i),
		           (long long)counts->by_verdict[i]);
	buf_add(out, "}}\n");
}

static int exit_code(const struct counts *counts, const struct options *options,
                     const struct run_result *result)
{
	if (result->interrupted)
		return EXIT_INTERRUPTED;
	if (result->machine_trouble)
		return EXIT_ENVIRONMENT;
	if (counts->refuted)
		return EXIT_REFUTED;
	if ((counts->inconclusive || !counts->total) && !options->allow_inconclusive)
		return EXIT_INCONCLUSIVE;
	return EXIT_AS_EXPECTED;
}

static int finish(struct store *store, const struct options *options,
                  const struct run_result *result)
{
	CLEANUP(buf_finish) struct buf out;
	struct counts counts = {0};
	struct err err;

	buf_init(&out, 0);
	if (!count_verdicts(store, result->run_id, &counts, &err))
		return fail(&err);
	int code = exit_code(&counts, options, result);
	if (options->json) {
		print_json(&counts, options, result, code, &out);
		return print_result(&out, code);
	}
	if (!options->quiet && !print_unexpected(store, result->run_id, &out, &err))
		return fail(&err);
	print_counts(&counts, &out);
	if (!options->quiet)
		buf_printf(&out, "run %lld is in %s; look at it: %s report --db %s\n",
		           (long long)result->run_id, options->db, command_name(), options->db);
	return print_result(&out, code);
}

/* The store's folder may not exist yet, in a clean checkout. */
static bool open_store(const char *db, struct store **ret, struct err *err)
{
	const char *slash = strrchr(db, '/');

	if (slash && slash != db) {
		CLEANUP(free_p) char *dir = fs_printf(err, "%.*s", (int)(slash - db), db);

		if (!dir || !fs_mkdirs(dir, 0755, err))
			return false;
	}
	return store_open(db, STORE_WRITE, ret, err);
}

static bool run_builds(const struct run_request *request, const struct builds *builds,
                       struct run_result *results, struct err *err)
{
	struct run_request requests[BUILDS_MAX];

	for (size_t i = 0; i < builds->count; i++) {
		requests[i] = *request;
		requests[i].server = builds->servers[i];
		requests[i].build = builds->names[i];
	}
	return run_side_by_side(requests, builds->count, results, err);
}

/* 70, 3, 1, 2 in this order of weight; being interrupted outweighs them. */
static int worse_code(int a, int b)
{
	static const int order[] = {EXIT_AS_EXPECTED, EXIT_INCONCLUSIVE, EXIT_REFUTED,
	                            EXIT_ENVIRONMENT, EXIT_INTERNAL,     EXIT_INTERRUPTED};
	size_t at_a = 0, at_b = 0;

	for (size_t i = 0; i < COUNT_OF(order); i++) {
		at_a = order[i] == a ? i : at_a;
		at_b = order[i] == b ? i : at_b;
	}
	return at_a > at_b ? a : b;
}

/* Each run's own lines, then all side by side. */
static int finish_all(struct store *store, const struct options *options,
                      const struct run_result *results, size_t count)
{
	int64_t run_ids[BUILDS_MAX];
	int code = EXIT_AS_EXPECTED;

	for (size_t i = 0; i < count; i++) {
		run_ids[i] = results[i].run_id;
		code = worse_code(code, options->same_arms
		                                ? aa_print(options->db, &results[i], options->json)
		                                : finish(store, options, &results[i]));
	}
	if (count > 1 && !options->quiet && !options->json && !options->same_arms)
		code = worse_code(code, compare_print(options->db, run_ids, count, false));
	return code;
}

static int run_set(const struct options *options, const struct scenario_set *set, int argc,
                   char **argv)
{
	CLEANUP(home_close_p) struct home *home = NULL;
	CLEANUP(builds_finish) struct builds builds = {0};
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(buf_finish) struct buf json;
	struct progress progress;
	struct run_result results[BUILDS_MAX];
	struct err err;

	buf_init(&json, 0);
	if (!open_home(&home, &err) ||
	    !builds_find(&options->builds, home, needed_major(set), &builds, &err))
		return fail(&err);
	if (!open_store(options->db, &store, &err) || !reap_dead(home, &err) ||
	    !json_argv(argc, argv, &json, &err))
		return fail(&err);
	progress_init(&progress, options->quiet, options->verbose);
	const struct run_request request = {
	        .store = store,
	        .home = home,
	        .server = builds.servers[0],
	        .build = builds.names[0],
	        .same_arms = options->same_arms,
	        .scenarios = set->items,
	        .scenarios_count = set->count,
	        .profile = options->profile,
	        .overrides = options->overrides.items,
	        .overrides_count = options->overrides.count,
	        .seed = options->has_seed ? options->seed : random_seed(),
	        .argv = json.data,
	        .version = KEYLAB_VERSION,
	        .commit = KEYLAB_COMMIT,
	        .jobs = options->jobs ? options->jobs : default_jobs(),
	        .keep = options->keep,
	        .watcher = {progress_moment, progress_message, &progress},
	};
	CLEANUP(free_p)
	char *left =
	        fs_printf(&err,
	                  "\nkeylab: gave up waiting; what is left in %s/clusters is removed at "
	                  "the next start, or now by %s clean\n",
	                  home->root, command_name());
	interrupt_words(options->quiet ? NULL
	                               : "\nkeylab: ending the run; once more gives up waiting\n",
	                left);
	bool ok = builds.count > 1 ? run_builds(&request, &builds, results, &err)
	                           : run_all(&request, &results[0], &err);
	interrupt_words(NULL, NULL);
	progress_finish(&progress);
	return ok ? finish_all(store, options, results, builds.count) : fail(&err);
}

static int run_main(const struct command *command, int argc, char **argv)
{
	CLEANUP(scenario_set_finish) struct scenario_set set = {0};
	CLEANUP(buf_finish) struct buf messages;
	struct options options = {.db = DEFAULT_DB, .profile = PROFILE_CHAPTER};
	struct err err;
	if (command == &command_aa) {
		options.same_arms = true;
		options.db = DEFAULT_AA_DB;
	}
	int code = parse(command, argc, argv, &options);

	buf_init(&messages, 0);
	if (code)
		return code;
	/* All of them take hours, and few have a timing. */
	if (options.same_arms && optind == argc)
		return usage_error(command, "name the scenarios");
	if (!load_scenarios(argv + optind, (size_t)(argc - optind), &set, &messages, &err))
		return fail(&err);
	if (set.faulty) {
		say(stderr, "%s", messages.data);
		err_set(&err, ERR_INPUT, "%zu scenario files are wrong; nothing was run",
		        set.faulty);
		return fail(&err);
	}
	if (!overrides_check(&options.overrides, &set, &err))
		return fail(&err);
	if (options.dry) {
		for (size_t i = 0; i < set.count; i++)
			printf("%s/%s\n", set.items[i]->document, set.items[i]->name);
		return fflush(stdout) ? EXIT_ENVIRONMENT : EXIT_AS_EXPECTED;
	}
	return run_set(&options, &set, argc, argv);
}

const struct command command_run = {
        .name = "run",
        .summary = "run scenarios on throwaway clusters, into a store",
        .usage =
                "keylab run [--profile quick|chapter|large] [--db FILE] [--set NAME=VALUE]...\n"
                "           [--pg-bin [NAME=]DIR]... [--pg 16,17,18] [--seed N] [--jobs N] "
                "[--keep] [--allow-inconclusive] "
                "[-n] [-q] [-v] [--json]\n"
                "           [NAME|DOCUMENT|FILE]...\n\n"
                "Runs the scenarios (all without a name) at a profile (chapter) and records every\n"
                "sample and verdict in FILE (" DEFAULT_DB ").\n\n"
                "  --set NAME=VALUE      another value for a parameter (rows=5M)\n"
                "  --pg-bin DIR          the server programs to use; NAME=DIR, repeated: a run\n"
                "                        each, taking turns, then compared with the first\n"
                "                        one (old=DIR new=DIR)\n"
                "  --pg 16,17,18         a run on each of these PostgreSQL versions, likewise\n"
                "  --seed N              what orders and resamples are drawn from: the same again\n"
                "  -j, --jobs N          scenarios side by side, each on its own cluster, up to "
                "16\n"
                "                        (one a processor, at most 4)\n"
                "  --keep                leave the clusters' folders behind\n"
                "  --allow-inconclusive  exit 0 although claims are inconclusive or missing\n"
                "  -n, --dry-run         name the scenarios and stop\n"
                "  -q, --quiet           only the last line\n"
                "  -v, --verbose         a line for every step\n"
                "  --json                the counts of verdicts as JSON\n\n"
                "Exit: 0 every verdict is the expected one, 1 refuted, 2 inconclusive or missing,\n"
                "3 the machine, 64 usage, 70 a fault of keylab, 130 interrupted.\n",
        .main = run_main,
};

const struct command command_aa = {
        .name = "aa",
        .summary = "the noise of this machine: a scenario with identical arms",
        .usage = "keylab aa SCENARIO... [--profile P] [--db FILE] and the options of keylab run\n\n"
                 "Runs the scenarios into FILE (" DEFAULT_AA_DB
                 ") with the first arm's texts in every "
                 "arm, and\n"
                 "says for each timing claim how far its ratio strays from 1 although nothing "
                 "differs: the\n"
                 "least effect that can be told from noise here. keylab baseline --aa FILE allows "
                 "at least\n"
                 "that. Exit: 0 measured, 2 no timing claim has an interval, 3 the machine, 64 "
                 "usage,\n"
                 "130 interrupted.\n",
        .main = run_main,
};
