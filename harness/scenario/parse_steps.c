/* SPDX-License-Identifier: PostgreSQL */
/* Nodes into steps; files of steps stand where they are included. */
#include "scenario/loader.h"

#include <stdio.h>
#include <string.h>

#define BIT(verb) (1u << STEP_##verb)
#define ON_SERVER                                                                                  \
	(BIT(SQL) | BIT(MEASURE) | BIT(PROBE) | BIT(READ) | BIT(MINT) | BIT(PROVE) | BIT(LET) |    \
	 BIT(WAIT))

struct step_reader {
	struct loader *loader;
	struct include_chain *chain;
	struct step *step;
	const char *verb; /* its key, for messages */
};

/* ---- what the verb's own key holds ---- */

static void verb_sql(struct step_reader *reader, const struct node *value)
{
	if (text_read(reader->loader, value, "`sql`", &reader->step->sql))
		reader->step->sql_place = value->place;
}

/* A sample's or session's name; it may hold ${…}, so the check looks at the letters. */
static void verb_name(struct step_reader *reader, const struct node *value)
{
	char what[32];

	snprintf(what, sizeof(what), "`%s`", reader->verb);
	text_read(reader->loader, value, what, &reader->step->name);
}

static void verb_mint(struct step_reader *reader, const struct node *value)
{
	verb_name(reader, value);
	reader->step->mint.column = "id";
}

static void verb_let(struct step_reader *reader, const struct node *value)
{
	const char *text;

	if (!text_read(reader->loader, value, "`let`", &text))
		return;
	if (!identifier_is_good(text))
		complain(&reader->loader->complaints, value->place,
		         "`let` is \"%s\"; a name for ${} has letters, digits and _ only", text);
	else
		reader->step->name = text;
}

static void verb_checkpoint(struct step_reader *reader, const struct node *value)
{
	if (value->kind != NODE_SCALAR || strcmp(value->scalar.text, "true"))
		complain(&reader->loader->complaints, value->place,
		         "`checkpoint` takes true only; write checkpoint: true, or remove the "
		         "step");
}

static void verb_set(struct step_reader *reader, const struct node *value)
{
	pairs_read(reader->loader, value, "`set`", &reader->step->settings);
}

/* A scalar that is one of the words; they end with NULL, and `choices` is how a sentence lists
 * them. */
static void word_read(struct step_reader *reader, const struct node *value, const char *what,
                      const char *const *words, const char *choices, const char **ret)
{
	const char *text;

	if (!text_read(reader->loader, value, what, &text))
		return;
	for (; *words; words++) {
		if (!strcmp(*words, text)) {
			*ret = *words;
			return;
		}
	}
	complain(&reader->loader->complaints, value->place, "%s is \"%s\"; write %s", what, text,
	         choices);
}

static void verb_restart(struct step_reader *reader, const struct node *value)
{
	static const char *const modes[] = {"fast", "immediate", "kill", NULL};

	word_read(reader, value, "`restart`", modes, "fast, immediate or kill",
	          &reader->step->name);
}

static void verb_server(struct step_reader *reader, const struct node *value)
{
	static const char *const modes[] = {"fast",  "immediate", "kill", "power-off",
	                                    "start", "sync",      NULL};

	word_read(reader, value, "`server`", modes,
	          "kill, immediate, fast, power-off, sync or start", &reader->step->name);
}

static void verb_wait(struct step_reader *reader, const struct node *value)
{
	if (text_read(reader->loader, value, "`wait`", &reader->step->sql))
		reader->step->sql_place = value->place;
}

static void verb_each(struct step_reader *reader, const struct node *value)
{
	struct loader *loader = reader->loader;

	if (value->kind == NODE_SCALAR && !strcmp(value->scalar.text, "arm")) {
		reader->step->name = "arm";
		return;
	}
	if (value->kind != NODE_MAPPING || value->mapping.count != 1) {
		complain(&loader->complaints, value->place,
		         "`each` takes arm, or one name with its values; write each: arm or each: "
		         "{x: [1, 2, 3]}");
		return;
	}
	const struct node_entry *entry = &value->mapping.entries[0];
	if (!strcmp(entry->key, "arm"))
		complain(&loader->complaints, entry->place,
		         "`each` over arms takes no list; write each: arm with only: […]");
	else if (!identifier_is_good(entry->key))
		complain(&loader->complaints, entry->place,
		         "\"%s\" cannot name a loop's variable; use letters, digits and _",
		         entry->key);
	else if (texts_read(loader, entry->value, "the list of `each`", &reader->step->values))
		reader->step->name = entry->key;
}

static void verb_repeat(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`repeat`", &reader->step->count);
}

