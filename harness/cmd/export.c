/* SPDX-License-Identifier: PostgreSQL */
/* keylab export: a run's claims in formats that other programs read. */
#include "evidence/export.h"

#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "cmd/cmd.h"

struct request {
	const char *db, *out;
	const struct export_format *format;
	int64_t run_id;
	struct export_options options;
};

static int bad_format(const struct command *command, const char *name)
{
	CLEANUP(buf_finish) struct buf names;

	buf_init(&names, 0);
	for (size_t i = 0; i < export_formats_count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", export_formats[i].name);
	return name ? usage_error(command, "\"%s\" is no format: %s", name, names.data)
	            : usage_error(command, "name a --format: %s", names.data);
}

static int parse(const struct command *command, int argc, char **argv, struct request *ret)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"out", required_argument, NULL, 'o'},
	                                        {"run", required_argument, NULL, 'r'},
	                                        {"format", required_argument, NULL, 'f'},
	                                        {"allow-inconclusive", no_argument, NULL, 'i'},
	                                        {0}};

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		switch (option) {
		case 'd':
			ret->db = optarg;
			break;
		case 'o':
			ret->out = optarg;
			break;
		case 'r':
			if (!read_run_id(optarg, &ret->run_id))
				return no_run_id(command, optarg);
			break;
		case 'f':
			ret->format = export_find(optarg);
			if (!ret->format)
				return bad_format(command, optarg);
			break;
		case 'i':
			ret->options.allow_inconclusive = true;
			break;
		default:
			return option_stops(option);
		}
	}
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	return ret->format ? 0 : bad_format(command, NULL);
}

static int export_main(const struct command *command, int argc, char **argv)
{
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(facts_finish) struct facts facts = {0};
	CLEANUP(buf_finish) struct buf out;
	struct request request = {.db = DEFAULT_DB};
	struct err err;
	int code = parse(command, argc, argv, &request);

	buf_init(&out, 0);
	if (code)
		return code;
	assert(request.format);
	if (!store_open(request.db, STORE_READ, &store, &err) ||
	    !facts_load(store, request.run_id, &facts, &err) ||
	    !request.format->write(&facts, &request.options, &out, &err))
		return fail(&err);
	if (!request.out)
		return print_result(&out, EXIT_AS_EXPECTED);
	return fs_write(request.out, out.data, out.len, 0644, &err) ? EXIT_AS_EXPECTED : fail(&err);
}

const struct command command_export = {
        .name = "export",
        .summary = "write a run's claims as TAP, JUnit, CSV, JSON, Markdown, …",
        .usage =
                "keylab export --format tap|tap14|junit|csv|json|md|github|case [--run N] [--db "
                "FILE]\n"
                "              [--out FILE] [--allow-inconclusive]\n\n"
                "Writes the claims of run N (the newest finished one) to standard output or FILE.\n"
                "docs/exports.md says what each format holds and which verdict becomes what.\n"
                "--allow-inconclusive makes inconclusive claims a skip instead of a failure; give "
                "it\n"
                "where you give it to run. Exit: 0 written; the verdicts are in the file.\n",
        .main = export_main,
};
