/* SPDX-License-Identifier: PostgreSQL */
/* keylab list: the scenarios there are. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static void list_text(const struct scenario_set *set, struct buf *out)
{
	const char *document = "";

	for (size_t i = 0; i < set->count; i++) {
		const struct scenario *scenario = set->items[i];

		if (strcmp(document, scenario->document)) {
			document = scenario->document;
			buf_printf(out, "%s\n", document);
		}
		buf_printf(out, "  %-22s %2zu claims  %s\n", scenario->name, scenario->claims_count,
		           scenario->title);
	}
}

static void list_json(const struct scenario_set *set, struct buf *out)
{
	buf_add(out, "{\"version\":1,\"scenarios\":[");
	for (size_t i = 0; i < set->count; i++) {
		const struct scenario *scenario = set->items[i];

		buf_add(out, i ? ",\n{\"scenario\":" : "\n{\"scenario\":");
		buf_add_json(out, scenario->name);
		buf_add(out, ",\"document\":");
		buf_add_json(out, scenario->document);
		buf_add(out, ",\"title\":");
		buf_add_json(out, scenario->title);
		buf_add(out, ",\"file\":");
		buf_add_json(out, scenario->path);
		buf_printf(out, ",\"sha256\":\"%s\",\"claims\":[", scenario->sha256);
		for (size_t j = 0; j < scenario->claims_count; j++) {
			buf_add(out, j ? "," : "");
			buf_add_json(out, scenario->claims[j].id);
		}
		buf_add(out, "]}");
	}
	buf_add(out, "\n]}\n");
}

static int list_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	CLEANUP(scenario_set_finish) struct scenario_set set = {0};
	CLEANUP(buf_finish) struct buf messages;
	CLEANUP(buf_finish) struct buf out;
	struct err err;
	bool json = false;

	buf_init(&messages, 0);
	buf_init(&out, 0);
	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		if (option != 'j')
			return option_stops(option);
		json = true;
	}
	if (!load_scenarios(argv + optind, (size_t)(argc - optind), &set, &messages, &err))
		return fail(&err);
	say(stderr, "%s", messages.data);
	if (json)
		list_json(&set, &out);
	else
		list_text(&set, &out);
	return print_result(&out, set.faulty ? EXIT_USAGE : EXIT_AS_EXPECTED);
}

const struct command command_list = {
        .name = "list",
        .summary = "list scenarios and how many claims each checks",
        .usage = "keylab list [--json] [NAME|DOCUMENT|FILE]...\n",
        .main = list_main,
};
