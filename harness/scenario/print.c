/* SPDX-License-Identifier: PostgreSQL */
/* A scenario back as YAML, keys in the documented order, includes in place. */
#include "scenario/scenario.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define DEADLINE_DEFAULT_NS (UINT64_C(300) * NS_PER_S)

struct printer {
	struct buf *out;
	int indent; /* columns */
};

static void start_line(struct printer *p)
{
	buf_printf(p->out, "%*s", p->indent, "");
}

/* A text that YAML reads as itself without quotes, also inside [] and {}. */
static bool is_plain(const char *text)
{
	size_t len = strlen(text);

	if (!len || text[len - 1] == ' ' || (!isalnum((unsigned char)*text) && *text != '_'))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(" _./()*+=-", *text))
			return false;
	return true;
}

/* Line breaks that only some YAML versions know, and the byte order mark. */
static size_t odd_break(const char *text, unsigned *ret)
{
	static const struct {
		const char *bytes;
		unsigned code;
	} odd[] = {{"\xc2\x85", 0x85},
	           {"\xe2\x80\xa8", 0x2028},
	           {"\xe2\x80\xa9", 0x2029},
	           {"\xef\xbb\xbf", 0xfeff}};

	for (size_t i = 0; i < COUNT_OF(odd); i++)
		if (!strncmp(text, odd[i].bytes, strlen(odd[i].bytes))) {
			*ret = odd[i].code;
			return strlen(odd[i].bytes);
		}
	return 0;
}

static void print_quoted(struct printer *p, const char *text)
{
	buf_add_char(p->out, '"');
	while (*text) {
		unsigned code;
		size_t len = odd_break(text, &code);

		if (len) {
			buf_printf(p->out, "\\u%04x", code);
			text += len;
			continue;
		}
		if (*text == '"' || *text == '\\')
			buf_printf(p->out, "\\%c", *text);
		else if (*text == '\n')
			buf_add(p->out, "\\n");
		else if ((unsigned char)*text < 0x20 || *text == 0x7f)
			buf_printf(p->out, "\\x%02x", (unsigned char)*text);
		else
			buf_add_char(p->out, *text);
		text++;
	}
	buf_add_char(p->out, '"');
}

/* A text of several lines that a | block gives back unchanged. */
static bool is_block(const char *text)
{
	size_t len = strlen(text);
	unsigned code;

	if (!strchr(text, '\n') || isspace((unsigned char)*text))
		return false;
	if (len > 1 && text[len - 1] == '\n' && text[len - 2] == '\n')
		return false;
	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 && *at != '\n')
			return false;
		if (*at == 0x7f || odd_break(at, &code))
			return false;
		/* Blank lines of spaces, and ends that a person does not see. */
		if (*at == ' ' && (at[1] == '\n' || !at[1]))
			return false;
	}
	return true;
}

/* The value of a key and the end of its line. */
static void print_value(struct printer *p, const char *text)
{
	if (is_plain(text)) {
		buf_printf(p->out, "%s\n", text);
		return;
	}
	if (!is_block(text)) {
		print_quoted(p, text);
		buf_add_char(p->out, '\n');
		return;
	}
	size_t len = strlen(text);
	buf_add(p->out, text[len - 1] == '\n' ? "|\n" : "|-\n");
	while (*text) {
		size_t line = strcspn(text, "\n");

		if (line)
			buf_printf(p->out, "%*s%.*s", p->indent + 2, "", (int)line, text);
		buf_add_char(p->out, '\n');
		text += line + (text[line] == '\n');
	}
}

static void print_pair(struct printer *p, const char *key, const char *text)
{
	start_line(p);
	buf_printf(p->out, "%s: ", key);
	print_value(p, text);
}

/* Left out when empty. */
static void print_some(struct printer *p, const char *key, const char *text)
{
	if (text && *text)
		print_pair(p, key, text);
}

static void print_short(struct printer *p, const char *text)
{
	if (is_plain(text))
		buf_add(p->out, text);
	else
		print_quoted(p, text);
}

static void print_list(struct printer *p, const char *key, const struct texts *texts)
{
	if (!texts->count)
		return;
	start_line(p);
	buf_printf(p->out, "%s: [", key);
	for (size_t i = 0; i < texts->count; i++) {
		if (i)
			buf_add(p->out, ", ");
		print_short(p, texts->items[i]);
	}
	buf_add(p->out, "]\n");
}

static void print_pairs(struct printer *p, const char *key, const struct pairs *pairs)
{
	if (!pairs->count)
		return;
	start_line(p);
	buf_printf(p->out, "%s:\n", key);
	p->indent += 2;
	for (size_t i = 0; i < pairs->count; i++)
		print_pair(p, pairs->items[i].name, pairs->items[i].text);
	p->indent -= 2;
}

