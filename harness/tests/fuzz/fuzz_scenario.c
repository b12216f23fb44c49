/* SPDX-License-Identifier: PostgreSQL */
/*
 * Any bytes as a scenario: a refusal says what is wrong; what is taken can be
 * printed, read again to the same text, and planned.
 *
 *   clang -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iharness \
 *     harness/tests/fuzz/fuzz_scenario.c harness/scenario/[a-z]*.c \
 *     harness/base/{arena,buf,err,fs,hash,predicate,units}.c -lfyaml -lcrypto -lm -o fuzz_scenario
 *   ./fuzz_scenario -max_total_time=60 harness/tests/fuzz/corpus/scenario
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/plan.h"
#include "tests/unit/vocabulary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_scenario: %s\n", what);
	abort();
}

/* Plans unroll loops; hostile ones longer than anybody waits for. */
struct patience {
	size_t steps;
};

static bool count_visit(void *context, const struct plan_step *plan, struct err *err)
{
	struct patience *patience = context;

	must(plan->step && plan->scope && plan->times > 0, "a step of a plan is not filled");
	if (++patience->steps > 1000)
		return err_set(err, ERR_INPUT, "enough");
	return true;
}

static void plan_all(const struct scenario *scenario)
{
	for (int i = 0; i < PROFILE_COUNT; i++) {
		struct patience patience = {0};
		struct pairs params;
		struct arena arena;
		struct err err;

		arena_init(&arena, 0);
		must(scenario_params(scenario, (enum profile)i, NULL, 0, &arena, &params, &err),
		     "the check passed parameters that cannot be read");
		if (plan_walk(scenario, &params, count_visit, &patience, &err)) {
			struct buf text;

			buf_init(&text, 0);
			must(plan_print(scenario, &params, (enum profile)i, &text, &err),
			     "a plan cannot be printed");
			must(plan_print_json(scenario, &params, (enum profile)i, &text, &err),
			     "a plan cannot be printed as JSON");
			buf_finish(&text);
		}
		arena_finish(&arena);
	}
}

static void there_and_back(const struct scenario *scenario)
{
	struct scenario *again = NULL;
	struct buf first, second, messages;
	struct err err;

	buf_init(&first, 0);
	buf_init(&second, 0);
	buf_init(&messages, 0);
	scenario_print(scenario, &first);
	/* Written out a text may become larger than a file may be. */
	if (buf_ok(&first, &err) && first.len < (1 << 20)) {
		bool good = scenario_load_text("d/s.yaml", first.data, first.len, &test_vocabulary,
		                               &again, &messages, &err);

		if (!good)
			fprintf(stderr, "%s\n%s", first.data, messages.data);
		must(good, "what was printed cannot be read");
		scenario_print(again, &second);
		must(!strcmp(first.data, second.data), "what was printed reads as something else");
	}
	scenario_destroy(again);
	buf_finish(&first);
	buf_finish(&second);
	buf_finish(&messages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario *scenario = NULL;
	struct buf messages;
	struct err err = {0};

	buf_init(&messages, 0);
	if (scenario_load_text("d/s.yaml", (const char *)data, size, &test_vocabulary, &scenario,
	                       &messages, &err)) {
		must(messages.len == 0, "messages of a scenario that was taken");
		there_and_back(scenario);
		plan_all(scenario);
	} else {
		must(!scenario && err.message[0], "a refusal without a message");
		must(err.kind != ERR_INPUT || messages.len > 0, "a mistake that is not told");
	}
	scenario_destroy(scenario);
	buf_finish(&messages);
	return 0;
}
