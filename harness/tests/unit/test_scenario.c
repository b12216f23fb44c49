/* SPDX-License-Identifier: PostgreSQL */
/*
 * Scenarios read, checked, printed and planned without a server: every bad
 * file of golden/scenarios against its exact messages, the examples of
 * docs/scenarios.md, and every scenario of the tree there and back.
 *
 * UPDATE=1 writes the .expected files anew; look at the
 * difference before committing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <glob.h>

#include "base/clock.h"
#include "base/fs.h"
#include "scenario/plan.h"
#include "tests/unit/vocabulary.h"

static void go_to(const char *folder)
{
	const char *root = getenv("KEYLAB_SOURCE_ROOT");

	if (!root || chdir(root))
		fail_msg("KEYLAB_SOURCE_ROOT must name the folder of the sources");
	if (*folder && chdir(folder))
		fail_msg("no folder %s", folder);
}

/* Loads a good one from memory, under a name that fits it. */
static struct scenario *load_good(const char *path, const char *text)
{
	struct scenario *scenario = NULL;
	struct buf messages;
	struct err err;

	buf_init(&messages, 0);
	if (!scenario_load_text(path, text, strlen(text), &test_vocabulary, &scenario, &messages,
	                        &err))
		fail_msg("%s: %s\n%s", path, err.message, messages.data);
	assert_int_equal(messages.len, 0);
	buf_finish(&messages);
	return scenario;
}

/* ---- golden ---- */

static bool check_golden(const char *path)
{
	struct scenario *scenario = NULL;
	struct buf messages, expected;
	struct err err = {0}, read_err;
	char name[512];
	bool good = true;

	buf_init(&messages, 0);
	buf_init(&expected, 0);
	if (scenario_load(path, &test_vocabulary, &scenario, &messages, &err)) {
		print_error("%s: passes the check\n", path);
		good = false;
	}
	assert_true(!good || err.kind == ERR_INPUT);
	snprintf(name, sizeof(name), "%.*s.expected", (int)(strlen(path) - strlen(".yaml")), path);
	if (getenv("UPDATE")) {
		assert_true(fs_write(name, messages.data, messages.len, 0644, &read_err));
	} else if (!fs_read(name, 1 << 20, &expected, &read_err)) {
		print_error("%s\n", read_err.message);
		good = false;
	} else if (strcmp(expected.data, messages.data) != 0) {
		print_error("%s: expected\n%sbut got\n%s", path, expected.data, messages.data);
		good = false;
	}
	scenario_destroy(scenario);
	buf_finish(&messages);
	buf_finish(&expected);
	return good;
}

