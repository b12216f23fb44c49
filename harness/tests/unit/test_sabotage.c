/* SPDX-License-Identifier: PostgreSQL */
/*
 * The table of counterexamples (live/sabotage.yaml): every claim of every
 * scenario has one, and each is a well-formed scenario after its change.
 * Whether the claims are then REFUTED is shown by long/sabotage.sh, for which
 * this program writes the changed files: test_sabotage --emit DIR.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "run/run.h"
#include "scenario/node.h"
#include "scenario/scenario.h"

struct table {
	struct arena arena;
	const struct node *root;
	const char *source_root;
};

static const char *text_of(const struct node *entry, const char *key)
{
	const struct node *node = node_find(entry, key);

	return node && node->kind == NODE_SCALAR ? node->scalar.text : NULL;
}

static bool list_has(const struct node *list, const char *text)
{
	for (size_t i = 0; list && i < list->sequence.count; i++)
		if (!strcmp(list->sequence.items[i]->scalar.text, text))
			return true;
	return false;
}

static void table_read(struct table *table)
{
	struct complaints complaints;
	struct buf text;
	char path[4096];

	table->source_root = getenv("KEYLAB_SOURCE_ROOT");
	assert_non_null(table->source_root);
	snprintf(path, sizeof(path), "%s/harness/tests/live/sabotage.yaml", table->source_root);
	arena_init(&table->arena, 0);
	buf_init(&text, 0);
	assert_true(fs_read(path, 1 << 20, &text, NULL));
	const char *kept = arena_strndup(&table->arena, text.data, text.len);
	complaints_init(&complaints, &table->arena);
	table->root = node_read("sabotage.yaml", kept, text.len, &table->arena, &complaints);
	assert_non_null(table->root);
	assert_int_equal(table->root->kind, NODE_SEQUENCE);
	buf_finish(&text);
}

/* scenarios/DOCUMENT/NAME.yaml for a scenario's name; the caller frees. */
static char *find_scenario(const struct table *table, const char *name)
{
	char pattern[4096];
	glob_t found;
	char *path = NULL;

	snprintf(pattern, sizeof(pattern), "%s/scenarios/*/%s.yaml", table->source_root, name);
	if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1)
		path = strdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* The scenario's text with the entry's change; find must stand in it exactly once. */
static bool sabotaged(const struct table *table, const struct node *entry, char **ret_path,
                      struct buf *ret)
{
	const char *name = text_of(entry, "scenario"), *find = text_of(entry, "find");
	const char *replace = text_of(entry, "replace");
	char *path = name ? find_scenario(table, name) : NULL;
	struct buf text;

	buf_init(&text, 0);
	if (!path || !find || !replace || !fs_read(path, 1 << 20, &text, NULL)) {
		print_error("entry at line %d: no such scenario, or no find and replace\n",
		            entry->place.line);
		free(path);
		return false;
	}
	const char *at = strstr(text.data, find);
	bool once = at && !strstr(at + 1, find);
	if (!once)
		print_error("entry at line %d (%s): its `find` stands %s in the scenario\n",
		            entry->place.line, name, at ? "more than once" : "nowhere");
	if (once) {
		buf_add_len(ret, text.data, (size_t)(at - text.data));
		buf_add(ret, replace);
		buf_add(ret, at + strlen(find));
	}
	buf_finish(&text);
	*ret_path = path;
	return once;
}

static void each_entry_is_well_formed(void **state)
{
	struct table table;
	size_t bad = 0;

	(void)state;
	table_read(&table);
	for (size_t i = 0; i < table.root->sequence.count; i++) {
		const struct node *entry = table.root->sequence.items[i];
		struct scenario *scenario = NULL;
		struct buf text, messages;
		char *path = NULL;

		buf_init(&text, 0);
		buf_init(&messages, 0);
		bool ok = sabotaged(&table, entry, &path, &text);
		if (ok && !scenario_load_text(path, text.data, text.len, run_vocabulary(),
		                              &scenario, &messages, NULL)) {
			print_error("entry at line %d: %s\n", entry->place.line, messages.data);
			ok = false;
		}
		ok = ok && text_of(entry, "why") && node_find(entry, "claims");
		bad += !ok;
		scenario_destroy(scenario);
		free(path);
		buf_finish(&text);
		buf_finish(&messages);
	}
	arena_finish(&table.arena);
	assert_int_equal(bad, 0);
}

