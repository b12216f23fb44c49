/* SPDX-License-Identifier: PostgreSQL */
/* The kinds of parameter values (docs/scenarios.md, "params"); of this room alone. */
#ifndef KEYLAB_SCENARIO_PARAMS_H
#define KEYLAB_SCENARIO_PARAMS_H

#include "scenario/scenario.h"

enum param_kind {
	PARAM_COUNT,
	PARAM_SIZE,
	PARAM_DURATION,
	PARAM_TEXT,
};
const char *param_kind_name(enum param_kind kind);

/*
 * What kind a value is, and what ${name} gives for it (in the arena). False
 * for what looks like a number but is none that can be used.
 */
bool param_read(const char *written, struct arena *arena, enum param_kind *ret_kind,
                const char **ret_text, struct err *err) MUST_CHECK;

#endif
