/* SPDX-License-Identifier: PostgreSQL */
/* The check of the steps: names, meters, loops, what a shared cluster forbids. */
#include "scenario/check.h"

#include <stdio.h>
#include <string.h>

#include "scenario/params.h"
#include "scenario/subst.h"

static void check_list(struct checker *checker, struct step *steps, size_t count);

/* A sample's or session's name: it is fixed, the labels of a sample tell which round it is of. */
static void check_name(struct checker *checker, const struct node *node, const char *what)
{
	if (!node || node->kind != NODE_SCALAR || !*node->scalar.text)
		return;
	if (subst_is_needed(node->scalar.text))
		complain(&checker->loader->complaints, node->place,
		         "%s is a name, which is not expanded; write it without ${} (samples know "
		         "their arm, round and loops' variables)",
		         what);
	else if (!name_is_good(node->scalar.text))
		complain(&checker->loader->complaints, node->place,
		         "%s is \"%s\"; a name has letters, digits, - and _ only", what,
		         node->scalar.text);
}

/* ---- meters ---- */

static bool lists(const struct texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!strcmp(texts->items[i], text))
			return true;
	return false;
}

static void complain_meter(struct loader *loader, struct place place, const char *name,
                           enum step_verb verb)
{
	const struct scenario_vocabulary *vocabulary = loader->vocabulary;
	enum step_verb other = verb == STEP_MEASURE ? STEP_READ : STEP_MEASURE;
	const char *needs;
	int version;

	if (vocabulary->meter(name, other, &needs, &version))
		complain(&loader->complaints, place,
		         "the meter `%s` is for `%s` steps, not for `%s`; use another meter or "
		         "verb",
		         name, step_verb_name(other), step_verb_name(verb));
	else
		complain(&loader->complaints, place, "there is no meter `%s`; the meters are: %s",
		         name, list_words(loader->arena, vocabulary->meter_names));
}

static void check_meters(struct checker *checker, const struct step *step)
{
	struct loader *loader = checker->loader;
	const struct cluster_need *need = &loader->scenario->cluster;
	const struct node *list = node_find(step->node, "meters");

	if (!loader->vocabulary || !list)
		return;
	for (size_t i = 0; i < step->meters.count; i++) {
		const char *name = step->meters.items[i], *needs = NULL;
		struct place place = list->place;
		int version = 0;

		if (list->kind == NODE_SEQUENCE && i < list->sequence.count)
			place = list->sequence.items[i]->place;
		if (!loader->vocabulary->meter(name, step->verb, &needs, &version)) {
			complain_meter(loader, place, name, step->verb);
			continue;
		}
		if (needs && !lists(&need->extensions, needs))
			complain(&loader->complaints, place,
			         "the meter `%s` needs the extension %s; add it to "
			         "cluster: {extensions: […]}",
			         name, needs);
		if (version > need->version)
			complain(&loader->complaints, place,
			         "the meter `%s` needs PostgreSQL %d; write cluster: {version: %d}",
			         name, version, version);
	}
}

/* ---- loops ---- */

static void bind_arm_keys(struct checker *checker, const struct step *step)
{
	const struct scenario *scenario = checker->loader->scenario;
	const struct arm *first = &scenario->arms[0];

	bind_name(checker,
	          (struct binding){.name = "arm", .kind = BINDING_ARM, .place = step->place});
	for (size_t i = 0; i < first->texts.count; i++) {
		const char *name = first->texts.items[i].name, *number = "1";
		struct quantity quantity;

		for (size_t k = 0; k < scenario->arms_count; k++) {
			const struct pair *pair = pairs_find(&scenario->arms[k].texts, name);

			if (!pair || !quantity_parse(pair->text, &quantity))
				number = NULL;
		}
		bind_name(checker, (struct binding){.name = name,
		                                    .kind = BINDING_ARM_KEY,
		                                    .place = first->texts.items[i].place,
		                                    .number = number});
	}
}