static const struct verb {
	const char *key;
	enum step_verb verb;
	void (*read)(struct step_reader *reader, const struct node *value);
} verbs[] = {
        {"sql", STEP_SQL, verb_sql},          {"measure", STEP_MEASURE, verb_name},
        {"probe", STEP_PROBE, verb_name},     {"read", STEP_READ, verb_name},
        {"mint", STEP_MINT, verb_mint},       {"prove", STEP_PROVE, verb_name},
        {"let", STEP_LET, verb_let},          {"checkpoint", STEP_CHECKPOINT, verb_checkpoint},
        {"set", STEP_SET, verb_set},          {"restart", STEP_RESTART, verb_restart},
        {"wait", STEP_WAIT, verb_wait},       {"join", STEP_JOIN, verb_name},
        {"close", STEP_CLOSE, verb_name},     {"workers", STEP_WORKERS, verb_name},
        {"await", STEP_AWAIT, verb_name},     {"signal", STEP_SIGNAL, verb_name},
        {"server", STEP_SERVER, verb_server}, {"each", STEP_EACH, verb_each},
        {"repeat", STEP_REPEAT, verb_repeat}, {"include", STEP_VERB_COUNT, NULL},
};

/* ---- what a step may have beside it ---- */

static void with_sql(struct step_reader *reader, const struct node *value)
{
	verb_sql(reader, value);
}

static void with_with(struct step_reader *reader, const struct node *value)
{
	pairs_read(reader->loader, value, "`with`", &reader->step->settings);
}

static void with_until(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`until`", &reader->step->until);
}

static void with_send(struct step_reader *reader, const struct node *value)
{
	static const char *const signals[] = {"kill", "stop", "continue", NULL};

	word_read(reader, value, "`send`", signals, "kill, stop or continue", &reader->step->send);
}

static void with_process(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`process`", &reader->step->process);
}

static void with_meters(struct step_reader *reader, const struct node *value)
{
	texts_read(reader->loader, value, "`meters`", &reader->step->meters);
}

static void with_of(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`of`", &reader->step->of);
}

static void with_generator(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`generator`", &reader->step->mint.generator);
}

static void with_rows(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`rows`", &reader->step->mint.rows);
}

static void with_into(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`into`", &reader->step->mint.into);
}

static void with_column(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`column`", &reader->step->mint.column);
}

static void with_number(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`number`", &reader->step->mint.number);
}

static void with_options(struct step_reader *reader, const struct node *value)
{
	pairs_read(reader->loader, value, "`options`", &reader->step->mint.options);
}

static void with_do(struct step_reader *reader, const struct node *value)
{
	parse_steps(reader->loader, value, reader->chain, &reader->step->steps,
	            &reader->step->steps_count);
}

static void with_only(struct step_reader *reader, const struct node *value)
{
	struct texts texts;

	if (texts_read(reader->loader, value, "`only`", &texts) && !reader->step->values.count)
		reader->step->values = texts;
}

static void with_as(struct step_reader *reader, const struct node *value)
{
	struct step *step = reader->step;
	const char *text;

	if (!text_read(reader->loader, value, "`as`", &text))
		return;
	if (step->verb == STEP_REPEAT && (!identifier_is_good(text) || !strcmp(text, "arm")))
		complain(&reader->loader->complaints, value->place,
		         "`as` is \"%s\"; a loop's variable has letters, digits and _ only, and is "
		         "not arm",
		         text);
	else
		step->name = text;
}

static void with_session(struct step_reader *reader, const struct node *value)
{
	text_read(reader->loader, value, "`session`", &reader->step->session);
}

static void with_background(struct step_reader *reader, const struct node *value)
{
	/* Whatever it says, somebody meant to join it. */
	reader->step->background = true;
	flag_read(reader->loader, value, "`background`", &reader->step->background);
}

static void read_expect_sqlstate(struct loader *loader, const struct node *value, void *object)
{
	struct step_expect *expect = object;
	const char *text;

	if (!text_read(loader, value, "`sqlstate`", &text))
		return;
	if (strlen(text) != 5 || strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5)
		complain(&loader->complaints, value->place,
		         "`sqlstate` is \"%s\"; write five digits or capital letters, as \"23505\"",
		         text);
	else if (!strcmp(text, "00000"))
		complain(&loader->complaints, value->place,
		         "`sqlstate` 00000 is success, which needs no `expect`; remove it");
	else
		expect->sqlstate = text;
}

static void read_expect_constraint(struct loader *loader, const struct node *value, void *object)
{
	text_read(loader, value, "`constraint`", &((struct step_expect *)object)->constraint);
}

