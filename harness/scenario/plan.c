/* SPDX-License-Identifier: PostgreSQL */
/* Walking the steps as they would run, and printing that. */
#include "scenario/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

struct walker {
	const struct scenario *scenario;
	plan_visit *visit;
	void *context;
	struct arena arena; /* for what the walk makes up */
	struct err *err;
};

/* Where in the loops a list of steps stands. */
struct spot {
	size_t depth;
	uint64_t times;
	const char *arm;
	const struct scope *scope;
};

static bool walk_list(struct walker *walker, const struct step *steps, size_t count,
                      struct spot spot);

static bool tell(struct walker *walker, const struct step *step, enum plan_event event,
                 const struct spot *spot, const char *value)
{
	struct plan_step plan = {.step = step,
	                         .event = event,
	                         .depth = spot->depth,
	                         .times = spot->times,
	                         .arm = spot->arm,
	                         .value = value,
	                         .scope = spot->scope};

	return walker->visit(walker->context, &plan, walker->err);
}

static bool walk_body(struct walker *walker, const struct step *step, struct spot spot,
                      struct spot inner, const char *value)
{
	inner.depth = spot.depth + 1;
	return tell(walker, step, PLAN_BEGIN, &spot, value) &&
	       walk_list(walker, step->steps, step->steps_count, inner) &&
	       tell(walker, step, PLAN_END, &spot, value);
}

static bool walk_each(struct walker *walker, const struct step *step, struct spot spot)
{
	const struct scenario *scenario = walker->scenario;

	for (size_t i = 0; i < step->values.count; i++) {
		struct pair pair = {.name = step->name, .text = step->values.items[i]};
		struct pairs pairs = {.items = &pair, .count = 1};
		struct scope value = {.outer = spot.scope, .pairs = &pairs};
		struct scope texts = {.outer = &value};
		struct spot inner = spot;

		inner.scope = &value;
		for (size_t k = 0; !strcmp(step->name, "arm") && k < scenario->arms_count; k++)
			if (!strcmp(scenario->arms[k].name, pair.text)) {
				inner.arm = scenario->arms[k].name;
				texts.pairs = &scenario->arms[k].texts;
				inner.scope = &texts;
			}
		if (!walk_body(walker, step, spot, inner, pair.text))
			return false;
	}
	return true;
}

static bool walk_repeat(struct walker *walker, const struct step *step, struct spot spot)
{
	struct pair pair = {.name = step->name ? step->name : "", .text = "1"};
	struct pairs pairs = {.items = &pair, .count = 1};
	struct scope round = {.outer = spot.scope, .pairs = &pairs};
	struct spot inner = spot;
	enum quantity_kind kind;
	struct buf count;
	int64_t times = 0;

	buf_init(&count, 0);
	bool good = subst_expand(step->count, spot.scope, &count, walker->err) &&
	            quantity_parse_integer(count.data, &times, &kind, walker->err);
	if (good && times < 1)
		good = err_set(walker->err, ERR_INPUT,
		               "%s:%d: repeat is %" PRId64 "; it must be at least 1",
		               step->place.file, step->place.line, times);
	if (good && __builtin_mul_overflow(spot.times, (uint64_t)times, &inner.times))
		good = err_set(walker->err, ERR_INPUT, "%s:%d: more than 2^64 steps",
		               step->place.file, step->place.line);
	inner.scope = &round;
	good = good && walk_body(walker, step, spot, inner, count.data);
	buf_finish(&count);
	return good;
}

static bool walk_list(struct walker *walker, const struct step *steps, size_t count,
                      struct spot spot)
{
	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		bool good;

		if (step->verb == STEP_EACH)
			good = walk_each(walker, step, spot);
		else if (step->verb == STEP_REPEAT)
			good = walk_repeat(walker, step, spot);
		else
			good = tell(walker, step, PLAN_STEP, &spot, NULL);
		if (!good)
			return false;
		if (step->verb != STEP_LET)
			continue;
		/* The steps behind it may use its value, which is not known. */
		struct pair *pair = arena_alloc(&walker->arena, sizeof(*pair));
		struct pairs *pairs = arena_alloc(&walker->arena, sizeof(*pairs));
		struct scope *scope = arena_alloc(&walker->arena, sizeof(*scope));
		if (!pair || !pairs || !scope)
			return err_set(walker->err, ERR_SYSTEM, "out of memory");
		pair->name = step->name;
		pair->text = arena_printf(&walker->arena, "<%s>", step->name);
		*pairs = (struct pairs){.items = pair, .count = 1};
		*scope = (struct scope){.outer = spot.scope, .pairs = pairs};
		if (!pair->text)
			return err_set(walker->err, ERR_SYSTEM, "out of memory");
		spot.scope = scope;
	}
	return true;
}

bool plan_walk(const struct scenario *scenario, const struct pairs *params, plan_visit *visit,
               void *context, struct err *err)
{
	struct walker walker = {.scenario = scenario,
	                        .visit = visit,
	                        .context = context,
	                        .err = err};
	struct scope top = {.pairs = params};

	arena_init(&walker.arena, 0);
	bool good = walk_list(&walker, scenario->steps, scenario->steps_count,
	                      (struct spot){.times = 1, .arm = "", .scope = &top});
	arena_finish(&walker.arena);
	return good;
}