/* `only` names arms; without it all of them are meant. */
static bool resolve_arms(struct checker *checker, struct step *step)
{
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;
	const struct node *only = node_find(step->node, "only");
	const char **names =
	        arena_alloc(loader->arena, (scenario->arms_count + 1) * sizeof(*names));

	if (!scenario->arms_count && loader->names_unsure)
		return false;
	if (!scenario->arms_count) {
		complain(&loader->complaints, step->place,
		         "`each: arm` but the scenario has no arms; add `arms`, or write each: {x: "
		         "[1, 2]}");
		return false;
	}
	if (!names)
		return false;
	for (size_t i = 0; i < scenario->arms_count; i++)
		names[i] = scenario->arms[i].name;
	if (checker->in_arm) {
		complain(&loader->complaints, step->place,
		         "`each: arm` inside `each: arm`; the inner one can never mean another "
		         "arm");
		return false;
	}
	if (!only) {
		step->values = (struct texts){.items = names, .count = scenario->arms_count};
		return true;
	}
	for (size_t i = 0; i < step->values.count; i++) {
		struct place place = only->place;

		if (only->kind == NODE_SEQUENCE && i < only->sequence.count)
			place = only->sequence.items[i]->place;
		if (!lists(&(struct texts){.items = names, .count = scenario->arms_count},
		           step->values.items[i]))
			complain(&loader->complaints, place,
			         "`only` names the arm `%s`, which there is not; the arms are: %s",
			         step->values.items[i], list_words(loader->arena, names));
	}
	return true;
}

/* number: a value of the variable, when all of its values are numbers; else NULL. */
static void bind_loop(struct checker *checker, const char *name, struct place place,
                      const char *number)
{
	struct loader *loader = checker->loader;

	if (loader->scenario->cluster.blocks &&
	    (!strcmp(name, "block") || !strcmp(name, "position")))
		complain(&loader->complaints, place,
		         "`%s` is a label of every sample of a scenario with blocks; call the "
		         "loop's variable something else",
		         name);
	bind_name(checker, (struct binding){.name = name,
	                                    .kind = BINDING_LOOP,
	                                    .place = place,
	                                    .number = number});
}

static void check_each(struct checker *checker, struct step *step)
{
	struct loader *loader = checker->loader;
	size_t names = checker->names.count;
	bool in_arm = checker->in_arm;
	const struct node *each = node_find(step->node, "each");

	/* What `each` says was complained of; its body cannot be judged. */
	if (!step->name)
		return;
	if (!strcmp(step->name, "arm")) {
		if (!resolve_arms(checker, step))
			return;
		checker->in_arm = true;
		bind_arm_keys(checker, step);
	} else {
		const struct node *list = each->mapping.entries[0].value;
		const char *number = "1";
		struct quantity quantity;

		if (node_find(step->node, "only"))
			complain(&loader->complaints, node_place(step->node, "only"),
			         "`only` goes with `each: arm`; leave the others out of the list");
		for (size_t i = 0; i < step->values.count; i++) {
			check_plain(checker,
			            list->kind == NODE_SEQUENCE ? list->sequence.items[i] : list,
			            "a loop's value");
			if (!quantity_parse(step->values.items[i], &quantity))
				number = NULL;
		}
		bind_loop(checker, step->name, each->mapping.entries[0].place, number);
	}
	check_list(checker, step->steps, step->steps_count);
	checker->names.count = names;
	checker->in_arm = in_arm;
}

#define REPEAT_MAX 1000000

static bool is_count(const char *text, struct err *err)
{
	enum quantity_kind kind;
	int64_t count;

	if (!quantity_parse_integer(text, &count, &kind, err))
		return false;
	if (kind != QUANTITY_COUNT || count < 1 || count > REPEAT_MAX)
		return err_set(err, ERR_INPUT, "\"%s\" is no number from 1 to %d", text,
		               REPEAT_MAX);
	return true;
}