static bool has_counterexample(const struct table *table, const char *scenario, const char *claim)
{
	for (size_t i = 0; i < table->root->sequence.count; i++) {
		const struct node *entry = table->root->sequence.items[i];
		const char *name = text_of(entry, "scenario");

		if (name && !strcmp(name, scenario) && list_has(node_find(entry, "claims"), claim))
			return true;
	}
	return false;
}

static void each_claim_has_a_counterexample(void **state)
{
	struct table table;
	char pattern[4096];
	glob_t found;
	size_t missing = 0, claims = 0;

	(void)state;
	table_read(&table);
	snprintf(pattern, sizeof(pattern), "%s/scenarios/*/*.yaml", table.source_root);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct scenario *scenario;
		struct buf messages;

		buf_init(&messages, 0);
		if (!scenario_load(found.gl_pathv[i], run_vocabulary(), &scenario, &messages, NULL))
			fail_msg("%s", messages.data);
		for (size_t c = 0; c < scenario->claims_count; c++) {
			claims++;
			if (has_counterexample(&table, scenario->name, scenario->claims[c].id))
				continue;
			print_error("%s/%s has no counterexample\n", scenario->name,
			            scenario->claims[c].id);
			missing++;
		}
		scenario_destroy(scenario);
		buf_finish(&messages);
	}
	globfree(&found);
	arena_finish(&table.arena);
	assert_true(claims > 0);
	assert_int_equal(missing, 0);
}

static void print_list(const struct node *list)
{
	for (size_t i = 0; list && i < list->sequence.count; i++)
		printf("%s%s", i ? " " : "", list->sequence.items[i]->scalar.text);
	/* A tab-separated reader would swallow an empty field. */
	if (!list || !list->sequence.count)
		printf("-");
}

/* DIR/N/DOCUMENT/NAME.yaml each, and a line: file, profile, settings, claims, why. */
static int emit(const char *dir)
{
	struct table table;

	table_read(&table);
	for (size_t i = 0; i < table.root->sequence.count; i++) {
		const struct node *entry = table.root->sequence.items[i];
		const char *profile = text_of(entry, "profile");
		char *path = NULL, folder[4096], file[5000];
		struct buf text;

		buf_init(&text, 0);
		if (!sabotaged(&table, entry, &path, &text))
			return 1;
		*strrchr(path, '/') = '\0';
		char *document = strrchr(path, '/');
		*document++ = '\0';
		snprintf(folder, sizeof(folder), "%s/%zu", dir, i + 1);
		/* With what it includes, also from other documents. */
		if (!fs_mkdirs(dir, 0755, NULL) ||
		    !fs_copy_tree(path, folder, (uid_t)-1, (gid_t)-1, NULL))
			return 1;
		snprintf(file, sizeof(file), "%s/%s/%s.yaml", folder, document,
		         text_of(entry, "scenario"));
		if (!fs_write(file, text.data, text.len, 0644, NULL))
			return 1;
		printf("%s\t%s\t", file, profile ? profile : "quick");
		print_list(node_find(entry, "set"));
		printf("\t");
		print_list(node_find(entry, "claims"));
		printf("\t%s\n", text_of(entry, "why"));
		free(path);
		buf_finish(&text);
	}
	arena_finish(&table.arena);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_entry_is_well_formed),
	        cmocka_unit_test(each_claim_has_a_counterexample),
	};

	if (argc == 3 && !strcmp(argv[1], "--emit"))
		return emit(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