static void read_expect_message(struct loader *loader, const struct node *value, void *object)
{
	text_read(loader, value, "`message`", &((struct step_expect *)object)->message);
}

static void with_expect(struct step_reader *reader, const struct node *value)
{
	static const struct field fields[] = {
	        {"sqlstate", false, read_expect_sqlstate, "sqlstate: \"23505\""},
	        {"constraint", false, read_expect_constraint, "constraint: name"},
	        {"message", false, read_expect_message, "message: part of it"},
	};

	reader->step->expect.given = true;
	if (value->kind == NODE_SCALAR && !strcmp(value->scalar.text, "error"))
		return;
	if (value->kind != NODE_MAPPING) {
		complain(&reader->loader->complaints, value->place,
		         "`expect` must be a map or the word error, not %s; write expect: "
		         "{sqlstate: "
		         "\"23505\"}",
		         node_kind_text(value));
		return;
	}
	fields_read(reader->loader, value, "`expect`", fields, COUNT_OF(fields),
	            &reader->step->expect);
	if (!value->mapping.count)
		complain(&reader->loader->complaints, value->place,
		         "`expect` is empty; write expect: {sqlstate: \"23505\"}, or expect: error "
		         "for any");
}

static void with_allow(struct step_reader *reader, const struct node *value)
{
	if (value->kind != NODE_SCALAR || strcmp(value->scalar.text, "errors"))
		complain(&reader->loader->complaints, value->place,
		         "`allow` takes errors only; write allow: errors");
	else
		reader->step->allow_errors = true;
}

static void with_deadline(struct step_reader *reader, const struct node *value)
{
	const double week_ms = 7.0 * 86400 * 1000;
	struct quantity quantity;
	const char *text;

	if (!text_read(reader->loader, value, "`deadline`", &text))
		return;
	if (!quantity_parse(text, &quantity) || quantity.kind != QUANTITY_DURATION ||
	    quantity.value < 1 || quantity.value > week_ms)
		complain(&reader->loader->complaints, value->place,
		         "`deadline` is \"%s\"; write a duration from 1ms to 7d, as 30s or 5min",
		         text);
	else
		reader->step->deadline_ns = (uint64_t)(quantity.value * (double)NS_PER_MS);
}

static const struct companion {
	const char *key;
	unsigned verbs;  /* where it may stand */
	unsigned needed; /* where it must */
	void (*read)(struct step_reader *reader, const struct node *value);
	const char *hint;
} companions[] = {
        {"sql", BIT(MEASURE) | BIT(PROBE) | BIT(PROVE) | BIT(LET),
         BIT(MEASURE) | BIT(PROBE) | BIT(PROVE) | BIT(LET), with_sql, "sql: the statement"},
        {"meters", BIT(MEASURE) | BIT(READ), BIT(MEASURE) | BIT(READ), with_meters,
         "meters: [statement] or the like"},
        {"of", BIT(READ), BIT(READ), with_of, "of: the table or index"},
        {"generator", BIT(MINT), BIT(MINT), with_generator, "generator: uuidv7 or the like"},
        {"rows", BIT(MINT), BIT(MINT), with_rows, "rows: how many ids"},
        {"into", BIT(MINT), BIT(MINT), with_into, "into: the table"},
        {"column", BIT(MINT), 0, with_column, NULL},
        {"number", BIT(MINT), 0, with_number, NULL},
        {"options", BIT(MINT), 0, with_options, NULL},
        {"do", BIT(EACH) | BIT(REPEAT), BIT(EACH) | BIT(REPEAT), with_do, "do: a list of steps"},
        {"only", BIT(EACH), 0, with_only, NULL},
        {"as", BIT(SQL) | BIT(REPEAT), 0, with_as, NULL},
        {"session", ON_SERVER, 0, with_session, NULL},
        {"with", BIT(WORKERS), BIT(WORKERS), with_with, "with: {generator: uuidv7, ids: 1k}"},
        {"until", BIT(AWAIT), 0, with_until, NULL},
        {"send", BIT(SIGNAL), BIT(SIGNAL), with_send, "send: kill, stop or continue"},
        {"process", BIT(SIGNAL), 0, with_process, NULL},
        {"background", BIT(SQL) | BIT(WORKERS), 0, with_background, NULL},
        {"expect", BIT(SQL), 0, with_expect, NULL},
        {"allow", BIT(SQL) | BIT(MEASURE) | BIT(PROBE) | BIT(READ) | BIT(PROVE), 0, with_allow,
         NULL},
        {"deadline",
         ON_SERVER | BIT(CHECKPOINT) | BIT(SET) | BIT(RESTART) | BIT(JOIN) | BIT(CLOSE) |
                 BIT(WORKERS) | BIT(AWAIT) | BIT(SIGNAL) | BIT(SERVER),
         0, with_deadline, NULL},
};

