/* SPDX-License-Identifier: PostgreSQL */
/* The check of what stands above the steps; it calls the other parts in order. */
#include "scenario/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "scenario/params.h"
#include "scenario/subst.h"

/* ---- the names of file and folder ---- */

static void check_place_names(struct loader *loader)
{
	const struct scenario *scenario = loader->scenario;
	struct err err = {0};
	CLEANUP(free_p) char *path = fs_absolute(&err, scenario->path);

	if (!path) {
		loader->arena->failed = true;
		return;
	}
	char *name = strrchr(path, '/');
	if (!name)
		return;
	*name++ = '\0';
	char *dot = strrchr(name, '.');
	if (!dot || (strcmp(dot, ".yaml") && strcmp(dot, ".yml")))
		complain(&loader->complaints, (struct place){.file = scenario->path, 1, 1},
		         "the file's name does not end in .yaml; rename it");
	else
		*dot = '\0';
	if (*scenario->name && strcmp(scenario->name, name))
		complain(&loader->complaints, node_place(scenario->node, "scenario"),
		         "`scenario` is \"%s\" but the file is \"%s\"; they must be the same",
		         scenario->name, name);
	const char *folder = strrchr(path, '/');
	if (*scenario->document && folder && strcmp(folder + 1, scenario->document))
		complain(&loader->complaints, node_place(scenario->node, "document"),
		         "`document` is \"%s\" but the folder is \"%s\"; they must be the same",
		         scenario->document, folder + 1);
}

/* ---- params ---- */

static void check_param(struct checker *checker, size_t number)
{
	struct loader *loader = checker->loader;
	const struct param *param = &loader->scenario->params[number];
	enum param_kind first = PARAM_TEXT;
	bool whole = true, any = false;

	for (int i = 0; i < PROFILE_COUNT; i++) {
		const char *profile = profile_name((enum profile)i);
		struct pair *pair = &checker->params[i].items[number];
		enum param_kind kind;
		struct err err = {0};
		struct place place = node_place(param->node, profile);

		pair->name = param->name;
		pair->text = "1";
		if (!*param->value[i])
			continue;
		if (!param_read(param->value[i], loader->arena, &kind, &pair->text, &err)) {
			pair->text = "1";
			if (param->given[i])
				complain(&loader->complaints, place, "`%s`: %s", param->name,
				         err.message);
			continue;
		}
		check_plain(checker,
		            param->node->kind == NODE_MAPPING ? node_find(param->node, profile)
		                                              : param->node,
		            "a parameter's value");
		if (any && kind != first)
			complain(&loader->complaints, place,
			         "`%s` is a %s here and a %s at another profile; give all profiles "
			         "values of one kind",
			         param->name, param_kind_name(kind), param_kind_name(first));
		if (!any)
			first = kind;
		any = true;
		whole = whole && kind != PARAM_TEXT;
	}
	bind_name(checker, (struct binding){.name = param->name,
	                                    .kind = BINDING_PARAM,
	                                    .place = param->place,
	                                    .number = whole ? "1" : NULL});
}

void check_params(struct checker *checker)
{
	struct loader *loader = checker->loader;
	size_t count = loader->scenario->params_count;

	for (int i = 0; i < PROFILE_COUNT; i++) {
		checker->params[i].items =
		        arena_alloc(loader->arena, (count + 1) * sizeof(struct pair));
		if (!checker->params[i].items)
			return;
		checker->params[i].count = count;
	}
	for (size_t i = 0; i < count; i++)
		check_param(checker, i);
}

/* ---- arms ---- */

void check_arms(struct checker *checker)
{
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;

	for (size_t i = 0; i < scenario->arms_count; i++) {
		const struct arm *arm = &scenario->arms[i], *first = &scenario->arms[0];

		for (size_t k = 0; k < arm->texts.count; k++) {
			const struct pair *pair = &arm->texts.items[k];
			const struct node *node = node_find(arm->node, pair->name);

			check_plain(checker, node, "an arm's text");
			if (!identifier_is_good(pair->name))
				complain(&loader->complaints, pair->place,
				         "\"%s\" cannot be used as ${}; name it with letters, "
				         "digits "
				         "and _",
				         pair->name);
			if (first->texts.count && !pairs_find(&first->texts, pair->name))
				complain(&loader->complaints, pair->place,
				         "the arm `%s` has `%s` but the arm `%s` has not; every "
				         "arm "
				         "needs the same keys",
				         arm->name, pair->name, first->name);
		}
		for (size_t k = 0; arm->texts.count && k < first->texts.count; k++)
			if (!pairs_find(&arm->texts, first->texts.items[k].name))
				complain(&loader->complaints, arm->place,
				         "the arm `%s` has no `%s`, which the arm `%s` has; every "
				         "arm "
				         "needs the same keys",
				         arm->name, first->texts.items[k].name, first->name);
	}
}

/* ---- cluster ---- */

/* Settings that decide who gets in and where files lie: keylab's own. */
static const char *const own_settings[] = {
        "listen_addresses",
        "port",
        "unix_socket_directories",
        "unix_socket_permissions",
        "unix_socket_group",
        "data_directory",
        "config_file",
        "hba_file",
        "ident_file",
        "external_pid_file",
        NULL,
};

/* Shared memory of another type stays in the machine when the server is killed, as clusters are. */
static const char *const memory_settings[] = {
        "dynamic_shared_memory_type",
        "shared_memory_type",
        NULL,
};

/* Not settings, but lines of postgresql.conf that take some from elsewhere. */
static const char *const including[] = {"include", "include_if_exists", "include_dir", NULL};

