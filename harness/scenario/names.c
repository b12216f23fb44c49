/* SPDX-License-Identifier: PostgreSQL */
/* Printable names of the scenario's enumerations, and look-up in pairs. */
#include "scenario/scenario.h"

#include <string.h>

const char *profile_name(enum profile profile)
{
	static const char *const names[] = {
#define X(name, text) text,
	        PROFILES(X)
#undef X
	};
	return names[profile];
}

bool profile_parse(const char *text, enum profile *ret)
{
	for (int i = 0; i < PROFILE_COUNT; i++)
		if (!strcmp(profile_name((enum profile)i), text)) {
			*ret = (enum profile)i;
			return true;
		}
	return false;
}

const char *step_verb_name(enum step_verb verb)
{
	static const char *const names[] = {
#define X(name, key) key,
	        STEP_VERBS(X)
#undef X
	};
	return names[verb];
}

const char *const mint_option_names[] = {"node",     "prefix", "block_size", "block_count", "seed",
                                         "clock_ms", "rate",   "every_ms",   NULL};

const char *metric_type_name(enum metric_type type)
{
	static const char *const names[] = {
#define X(name, text) text,
	        METRIC_TYPES(X)
#undef X
	};
	return names[type];
}

const struct pair *pairs_find(const struct pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (!strcmp(pairs->items[i].name, name))
			return &pairs->items[i];
	return NULL;
}
