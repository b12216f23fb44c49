/* SPDX-License-Identifier: PostgreSQL */
/* Parameters: kinds, profiles, overrides. */
#include "scenario/params.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "scenario/complain.h"

const char *param_kind_name(enum param_kind kind)
{
	static const char *const names[] = {"count", "size", "duration", "text"};

	return names[kind];
}

/* A number with a unit in the wrong case or of another name: `10mb`, `5K`, `5m`. */
static bool check_unit(const char *written, const char *unit, struct err *err)
{
	static const char *const units[] = {"k",  "M",  "G", "B",   "kB", "MB", "GB",
	                                    "TB", "ms", "s", "min", "h",  "d",  NULL};

	while (*unit == ' ')
		unit++;
	if (!strcmp(unit, "m"))
		return err_set(err, ERR_INPUT,
		               "\"%s\" has no unit that is known; M is a million, min are minutes",
		               written);
	for (size_t i = 0; units[i]; i++)
		if (!strcasecmp(units[i], unit))
			return err_set(err, ERR_INPUT,
			               "\"%s\" has no unit that is known; write `%s`", written,
			               units[i]);
	return true;
}

bool param_read(const char *written, struct arena *arena, enum param_kind *ret_kind,
                const char **ret_text, struct err *err)
{
	struct quantity quantity;
	enum quantity_kind kind;
	int64_t whole;
	char *end;

	if (!quantity_parse(written, &quantity)) {
		double number = strtod(written, &end);

		if (isdigit((unsigned char)*written) && !*end)
			return err_set(err, ERR_INPUT,
			               !isfinite(number)
			                       ? "\"%s\" is too large; numbers end below 2^53"
			                       : "\"%s\" is no decimal number; write 5000, 200k, "
			                         "1M",
			               written);
		if (isdigit((unsigned char)*written) && !check_unit(written, end, err))
			return false;
		*ret_kind = PARAM_TEXT;
		*ret_text = written;
		return true;
	}
	size_t plain = strspn(written, "-+0123456789.");
	if (!written[plain] && (quantity.value < 0 || quantity.value != floor(quantity.value))) {
		/* -1 and 0.99 are texts for SQL: counts have no sign and no fraction. */
		*ret_kind = PARAM_TEXT;
		*ret_text = written;
		return true;
	}
	if (!quantity_parse_integer(written, &whole, &kind, err))
		return false;
	*ret_kind = (enum param_kind)kind;
	*ret_text = kind == QUANTITY_COUNT ? arena_printf(arena, "%" PRId64, whole) : written;
	return *ret_text ? true : err_set(err, ERR_SYSTEM, "out of memory");
}

static const struct param *param_find(const struct scenario *scenario, const char *name, size_t len)
{
	for (size_t i = 0; i < scenario->params_count; i++)
		if (strlen(scenario->params[i].name) == len &&
		    !memcmp(scenario->params[i].name, name, len))
			return &scenario->params[i];
	return NULL;
}

static bool unknown_param(const struct scenario *scenario, const char *override,
                          struct arena *arena, struct err *err)
{
	const char **names = arena_alloc(arena, (scenario->params_count + 1) * sizeof(*names));

	if (!names)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; i < scenario->params_count; i++)
		names[i] = scenario->params[i].name;
	if (!scenario->params_count)
		return err_set(err, ERR_INPUT, "--set %s: %s has no parameters", override,
		               scenario->name);
	return err_set(err, ERR_INPUT, "--set %s: %s has no such parameter; its parameters are %s",
	               override, scenario->name, list_words(arena, names));
}

static bool apply_override(const struct scenario *scenario, const char *override,
                           struct arena *arena, struct pairs *params, struct err *err)
{
	const char *equals = strchr(override, '=');
	enum param_kind kind, kind_before;
	const char *text, *text_before;

	if (!equals || equals == override || !equals[1])
		return err_set(err, ERR_INPUT, "--set %s: write --set name=value", override);
	const struct param *param = param_find(scenario, override, (size_t)(equals - override));
	if (!param)
		return unknown_param(scenario, override, arena, err);
	if (!param_read(equals + 1, arena, &kind, &text, err) ||
	    !param_read(param->value[0], arena, &kind_before, &text_before, err))
		return err_within(err, "--set %s", override);
	if (kind != kind_before && kind_before != PARAM_TEXT)
		return err_set(err, ERR_INPUT, "--set %s: `%s` is a %s, not a %s; write it like %s",
		               override, param->name, param_kind_name(kind_before),
		               param_kind_name(kind), param->value[0]);
	/* A text parameter may be set to what reads like a number; it stays as written. */
	if (kind_before == PARAM_TEXT)
		text = equals + 1;
	if (strstr(text, "${"))
		return err_set(err, ERR_INPUT, "--set %s: values are not expanded; remove the ${",
		               override);
	const char *copy = arena_strdup(arena, text);
	if (!copy)
		return err_set(err, ERR_SYSTEM, "out of memory");
	params->items[param - scenario->params].text = copy;
	return true;
}

bool scenario_params(const struct scenario *scenario, enum profile profile,
                     const char *const *overrides, size_t overrides_count, struct arena *arena,
                     struct pairs *ret, struct err *err)
{
	struct pairs params = {.count = scenario->params_count};

	params.items = arena_alloc(arena, (params.count + 1) * sizeof(*params.items));
	if (!params.items)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; i < params.count; i++) {
		const struct param *param = &scenario->params[i];
		enum param_kind kind;

		params.items[i].name = param->name;
		params.items[i].place = param->place;
		if (!param_read(param->value[profile], arena, &kind, &params.items[i].text, err))
			return err_within(err, "parameter %s", param->name);
	}
	for (size_t i = 0; i < overrides_count; i++)
		if (!apply_override(scenario, overrides[i], arena, &params, err))
			return false;
	*ret = params;
	return true;
}