static const struct verb *verb_find(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		if (!strcmp(verbs[i].key, key))
			return &verbs[i];
	return NULL;
}

static const struct companion *companion_find(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(companions); i++)
		if (!strcmp(companions[i].key, key))
			return &companions[i];
	return NULL;
}

/* Complains of the first key that was meant as a verb; false when there is none. */
static bool complain_misspelled(struct loader *loader, const struct node *node)
{
	const char *keys[COUNT_OF(verbs) + COUNT_OF(companions) + 1] = {NULL};

	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		keys[i] = verbs[i].key;
	for (size_t i = 0; i < COUNT_OF(companions); i++)
		keys[COUNT_OF(verbs) + i] = companions[i].key;
	for (size_t i = 0; i < node->mapping.count; i++) {
		const struct node_entry *entry = &node->mapping.entries[i];

		if (companion_find(entry->key) || verb_find(entry->key))
			continue;
		const char *near = nearest_word(entry->key, keys);
		if (!near || !verb_find(near))
			continue;
		complain(&loader->complaints, entry->place,
		         "`%s` is no verb of a step; did you mean `%s`?", entry->key, near);
		return true;
	}
	return false;
}

static void complain_no_verb(struct loader *loader, const struct node *node)
{
	const char *keys[COUNT_OF(verbs) + 1] = {NULL};

	if (complain_misspelled(loader, node))
		return;
	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		keys[i] = verbs[i].key;
	for (size_t i = 0; i < node->mapping.count; i++)
		if (!companion_find(node->mapping.entries[i].key)) {
			complain(&loader->complaints, node->mapping.entries[i].place,
			         "`%s` is no verb of a step; the verbs are %s",
			         node->mapping.entries[i].key, list_words(loader->arena, keys));
			return;
		}
	complain(&loader->complaints, node->place, "the step has no verb; begin it with one of %s",
	         list_words(loader->arena, keys));
}

/* The one verb of a step; `sql` is one only where no other stands. */
static const struct verb *find_verb(struct loader *loader, const struct node *node,
                                    struct place *ret_place)
{
	const struct verb *found = NULL;
	bool good = true;

	for (int pass = 0; pass < 2 && !found; pass++)
		for (size_t i = 0; i < node->mapping.count; i++) {
			const struct node_entry *entry = &node->mapping.entries[i];
			const struct verb *verb = verb_find(entry->key);

			if (!verb || (verb->verb == STEP_SQL) != (pass == 1))
				continue;
			if (found) {
				complain(&loader->complaints, entry->place,
				         "the step has two verbs, `%s` and `%s`; make two steps of "
				         "it",
				         found->key, verb->key);
				good = false;
				continue;
			}
			found = verb;
			*ret_place = entry->place;
		}
	if (!found)
		complain_no_verb(loader, node);
	else if (found->verb == STEP_SQL && complain_misspelled(loader, node))
		return NULL;
	return good ? found : NULL;
}

/* The companions of a verb, for "its keys are". */
static const char *companion_keys(struct loader *loader, unsigned bit, const char *verb)
{
	const char *keys[COUNT_OF(companions) + 2] = {verb};
	size_t n = 1;

	for (size_t i = 0; i < COUNT_OF(companions); i++)
		if (companions[i].verbs & bit)
			keys[n++] = companions[i].key;
	keys[n] = NULL;
	return list_words(loader->arena, keys);
}

static void complain_misplaced(struct loader *loader, const struct node_entry *entry, unsigned bit,
                               const struct verb *verb)
{
	const char *keys[COUNT_OF(companions) + 1];
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(companions); i++)
		if (companions[i].verbs & bit)
			keys[n++] = companions[i].key;
	keys[n] = NULL;
	if (verb->verb == STEP_VERB_COUNT) {
		complain(&loader->complaints, entry->place,
		         "an `include` stands alone; remove `%s`, or write it in the included "
		         "steps",
		         entry->key);
		return;
	}
	const char *near =
	        companion_find(entry->key) ? "" : did_you_mean(loader->arena, entry->key, keys);
	if (*near)
		complain(&loader->complaints, entry->place, "a `%s` step has no key `%s`%s",
		         verb->key, entry->key, near);
	else
		complain(&loader->complaints, entry->place,
		         "a `%s` step has no key `%s`; its keys are %s", verb->key, entry->key,
		         companion_keys(loader, bit, verb->key));
}