static void golden_messages(void **state)
{
	size_t wrong = 0;
	glob_t files;

	(void)state;
	go_to("harness/tests/golden");
	assert_int_equal(glob("scenarios/*.yaml", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 200);
	for (size_t i = 0; i < files.gl_pathc; i++)
		wrong += !check_golden(files.gl_pathv[i]);
	globfree(&files);
	assert_int_equal(wrong, 0);
}

/* Every line of every message: place, cause, and (behind a ; or :) the fix. */
static void golden_form(void **state)
{
	glob_t files;

	(void)state;
	go_to("harness/tests/golden");
	assert_int_equal(glob("scenarios/*.expected", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct buf text;
		struct err err;
		int line, column;
		char file[256];

		buf_init(&text, 0);
		assert_true(fs_read(files.gl_pathv[i], 1 << 20, &text, &err));
		assert_true(text.len > 0);
		for (char *at = text.data, *end; (end = strchr(at, '\n')); at = end + 1) {
			*end = '\0';
			assert_int_equal(sscanf(at, "%255[^:]:%d:%d: ", file, &line, &column), 3);
			assert_true(line >= 1 && column >= 1);
			if (!strchr(at, ';'))
				fail_msg("%s: no fix in: %s", files.gl_pathv[i], at);
		}
		buf_finish(&text);
	}
	globfree(&files);
}

/* ---- there and back ---- */

static void check_round_trip(const char *path)
{
	struct scenario *first = NULL, *second;
	struct buf printed, again, messages;
	struct err err;

	buf_init(&printed, 0);
	buf_init(&again, 0);
	buf_init(&messages, 0);
	if (!scenario_load(path, &test_vocabulary, &first, &messages, &err))
		fail_msg("%s\n%s", err.message, messages.data);
	scenario_print(first, &printed);
	assert_true(buf_ok(&printed, &err));
	second = load_good(path, printed.data);
	scenario_print(second, &again);
	assert_string_equal(printed.data, again.data);
	assert_int_equal(first->steps_count, second->steps_count);
	assert_int_equal(first->claims_count, second->claims_count);
	scenario_destroy(first);
	scenario_destroy(second);
	buf_finish(&printed);
	buf_finish(&again);
	buf_finish(&messages);
}

static void tree_round_trips(void **state)
{
	glob_t files;

	(void)state;
	go_to("");
	assert_int_equal(glob("scenarios/*/*.yaml", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++)
		check_round_trip(files.gl_pathv[i]);
	globfree(&files);
}

#define HEAD                                                                                       \
	"scenario: s\ndocument: d\ntitle: t\nabout: a\n"                                           \
	"params: {rows: {chapter: 1k}, rounds: 3, size: 8MB, word: so, share: 0.5}\n"              \
	"arms:\n  a: {label: A, n: 1}\n  b: {label: B, n: 2}\n"
#define TAIL                                                                                       \
	"claims:\n- {id: c, says: it, value: select 1, type: exact, holds: = 1}\nlimits: [none]\n"

static void odd_texts_round_trip(void **state)
{
	/* Texts that YAML would read as something else when printed carelessly. */
	static const char text[] =
	        HEAD "steps:\n"
	             "- sql: \"select '\\t', '  x', ' \\\"'\"\n"
	             "- sql: |\n    select 1\n      , 2 -- \\ \"\n\n    , 3\n"
	             "- sql: |-\n    select 1;\n    select 2\n"
	             "- sql: \"\\n leading break\"\n"
	             "- sql: \"trailing breaks\\n\\n\"\n"
	             "- sql: \"odd \\u2028 \\u0085 \\e breaks\"\n"
	             "- sql: \"# no comment\"\n"
	             "- {sql: \"- no list\", session: A, deadline: 1.5s}\n"
	             "- {sql: 'x: y', as: out, expect: {sqlstate: 428C9, message: \"a, b: {\"}}\n"
	             "- {sql: select 1, as: any, expect: error}\n"
	             "- {sql: select 1, session: B, background: true, allow: errors}\n"
	             "- join: B\n"
	             "- set: {work_mem: \"\", a.b: \"${size}\"}\n"
	             "- {each: arm, only: [b], do: [{sql: \"select ${n + 1}, ${label}\"}]}\n"
	             "- {each: {x: [1, \"a: b\", \"true\"]}, do: [{sql: \"select ${quote x}\"}]}\n"
	             "- {repeat: \"${rounds}\", as: i, do: [{checkpoint: true}, {restart: "
	             "kill}]}\n" TAIL;
	struct scenario *first = load_good("d/s.yaml", text), *second;
	struct buf one, two;

	(void)state;
	buf_init(&one, 0);
	buf_init(&two, 0);
	scenario_print(first, &one);
	second = load_good("d/s.yaml", one.data);
	scenario_print(second, &two);
	assert_string_equal(one.data, two.data);
	for (size_t i = 0; i < first->steps_count; i++) {
		if (first->steps[i].sql)
			assert_string_equal(first->steps[i].sql, second->steps[i].sql);
		assert_int_equal(first->steps[i].deadline_ns, second->steps[i].deadline_ns);
	}
	scenario_destroy(first);
	scenario_destroy(second);
	buf_finish(&one);
	buf_finish(&two);
}

/* ---- documentation ---- */

/* The ```yaml block that starts with "scenario:" at *at, or NULL; NUL-terminates it. */
static char *next_example(char **at)
{
	static const char fence[] = "```yaml\nscenario:";
	char *start = strstr(*at, fence);

	if (!start)
		return NULL;
	start += strlen("```yaml\n");
	char *end = strstr(start, "\n```");
	assert_non_null(end);
	end[1] = '\0';
	*at = end + 2;
	return start;
}

static void documented_examples(void **state)
{
	struct buf page;
	struct err err;
	size_t count = 0;

	(void)state;
	go_to("");
	buf_init(&page, 0);
	assert_true(fs_read("docs/scenarios.md", 1 << 20, &page, &err));
	for (char *at = page.data, *example; (example = next_example(&at)); count++) {
		char name[64], path[128];

		assert_int_equal(sscanf(example, "scenario: %63s", name), 1);
		snprintf(path, sizeof(path), "examples/%s.yaml", name);
		scenario_destroy(load_good(path, example));
	}
	assert_true(count >= 3);
	buf_finish(&page);
}

/* ---- what the tree says ---- */

static void tree_is_filled(void **state)
{
	struct scenario *s =
	        load_good("d/s.yaml", HEAD "steps:\n- {each: arm, only: [b], do: [{measure: m, "
	                                   "sql: select 1, meters: [clock]}]}\n"
	                                   "- {prove: p, sql: select 1, deadline: 250ms}\n"
	                                   "- sql: |\n    select lab.prove('l', true)\n"
	                                   "claims:\n"
	                                   "- {id: p, says: it, type: exact, holds: = 1}\n"
	                                   "- {id: l, says: it, type: exact, holds: is true}\n"
	                                   "- {id: c, says: it, value: select 1, type: timing, "
	                                   "unit: bytes, published: 551 MB, "
	                                   "holds: prints published, profiles: [chapter], scope: "
	                                   "so, expect: REFUTED, because: x}\n"
	                                   "limits: [none]\n");

	(void)state;
	assert_string_equal(s->name, "s");
	assert_int_equal(s->cluster.version, 15);
	assert_false(s->cluster.shared);
	/* quick takes the smallest value that is given */
	assert_string_equal(s->params[0].value[PROFILE_QUICK], "1k");
	assert_string_equal(s->params[0].value[PROFILE_LARGE], "1k");
	assert_int_equal(s->steps[0].verb, STEP_EACH);
	assert_int_equal(s->steps[0].values.count, 1);
	assert_string_equal(s->steps[0].values.items[0], "b");
	assert_string_equal(s->steps[0].steps[0].session, "main");
	assert_int_equal(s->steps[0].steps[0].deadline_ns, 300 * NS_PER_S);
	assert_int_equal(s->steps[1].deadline_ns, 250 * NS_PER_MS);
	assert_true(s->claims[0].proved && s->claims[1].proved && !s->claims[2].proved);
	assert_string_equal(s->claims[0].value,
	                    "select value from sample where step = 'p' and metric = 'value'");
	assert_true(s->claims[2].has_published_value);
	assert_true(s->claims[2].published_value == 551.0 * 1048576);
	assert_true(!s->claims[2].profiles[PROFILE_QUICK] &&
	            s->claims[2].profiles[PROFILE_CHAPTER]);
	assert_int_equal(strlen(s->sha256), 64);
	scenario_destroy(s);
}

static void one_set(const struct scenario *s, const char *override, const char *name,
                    const char *expected)
{
	struct arena arena;
	struct pairs params;
	struct err err = {0};

	arena_init(&arena, 0);
	bool good = scenario_params(s, PROFILE_CHAPTER, &override, 1, &arena, &params, &err);
	if (expected) {
		if (!good)
			fail_msg("%s", err.message);
		assert_string_equal(pairs_find(&params, name)->text, expected);
	} else {
		assert_false(good);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_non_null(strstr(err.message, name));
	}
	arena_finish(&arena);
}

static void params_and_overrides(void **state)
{
	struct scenario *s = load_good("d/s.yaml", HEAD "steps: [{checkpoint: true}]\n" TAIL);
	static const char *const none[] = {NULL};
	struct arena arena;
	struct pairs params;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	assert_true(scenario_params(s, PROFILE_CHAPTER, none, 0, &arena, &params, &err));
	assert_string_equal(pairs_find(&params, "rows")->text, "1000");
	assert_string_equal(pairs_find(&params, "size")->text, "8MB");
	assert_string_equal(pairs_find(&params, "share")->text, "0.5");
	assert_null(pairs_find(&params, "label"));
	arena_finish(&arena);

	one_set(s, "rows=5M", "rows", "5000000");
	one_set(s, "size=1GB", "size", "1GB");
	one_set(s, "word=5M", "word", "5M");
	one_set(s, "share=0.75", "share", "0.75");
	one_set(s, "rows=8MB", "is a count, not a size", NULL);
	one_set(s, "rows=many", "is a count, not a text", NULL);
	one_set(s, "rows=1e99", "no whole number", NULL);
	one_set(s, "rows=5K", "write `k`", NULL);
	one_set(s, "rwos=5", "no such parameter", NULL);
	one_set(s, "rows", "name=value", NULL);
	one_set(s, "rows=", "name=value", NULL);
	one_set(s, "=5", "name=value", NULL);
	one_set(s, "word=${rows}", "not expanded", NULL);
	scenario_destroy(s);
}

static void plans(void **state)
{
	struct scenario *s =
	        load_good("d/s.yaml", HEAD "steps:\n"
	                                   "- let: top\n  sql: select 1\n"
	                                   "- repeat: ${rounds}\n  as: i\n  do:\n"
	                                   "  - {each: arm, do: [{sql: \"insert ${arm} ${rows / "
	                                   "rounds} ${top} ${n * 2}\"}]}\n"
	                                   "  - checkpoint: true\n" TAIL);
	struct pairs params;
	struct arena arena;
	struct buf text, json;
	struct err err;

	(void)state;
	arena_init(&arena, 0);
	buf_init(&text, 0);
	buf_init(&json, 0);
	assert_true(scenario_params(s, PROFILE_QUICK, NULL, 0, &arena, &params, &err));
	assert_true(plan_print(s, &params, PROFILE_QUICK, &text, &err));
	assert_non_null(strstr(text.data, "sql: insert a 333 <top> 2\n"));
	assert_non_null(strstr(text.data, "sql: insert b 333 <top> 4\n"));
	assert_non_null(strstr(text.data, "3 times, counted by i"));
	/* 1 let, 3 × (2 sql + 1 checkpoint) */
	assert_non_null(strstr(text.data, "10 steps in all: 6 sql, 1 let, 3 checkpoint;"));
	assert_true(plan_print_json(s, &params, PROFILE_QUICK, &json, &err));
	assert_non_null(strstr(json.data, "\"totals\":{\"sql\":6,\"let\":1,\"checkpoint\":3}"));
	buf_finish(&text);
	buf_finish(&json);
	arena_finish(&arena);
	scenario_destroy(s);
}

/* ---- hostile ---- */

static void expect_bad(const char *text, size_t len, const char *says)
{
	struct scenario *scenario = NULL;
	struct buf messages;
	struct err err = {0};

	buf_init(&messages, 0);
	assert_false(scenario_load_text("d/s.yaml", text, len, &test_vocabulary, &scenario,
	                                &messages, &err));
	assert_null(scenario);
	assert_int_equal(err.kind, ERR_INPUT);
	if (!strstr(messages.data, says))
		fail_msg("\"%s\" is not in: %.2000s", says, messages.data);
	buf_finish(&messages);
}

/* Text repeated; the caller frees it. */
static char *repeated(const char *unit, size_t count)
{
	size_t len = strlen(unit);
	char *text = malloc(len * count + 1);

	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * len, unit, len);
	text[len * count] = '\0';
	return text;
}

static void hostile_texts_answer_at_once(void **state)
{
	static const struct {
		const char *unit;
		size_t count;
		const char *says;
	} texts[] = {
	        {"[", 10 << 20, "1 MB"},
	        {"[", 1 << 20, "nested deeper than 64"},
	        {"{a: ", 1 << 18, "nested deeper than 64"},
	        {"- ", 1 << 19, "nested deeper than 64"},
	        {"- a\n", 1 << 18, "must be a map"},
	        {"a: 1\n", 1 << 17, "stands twice"},
	        {"? ", 1 << 19, ""},
	        {"\"", 1 << 20, ""},
	        {"- &a *a\n", 1 << 16, ""},
	        {"\xff", 1 << 20, "no UTF-8"},
	        {"\n", 1 << 20, "empty"},
	        {"steps:\n", 1, "must be a list"},
	};
	uint64_t start = clock_now_ns();

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		char *text = repeated(texts[i].unit, texts[i].count);

		expect_bad(text, strlen(text), texts[i].says);
		free(text);
	}
	expect_bad("scenario: a\0b", 13, "control character 0x00");
	expect_bad("scenario: \xed\xa0\x80", 13, "no UTF-8");
	expect_bad("scenario: \xc0\x80", 12, "no UTF-8");
	expect_bad("scenario: \xf4\x90\x80\x80", 14, "no UTF-8");
	/* Generous: sanitizers and slow machines; a quadratic reader takes minutes. */
	assert_true(clock_now_ns() - start < 30 * NS_PER_S);
}

static void many_mistakes_are_counted(void **state)
{
	struct buf text;

	(void)state;
	buf_init(&text, 0);
	buf_add(&text, HEAD "steps:\n");
	for (int i = 0; i < 2000; i++)
		buf_printf(&text, "- sql: select ${nothing_%d}\n", i);
	buf_add(&text, TAIL);
	expect_bad(text.data, text.len, "and 1500 mistakes more");
	buf_finish(&text);
}

static void files_that_are_none(void **state)
{
	struct scenario *scenario = NULL;
	struct buf messages;
	struct err err;

	(void)state;
	go_to("");
	buf_init(&messages, 0);
	assert_false(scenario_load("no/such.yaml", NULL, &scenario, &messages, &err));
	assert_non_null(strstr(err.message, "no/such.yaml"));
	assert_false(scenario_load("docs", NULL, &scenario, &messages, &err));
	assert_int_equal(err.kind, ERR_INPUT);
	assert_false(scenario_load("/dev/zero", NULL, &scenario, &messages, &err));
	buf_finish(&messages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(golden_messages),
	        cmocka_unit_test(golden_form),
	        cmocka_unit_test(tree_round_trips),
	        cmocka_unit_test(odd_texts_round_trip),
	        cmocka_unit_test(documented_examples),
	        cmocka_unit_test(tree_is_filled),
	        cmocka_unit_test(params_and_overrides),
	        cmocka_unit_test(plans),
	        cmocka_unit_test(hostile_texts_answer_at_once),
	        cmocka_unit_test(many_mistakes_are_counted),
	        cmocka_unit_test(files_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
