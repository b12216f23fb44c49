/* SPDX-License-Identifier: PostgreSQL */
/* Meters and datasets for tests of scenarios: those of docs/scenarios.md, without a server. */
#ifndef KEYLAB_TESTS_VOCABULARY_H
#define KEYLAB_TESTS_VOCABULARY_H

#include <string.h>

#include "run/worker_options.h"
#include "scenario/scenario.h"

static bool test_meter(const char *name, enum step_verb verb, const char **ret_needs,
                       int *ret_version)
{
	static const struct {
		const char *name;
		enum step_verb verb;
		const char *needs;
		int version;
	} meters[] = {
	        {"statement", STEP_MEASURE, NULL, 0}, {"lsn", STEP_MEASURE, "pg_walinspect", 15},
	        {"clock", STEP_MEASURE, NULL, 0},     {"btree", STEP_READ, "pgstattuple", 0},
	        {"size", STEP_READ, NULL, 0},
	};

	for (size_t i = 0; i < COUNT_OF(meters); i++)
		if (!strcmp(meters[i].name, name) && meters[i].verb == verb) {
			*ret_needs = meters[i].needs;
			*ret_version = meters[i].version;
			return true;
		}
	return false;
}

static const char *const test_meter_names[] = {"btree", "clock", "lsn", "size", "statement", NULL};
static const char *const test_dataset_names[] = {"book", NULL};
static const char *const test_compat_names[] = {"sequential-uuids", "uuidv7", NULL};
static const char *const test_generator_names[] = {"bigint",
                                                   "uuidv4",
                                                   "uuidv7",
                                                   "uuidv7-sub",
                                                   "uuidv7-text",
                                                   "ulid",
                                                   "ksuid",
                                                   "snowflake",
                                                   "snowflake-naive",
                                                   "instagram",
                                                   "nanoid",
                                                   "typeid",
                                                   "sequential-nextval",
                                                   "sequential-time",
                                                   NULL};
static const struct scenario_vocabulary test_vocabulary = {
        .meter = test_meter,
        .meter_names = test_meter_names,
        .dataset_names = test_dataset_names,
        .compat_names = test_compat_names,
        .generator_names = test_generator_names,
        .worker_options = worker_options_of,
        .worker_generators = worker_generators,
};

#endif
