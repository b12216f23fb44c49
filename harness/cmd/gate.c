/* SPDX-License-Identifier: PostgreSQL */
/* keylab gate: a run against its baseline. */
#include "evidence/gate.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "cmd/cmd.h"

struct request {
	const char *db, *dir, *file;
	int64_t run_id;
	bool json, self_test;
	struct gate_filter filter;
};

static int parse(const struct command *command, int argc, char **argv, struct request *ret)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"dir", required_argument, NULL, 'D'},
	                                        {"baseline", required_argument, NULL, 'b'},
	                                        {"run", required_argument, NULL, 'r'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"self-test", no_argument, NULL, 's'},
	                                        {0}};

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		switch (option) {
		case 'd':
			ret->db = optarg;
			break;
		case 'D':
			ret->dir = optarg;
			break;
		case 'b':
			ret->file = optarg;
			break;
		case 'r':
			if (!read_run_id(optarg, &ret->run_id))
				return no_run_id(command, optarg);
			break;
		case 'j':
			ret->json = true;
			break;
		case 's':
			ret->self_test = true;
			break;
		default:
			return option_stops(option);
		}
	}
	if (ret->self_test && optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	ret->filter = (struct gate_filter){argv + optind, (size_t)(argc - optind)};
	return 0;
}

static int self_test(void)
{
	CLEANUP(buf_finish) struct buf out;
	struct err err;
	bool well;

	buf_init(&out, 0);
	if (!gate_self_test(&out, &well, &err))
		return fail(&err);
	buf_add(&out, well ? "each planted fault is red and the clean copies are green\n"
	                   : "the gate is blind; do not trust it\n");
	return print_result(&out, well ? EXIT_AS_EXPECTED : EXIT_INTERNAL);
}

#define BASELINES_MAX 2

struct loaded {
	struct baseline items[BASELINES_MAX];
	const struct baseline *list[BASELINES_MAX];
	size_t count;
};

static void loaded_finish(struct loaded *loaded)
{
	for (size_t i = 0; i < loaded->count; i++)
		baseline_finish(&loaded->items[i]);
}

static bool load_one(const char *path, const struct facts *facts, struct loaded *ret,
                     struct err *err)
{
	struct baseline *to = &ret->items[ret->count];

	if (!baseline_read(path, to, err))
		return false;
	ret->list[ret->count++] = to;
	if (to->pg_major != facts->version_num / 10000)
		return err_set(err, ERR_USAGE, "%s is of PostgreSQL %d, and run %lld of %d", path,
		               to->pg_major, (long long)facts->run_id, facts->version_num / 10000);
	if (strcmp(to->profile, facts->profile) != 0)
		return err_set(err, ERR_USAGE, "%s is of the profile %s, and run %lld of %s", path,
		               to->profile, (long long)facts->run_id, facts->profile);
	return true;
}

/* The named file, or those that belong to the run; *ret_missing is where one was looked for. */
static bool load(const struct request *request, const struct facts *facts, struct loaded *ret,
                 char **ret_missing, struct err *err)
{
	if (request->file)
		return load_one(request->file, facts, ret, err);
	for (int timings = 0; timings < BASELINES_MAX; timings++) {
		CLEANUP(free_p) char *path = baseline_path(request->dir, facts, timings, err);

		if (!path)
			return false;
		if (fs_exists(path)) {
			if (!load_one(path, facts, ret, err))
				return false;
		} else if (!timings) {
			*ret_missing = path;
			path = NULL;
		}
	}
	return true;
}

/* What makes the run's figures others than those of its profile. */
static bool is_comparable(const struct facts *facts, struct err *err)
{
	if (strcmp(facts->set_by_hand, "[]") != 0)
		return err_set(err, ERR_USAGE,
		               "run %lld has values of --set (%s), and baselines are of the "
		               "profiles as they are written",
		               (long long)facts->run_id, facts->set_by_hand);
	if (strcmp(facts->kind, "run") != 0)
		return err_set(err, ERR_USAGE, "run %lld is one of keylab %s",
		               (long long)facts->run_id, facts->kind);
	return true;
}

