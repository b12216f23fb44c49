/* SPDX-License-Identifier: PostgreSQL */
/* Samples summed up as they pass by. */
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

/* A power of two, at most half full. */
#define SLOTS 65536

void summaries_init(struct summaries *summaries, struct arena *arena)
{
	*summaries = (struct summaries){.arena = arena};
	summaries->slots = calloc(SLOTS, sizeof(*summaries->slots));
	summaries->failed = !summaries->slots;
}

void summaries_finish(struct summaries *summaries)
{
	free(summaries->slots);
	free(summaries->items);
	*summaries = (struct summaries){.arena = NULL};
}

/* FNV-1a (Fowler, Noll, Vo), 32 bits, with the end of each text. */
static uint32_t hash_text(uint32_t hash, const char *text)
{
	do {
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	} while (*text++);
	return hash;
}

static struct summary *add_group(struct summaries *s, struct scenario_row *scenario,
                                 struct query *query)
{
	if ((s->count & (s->count - 1)) == 0) {
		size_t room = s->count ? 2 * s->count : 1;
		struct summary *grown = realloc(s->items, room * sizeof(*grown));

		if (!grown)
			return NULL;
		s->items = grown;
	}
	struct summary *item = &s->items[s->count++];
	*item = (struct summary){.scenario = scenario,
	                         .step = arena_strdup(s->arena, query_get_text(query, 1)),
	                         .arm = arena_strdup(s->arena, query_get_text(query, 2)),
	                         .metric = arena_strdup(s->arena, query_get_text(query, 3)),
	                         .label = arena_strdup(s->arena, query_get_text(query, 4)),
	                         .unit = arena_strdup(s->arena, query_get_text(query, 5)),
	                         .low = {.text = ""},
	                         .high = {.text = ""},
	                         .total = {.text = ""}};
	return s->arena->failed ? NULL : item;
}

static struct summary *find_group(struct summaries *s, struct scenario_row *scenario,
                                  struct query *query)
{
	const char *step = query_get_text(query, 1), *arm = query_get_text(query, 2);
	const char *metric = query_get_text(query, 3), *label = query_get_text(query, 4);
	uint32_t hash = 2166136261U;

	hash = hash_text(hash, scenario->name);
	hash = hash_text(hash, step);
	hash = hash_text(hash, arm);
	hash = hash_text(hash, metric);
	hash = hash_text(hash, label);
	for (uint32_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
		if (s->slots[at] == 0) {
			if (s->count == SUMMARIES_MAX)
				return NULL;
			struct summary *item = add_group(s, scenario, query);

			s->failed = s->failed || !item;
			s->slots[at] = item ? (uint32_t)s->count : 0;
			return item;
		}
		struct summary *item = &s->items[s->slots[at] - 1];
		if (item->scenario == scenario && !strcmp(item->metric, metric) &&
		    !strcmp(item->step, step) && !strcmp(item->arm, arm) &&
		    !strcmp(item->label, label))
			return item;
	}
}

/* Numbers come before texts, as SQLite sorts them. */
static bool below(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->kind == VALUE_NUMBER ? a->number < b->number : strcmp(a->text, b->text) < 0;
}

static void take_value(struct summaries *s, struct value *place, const struct value *value)
{
	*place = *value;
	if (value->kind == VALUE_TEXT)
		place->text = arena_strdup(s->arena, value->text);
	s->failed = s->failed || !place->text;
}

void summaries_add(struct summaries *s, struct scenario_row *scenario, struct query *query)
{
	struct value value = {.kind = VALUE_NONE, .text = ""};
	struct summary *item = s->failed ? NULL : find_group(s, scenario, query);

	if (!item)
		return;
	item->n++;
	if (query_is_null(query, 6))
		return;
	if (query_is_number(query, 6)) {
		value.kind = VALUE_NUMBER;
		value.number = query_get_real(query, 6);
	} else {
		value.kind = VALUE_TEXT;
		value.text = query_get_text(query, 6);
	}
	if (item->low.kind == VALUE_NONE || below(&value, &item->low))
		take_value(s, &item->low, &value);
	if (item->high.kind == VALUE_NONE || below(&item->high, &value))
		take_value(s, &item->high, &value);
	if (value.kind == VALUE_NUMBER) {
		item->total.kind = VALUE_NUMBER;
		item->total.number += value.number;
	}
}

bool summaries_hand_over(struct summaries *s)
{
	if (s->failed)
		return false;
	for (size_t i = 0; i < s->count; i++)
		s->items[i].scenario->summaries_count++;
	for (size_t i = 0; i < s->count; i++) {
		struct scenario_row *scenario = s->items[i].scenario;

		if (!scenario->summaries) {
			scenario->summaries = arena_alloc(s->arena, scenario->summaries_count *
			                                                    sizeof(struct summary));
			if (!scenario->summaries)
				return false;
			scenario->summaries_count = 0;
		}
		scenario->summaries[scenario->summaries_count++] = s->items[i];
	}
	return true;
}
