/* SPDX-License-Identifier: PostgreSQL */
/*
 * The check of workers and faults: options by the generator's table, and, in
 * the written order, which workers run and whether the server does.
 */
#include "scenario/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "scenario/subst.h"

#define GROUPS_MAX 64

/* ---- options ---- */

static const struct worker_option *option_find(const struct worker_option *options,
                                               const char *name)
{
	for (; options && options->name; options++)
		if (!strcmp(options->name, name))
			return options;
	return NULL;
}

/* Of the named generator, or, where only the run knows which it is, of any. */
static const struct worker_option *option_of(const struct scenario_vocabulary *vocabulary,
                                             const char *generator, const char *name)
{
	if (generator)
		return option_find(vocabulary->worker_options(generator), name);
	const char *const *names = vocabulary->worker_generators();
	for (size_t i = 0; names[i]; i++) {
		const struct worker_option *found =
		        option_find(vocabulary->worker_options(names[i]), name);

		if (found)
			return found;
	}
	return NULL;
}

static void complain_option(struct loader *loader, const struct pair *pair, const char *generator)
{
	const struct worker_option *options =
	        loader->vocabulary->worker_options(generator ? generator : "sql");
	const char *names[64];
	size_t n = 0;

	for (; options && options->name && n + 1 < COUNT_OF(names); options++)
		names[n++] = options->name;
	names[n] = NULL;
	const char *near = did_you_mean(loader->arena, pair->name, names);
	complain(&loader->complaints, pair->place,
	         *near ? "the generator `%s` has no option `%s`%s"
	               : "the generator `%s` has no option `%s`; its options are %s",
	         generator ? generator : "of the arm", pair->name,
	         *near ? near : list_words(loader->arena, names));
}

/* Is the expanded text what the option takes? */
static bool is_good(const struct worker_option *option, const char *text)
{
	enum quantity_kind kind;
	int64_t number;

	switch (option->kind) {
	case OPTION_FLAG:
		return !strcmp(text, "true") || !strcmp(text, "false");
	case OPTION_COUNT:
	case OPTION_DURATION:
		return quantity_parse_integer(text, &number, &kind, NULL) &&
		       kind == (option->kind == OPTION_COUNT ? QUANTITY_COUNT
		                                             : QUANTITY_DURATION) &&
		       number >= option->min && number <= option->max;
	case OPTION_NAME:
	case OPTION_TEXT:
	case OPTION_SQL:
		break;
	}
	return true;
}

static void complain_value(struct loader *loader, const struct pair *pair,
                           const struct worker_option *option, const char *value)
{
	if (option->kind == OPTION_FLAG)
		complain(&loader->complaints, pair->place, "`%s` is \"%s\"; write true or false",
		         pair->name, value);
	else if (option->kind == OPTION_DURATION)
		complain(&loader->complaints, pair->place,
		         "`%s` is \"%s\"; write a duration from %" PRId64 "ms to %" PRId64 "ms",
		         pair->name, value, option->min, option->max);
	else
		complain(&loader->complaints, pair->place,
		         option->max == INT64_MAX ? "`%s` is \"%s\"; write a number from %" PRId64
		                                  : "`%s` is \"%s\"; write a number from %" PRId64
		                                    " to %" PRId64,
		         pair->name, value, option->min, option->max);
}

static void check_value(struct checker *checker, const struct pair *pair,
                        const struct worker_option *option, const struct node *node)
{
	struct loader *loader = checker->loader;
	size_t before = loader->complaints.count;

	if (option->kind == OPTION_SQL)
		check_sql(checker, node, "the statement");
	else
		check_text(checker, node);
	for (int i = 0; i < PROFILE_COUNT && loader->complaints.count == before; i++) {
		struct scope scope = {.pairs = &checker->params[i]};
		struct buf text;

		buf_init(&text, 0);
		/* Where loops' variables or arms decide, the run will tell. */
		if (subst_expand(pair->text, &scope, &text, NULL) && !is_good(option, text.data))
			complain_value(loader, pair, option, text.data);
		buf_finish(&text);
	}
}

void check_workers(struct checker *checker, const struct step *step)
{
	struct loader *loader = checker->loader;
	const struct scenario_vocabulary *vocabulary = loader->vocabulary;
	const struct pair *named = pairs_find(&step->settings, "generator");
	const struct node *map = node_find(step->node, "with");
	const char *generator = named && !subst_is_needed(named->text) ? named->text : NULL;

	if (!vocabulary || !vocabulary->worker_options || !step->settings.count)
		return;
	if (!named) {
		complain(&loader->complaints, map->place,
		         "the workers have no `generator`; the generators are: %s",
		         list_words(loader->arena, vocabulary->worker_generators()));
		return;
	}
	if (generator && !vocabulary->worker_options(generator)) {
		complain(&loader->complaints, named->place,
		         "there is no generator `%s`; the generators are: %s", generator,
		         list_words(loader->arena, vocabulary->worker_generators()));
		return;
	}
	for (size_t i = 0; i < step->settings.count; i++) {
		const struct pair *pair = &step->settings.items[i];
		const struct worker_option *option = option_of(vocabulary, generator, pair->name);

		if (option)
			check_value(checker, pair, option, node_find(map, pair->name));
		else
			complain_option(loader, pair, generator);
	}
	const struct worker_option *option =
	        generator ? vocabulary->worker_options(generator) : NULL;
	for (; option && option->name; option++)
		if (option->needed && !pairs_find(&step->settings, option->name))
			complain(&loader->complaints, map->place,
			         "the generator `%s` needs `%s`; add it", generator, option->name);
}