static bool was_run(const struct facts *facts, const char *scenario)
{
	for (size_t i = 0; i < facts->claims_count; i++)
		if (!strcmp(facts->claims[i].scenario, scenario))
			return true;
	return false;
}

/* How many lines from this one on are of a scenario that is not in the run at all; each would say
   the same. They stand together: gate_sort puts scenarios in order. */
static size_t absent_lines(const struct gate *gate, size_t from, const struct facts *facts)
{
	const struct gate_line *first = &gate->lines[from];
	size_t count = 0;

	if (first->change != CHANGE_MISSING || was_run(facts, first->scenario))
		return 0;
	while (from + count < gate->lines_count &&
	       gate->lines[from + count].change == CHANGE_MISSING &&
	       !strcmp(gate->lines[from + count].document, first->document) &&
	       !strcmp(gate->lines[from + count].scenario, first->scenario))
		count++;
	return count;
}

/* The command that compares the run's own scenarios and no others. */
static void print_narrower(const struct request *request, const struct facts *facts,
                           struct buf *out)
{
	buf_printf(out, "gate only what ran: %s gate", command_name());
	if (request->run_id)
		buf_printf(out, " --run %lld", (long long)request->run_id);
	if (strcmp(request->db, DEFAULT_DB) != 0)
		buf_printf(out, " --db %s", request->db);
	if (request->file)
		buf_printf(out, " --baseline %s", request->file);
	else if (strcmp(request->dir, DEFAULT_BASELINES) != 0)
		buf_printf(out, " --dir %s", request->dir);
	/* Claims of a scenario stand together. */
	for (size_t i = 0; i < facts->claims_count; i++)
		if (!i || strcmp(facts->claims[i].scenario, facts->claims[i - 1].scenario) != 0)
			buf_printf(out, " %s", facts->claims[i].scenario);
	buf_add_char(out, '\n');
}

static void print_text(const struct gate *gate, const struct request *request,
                       const struct facts *facts, struct buf *out)
{
	bool any_absent = false;

	for (size_t i = 0; i < gate->lines_count; i++) {
		const struct gate_line *line = &gate->lines[i];
		size_t absent = absent_lines(gate, i, facts);

		if (line->change == CHANGE_SAME)
			continue;
		if (absent) {
			buf_printf(out, "missing %s/%s: not in the run, %zu metrics\n",
			           line->document, line->scenario, absent);
			any_absent = true;
			i += absent - 1;
			continue;
		}
		buf_printf(out, "%s %s/%s/%s: ", change_word(line->change), line->document,
		           line->scenario, line->claim);
		add_hints(out, line->text);
		buf_add_char(out, '\n');
		if (line->change == CHANGE_REGRESSED || line->change == CHANGE_MISSING)
			buf_printf(out, "    rerun: %s run --profile %s --seed %s --db %s %s\n",
			           command_name(), facts->profile, facts->seed, request->db,
			           line->scenario);
	}
	buf_printf(out, "run %lld: %zu metrics", (long long)facts->run_id, gate->lines_count);
	for (size_t i = 0; i < CHANGE_COUNT; i++)
		if (gate->counts[i] || i == CHANGE_SAME)
			buf_printf(out, ", %zu %s", gate->counts[i], change_word((enum change)i));
	buf_add_char(out, '\n');
	if (any_absent && facts->claims_count)
		print_narrower(request, facts, out);
	if (gate->counts[CHANGE_IMPROVED] || gate->counts[CHANGE_NEW])
		buf_printf(out, "to keep that: %s baseline --accept %lld --db %s --reason \"…\"\n",
		           command_name(), (long long)facts->run_id, request->db);
}