/* ---- printing ---- */

struct plan_printer {
	struct buf *out;
	size_t lines;
	uint64_t totals[STEP_VERB_COUNT];
};

/* The expanded text; what cannot be computed before the run stays as it is written. */
static bool expand(const char *text, const struct scope *scope, struct buf *ret, struct err *err)
{
	struct err ignored = {0};
	size_t len = ret->len;

	if (subst_expand(text, scope, ret, &ignored))
		return true;
	if (ignored.kind == ERR_SYSTEM)
		return err_set(err, ignored.kind, "%s", ignored.message);
	if (ret->len > len)
		ret->data[ret->len = len] = '\0';
	buf_add(ret, text);
	return true;
}

/* On one line, blanks run together. */
static void add_flat(struct buf *out, const char *text)
{
	bool blank = false;

	for (text += strspn(text, " \t\r\n"); *text; text++) {
		if (strchr(" \t\r\n", *text)) {
			blank = true;
			continue;
		}
		if (blank)
			buf_add_char(out, ' ');
		blank = false;
		buf_add_char(out, *text);
	}
}

static bool add_expanded(struct plan_printer *printer, const struct plan_step *plan,
                         const char *before, const char *text, struct err *err)
{
	struct buf expanded;

	if (!text)
		return true;
	buf_init(&expanded, 0);
	bool good = expand(text, plan->scope, &expanded, err);
	buf_add(printer->out, before);
	add_flat(printer->out, expanded.data);
	buf_finish(&expanded);
	return good;
}

static bool print_step(struct plan_printer *printer, const struct plan_step *plan, struct err *err)
{
	const struct step *step = plan->step;
	struct buf *out = printer->out;

	printer->totals[step->verb] += plan->times;
	buf_printf(out, "%4zu  %*s%s", ++printer->lines, (int)(2 * plan->depth), "",
	           step_verb_name(step->verb));
	if (!add_expanded(printer, plan, step->verb == STEP_SQL && step->name ? " as " : " ",
	                  step->name, err) ||
	    !add_expanded(printer, plan, " of ", step->of, err) ||
	    !add_expanded(printer, plan, " of ", step->mint.rows, err) ||
	    !add_expanded(printer, plan, " ", step->mint.generator, err) ||
	    !add_expanded(printer, plan, " into ", step->mint.into, err) ||
	    !add_expanded(printer, plan, " until ", step->until, err) ||
	    !add_expanded(printer, plan, " send ", step->send, err) ||
	    !add_expanded(printer, plan, " process ", step->process, err))
		return false;
	for (size_t i = 0; i < step->mint.options.count; i++) {
		buf_printf(out, "%s%s=", i ? ", " : " with ", step->mint.options.items[i].name);
		if (!add_expanded(printer, plan, "", step->mint.options.items[i].text, err))
			return false;
	}
	for (size_t i = 0; i < step->meters.count; i++)
		buf_printf(out, "%s%s", i ? "," : " by ", step->meters.items[i]);
	for (size_t i = 0; i < step->settings.count; i++) {
		buf_printf(out, "%s%s=", i ? ", " : " ", step->settings.items[i].name);
		if (!add_expanded(printer, plan, "", step->settings.items[i].text, err))
			return false;
	}
	if (strcmp(step->session, "main") &&
	    !add_expanded(printer, plan, " in session ", step->session, err))
		return false;
	if (step->background)
		buf_add(out, " in the background");
	if (step->expect.given)
		buf_printf(out, " must fail%s%s", step->expect.sqlstate ? " with " : "",
		           step->expect.sqlstate ? step->expect.sqlstate : "");
	if (step->sql && !add_expanded(printer, plan, ": ", step->sql, err))
		return false;
	buf_add_char(out, '\n');
	return true;
}

static bool print_visit(void *context, const struct plan_step *plan, struct err *err)
{
	struct plan_printer *printer = context;
	const struct step *step = plan->step;

	/* Loops in loops may list more than any text holds. */
	if (!buf_ok(printer->out, err))
		return err_within(err, "the plan is too long to be printed");
	if (plan->event == PLAN_STEP)
		return print_step(printer, plan, err);
	if (plan->event == PLAN_END)
		return true;
	buf_printf(printer->out, "      %*s", (int)(2 * plan->depth), "");
	if (step->verb == STEP_REPEAT)
		buf_printf(printer->out, "%s times%s%s (the first is shown):\n", plan->value,
		           step->name ? ", counted by " : "", step->name ? step->name : "");
	else
		buf_printf(printer->out, "%s %s:\n", step->name, plan->value);
	return true;
}

bool plan_print(const struct scenario *scenario, const struct pairs *params, enum profile profile,
                struct buf *ret, struct err *err)
{
	struct plan_printer printer = {.out = ret};
	uint64_t all = 0;