static void read_companions(struct step_reader *reader, const struct node *node,
                            const struct verb *verb)
{
	struct loader *loader = reader->loader;
	unsigned bit = 1u << verb->verb;

	for (size_t i = 0; i < node->mapping.count; i++) {
		const struct node_entry *entry = &node->mapping.entries[i];
		const struct companion *companion = companion_find(entry->key);

		if (!strcmp(entry->key, verb->key)) {
			if (verb->read)
				verb->read(reader, entry->value);
		} else if (companion && companion->verbs & bit) {
			companion->read(reader, entry->value);
		} else {
			complain_misplaced(loader, entry, bit, verb);
		}
	}
	for (size_t i = 0; i < COUNT_OF(companions); i++)
		if (companions[i].needed & bit && !node_find(node, companions[i].key))
			complain(&loader->complaints, node->place,
			         "the `%s` step has no `%s`; add %s", verb->key, companions[i].key,
			         companions[i].hint);
}

struct step_list {
	struct step *items;
	size_t count, cap;
};

static void add_step(struct loader *loader, struct step_list *list, const struct step *step)
{
	if (list->count == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 8;
		struct step *grown =
		        arena_grow(loader->arena, list->items, list->count, cap, sizeof(*grown));

		if (!grown)
			return;
		list->items = grown;
		list->cap = cap;
	}
	list->items[list->count++] = *step;
}

/* "DIR of from" + "/" + name, in the arena. */
static const char *beside(struct arena *arena, const char *from, const char *name)
{
	const char *slash = strrchr(from, '/');

	if (*name == '/' || !slash)
		return name;
	return arena_printf(arena, "%.*s/%s", (int)(slash - from), from, name);
}

static void parse_list(struct loader *loader, const struct node *list, struct include_chain *chain,
                       struct step_list *ret);

static void include_steps(struct loader *loader, const struct node *value,
                          struct include_chain *chain, struct step_list *ret)
{
	const char *name;

	if (!text_read(loader, value, "`include`", &name))
		return;
	const char *path = beside(loader->arena, value->place.file, name);
	struct include_chain link = {.outer = chain};
	const struct node *root = path ? load_file(loader, path, value->place, &link) : NULL;
	loader->steps_unsure = loader->steps_unsure || !root || root->kind != NODE_SEQUENCE;
	if (!root)
		return;
	if (root->kind != NODE_SEQUENCE)
		complain(&loader->complaints, root->place,
		         "an included file must be a list of steps, not %s; start each step with "
		         "\"- \"",
		         node_kind_text(root));
	else
		parse_list(loader, root, &link, ret);
}

static void parse_step(struct loader *loader, const struct node *node, struct include_chain *chain,
                       struct step_list *ret)
{
	struct place place = node->place;

	if (node->kind != NODE_MAPPING || !node->mapping.count) {
		loader->steps_unsure = true;
		complain(&loader->complaints, node->place,
		         "a step must be a map, not %s; write - sql: …",
		         node->kind == NODE_MAPPING ? "an empty one" : node_kind_text(node));
		return;
	}
	const struct verb *verb = find_verb(loader, node, &place);
	if (!verb) {
		loader->steps_unsure = true;
		return;
	}
	struct step step = {.verb = verb->verb,
	                    .place = place,
	                    .node = node,
	                    .session = "main",
	                    .deadline_ns = DEADLINE_DEFAULT_NS};
	struct step_reader reader = {.loader = loader,
	                             .chain = chain,
	                             .step = &step,
	                             .verb = verb->key};
	read_companions(&reader, node, verb);
	if (verb->verb == STEP_VERB_COUNT)
		include_steps(loader, node_find(node, "include"), chain, ret);
	else
		add_step(loader, ret, &step);
}

static void parse_list(struct loader *loader, const struct node *list, struct include_chain *chain,
                       struct step_list *ret)
{
	for (size_t i = 0; i < list->sequence.count && !loader->arena->failed; i++)
		parse_step(loader, list->sequence.items[i], chain, ret);
}

void parse_steps(struct loader *loader, const struct node *list, struct include_chain *chain,
                 struct step **ret, size_t *ret_count)
{
	struct step_list steps = {0};

	if (list->kind != NODE_SEQUENCE || !list->sequence.count) {
		loader->steps_unsure = true;
		if (list->kind == NODE_SEQUENCE)
			complain(&loader->complaints, list->place,
			         "the list of steps is empty; write at least one, as - sql: …");
		else
			complain(&loader->complaints, list->place,
			         "the steps must be a list, not %s; start each with \"- \"",
			         node_kind_text(list));
		return;
	}
	parse_list(loader, list, chain, &steps);
	*ret = steps.items;
	*ret_count = steps.count;
}