static void print_json(const struct gate *gate, const struct facts *facts, struct buf *out)
{
	buf_printf(out,
	           "{\"schema\":\"keylab.gate\",\"version\":1,\"run_id\":%lld,\"exit\":%d,"
	           "\"lines\":[",
	           (long long)facts->run_id, gate_exit_code(gate));
	for (size_t i = 0; i < gate->lines_count; i++) {
		const struct gate_line *line = &gate->lines[i];

		buf_printf(out, "%s\n{\"change\":\"%s\",\"document\":", i ? "," : "",
		           change_word(line->change));
		buf_add_json(out, line->document);
		buf_add(out, ",\"scenario\":");
		buf_add_json(out, line->scenario);
		buf_add(out, ",\"claim\":");
		buf_add_json(out, line->claim);
		buf_add(out, ",\"text\":");
		buf_add_json(out, line->text);
		buf_add_char(out, '}');
	}
	buf_add(out, "\n]}\n");
}

static bool compare(const struct request *request, const struct facts *facts,
                    const struct loaded *loaded, struct gate *gate, struct err *err)
{
	for (size_t i = 0; i < loaded->count; i++)
		if (!gate_compare(gate, loaded->list[i], facts, &request->filter, err))
			return false;
	if (!gate_add_new(gate, loaded->list, loaded->count, facts, &request->filter, err))
		return false;
	gate_sort(gate);
	return true;
}

static int gate_main(const struct command *command, int argc, char **argv)
{
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(facts_finish) struct facts facts = {0};
	CLEANUP(loaded_finish) struct loaded loaded = {0};
	CLEANUP(gate_finish) struct gate gate;
	CLEANUP(free_p) char *missing = NULL;
	CLEANUP(buf_finish) struct buf out;
	struct request request = {.db = DEFAULT_DB, .dir = DEFAULT_BASELINES};
	struct err err;
	int code = parse(command, argc, argv, &request);

	gate_init(&gate);
	buf_init(&out, 0);
	if (code)
		return code;
	if (request.self_test)
		return self_test();
	if (!store_open(request.db, STORE_READ, &store, &err) ||
	    !facts_load(store, request.run_id, &facts, &err) || !is_comparable(&facts, &err) ||
	    !load(&request, &facts, &loaded, &missing, &err) ||
	    !compare(&request, &facts, &loaded, &gate, &err))
		return fail(&err);
	if (missing)
		say(stderr,
		    "keylab: there is no baseline %s; keylab baseline --accept %lld writes "
		    "it\n",
		    missing, (long long)facts.run_id);
	if (request.json)
		print_json(&gate, &facts, &out);
	else
		print_text(&gate, &request, &facts, &out);
	code = gate_exit_code(&gate);
	return print_result(&out, missing && !code ? EXIT_INCONCLUSIVE : code);
}

const struct command command_gate = {
        .name = "gate",
        .summary = "compare a run with its baseline, for CI",
        .usage = "keylab gate [--run N] [--db FILE] [--baseline FILE | --dir FOLDER] [--json]\n"
                 "            [SCENARIO|DOCUMENT]...\n"
                 "keylab gate --self-test\n\n"
                 "Compares run N (the newest finished one) with the baselines of its PostgreSQL\n"
                 "version and profile in FOLDER (" DEFAULT_BASELINES "), of all scenarios or the\n"
                 "named ones. Exact figures must be the same, counters lie within their tolerance, "
                 "no\n"
                 "invariant be violated; a timing fails when its interval lies beyond the "
                 "tolerance\n"
                 "on the same machine (docs/ci.md). --self-test plants a fault of each kind and "
                 "fails\n"
                 "when one stays green.\n\n"
                 "Exit: 0 nothing worse, 1 regressed, 2 missing, or nothing to compare, 64 a "
                 "wrong\n"
                 "baseline, store or command line, 70 a planted fault stayed green.\n",
        .main = gate_main,
};