	buf_printf(ret, "%s/%s at the profile %s", scenario->document, scenario->name,
	           profile_name(profile));
	for (size_t i = 0; i < params->count; i++)
		buf_printf(ret, "%s%s = %s", i ? ", " : ": ", params->items[i].name,
		           params->items[i].text);
	buf_printf(ret, "\ncluster: PostgreSQL %d or later, %s", scenario->cluster.version,
	           scenario->cluster.shared ? "shared" : "fresh");
	for (size_t i = 0; i < scenario->cluster.extensions.count; i++)
		buf_printf(ret, "%s%s", i ? ", " : ", extensions ",
		           scenario->cluster.extensions.items[i]);
	if (scenario->cluster.dataset)
		buf_printf(ret, ", dataset %s", scenario->cluster.dataset);
	for (size_t i = 0; i < scenario->cluster.compat.count; i++)
		buf_printf(ret, "%s%s", i ? ", " : ", compat ", scenario->cluster.compat.items[i]);
	for (size_t i = 0; i < scenario->cluster.settings.count; i++)
		buf_printf(ret, ", %s = %s", scenario->cluster.settings.items[i].name,
		           scenario->cluster.settings.items[i].text);
	buf_add(ret, "\n\n");
	if (!plan_walk(scenario, params, print_visit, &printer, err))
		return false;
	for (int i = 0; i < STEP_VERB_COUNT; i++)
		all += printer.totals[i];
	buf_printf(ret, "\n%" PRIu64 " steps in all:", all);
	for (int i = 0, n = 0; i < STEP_VERB_COUNT; i++)
		if (printer.totals[i])
			buf_printf(ret, "%s %" PRIu64 " %s", n++ ? "," : "", printer.totals[i],
			           step_verb_name((enum step_verb)i));
	buf_printf(ret, "; then %zu claim%s, %zu chart%s\n", scenario->claims_count,
	           scenario->claims_count == 1 ? "" : "s", scenario->charts_count,
	           scenario->charts_count == 1 ? "" : "s");
	return buf_ok(ret, err);
}

static bool json_text(struct plan_printer *printer, const struct plan_step *plan, const char *key,
                      const char *text, struct err *err)
{
	struct buf expanded;

	if (!text)
		return true;
	buf_init(&expanded, 0);
	bool good = expand(text, plan->scope, &expanded, err);
	buf_printf(printer->out, ",\"%s\":", key);
	buf_add_json(printer->out, expanded.data);
	buf_finish(&expanded);
	return good;
}

static bool json_visit(void *context, const struct plan_step *plan, struct err *err)
{
	struct plan_printer *printer = context;
	const struct step *step = plan->step;
	struct buf *out = printer->out;

	if (!buf_ok(out, err))
		return err_within(err, "the plan is too long to be printed");
	if (plan->event != PLAN_STEP)
		return true;
	printer->totals[step->verb] += plan->times;
	buf_printf(out,
	           "%s\n{\"verb\":\"%s\",\"times\":%" PRIu64 ",\"depth\":%zu,\"line\":%d,\"file\":",
	           printer->lines++ ? "," : "", step_verb_name(step->verb), plan->times,
	           plan->depth, step->place.line);
	buf_add_json(out, step->place.file);
	if (*plan->arm)
		buf_printf(out, ",\"arm\":\"%s\"", plan->arm);
	if (!json_text(printer, plan, "name", step->name, err) ||
	    !json_text(printer, plan, "session", step->session, err) ||
	    !json_text(printer, plan, "of", step->of, err) ||
	    !json_text(printer, plan, "generator", step->mint.generator, err) ||
	    !json_text(printer, plan, "rows", step->mint.rows, err) ||
	    !json_text(printer, plan, "into", step->mint.into, err) ||
	    !json_text(printer, plan, "sql", step->sql, err))
		return false;
	if (step->meters.count)
		buf_add(out, ",\"meters\":[");
	for (size_t i = 0; i < step->meters.count; i++) {
		buf_add(out, i ? "," : "");
		buf_add_json(out, step->meters.items[i]);
	}
	buf_add(out, step->meters.count ? "]" : "");
	buf_printf(out, "%s}", step->background ? ",\"background\":true" : "");
	return true;
}

bool plan_print_json(const struct scenario *scenario, const struct pairs *params,
                     enum profile profile, struct buf *ret, struct err *err)
{
	struct plan_printer printer = {.out = ret};

	buf_printf(ret, "{\"scenario\":\"%s\",\"document\":\"%s\",\"profile\":\"%s\",\"params\":{",
	           scenario->name, scenario->document, profile_name(profile));
	for (size_t i = 0; i < params->count; i++) {
		buf_printf(ret, "%s\"%s\":", i ? "," : "", params->items[i].name);
		buf_add_json(ret, params->items[i].text);
	}
	buf_add(ret, "},\"steps\":[");
	if (!plan_walk(scenario, params, json_visit, &printer, err))
		return false;
	buf_add(ret, "],\"totals\":{");
	for (int i = 0, n = 0; i < STEP_VERB_COUNT; i++)
		if (printer.totals[i])
			buf_printf(ret, "%s\"%s\":%" PRIu64, n++ ? "," : "",
			           step_verb_name((enum step_verb)i), printer.totals[i]);
	buf_add(ret, "}}\n");
	return buf_ok(ret, err);
}