/* As the server compares them. */
static bool names_one_of(const char *name, const char *const *list)
{
	while (*list && strcasecmp(*list, name) != 0)
		list++;
	return *list != NULL;
}

void check_settings(struct loader *loader, const struct pairs *settings, const struct node *node)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct pair *pair = &settings->items[i];
		bool good = isalpha((unsigned char)pair->name[0]) || pair->name[0] == '_';
		struct place place = pair->place;

		for (size_t k = 0; node && k < node->mapping.count; k++)
			if (!strcmp(node->mapping.entries[k].key, pair->name))
				place = node->mapping.entries[k].place;
		for (const char *at = pair->name; *at; at++)
			good = good && (isalnum((unsigned char)*at) || *at == '_' || *at == '.');
		if (!good)
			complain(&loader->complaints, place,
			         "\"%s\" is no name of a setting; write it as in postgresql.conf",
			         pair->name);
		if (names_one_of(pair->name, own_settings))
			complain(&loader->complaints, place,
			         "`%s` is keylab's own, so that nobody else gets into the "
			         "cluster; remove it",
			         pair->name);
		if (names_one_of(pair->name, memory_settings))
			complain(&loader->complaints, place,
			         "`%s` is keylab's own, so that no shared memory outlives a "
			         "cluster; remove it",
			         pair->name);
		if (names_one_of(pair->name, including))
			complain(&loader->complaints, place,
			         "`%s` takes settings from a file that this one does not show; "
			         "write them here",
			         pair->name);
	}
}

static void check_compat(struct loader *loader, const struct cluster_need *need)
{
	const char *const *known = loader->vocabulary ? loader->vocabulary->compat_names : NULL;

	for (size_t i = 0; known && i < need->compat.count; i++) {
		bool found = false;

		for (size_t k = 0; known[k]; k++)
			found = found || !strcmp(known[k], need->compat.items[i]);
		if (!found)
			complain(&loader->complaints, node_place(need->node, "compat"),
			         "there is no sql/compat/%s.sql; the names are: %s",
			         need->compat.items[i], list_words(loader->arena, known));
	}
}

/* Blocks are counted by a parameter, whose arms each get a cluster of their own. */
static void check_blocks(struct loader *loader, const struct cluster_need *need)
{
	const struct scenario *scenario = loader->scenario;
	struct place place = node_place(need->node, "blocks");
	const struct param *param = NULL;
	struct quantity quantity;

	if (!need->blocks)
		return;
	for (size_t i = 0; i < scenario->params_count; i++)
		if (!strcmp(scenario->params[i].name, need->blocks))
			param = &scenario->params[i];
	if (!param)
		complain(&loader->complaints, place,
		         "`blocks` names the parameter that counts them, and there is no "
		         "parameter \"%s\"; write params: {%s: {quick: 1, chapter: 10, large: 20}}",
		         need->blocks, need->blocks);
	for (int p = 0; param && p < PROFILE_COUNT; p++) {
		if (quantity_parse(param->value[p], &quantity) && quantity.kind == QUANTITY_COUNT &&
		    quantity.value >= 1 && quantity.value <= 100)
			continue;
		complain(&loader->complaints, param->place,
		         "`%s` counts blocks; write a number from 1 to 100", need->blocks);
		break;
	}
	if (!scenario->arms_count)
		complain(&loader->complaints, place,
		         "blocks are of arms, and there are none; add `arms`");
	if (need->shared)
		complain(&loader->complaints, place,
		         "each arm of a block has a cluster of its own; write mode: fresh");
}

static void check_cluster(struct checker *checker)
{
	struct loader *loader = checker->loader;
	const struct cluster_need *need = &loader->scenario->cluster;
	const struct node *settings = node_find(need->node, "settings");

	check_settings(loader, &need->settings, settings);
	for (size_t i = 0; i < need->settings.count; i++)
		check_plain(checker, node_find(settings, need->settings.items[i].name),
		            "a cluster's setting");
	if (need->shared && need->settings.count)
		complain(&loader->complaints, settings->place,
		         "a shared cluster takes no `settings`, which would be in force for the "
		         "other "
		         "scenarios too; remove them or write mode: fresh");
	for (size_t i = 0; i < need->extensions.count; i++)
		if (!name_is_good(need->extensions.items[i]))
			complain(&loader->complaints, node_place(need->node, "extensions"),
			         "\"%s\" is no name of an extension; use letters, digits, - and _",
			         need->extensions.items[i]);
	check_compat(loader, need);
	check_blocks(loader, need);
	if (need->dataset && loader->vocabulary && loader->vocabulary->dataset_names) {
		const char *const *known = loader->vocabulary->dataset_names;
		bool found = false;

		for (size_t i = 0; known[i]; i++)
			found = found || !strcmp(known[i], need->dataset);
		if (!found)
			complain(&loader->complaints, node_place(need->node, "dataset"),
			         "there is no dataset `%s`; the datasets are: %s", need->dataset,
			         list_words(loader->arena, known));
	}
}

void check_scenario(struct loader *loader)
{
	struct checker checker = {.loader = loader};

	check_place_names(loader);
	check_cluster(&checker);
	check_params(&checker);
	check_arms(&checker);
	if (loader->arena->failed)
		return;
	check_steps(&checker);
	if (!loader->steps_unsure)
		check_sessions(&checker);
	check_groups(&checker);
	checker.past_steps = true;
	check_claims(&checker);
	check_charts(&checker);
}