static void print_cluster(struct printer *p, const struct cluster_need *need)
{
	start_line(p);
	buf_add(p->out, "cluster:\n");
	p->indent += 2;
	start_line(p);
	buf_printf(p->out, "version: %d\n", need->version);
	print_pairs(p, "settings", &need->settings);
	print_list(p, "extensions", &need->extensions);
	print_some(p, "dataset", need->dataset);
	print_list(p, "compat", &need->compat);
	print_pair(p, "mode", need->shared ? "shared" : "fresh");
	print_some(p, "blocks", need->blocks);
	p->indent -= 2;
}

static void print_params(struct printer *p, const struct scenario *scenario)
{
	if (!scenario->params_count)
		return;
	buf_add(p->out, "params:\n");
	for (size_t i = 0; i < scenario->params_count; i++) {
		const struct param *param = &scenario->params[i];
		bool same = true;

		for (int k = 1; k < PROFILE_COUNT; k++)
			same = same && !strcmp(param->value[k], param->value[0]);
		buf_printf(p->out, "  %s: ", param->name);
		if (same) {
			print_short(p, param->value[0]);
			buf_add_char(p->out, '\n');
			continue;
		}
		for (int k = 0; k < PROFILE_COUNT; k++) {
			buf_printf(p->out, "%s%s: ", k ? ", " : "{", profile_name((enum profile)k));
			print_short(p, param->value[k]);
		}
		buf_add(p->out, "}\n");
	}
}

static void print_arms(struct printer *p, const struct scenario *scenario)
{
	if (!scenario->arms_count)
		return;
	buf_add(p->out, "arms:\n");
	p->indent = 2;
	for (size_t i = 0; i < scenario->arms_count; i++)
		print_pairs(p, scenario->arms[i].name, &scenario->arms[i].texts);
	p->indent = 0;
}

static void print_steps(struct printer *p, const struct scenario *scenario,
                        const struct step *steps, size_t count);

static void print_expect(struct printer *p, const struct step_expect *expect)
{
	if (!expect->given)
		return;
	if (!expect->sqlstate && !expect->constraint && !expect->message) {
		print_pair(p, "expect", "error");
		return;
	}
	start_line(p);
	buf_add(p->out, "expect:\n");
	p->indent += 2;
	if (expect->sqlstate) {
		/* Quoted always: 23505 reads like a number. */
		start_line(p);
		buf_printf(p->out, "sqlstate: \"%s\"\n", expect->sqlstate);
	}
	print_some(p, "constraint", expect->constraint);
	print_some(p, "message", expect->message);
	p->indent -= 2;
}

static void print_each(struct printer *p, const struct scenario *scenario, const struct step *step)
{
	if (!strcmp(step->name, "arm")) {
		buf_add(p->out, "each: arm\n");
		if (step->values.count != scenario->arms_count)
			print_list(p, "only", &step->values);
		return;
	}
	buf_printf(p->out, "each: {%s: [", step->name);
	for (size_t i = 0; i < step->values.count; i++) {
		if (i)
			buf_add(p->out, ", ");
		print_short(p, step->values.items[i]);
	}
	buf_add(p->out, "]}\n");
}

/* The verb's own line; the "- " stands already. */
static void print_verb(struct printer *p, const struct scenario *scenario, const struct step *step)
{
	const char *key = step_verb_name(step->verb);

	switch (step->verb) {
	case STEP_SQL:
	case STEP_WAIT:
		buf_printf(p->out, "%s: ", key);
		print_value(p, step->sql);
		break;
	case STEP_CHECKPOINT:
		buf_add(p->out, "checkpoint: true\n");
		break;
	case STEP_SET:
		buf_add(p->out, "set:\n");
		p->indent += 2;
		for (size_t i = 0; i < step->settings.count; i++)
			print_pair(p, step->settings.items[i].name, step->settings.items[i].text);
		p->indent -= 2;
		break;
	case STEP_EACH:
		print_each(p, scenario, step);
		break;
	case STEP_REPEAT:
		buf_printf(p->out, "%s: ", key);
		print_value(p, step->count);
		break;
	default:
		buf_printf(p->out, "%s: ", key);
		print_value(p, step->name);
		break;
	}
}

static void print_mint(struct printer *p, const struct step_mint *mint)
{
	print_some(p, "generator", mint->generator);
	print_some(p, "rows", mint->rows);
	print_some(p, "into", mint->into);
	if (mint->column && strcmp(mint->column, "id"))
		print_pair(p, "column", mint->column);
	print_some(p, "number", mint->number);
	print_pairs(p, "options", &mint->options);
}