static void check_count(struct checker *checker, const struct step *step)
{
	struct loader *loader = checker->loader;
	const struct node *node = node_find(step->node, "repeat");
	size_t before = loader->complaints.count;

	if (!step->count)
		return;
	check_text(checker, node);
	if (loader->complaints.count > before)
		return;
	for (int i = 0; i < PROFILE_COUNT; i++) {
		struct scope scope = {.pairs = &checker->params[i]};
		struct err err = {0};
		struct buf text;

		buf_init(&text, 0);
		/* Where loops' variables decide, the run will tell. */
		bool known = subst_expand(step->count, &scope, &text, &err);
		bool good = !known || is_count(text.data, &err);
		if (!known && err.kind == ERR_SYSTEM)
			loader->arena->failed = true;
		buf_finish(&text);
		if (good)
			continue;
		if (subst_is_needed(step->count))
			complain(&loader->complaints, node->place,
			         "`repeat` at the profile %s: %s; without a round the steps never "
			         "run",
			         profile_name((enum profile)i), err.message);
		else
			complain(&loader->complaints, node->place,
			         "`repeat` is \"%s\"; write a number of rounds from 1 to %d",
			         step->count, REPEAT_MAX);
		return;
	}
}

static void check_repeat(struct checker *checker, struct step *step)
{
	size_t names = checker->names.count;

	check_count(checker, step);
	if (step->name)
		bind_loop(checker, step->name, node_place(step->node, "as"), "1");
	check_list(checker, step->steps, step->steps_count);
	checker->names.count = names;
}

/* ---- the single steps ---- */

static void check_shared(struct loader *loader, const struct step *step)
{
	const char *why = NULL;

	if (!loader->scenario->cluster.shared)
		return;
	if (step->verb == STEP_MEASURE)
		why = "other scenarios' work would be in its figures";
	else if (step->verb == STEP_RESTART || step->verb == STEP_SERVER)
		why = "it would stop the other scenarios";
	else if (step->verb == STEP_SET)
		why = "it would be in force for the other scenarios too";
	if (why)
		complain(&loader->complaints, step->place,
		         "`%s` cannot be in a scenario of mode: shared, %s; write mode: fresh",
		         step_verb_name(step->verb), why);
}

static bool is_claim(const struct scenario *scenario, const char *name)
{
	for (size_t i = 0; i < scenario->claims_count; i++)
		if (!strcmp(scenario->claims[i].id, name))
			return true;
	return false;
}

static void check_prove(struct checker *checker, const struct step *step)
{
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;
	const char **ids = arena_alloc(loader->arena, (scenario->claims_count + 1) * sizeof(*ids));

	if (!step->name || !ids)
		return;
	for (size_t i = 0; i < scenario->claims_count; i++)
		ids[i] = scenario->claims[i].id;
	if (!is_claim(scenario, step->name))
		complain(&loader->complaints, node_place(step->node, "prove"),
		         "`prove` names the claim `%s`, which there is not; add it to `claims`%s",
		         step->name, did_you_mean(loader->arena, step->name, ids));
}

/* A name that a claim's proof has would mix the step's samples with the claim's values. */
static void check_sample_name(struct checker *checker, const struct step *step, const char *key)
{
	struct loader *loader = checker->loader;

	for (size_t i = 0; step->name && i < loader->scenario->claims_count; i++)
		if (loader->scenario->claims[i].proved &&
		    !strcmp(loader->scenario->claims[i].id, step->name))
			complain(&loader->complaints, node_place(step->node, key),
			         "`%s` is a claim with a `prove` step, whose samples have that "
			         "name; "
			         "choose another",
			         step->name);
}

static void check_sql_step(struct checker *checker, const struct step *step)
{
	struct loader *loader = checker->loader;

	check_name(checker, node_find(step->node, "as"), "`as`");
	check_sample_name(checker, step, "as");
	if (step->expect.given && step->allow_errors)
		complain(&loader->complaints, node_place(step->node, "allow"),
		         "`expect` and `allow` together: either the step must fail or it may; "
		         "remove "
		         "one");
	else if (step->expect.given && !step->name)
		complain(&loader->complaints, node_place(step->node, "expect"),
		         "`expect` without `as`: nothing would record whether it failed; add as: "
		         "NAME "
		         "and a claim on it");
	const struct node *expect = node_find(step->node, "expect");
	check_plain(checker, node_find(expect, "constraint"), "what `expect` names");
	check_plain(checker, node_find(expect, "message"), "what `expect` names");
}

