/* SPDX-License-Identifier: PostgreSQL */
/* keylab plan: the steps that a run would take. */
#include "scenario/plan.h"

#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"

struct plan_options {
	enum profile profile;
	struct overrides overrides;
	bool json;
};

static int parse(const struct command *command, int argc, char **argv, struct plan_options *ret)
{
	static const struct option options[] = {{"profile", required_argument, NULL, 'p'},
	                                        {"set", required_argument, NULL, 's'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {0}};

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		switch (option) {
		case 'p':
			if (!profile_parse(optarg, &ret->profile))
				return usage_error(command,
				                   "\"%s\" is no profile: quick, chapter, large",
				                   optarg);
			break;
		case 's': {
			int code = overrides_add(command, &ret->overrides, optarg);

			if (code)
				return code;
			break;
		}
		case 'j':
			ret->json = true;
			break;
		default:
			return option_stops(option);
		}
	}
	return 0;
}

static bool plan_one(const struct scenario *scenario, const struct plan_options *options,
                     struct buf *out, struct err *err)
{
	CLEANUP(arena_finish) struct arena arena;
	struct pairs params;

	arena_init(&arena, 0);
	/* What a run would take, so by its own function. */
	const struct run_request request = {
	        .profile = options->profile,
	        .overrides = options->overrides.items,
	        .overrides_count = options->overrides.count,
	};
	if (!run_params(&request, scenario, &arena, &params, err))
		return err_within(err, "%s", scenario->name);
	return options->json ? plan_print_json(scenario, &params, options->profile, out, err)
	                     : plan_print(scenario, &params, options->profile, out, err);
}

static int plan_main(const struct command *command, int argc, char **argv)
{
	CLEANUP(scenario_set_finish) struct scenario_set set = {0};
	CLEANUP(buf_finish) struct buf messages;
	CLEANUP(buf_finish) struct buf out;
	struct plan_options options = {.profile = PROFILE_CHAPTER};
	struct err err;

	buf_init(&messages, 0);
	buf_init(&out, 0);
	int code = parse(command, argc, argv, &options);
	if (code)
		return code;
	if (!load_scenarios(argv + optind, (size_t)(argc - optind), &set, &messages, &err))
		return fail(&err);
	say(stderr, "%s", messages.data);
	if (set.count && !overrides_check(&options.overrides, &set, &err))
		return fail(&err);
	for (size_t i = 0; i < set.count; i++)
		if (!plan_one(set.items[i], &options, &out, &err))
			return fail(&err);
	return print_result(&out, set.faulty ? EXIT_USAGE : EXIT_AS_EXPECTED);
}

const struct command command_plan = {
        .name = "plan",
        .summary = "show the steps that a run would take",
        .usage = "keylab plan [--profile quick|chapter|large] [--set NAME=VALUE]... [--json]\n"
                 "            [NAME|DOCUMENT|FILE]...\n\n"
                 "Prints the steps with their names filled in, loops unrolled. Needs no server.\n",
        .main = plan_main,
};