void check_await(struct checker *checker, const struct step *step)
{
	struct await what;

	check_text(checker, node_find(step->node, "until"));
	if (step->until && !subst_is_needed(step->until) && !await_parse(step->until, &what))
		complain(&checker->loader->complaints, node_place(step->node, "until"),
		         "`until` is \"%s\"; write ended, frozen, 500 ids, 1 more ids, 3 refusals "
		         "or a time since the workers began, as 1500ms",
		         step->until);
}

/* ---- the written order ---- */

struct running {
	const char *name;
	struct place since;
};

struct state {
	struct running groups[GROUPS_MAX];
	size_t count;
	bool stopped; /* the server, by a step at since */
	struct place since;
};

static struct running *running_find(struct state *state, const char *name)
{
	for (size_t i = 0; i < state->count; i++)
		if (!strcmp(state->groups[i].name, name))
			return &state->groups[i];
	return NULL;
}

static void start_workers(struct loader *loader, struct state *state, const struct step *step)
{
	const struct running *running = running_find(state, step->name);

	if (running) {
		complain(&loader->complaints, step->place,
		         "the workers `%s` of line %d still run; await them first, or give these "
		         "another name",
		         step->name, running->since.line);
		return;
	}
	if (!step->background)
		return;
	if (state->count == GROUPS_MAX)
		complain(&loader->complaints, step->place,
		         "more than 64 groups of workers run; await some");
	else
		state->groups[state->count++] =
		        (struct running){.name = step->name, .since = step->place};
}

static void use_workers(struct loader *loader, struct state *state, const struct step *step)
{
	struct running *running = running_find(state, step->name);
	struct await what = {.kind = AWAIT_ENDED};

	if (!running) {
		complain(&loader->complaints, step->place,
		         "`%s` of the workers `%s`, which do not run here; add background: true "
		         "to their step, or remove this one",
		         step_verb_name(step->verb), step->name);
		return;
	}
	if (step->verb == STEP_AWAIT &&
	    (!step->until || (await_parse(step->until, &what) && what.kind == AWAIT_ENDED)))
		*running = state->groups[--state->count];
}

static void need_server(struct loader *loader, const struct state *state, const struct step *step)
{
	if (state->stopped)
		complain(&loader->complaints, step->place,
		         "`%s` needs the server, which line %d has stopped; add server: start "
		         "before it",
		         step_verb_name(step->verb), state->since.line);
}

static void change_server(struct loader *loader, struct state *state, const struct step *step)
{
	bool starts = !strcmp(step->name, "start");

	if (!strcmp(step->name, "sync")) {
		need_server(loader, state, step);
		return;
	}

	if (starts && !state->stopped)
		complain(&loader->complaints, step->place,
		         "the server runs here; remove this step, or stop it before");
	else if (!starts && state->stopped)
		complain(&loader->complaints, step->place,
		         "the server is stopped here, since line %d; remove this step, or start "
		         "it before",
		         state->since.line);
	state->stopped = !starts;
	state->since = step->place;
}

static bool same_state(struct state *a, struct state *b)
{
	if (a->count != b->count || a->stopped != b->stopped)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!running_find(b, a->groups[i].name))
			return false;
	return true;
}

static void walk(struct loader *loader, struct state *state, const struct step *steps, size_t count,
                 size_t loops)
{
	for (size_t i = 0; i < count && loops <= LOOP_MAX_DEPTH; i++) {
		const struct step *step = &steps[i];
		struct state before;

		switch (step->verb) {
		case STEP_EACH:
		case STEP_REPEAT:
			before = *state;
			walk(loader, state, step->steps, step->steps_count, loops + 1);
			/* What the first round leaves behind meets the second one. */
			if (!same_state(&before, state))
				walk(loader, state, step->steps, step->steps_count, loops + 1);
			break;
		case STEP_WORKERS:
			need_server(loader, state, step);
			if (step->name)
				start_workers(loader, state, step);
			break;
		case STEP_AWAIT:
		case STEP_SIGNAL:
			if (step->name)
				use_workers(loader, state, step);
			break;
		case STEP_SERVER:
			if (step->name)
				change_server(loader, state, step);
			break;
		default:
			need_server(loader, state, step);
			break;
		}
	}
}

void check_groups(struct checker *checker)
{
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;
	struct state state = {.count = 0};

	walk(loader, &state, scenario->steps, scenario->steps_count, 0);
	for (size_t i = 0; i < state.count; i++)
		complain(&loader->complaints, state.groups[i].since,
		         "nothing waits for the end of these workers, which run in the background; "
		         "add await: %s behind it",
		         state.groups[i].name);
}