static void check_let(struct checker *checker, const struct step *step)
{
	if (step->name)
		bind_name(checker, (struct binding){.name = step->name,
		                                    .kind = BINDING_LET,
		                                    .place = node_place(step->node, "let"),
		                                    .number = "1"});
}

static void check_mint(struct checker *checker, const struct step *step)
{
	static const char *const keys[] = {"generator", "rows", "into", "column", "number"};
	struct loader *loader = checker->loader;
	const struct step_mint *mint = &step->mint;
	const char *const *known = loader->vocabulary ? loader->vocabulary->generator_names : NULL;
	const struct node *options = node_find(step->node, "options");
	bool found = !known || !mint->generator || subst_is_needed(mint->generator);

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		check_text(checker, node_find(step->node, keys[i]));
	for (size_t i = 0; !found && known[i]; i++)
		found = !strcmp(known[i], mint->generator);
	if (!found)
		complain(&loader->complaints, node_place(step->node, "generator"),
		         "there is no generator `%s`; the generators are: %s", mint->generator,
		         list_words(loader->arena, known));
	for (size_t i = 0; i < mint->options.count; i++) {
		const struct pair *option = &mint->options.items[i];
		bool good = false;

		for (size_t k = 0; mint_option_names[k]; k++)
			good = good || !strcmp(mint_option_names[k], option->name);
		if (!good)
			complain(&loader->complaints, option->place,
			         "`%s` is no option of a generator; the options are: %s",
			         option->name, list_words(loader->arena, mint_option_names));
		check_text(checker, node_find(options, option->name));
	}
}

static void check_set(struct checker *checker, const struct step *step)
{
	const struct node *map = node_find(step->node, "set");

	check_settings(checker->loader, &step->settings, map);
	for (size_t i = 0; i < step->settings.count; i++)
		check_text(checker, node_find(map, step->settings.items[i].name));
}

static void check_step(struct checker *checker, struct step *step)
{
	const char *key = step_verb_name(step->verb);
	const struct node *node = step->node;
	char what[32];

	snprintf(what, sizeof(what), "`%s`", key);
	check_shared(checker->loader, step);
	check_name(checker, node_find(node, "session"), "`session`");
	switch (step->verb) {
	case STEP_SQL:
		check_sql_step(checker, step);
		check_sql(checker, node_find(node, "sql"), "`sql`");
		break;
	case STEP_MEASURE:
	case STEP_PROBE:
	case STEP_READ:
		check_name(checker, node_find(node, key), what);
		check_sample_name(checker, step, key);
		check_text(checker, node_find(node, "of"));
		check_meters(checker, step);
		check_sql(checker, node_find(node, "sql"), "`sql`");
		break;
	case STEP_MINT:
		check_name(checker, node_find(node, key), what);
		check_sample_name(checker, step, key);
		check_mint(checker, step);
		break;
	case STEP_PROVE:
		check_prove(checker, step);
		check_sql(checker, node_find(node, "sql"), "`sql`");
		break;
	case STEP_LET:
		check_sql(checker, node_find(node, "sql"), "`sql`");
		check_let(checker, step);
		break;
	case STEP_WAIT:
		check_sql(checker, node_find(node, "wait"), "`wait`");
		break;
	case STEP_SET:
		check_set(checker, step);
		break;
	case STEP_JOIN:
	case STEP_CLOSE:
		check_name(checker, node_find(node, key), what);
		break;
	case STEP_WORKERS:
		check_name(checker, node_find(node, key), what);
		check_sample_name(checker, step, key);
		check_workers(checker, step);
		break;
	case STEP_AWAIT:
		check_name(checker, node_find(node, key), what);
		check_await(checker, step);
		break;
	case STEP_SIGNAL:
		check_name(checker, node_find(node, key), what);
		check_text(checker, node_find(node, "process"));
		break;
	case STEP_EACH:
	case STEP_REPEAT:
	case STEP_CHECKPOINT:
	case STEP_RESTART:
	case STEP_SERVER:
	case STEP_VERB_COUNT:
		break;
	}
}

