/* SPDX-License-Identifier: PostgreSQL */
/* keylab baseline: accepts a run as what the gate compares with. */
#include "evidence/baseline.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "cmd/cmd.h"

struct request {
	const char *db, *dir, *reason, *aa, *spread;
	int64_t run_id;
};

static int parse(const struct command *command, int argc, char **argv, struct request *ret)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"dir", required_argument, NULL, 'D'},
	                                        {"accept", required_argument, NULL, 'a'},
	                                        {"reason", required_argument, NULL, 'r'},
	                                        {"aa", required_argument, NULL, 'A'},
	                                        {"spread", required_argument, NULL, 's'},
	                                        {0}};

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		switch (option) {
		case 'd':
			ret->db = optarg;
			break;
		case 'D':
			ret->dir = optarg;
			break;
		case 'a':
			if (!read_run_id(optarg, &ret->run_id))
				return no_run_id(command, optarg);
			break;
		case 'r':
			ret->reason = optarg;
			break;
		case 'A':
			ret->aa = optarg;
			break;
		case 's':
			ret->spread = optarg;
			break;
		default:
			return option_stops(option);
		}
	}
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	if (!ret->run_id)
		return usage_error(command, "name the run: --accept RUN");
	if (!ret->reason || !ret->reason[strspn(ret->reason, " \t\n")])
		return usage_error(command, "say why: --reason TEXT");
	return 0;
}

/* What a run must be to be a baseline. */
static bool is_fit(const struct facts *facts, struct err *err)
{
	if (strcmp(facts->status, "finished") != 0)
		return err_set(err, ERR_INPUT, "run %lld is %s, not finished",
		               (long long)facts->run_id, facts->status);
	if (strcmp(facts->kind, "run") != 0)
		return err_set(err, ERR_INPUT, "run %lld is one of keylab %s",
		               (long long)facts->run_id, facts->kind);
	if (strcmp(facts->set_by_hand, "[]") != 0)
		return err_set(err, ERR_INPUT,
		               "run %lld has values of --set (%s); a baseline is of a profile as "
		               "it is written",
		               (long long)facts->run_id, facts->set_by_hand);
	if (!facts->one_version)
		return err_set(err, ERR_INPUT, "run %lld has clusters of %s PostgreSQL version",
		               (long long)facts->run_id,
		               facts->version_num ? "more than one" : "no");
	return true;
}

/* The run of identical arms for the timings. */
static bool load_identical(const struct request *request, const struct facts *facts,
                           struct facts *ret, struct err *err)
{
	CLEANUP(store_close_p) struct store *store = NULL;

	if (!store_open(request->aa, STORE_READ, &store, err) || !facts_load(store, 0, ret, err))
		return false;
	ret->store = NULL; /* ends here */
	if (strcmp(ret->kind, "aa") != 0)
		return err_set(err, ERR_INPUT, "the newest run of %s is none of keylab aa",
		               request->aa);
	if (strcmp(ret->fingerprint, facts->fingerprint) != 0)
		return err_set(err, ERR_INPUT, "%s is of another machine than run %lld",
		               request->aa, (long long)facts->run_id);
	return true;
}

/* The runs in a row for the counters. */
static bool load_spreads(const struct request *request, const struct facts *facts,
                         struct spreads *ret, struct err *err)
{
	CLEANUP(store_close_p) struct store *store = NULL;

	return store_open(request->spread, STORE_READ, &store, err) &&
	       (spreads_load(store, facts, ret, err) || err_within(err, "%s", request->spread));
}

static bool write_one(const struct request *request, const struct facts *facts,
                      const struct noise *noise, bool timings, struct buf *out, struct err *err)
{
	CLEANUP(free_p) char *path = baseline_path(request->dir, facts, timings, err);
	CLEANUP(baseline_finish) struct baseline old = {0};
	CLEANUP(baseline_finish) struct baseline made = {0};
	CLEANUP(buf_finish) struct buf text;

	buf_init(&text, 0);
	if (!path)
		return false;
	bool known = fs_exists(path);
	if (known && !baseline_read(path, &old, err))
		return false;
	if (!baseline_accept(known ? &old : NULL, facts, timings, request->reason, noise, &made,
	                     err) ||
	    !baseline_print(&made, &text, err))
		return false;
	CLEANUP(free_p) char *dir = fs_printf(err, "%.*s", (int)(strrchr(path, '/') - path), path);
	if (!dir || !fs_mkdirs(dir, 0755, err) || !fs_write(path, text.data, text.len, 0644, err))
		return false;
	buf_printf(out, "%s: %zu metrics%s; review it and commit it\n", path, made.metrics_count,
	           known ? " (it was there already: see its diff)" : "");
	return true;
}

static int baseline_main(const struct command *command, int argc, char **argv)
{
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(facts_finish) struct facts facts = {0};
	CLEANUP(facts_finish) struct facts identical = {0};
	CLEANUP(spreads_finish) struct spreads spreads = {0};
	CLEANUP(buf_finish) struct buf out;
	struct request request = {.db = DEFAULT_DB, .dir = DEFAULT_BASELINES};
	struct err err;
	int code = parse(command, argc, argv, &request);

	buf_init(&out, 0);
	if (code)
		return code;
	if (!store_open(request.db, STORE_READ, &store, &err) ||
	    !facts_load(store, request.run_id, &facts, &err) || !is_fit(&facts, &err) ||
	    (request.aa && !load_identical(&request, &facts, &identical, &err)) ||
	    (request.spread && !load_spreads(&request, &facts, &spreads, &err)))
		return fail(&err);
	const struct noise noise = {.identical = request.aa ? &identical : NULL,
	                            .spreads = &spreads};
	bool any = baseline_applies(&facts, false), timings = baseline_applies(&facts, true);
	if (!any && !timings) {
		err_set(&err, ERR_INPUT, "run %lld holds no claims", (long long)request.run_id);
		return fail(&err);
	}
	if ((any && !write_one(&request, &facts, &noise, false, &out, &err)) ||
	    (timings && !write_one(&request, &facts, &noise, true, &out, &err)))
		return fail(&err);
	return print_result(&out, EXIT_AS_EXPECTED);
}

const struct command command_baseline = {
        .name = "baseline",
        .summary = "accept a run as what the gate compares with",
        .usage = "keylab baseline --accept RUN --reason TEXT [--db FILE] [--dir FOLDER] [--aa "
                 "FILE]\n"
                 "                [--spread FILE]\n\n"
                 "Writes the values of run RUN into FOLDER (" DEFAULT_BASELINES ")/<version>/:\n"
                 "<profile>-any.json for what is the same on every machine, and timings into\n"
                 "<profile>-<fingerprint>.json for this machine. Metrics of scenarios that the "
                 "run\n"
                 "does not have stay, and so do tolerances that stand there. Nothing else writes "
                 "these\n"
                 "files. With --aa, a store of keylab aa, a timing's tolerance is at least this\n"
                 "machine's noise. With --spread, a store of several runs of the profile, a "
                 "counter's is\n"
                 "twice what it spread there. Review the diff and commit it (docs/ci.md).\n",
        .main = baseline_main,
};
