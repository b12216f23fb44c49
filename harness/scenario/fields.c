/* SPDX-License-Identifier: PostgreSQL */
/* Reading maps by table, and the small values in them. */
#include "scenario/loader.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct field *field_find(const struct field *fields, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(fields[i].key, key))
			return &fields[i];
	return NULL;
}

static void complain_unknown(struct loader *loader, const struct node_entry *entry,
                             const char *what, const struct field *fields, size_t count)
{
	const char *keys[32];
	size_t n = 0;

	for (; n < count && n + 1 < COUNT_OF(keys); n++)
		keys[n] = fields[n].key;
	keys[n] = NULL;
	const char *near = did_you_mean(loader->arena, entry->key, keys);
	if (*near)
		complain(&loader->complaints, entry->place, "%s has no key `%s`%s", what,
		         entry->key, near);
	else
		complain(&loader->complaints, entry->place, "%s has no key `%s`; its keys are %s",
		         what, entry->key, list_words(loader->arena, keys));
}

bool fields_read(struct loader *loader, const struct node *node, const char *what,
                 const struct field *fields, size_t count, void *object)
{
	if (node->kind != NODE_MAPPING) {
		complain(&loader->complaints, node->place, "%s must be a map, not %s; write %s: …",
		         what, node_kind_text(node), fields[0].key);
		return false;
	}
	for (size_t i = 0; i < node->mapping.count; i++) {
		const struct node_entry *entry = &node->mapping.entries[i];
		const struct field *field = field_find(fields, count, entry->key);

		if (field)
			field->read(loader, entry->value, object);
		else
			complain_unknown(loader, entry, what, fields, count);
	}
	for (size_t i = 0; i < count; i++)
		if (fields[i].needed && !node_find(node, fields[i].key))
			complain(&loader->complaints, node->place, "%s has no `%s`; add %s", what,
			         fields[i].key, fields[i].hint);
	return true;
}

bool text_read(struct loader *loader, const struct node *node, const char *what, const char **ret)
{
	if (node->kind != NODE_SCALAR) {
		complain(&loader->complaints, node->place,
		         "%s must be a text, not %s; quote it "
		         "if it starts with [ or {",
		         what, node_kind_text(node));
		return false;
	}
	if (!node->scalar.text[strspn(node->scalar.text, " \t\r\n")]) {
		complain(&loader->complaints, node->place, "%s is empty; write a text or remove it",
		         what);
		return false;
	}
	*ret = node->scalar.text;
	return true;
}

bool name_is_good(const char *text)
{
	if (!isalnum((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_' && *text != '-')
			return false;
	return true;
}

bool identifier_is_good(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

bool name_read(struct loader *loader, const struct node *node, const char *what, const char **ret)
{
	const char *text;

	if (!text_read(loader, node, what, &text))
		return false;
	if (!name_is_good(text)) {
		complain(&loader->complaints, node->place,
		         "%s is \"%s\"; a name has letters, digits, - and _ only", what, text);
		return false;
	}
	*ret = text;
	return true;
}

bool flag_read(struct loader *loader, const struct node *node, const char *what, bool *ret)
{
	const char *text;

	if (!text_read(loader, node, what, &text))
		return false;
	if (strcmp(text, "true") && strcmp(text, "false")) {
		complain(&loader->complaints, node->place, "%s is \"%s\"; write true or false",
		         what, text);
		return false;
	}
	*ret = !strcmp(text, "true");
	return true;
}

bool texts_read(struct loader *loader, const struct node *node, const char *what, struct texts *ret)
{
	bool list = node->kind == NODE_SEQUENCE;
	size_t count = list ? node->sequence.count : 1;
	struct texts texts = {0};
	bool good = true;

	if (!count) {
		complain(&loader->complaints, node->place,
		         "%s is an empty list; name at least one or remove it", what);
		return false;
	}
	texts.items = arena_alloc(loader->arena, count * sizeof(*texts.items));
	if (!texts.items)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct node *item = list ? node->sequence.items[i] : node;
		const char *text;

		if (!text_read(loader, item, what, &text)) {
			good = false;
			continue;
		}
		/* Lists of names are short; a long one is looked through in part. */
		for (size_t j = 0; j < texts.count && j < NODE_MAX_KEYS; j++)
			if (!strcmp(texts.items[j], text)) {
				complain(&loader->complaints, item->place,
				         "%s names `%s` twice; remove one", what, text);
				good = false;
				break;
			}
		texts.items[texts.count++] = text;
	}
	*ret = texts;
	return good;
}

bool pairs_read(struct loader *loader, const struct node *node, const char *what, struct pairs *ret)
{
	struct pairs pairs = {0};
	bool good = true;

	if (node->kind != NODE_MAPPING || !node->mapping.count) {
		complain(&loader->complaints, node->place,
		         "%s must be a map of texts, not %s; "
		         "write name: text",
		         what, node->kind == NODE_MAPPING ? "an empty one" : node_kind_text(node));
		return false;
	}
	pairs.items = arena_alloc(loader->arena, node->mapping.count * sizeof(*pairs.items));
	if (!pairs.items)
		return false;
	for (size_t i = 0; i < node->mapping.count; i++) {
		const struct node_entry *entry = &node->mapping.entries[i];
		const char *text;
		char about[128];

		snprintf(about, sizeof(about), "`%.100s`", entry->key);
		/* A quoted "" is meant: an arm may have nothing where another has a word. */
		if (entry->value->kind == NODE_SCALAR && !entry->value->scalar.plain) {
			text = entry->value->scalar.text;
		} else if (!text_read(loader, entry->value, about, &text)) {
			/* Stays in the list, so that its uses are not called unknown as well. */
			good = false;
			text = "";
		}
		pairs.items[pairs.count++] = (struct pair){.name = entry->key,
		                                           .text = text,
		                                           .place = entry->value->place};
	}
	*ret = pairs;
	return good;
}