/* A `let` holds to the end of the list that it stands in; what is written before a run has none. */
static void check_list(struct checker *checker, struct step *steps, size_t count)
{
	size_t names = checker->names.count;

	if (checker->loops > LOOP_MAX_DEPTH) {
		complain(&checker->loader->complaints, steps ? steps[0].place : (struct place){0},
		         "loops are nested deeper than 8; flatten them");
		return;
	}
	for (size_t i = 0; i < count && !checker->loader->arena->failed; i++) {
		struct step *step = &steps[i];

		check_step(checker, step);
		if (step->verb != STEP_EACH && step->verb != STEP_REPEAT)
			continue;
		checker->loops++;
		if (step->verb == STEP_EACH)
			check_each(checker, step);
		else
			check_repeat(checker, step);
		checker->loops--;
	}
	checker->names.count = names;
}

static void mark_claim(struct scenario *scenario, const char *id, size_t len)
{
	for (size_t i = 0; i < scenario->claims_count; i++)
		if (strlen(scenario->claims[i].id) == len &&
		    !memcmp(scenario->claims[i].id, id, len))
			scenario->claims[i].proved = true;
}

/* lab.prove('claim', …) in the SQL of any step gives the claim its value as well. */
static void mark_called(struct loader *loader, const struct step *step)
{
	static const char call[] = "lab.prove(";
	const char *start = step->sql;
	const struct node *node = node_find(step->node, step->verb == STEP_WAIT ? "wait" : "sql");

	for (const char *at = start; at && (at = strstr(at, call));) {
		at += sizeof(call) - 1;
		at += strspn(at, " \t\r\n");
		const char *end = *at == '\'' ? strchr(at + 1, '\'') : NULL;
		size_t len = end ? (size_t)(end - at - 1) : 0;

		/* An id that is computed, or has ${…} in it, only the run can know. */
		if (!end || memchr(at, '$', len + 1))
			continue;
		const char *id = arena_strndup(loader->arena, at + 1, len);
		if (!id)
			return;
		bool known = false;
		for (size_t i = 0; i < loader->scenario->claims_count; i++)
			known = known || !strcmp(loader->scenario->claims[i].id, id);
		if (!known && node)
			complain(&loader->complaints,
			         node_text_place(node, (size_t)(at - start), len + 2),
			         "lab.prove names the claim `%s`, which there is not; add it to "
			         "`claims`",
			         id);
		mark_claim(loader->scenario, id, len);
	}
}

static void mark_proved(struct loader *loader, const struct step *steps, size_t count, size_t loops)
{
	if (loops > LOOP_MAX_DEPTH)
		return;
	for (size_t i = 0; i < count; i++) {
		if (steps[i].verb == STEP_PROVE && steps[i].name)
			mark_claim(loader->scenario, steps[i].name, strlen(steps[i].name));
		mark_called(loader, &steps[i]);
		mark_proved(loader, steps[i].steps, steps[i].steps_count, loops + 1);
	}
}

void check_steps(struct checker *checker)
{
	struct scenario *scenario = checker->loader->scenario;

	mark_proved(checker->loader, scenario->steps, scenario->steps_count, 0);
	check_list(checker, scenario->steps, scenario->steps_count);
}

static bool list_records(const struct step *steps, size_t count, const char *name, size_t loops)
{
	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		bool records = step->verb == STEP_SQL || step->verb == STEP_MEASURE ||
		               step->verb == STEP_PROBE || step->verb == STEP_READ ||
		               step->verb == STEP_MINT || step->verb == STEP_PROVE ||
		               step->verb == STEP_WORKERS;

		if (records && step->name && !strcmp(step->name, name))
			return true;
		if (step->verb == STEP_SERVER && !strcmp(name, "server"))
			return true;
		if (loops < LOOP_MAX_DEPTH &&
		    list_records(step->steps, step->steps_count, name, loops + 1))
			return true;
	}
	return false;
}

bool records_step(const struct scenario *scenario, const char *name)
{
	return list_records(scenario->steps, scenario->steps_count, name, 0);
}
