/* SPDX-License-Identifier: PostgreSQL */
/* keylab verify: every verdict again, from the stored samples. */
#include "store/verdict.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cmd/cmd.h"
#include "sql.h"
#include "store/record.h"

struct tally {
	size_t claims, scenarios, unsealed, differences;
};

/* The ids are read to the end before anything else is asked of the store. */
struct id_list {
	struct id_row {
		int64_t run_id;
		char scenario[128], claim[128], sha256[65], status[16];
	} * items;
	size_t count;
};

static void id_list_finish(struct id_list *list)
{
	free(list->items);
}

static bool read_ids(struct store *store, const char *sql, bool claims, int64_t run_id,
                     struct id_list *ret, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql, &query, err);

	if (ok && run_id)
		query_int(&query, ":run_id", run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		struct id_row *grown = realloc(ret->items, (ret->count + 1) * sizeof(*grown));

		if (!grown) {
			ok = err_set(err, ERR_SYSTEM, "out of memory");
			break;
		}
		ret->items = grown;
		struct id_row *id = &grown[ret->count++];
		*id = (struct id_row){.run_id = query_get_int(&query, 0)};
		snprintf(id->scenario, sizeof(id->scenario), "%s", query_get_text(&query, 1));
		snprintf(claims ? id->claim : id->status,
		         claims ? sizeof(id->claim) : sizeof(id->status), "%s",
		         query_get_text(&query, 2));
		if (!claims)
			snprintf(id->sha256, sizeof(id->sha256), "%s", query_get_text(&query, 3));
	}
	query_finish(&query);
	return ok;
}

static bool verify_scenarios(struct store *store, int64_t run_id, struct tally *tally,
                             struct buf *out, struct err *err)
{
	CLEANUP(id_list_finish) struct id_list list = {0};

	if (!read_ids(store, sql_store_list_scenarios, false, run_id, &list, err))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		const struct id_row *id = &list.items[i];
		char digest[HASH_TEXT_BYTES];

		if (!id->sha256[0] && !strcmp(id->status, "done")) {
			tally->differences++;
			buf_printf(out, "run %lld %s: the digest of its samples is gone\n",
			           (long long)id->run_id, id->scenario);
			continue;
		}
		if (!id->sha256[0]) {
			tally->unsealed++;
			continue;
		}
		if (!samples_digest(store, id->run_id, id->scenario, digest, err))
			return false;
		tally->scenarios++;
		if (!strcmp(digest, id->sha256))
			continue;
		tally->differences++;
		buf_printf(out, "run %lld %s: its samples are not those that were recorded\n",
		           (long long)id->run_id, id->scenario);
	}
	return true;
}

static bool verify_claims(struct store *store, int64_t run_id, struct tally *tally, struct buf *out,
                          struct err *err)
{
	CLEANUP(id_list_finish) struct id_list list = {0};

	if (!read_ids(store, sql_store_list_claims, true, run_id, &list, err))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		const struct id_row *id = &list.items[i];
		bool same;

		if (!verdict_compare(store, id->run_id, id->scenario, id->claim, &same, out, err))
			return false;
		tally->claims++;
		if (!same) {
			tally->differences++;
			buf_add_char(out, '\n');
		}
	}
	return true;
}

static int verify_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"run", required_argument, NULL, 'r'},
	                                        {0}};
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(buf_finish) struct buf out;
	const char *db = DEFAULT_DB;
	struct tally tally = {0};
	int64_t run_id = 0;
	struct err err;

	buf_init(&out, 0);
	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		if (option == 'd')
			db = optarg;
		else if (option != 'r')
			return option_stops(option);
		else if (!read_run_id(optarg, &run_id))
			return no_run_id(command, optarg);
	}
	if (optind < argc)
		db = argv[optind++];
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	if (!store_open(db, STORE_READ, &store, &err) ||
	    !verify_scenarios(store, run_id, &tally, &out, &err) ||
	    !verify_claims(store, run_id, &tally, &out, &err))
		return fail(&err);
	if (!tally.claims) {
		say(stderr, "keylab: %s holds no claims of %s; nothing was verified\n", db,
		    run_id ? "that run" : "any run");
		return EXIT_INCONCLUSIVE;
	}
	buf_printf(&out,
	           "%zu verdicts derived again from the samples of %zu scenarios: ", tally.claims,
	           tally.scenarios);
	if (tally.differences)
		buf_printf(&out, "%zu differences\n", tally.differences);
	else
		buf_add(&out, "all the same\n");
	if (tally.unsealed)
		buf_printf(&out, "(%zu scenarios did not run or did not end)\n", tally.unsealed);
	return print_result(&out, tally.differences ? EXIT_REFUTED : EXIT_AS_EXPECTED);
}

const struct command command_verify = {
        .name = "verify",
        .summary = "derive every verdict again from the stored samples",
        .usage = "keylab verify [--run N] [FILE | --db FILE]\n\n"
                 "Runs each claim's SQL over the samples in FILE (" DEFAULT_DB
                 ") again, judges again,\n"
                 "and compares with what the run stored; also checks that the samples are those "
                 "that\n"
                 "were recorded. Exit: 0 all the same, 1 any difference, 2 nothing to verify.\n",
        .main = verify_main,
};
