/* SPDX-License-Identifier: PostgreSQL */
/* Names in force, and the ${…} of a text checked against them. */
#include "scenario/check.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scenario/params.h"
#include "scenario/subst.h"

static const char *kind_text(enum binding_kind kind)
{
	switch (kind) {
	case BINDING_PARAM:
		return "a parameter";
	case BINDING_LET:
		return "a `let`";
	case BINDING_ARM:
		return "the arm's name";
	case BINDING_ARM_KEY:
		return "a text of the arms";
	case BINDING_LOOP:
		return "a loop's variable";
	}
	return "";
}

static const struct binding *find_binding(const struct checker *checker, const char *name)
{
	for (size_t i = checker->names.count; i--;)
		if (!strcmp(checker->names.items[i].name, name))
			return &checker->names.items[i];
	return NULL;
}

void bind_name(struct checker *checker, struct binding binding)
{
	struct bindings *names = &checker->names;
	const struct binding *before = find_binding(checker, binding.name);

	if (before && binding.kind != BINDING_ARM)
		complain(&checker->loader->complaints, binding.place,
		         "`%s` is %s already (%s:%d); give this one another name", binding.name,
		         kind_text(before->kind), before->place.file, before->place.line);
	else if (!strcmp(binding.name, "quote") ||
	         (!strcmp(binding.name, "arm") && binding.kind != BINDING_ARM))
		complain(&checker->loader->complaints, binding.place,
		         "`%s` has a meaning of its own in ${}; choose another name", binding.name);
	if (names->count == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : 32;
		struct binding *grown = arena_grow(checker->loader->arena, names->items,
		                                   names->count, cap, sizeof(*grown));

		if (!grown)
			return;
		names->items = grown;
		names->cap = cap;
	}
	names->items[names->count++] = binding;
}

/* What subst_walk asks while a text is checked; why is the reason it was told no. */
struct asked {
	struct checker *checker;
	const char *why; /* NULL: nothing was refused */
};

static bool is_let(const struct step *steps, size_t count, const char *name, size_t loops)
{
	for (size_t i = 0; i < count && loops <= LOOP_MAX_DEPTH; i++)
		if ((steps[i].verb == STEP_LET && steps[i].name && !strcmp(steps[i].name, name)) ||
		    is_let(steps[i].steps, steps[i].steps_count, name, loops + 1))
			return true;
	return false;
}

static const char *explain_unknown(struct checker *checker, const char *name)
{
	struct loader *loader = checker->loader;
	const struct bindings *names = &checker->names;
	const char **known = arena_alloc(loader->arena, (names->count + 1) * sizeof(*known));

	if (!known)
		return "";
	for (size_t i = 0; i < names->count; i++)
		known[i] = names->items[i].name;
	if (!checker->in_arm && loader->scenario->arms_count &&
	    (!strcmp(name, "arm") || pairs_find(&loader->scenario->arms[0].texts, name)))
		return arena_printf(loader->arena,
		                    "`%s` is known inside `each: arm` only; put the step into one",
		                    name);
	if (checker->past_steps &&
	    is_let(loader->scenario->steps, loader->scenario->steps_count, name, 0))
		return arena_printf(loader->arena,
		                    "`%s` is a `let`, known in the steps only; let a `probe` "
		                    "record "
		                    "it and read it from the samples",
		                    name);
	const char *near = did_you_mean(loader->arena, name, known);
	if (*near)
		return arena_printf(loader->arena, "nothing is called `%s` here%s", name, near);
	return arena_printf(loader->arena,
	                    "nothing is called `%s` here; add it to `params`, or use one of: %s",
	                    name, names->count ? list_words(loader->arena, known) : "(none)");
}

static const char *ask(void *context, const char *name, bool arithmetic)
{
	struct asked *asked = context;
	const struct binding *binding = find_binding(asked->checker, name);

	if (!binding) {
		asked->why = explain_unknown(asked->checker, name);
		return NULL;
	}
	if (!arithmetic)
		return "";
	if (!binding->number)
		asked->why =
		        arena_printf(asked->checker->loader->arena,
		                     "`%s` is %s and no whole number, so it cannot be computed "
		                     "with; use it alone as ${%s}",
		                     name, kind_text(binding->kind), name);
	return binding->number;
}

static const char *find_param(void *context, const char *name, bool arithmetic)
{
	const struct pair *pair = pairs_find(context, name);

	(void)arithmetic;
	return pair ? pair->text : NULL;
}

/* Computes what the parameters alone decide, for every profile. */
static void try_profiles(struct checker *checker, const struct node *node, const char *text,
                         size_t offset, size_t len)
{
	const char *one = arena_strndup(checker->loader->arena, text + offset, len);

	for (int i = 0; one && i < PROFILE_COUNT; i++) {
		struct subst_names names = {.find = find_param, .context = &checker->params[i]};
		struct buf ignored;
		struct err err = {0};

		buf_init(&ignored, 0);
		bool good = subst_walk(one, &names, &ignored, NULL, &err);
		buf_finish(&ignored);
		if (!good && err.kind == ERR_SYSTEM)
			checker->loader->arena->failed = true;
		if (!good && err.kind == ERR_INPUT) {
			complain(&checker->loader->complaints, node_text_place(node, offset, len),
			         "%s at the profile %s; change the parameters or the formula",
			         err.message, profile_name((enum profile)i));
			return;
		}
	}
}

