/* SPDX-License-Identifier: PostgreSQL */
/* Walking the steps: loops, scopes, progress. */
#include "run/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"

/* How often a repeat goes round; 0 when that cannot be told yet (a `let`). */
static int64_t repeat_count(const struct step *step, const struct scope *scope)
{
	CLEANUP(buf_finish) struct buf text;
	enum quantity_kind kind;
	int64_t count = 0;

	buf_init(&text, 0);
	if (!subst_expand(step->count, scope, &text, NULL) ||
	    !quantity_parse_integer(text.data, &count, &kind, NULL))
		return 0;
	return count;
}

size_t walk_count(const struct step *steps, size_t count, const struct scope *scope, bool one_arm)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];

		bool single = one_arm && step->verb == STEP_EACH && !strcmp(step->name, "arm");

		if (step->verb == STEP_EACH)
			total += (single ? 1 : step->values.count) *
			         walk_count(step->steps, step->steps_count, scope, one_arm);
		else if (step->verb == STEP_REPEAT)
			total += (size_t)repeat_count(step, scope) *
			         walk_count(step->steps, step->steps_count, scope, one_arm);
		else
			total++;
	}
	return total;
}

static const struct arm *find_arm(const struct scenario *scenario, const char *name)
{
	for (size_t i = 0; i < scenario->arms_count; i++)
		if (!strcmp(scenario->arms[i].name, name))
			return &scenario->arms[i];
	return NULL;
}

/* The body once, with name = value in force; inside `each: arm` with the arm's texts around it. */
static enum walk_end once(struct walk *walk, const struct step *loop, const struct frame *frame,
                          const struct scope *scope, struct err *err)
{
	struct pair pair = {.name = loop->name ? loop->name : "", .text = frame->value};
	const struct pairs variable = {.items = &pair, .count = 1};
	const struct arm *before = walk->arm;
	struct scope arm_scope = {.outer = scope};
	struct scope inner = {.outer = scope, .pairs = &variable};

	if (loop->verb == STEP_EACH && !strcmp(pair.name, "arm")) {
		walk->arm = find_arm(walk->scenario, frame->value);
		if (!walk->arm) {
			err_set(err, ERR_INTERNAL, "no arm %s", frame->value);
			return WALK_FAILS;
		}
		/* An arm's key is nearer than `arm` itself only in name; both are in force. */
		arm_scope.pairs = walk->request->same_arms ? &walk->scenario->arms[0].texts
		                                           : &walk->arm->texts;
		inner.outer = &arm_scope;
	}
	enum walk_end end = walk_steps(walk, loop->steps, loop->steps_count,
	                               loop->name ? &inner : inner.outer, frame, err);
	walk->arm = before;
	return end;
}

static enum walk_end walk_each(struct walk *walk, const struct step *step,
                               const struct scope *scope, const struct frame *outer,
                               struct err *err)
{
	enum walk_end end = WALK_GOES_ON;

	for (size_t i = 0; i < step->values.count && end == WALK_GOES_ON; i++) {
		CLEANUP(buf_finish) struct buf value;

		buf_init(&value, 0);
		if (!subst_expand(step->values.items[i], scope, &value, err))
			return err->kind == ERR_INPUT ? walk_end_at(walk, step, "%s", err->message)
			                              : WALK_FAILS;
		const struct frame frame = {.outer = outer,
		                            .verb = STEP_EACH,
		                            .name = step->name,
		                            .value = value.data};
		if (walk->only_arm && !strcmp(step->name, "arm") &&
		    strcmp(value.data, walk->only_arm->name) != 0)
			continue;
		end = once(walk, step, &frame, scope, err);
	}
	return end;
}

static enum walk_end walk_repeat(struct walk *walk, const struct step *step,
                                 const struct scope *scope, const struct frame *outer,
                                 struct err *err)
{
	int64_t count = repeat_count(step, scope);
	enum walk_end end = WALK_GOES_ON;

	if (!count)
		return walk_end_at(walk, step, "\"%s\" is no number of repetitions", step->count);
	for (int64_t rep = 1; rep <= count && end == WALK_GOES_ON; rep++) {
		char value[32];

		snprintf(value, sizeof(value), "%lld", (long long)rep);
		const struct frame frame = {.outer = outer,
		                            .verb = STEP_REPEAT,
		                            .name = step->name,
		                            .value = value,
		                            .rep = rep};
		end = once(walk, step, &frame, scope, err);
	}
	return end;
}

enum walk_end walk_steps(struct walk *walk, const struct step *steps, size_t count,
                         const struct scope *scope, const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;

	for (size_t i = 0; i < count && end == WALK_GOES_ON; i++) {
		const struct step *step = &steps[i];

		if (!interrupt_check(err))
			return WALK_FAILS;
		if (step->verb == STEP_EACH) {
			end = walk_each(walk, step, scope, frame, err);
		} else if (step->verb == STEP_REPEAT) {
			end = walk_repeat(walk, step, scope, frame, err);
		} else {
			walk_tell(walk, step);
			end = walk_actions[step->verb](walk, step, scope, frame, err);
			walk->steps_done++;
		}
	}
	return end;
}