static void print_step(struct printer *p, const struct scenario *scenario, const struct step *step)
{
	bool loop = step->verb == STEP_EACH || step->verb == STEP_REPEAT;

	start_line(p);
	buf_add(p->out, "- ");
	p->indent += 2;
	print_verb(p, scenario, step);
	if (step->verb == STEP_REPEAT || step->verb == STEP_SQL)
		print_some(p, "as", step->name);
	if (step->verb == STEP_WORKERS)
		print_pairs(p, "with", &step->settings);
	print_some(p, "until", step->until);
	print_some(p, "send", step->send);
	print_some(p, "process", step->process);
	print_some(p, "of", step->of);
	print_list(p, "meters", &step->meters);
	print_mint(p, &step->mint);
	if (step->sql && step->verb != STEP_SQL && step->verb != STEP_WAIT)
		print_pair(p, "sql", step->sql);
	if (strcmp(step->session, "main"))
		print_pair(p, "session", step->session);
	if (step->background)
		print_pair(p, "background", "true");
	print_expect(p, &step->expect);
	if (step->allow_errors)
		print_pair(p, "allow", "errors");
	if (step->deadline_ns != DEADLINE_DEFAULT_NS) {
		start_line(p);
		buf_printf(p->out, "deadline: %.15gms\n",
		           (double)step->deadline_ns / (double)NS_PER_MS);
	}
	if (loop) {
		start_line(p);
		buf_add(p->out, "do:\n");
		p->indent += 2;
		print_steps(p, scenario, step->steps, step->steps_count);
		p->indent -= 2;
	}
	p->indent -= 2;
}

static void print_steps(struct printer *p, const struct scenario *scenario,
                        const struct step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_step(p, scenario, &steps[i]);
}

static void print_published(struct printer *p, const struct claim *claim)
{
	struct figure figure;

	if (!*claim->published)
		return;
	bool is_figure = figure_parse(claim->published, &figure);
	/* Bare when it reads back as the same: a number that it says, or words that are none. */
	if (claim->has_published_value
	            ? is_figure && figure.number * figure.factor == claim->published_value
	            : !is_figure) {
		print_pair(p, "published", claim->published);
		return;
	}
	start_line(p);
	buf_add(p->out, "published:\n");
	p->indent += 2;
	print_pair(p, "text", claim->published);
	if (claim->has_published_value) {
		start_line(p);
		buf_printf(p->out, "value: %.17g\n", claim->published_value);
	}
	p->indent -= 2;
}

static void print_profiles(struct printer *p, const struct claim *claim)
{
	const char *names[PROFILE_COUNT];
	struct texts texts = {.items = names};

	for (int i = 0; i < PROFILE_COUNT; i++)
		if (claim->profiles[i])
			names[texts.count++] = profile_name((enum profile)i);
	if (texts.count < PROFILE_COUNT)
		print_list(p, "profiles", &texts);
}

static void print_claim(struct printer *p, const struct claim *claim)
{
	buf_printf(p->out, "- id: %s\n", claim->id);
	p->indent = 2;
	print_pair(p, "says", claim->says);
	print_some(p, "source", claim->source);
	print_published(p, claim);
	if (!claim->proved)
		print_pair(p, "value", claim->value);
	print_some(p, "unit", claim->unit);
	print_pair(p, "type", metric_type_name(claim->type));
	print_pair(p, "holds", claim->holds);
	print_profiles(p, claim);
	print_some(p, "scope", claim->scope);
	if (claim->control)
		print_pair(p, "control", "true");
	if (*claim->because) {
		print_pair(p, "expect", claim->expect);
		print_pair(p, "because", claim->because);
	}
	p->indent = 0;
}

static void print_axis(struct printer *p, const char *key, const struct axis *axis)
{
	if (!*axis->unit && !axis->log) {
		print_pair(p, key, axis->label);
		return;
	}
	start_line(p);
	buf_printf(p->out, "%s:\n", key);
	p->indent += 2;
	print_pair(p, "label", axis->label);
	print_some(p, "unit", axis->unit);
	if (axis->log)
		print_pair(p, "scale", "log");
	p->indent -= 2;
}

static void print_chart(struct printer *p, const struct chart *chart)
{
	buf_printf(p->out, "- id: %s\n", chart->id);
	p->indent = 2;
	print_pair(p, "kind", chart->kind);
	print_pair(p, "title", chart->title);
	print_pair(p, "data", chart->data);
	print_axis(p, "x", &chart->x);
	print_axis(p, "y", &chart->y);
	print_list(p, "claims", &chart->claims);
	p->indent = 0;
}

void scenario_print(const struct scenario *scenario, struct buf *ret)
{
	struct printer printer = {.out = ret}, *p = &printer;

	print_pair(p, "scenario", scenario->name);
	print_pair(p, "document", scenario->document);
	print_pair(p, "title", scenario->title);
	print_some(p, "source", scenario->source);
	print_pair(p, "about", scenario->about);
	if (scenario->early)
		print_pair(p, "early", "true");
	print_cluster(p, &scenario->cluster);
	print_params(p, scenario);
	print_arms(p, scenario);
	buf_add(ret, "steps:\n");
	print_steps(p, scenario, scenario->steps, scenario->steps_count);
	buf_add(ret, "claims:\n");
	for (size_t i = 0; i < scenario->claims_count; i++)
		print_claim(p, &scenario->claims[i]);
	if (scenario->charts_count)
		buf_add(ret, "charts:\n");
	for (size_t i = 0; i < scenario->charts_count; i++)
		print_chart(p, &scenario->charts[i]);
	buf_add(ret, "limits:\n");
	for (size_t i = 0; i < scenario->limits.count; i++) {
		buf_add(ret, "- ");
		print_value(p, scenario->limits.items[i]);
	}
}