void check_text(struct checker *checker, const struct node *node)
{
	if (!node || node->kind != NODE_SCALAR)
		return;
	const char *text = node->scalar.text;
	for (const char *at = text; (at = strchr(at, '$'));) {
		struct asked asked = {.checker = checker};
		struct subst_names names = {.find = ask, .context = &asked, .dry = true};
		struct subst_fault fault = {0};
		struct err err = {0};

		if (at[1] == '$' && at[2] == '{') {
			at += 3;
			continue;
		}
		if (at[1] != '{') {
			at++;
			continue;
		}
		/* One ${…} at a time, so that each mistake is told. */
		const char *end = subst_end(at);
		size_t len = end ? (size_t)(end - at) : 2;
		const char *one = arena_strndup(checker->loader->arena, at, end ? len : strlen(at));
		if (!one)
			return;
		if (subst_walk(one, &names, NULL, &fault, &err))
			try_profiles(checker, node, text, (size_t)(at - text), len);
		else if (!asked.why || !checker->loader->names_unsure)
			complain(&checker->loader->complaints,
			         node_text_place(node, (size_t)(at - text), len), "%s",
			         asked.why ? asked.why : err.message);
		at += len;
	}
}

void check_plain(struct checker *checker, const struct node *node, const char *what)
{
	const char *mark =
	        node && node->kind == NODE_SCALAR ? strstr(node->scalar.text, "${") : NULL;

	if (mark)
		complain(&checker->loader->complaints,
		         node_text_place(node, (size_t)(mark - node->scalar.text), 2),
		         "%s is not expanded and may hold no ${; write the value out", what);
}

/* Behind blanks, comments and semicolons. */
static const char *skip_to_sql(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n;");
		if (!strncmp(text, "--", 2)) {
			text += strcspn(text, "\n");
		} else if (!strncmp(text, "/*", 2)) {
			const char *end = strstr(text + 2, "*/");

			text = end ? end + 2 : text + strlen(text);
		} else {
			return text;
		}
	}
}

void check_sql(struct checker *checker, const struct node *node, const char *what)
{
	if (!node || node->kind != NODE_SCALAR)
		return;
	check_text(checker, node);
	/* An empty text was complained of when it was read. */
	if (node->scalar.text[strspn(node->scalar.text, " \t\r\n")] &&
	    !*skip_to_sql(node->scalar.text))
		complain(&checker->loader->complaints, node->place,
		         "%s holds no statement, only comments; write one or remove the step",
		         what);
}

/* The end of the quoted text or comment that starts at text, or NULL when none does. */
static const char *skip_quoted(const char *text)
{
	if (*text == '\'' || *text == '"') {
		const char *end = strchr(text + 1, *text);

		return end ? end + 1 : text + strlen(text);
	}
	if (!strncmp(text, "--", 2))
		return text + strcspn(text, "\n");
	if (!strncmp(text, "/*", 2)) {
		const char *end = strstr(text + 2, "*/");

		return end ? end + 2 : text + strlen(text);
	}
	return NULL;
}

/* step = 'x', arm = 'y' with names that no sample can have. */
static void check_literal(struct checker *checker, const struct node *node, const char *column,
                          const char *literal)
{
	const struct scenario *scenario = checker->loader->scenario;
	const char *end = strchr(literal + 1, '\'');
	bool is_step = column[0] == 's';

	if (!end)
		return;
	const char *name =
	        arena_strndup(checker->loader->arena, literal + 1, (size_t)(end - literal - 1));
	if (!name || strchr(name, '$'))
		return;
	bool known = is_step ? checker->loader->steps_unsure || records_step(scenario, name)
	                     : !*name || !scenario->arms_count;
	for (size_t i = 0; !is_step && i < scenario->arms_count; i++)
		known = known || !strcmp(scenario->arms[i].name, name);
	if (!known)
		complain(&checker->loader->complaints,
		         node_text_place(node, (size_t)(literal - node->scalar.text),
		                         (size_t)(end + 1 - literal)),
		         is_step ? "no step records samples as '%s'; name a measure, probe, read, "
		                   "prove or sql-with-as step"
		                 : "no arm is called '%s'; name one of `arms`",
		         name);
}

static void check_literals(struct checker *checker, const struct node *node)
{
	const char *start = node->scalar.text;

	for (const char *at = start; *at;) {
		const char *behind = skip_quoted(at);

		if (behind) {
			at = behind;
			continue;
		}
		bool first = at == start || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		size_t len = !strncasecmp(at, "step", 4) ? 4 : !strncasecmp(at, "arm", 3) ? 3 : 0;
		if (!first || !len) {
			at++;
			continue;
		}
		const char *column = len == 4 ? "step" : "arm";
		at += len;
		const char *next = at + strspn(at, " \t\r\n");
		if (*next != '=')
			continue;
		next++;
		next += strspn(next, " \t\r\n");
		if (*next == '\'')
			check_literal(checker, node, column, next);
	}
}

void check_select(struct checker *checker, const struct node *node, const char *what)
{
	if (!node || node->kind != NODE_SCALAR)
		return;
	check_sql(checker, node, what);
	const char *sql = skip_to_sql(node->scalar.text);
	if (!*sql)
		return;
	if (strncasecmp(sql, "select", 6) && strncasecmp(sql, "with", 4) && strncmp(sql, "${", 2)) {
		complain(&checker->loader->complaints, node->place,
		         "%s must be one SELECT over the samples; begin it with select or with",
		         what);
		return;
	}
	for (const char *at = sql; *at;) {
		const char *behind = skip_quoted(at);

		if (!behind && *at == ';' && *skip_to_sql(at)) {
			complain(&checker->loader->complaints,
			         node_text_place(node, (size_t)(at - node->scalar.text), 1),
			         "%s must be one statement; remove what is behind the semicolon",
			         what);
			return;
		}
		at = behind ? behind : at + 1;
	}
	check_literals(checker, node);
}
