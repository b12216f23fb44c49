/* SPDX-License-Identifier: PostgreSQL */
/* Nodes into the scenario's tree: everything but the steps. A table an object. */
#include "scenario/loader.h"

#include <stdio.h>
#include <string.h>

/* A reader of one text field: what the message calls it, and where it goes. */
#define TEXT_FIELD(function, type, member, what)                                                   \
	static void function(struct loader *loader, const struct node *value, void *object)        \
	{                                                                                          \
		text_read(loader, value, what, &((type *)object)->member);                         \
	}

/* An array of count elements; complains when node is no list or an empty one. */
static void *array_make(struct loader *loader, const struct node *node, const char *what,
                        size_t element_bytes)
{
	if (node->kind != NODE_SEQUENCE) {
		complain(&loader->complaints, node->place,
		         "`%s` must be a list, not %s; start each with \"- \"", what,
		         node_kind_text(node));
		return NULL;
	}
	if (!node->sequence.count) {
		complain(&loader->complaints, node->place, "`%s` is an empty list; %s", what,
		         strcmp(what, "charts") ? "write at least one" : "remove it");
		return NULL;
	}
	return arena_alloc(loader->arena, node->sequence.count * element_bytes);
}

/* ---- cluster ---- */

static void read_version(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;
	const char *text;
	int version = 0;

	if (!text_read(loader, value, "`version`", &text))
		return;
	size_t digits = strspn(text, "0123456789");
	for (size_t i = 0; i < digits && i < 4; i++)
		version = version * 10 + (text[i] - '0');
	if (text[digits] || version < 15 || version > 99)
		complain(&loader->complaints, value->place,
		         "`version` is \"%s\"; write the oldest PostgreSQL major version, 15 or "
		         "later",
		         text);
	else
		need->version = version;
}

static void read_settings(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;

	pairs_read(loader, value, "`settings`", &need->settings);
}

static void read_extensions(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;

	texts_read(loader, value, "`extensions`", &need->extensions);
}

static void read_dataset(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;

	name_read(loader, value, "`dataset`", &need->dataset);
}

static void read_compat(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;

	texts_read(loader, value, "`compat`", &need->compat);
}

static void read_mode(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;
	const char *text;

	if (!text_read(loader, value, "`mode`", &text))
		return;
	if (strcmp(text, "fresh") && strcmp(text, "shared"))
		complain(&loader->complaints, value->place,
		         "`mode` is \"%s\"; write fresh or shared", text);
	need->shared = !strcmp(text, "shared");
}

static void read_blocks(struct loader *loader, const struct node *value, void *object)
{
	struct cluster_need *need = object;

	name_read(loader, value, "`blocks`", &need->blocks);
}

static void read_cluster(struct loader *loader, const struct node *value, void *object)
{
	static const struct field fields[] = {
	        {"version", false, read_version, "version: 18"},
	        {"settings", false, read_settings, "settings: {shared_buffers: 128MB}"},
	        {"extensions", false, read_extensions, "extensions: [pgstattuple]"},
	        {"dataset", false, read_dataset, "dataset: book"},
	        {"compat", false, read_compat, "compat: [uuidv7]"},
	        {"mode", false, read_mode, "mode: fresh"},
	        {"blocks", false, read_blocks, "blocks: blocks"},
	};
	struct scenario *scenario = object;

	scenario->cluster.node = value;
	fields_read(loader, value, "`cluster`", fields, COUNT_OF(fields), &scenario->cluster);
}

/* ---- params ---- */

static void read_profile_values(struct loader *loader, const struct node *value,
                                struct param *param)
{
	for (size_t i = 0; i < value->mapping.count; i++) {
		const struct node_entry *entry = &value->mapping.entries[i];
		enum profile profile;

		if (!profile_parse(entry->key, &profile)) {
			complain(&loader->complaints, entry->place,
			         "\"%s\" is no profile; the profiles are quick, chapter, large",
			         entry->key);
			continue;
		}
		param->given[profile] =
		        text_read(loader, entry->value, "the value", &param->value[profile]);
	}
	/* A missing one takes its smaller neighbour's value, or else the smallest given. */
	const char *value_text = NULL;
	for (int i = 0; i < PROFILE_COUNT && !value_text; i++)
		value_text = param->value[i];
	for (int i = 0; i < PROFILE_COUNT; i++) {
		if (param->value[i])
			value_text = param->value[i];
		param->value[i] = value_text;
	}
}

static void read_params(struct loader *loader, const struct node *value, void *object)
{
	struct scenario *scenario = object;

	if (value->kind != NODE_MAPPING || !value->mapping.count) {
		loader->names_unsure = true;
		complain(&loader->complaints, value->place,
		         "`params` must be a map; write name: value, or remove it");
		return;
	}
	scenario->params =
	        arena_alloc(loader->arena, value->mapping.count * sizeof(*scenario->params));
	if (!scenario->params)
		return;
	for (size_t i = 0; i < value->mapping.count; i++) {
		const struct node_entry *entry = &value->mapping.entries[i];
		struct param param = {.name = entry->key,
		                      .place = entry->place,
		                      .node = entry->value};

		if (!identifier_is_good(entry->key)) {
			complain(&loader->complaints, entry->place,
			         "\"%s\" cannot name a parameter; use letters, digits and _",
			         entry->key);
			continue;
		}
		if (entry->value->kind == NODE_MAPPING) {
			read_profile_values(loader, entry->value, &param);
		} else {
			const char *text = NULL;

			char what[80];

			snprintf(what, sizeof(what), "`%.64s`", entry->key);
			text_read(loader, entry->value, what, &text);
			for (int p = 0; p < PROFILE_COUNT; p++)
				param.value[p] = text;
			param.given[0] = true;
		}
		if (!param.value[0] && entry->value->kind == NODE_MAPPING &&
		    !entry->value->mapping.count)
			complain(&loader->complaints, entry->value->place,
			         "the parameter `%s` has no value; write %s: 10k, or {quick: 10k, "
			         "chapter: 1M}",
			         entry->key, entry->key);
		/* Stays in the list, so that its uses are not called unknown as well. */
		for (int p = 0; p < PROFILE_COUNT; p++)
			if (!param.value[p])
				param.value[p] = "";
		scenario->params[scenario->params_count++] = param;
	}
}

/* ---- arms ---- */

static void read_arms(struct loader *loader, const struct node *value, void *object)
{
	struct scenario *scenario = object;

	if (value->kind != NODE_MAPPING || !value->mapping.count) {
		loader->names_unsure = true;
		complain(&loader->complaints, value->place,
		         "`arms` must be a map; write name: {label: …}, or remove it");
		return;
	}
	scenario->arms = arena_alloc(loader->arena, value->mapping.count * sizeof(*scenario->arms));
	if (!scenario->arms)
		return;
	for (size_t i = 0; i < value->mapping.count; i++) {
		const struct node_entry *entry = &value->mapping.entries[i];
		struct arm arm = {.name = entry->key, .place = entry->place, .node = entry->value};
		char what[128];

		snprintf(what, sizeof(what), "the arm `%.100s`", entry->key);
		if (!name_is_good(entry->key))
			complain(&loader->complaints, entry->place,
			         "\"%s\" cannot name an arm; use letters, digits, - and _",
			         entry->key);
		pairs_read(loader, entry->value, what, &arm.texts);
		const struct pair *label = pairs_find(&arm.texts, "label");
		arm.label = label ? label->text : arm.name;
		if (!label && arm.texts.count)
			complain(&loader->complaints, arm.place,
			         "%s has no `label`; add label: what the report calls it", what);
		scenario->arms[scenario->arms_count++] = arm;
	}
}

/* ---- claims ---- */

static void read_claim_id(struct loader *loader, const struct node *value, void *object)
{
	struct claim *claim = object;

	name_read(loader, value, "`id`", &claim->id);
}

TEXT_FIELD(read_claim_says, struct claim, says, "`says`")
TEXT_FIELD(read_claim_source, struct claim, source, "`source`")
TEXT_FIELD(read_claim_value, struct claim, value, "`value`")
TEXT_FIELD(read_claim_unit, struct claim, unit, "`unit`")
TEXT_FIELD(read_claim_holds, struct claim, holds, "`holds`")
TEXT_FIELD(read_claim_scope, struct claim, scope, "`scope`")
TEXT_FIELD(read_claim_expect, struct claim, expect, "`expect`")
TEXT_FIELD(read_claim_because, struct claim, because, "`because`")

struct published {
	const char *text, *value;
};
TEXT_FIELD(read_published_text, struct published, text, "`text`")
TEXT_FIELD(read_published_value, struct published, value, "`value`")

static void read_claim_published(struct loader *loader, const struct node *value, void *object)
{
	static const struct field fields[] = {
	        {"text", true, read_published_text, "text: nearly four times"},
	        {"value", false, read_published_value, "value: 4"},
	};
	struct claim *claim = object;
	struct published published = {.text = ""};
	struct figure figure;
	struct quantity quantity;

	if (value->kind != NODE_MAPPING) {
		if (!text_read(loader, value, "`published`", &claim->published))
			return;
		claim->has_published_value = figure_parse(claim->published, &figure);
		if (claim->has_published_value)
			claim->published_value = figure.number * figure.factor;
		return;
	}
	fields_read(loader, value, "`published`", fields, COUNT_OF(fields), &published);
	claim->published = published.text;
	if (!published.value)
		return;
	claim->has_published_value = quantity_parse(published.value, &quantity);
	if (claim->has_published_value)
		claim->published_value = quantity.value;
	else
		complain(&loader->complaints, node_place(value, "value"),
		         "the published value \"%s\" is no number; write it in the claim's unit, "
		         "as "
		         "4, 3.8 or 551MB",
		         published.value);
}

static void read_claim_type(struct loader *loader, const struct node *value, void *object)
{
	struct claim *claim = object;
	const char *text;

	if (!text_read(loader, value, "`type`", &text))
		return;
	for (int i = 0; i < METRIC_TYPE_COUNT; i++)
		if (!strcmp(text, metric_type_name((enum metric_type)i))) {
			claim->type = (enum metric_type)i;
			return;
		}
	complain(&loader->complaints, value->place,
	         "`type` is \"%s\"; write exact, counter, timing or event", text);
}

static void read_claim_profiles(struct loader *loader, const struct node *value, void *object)
{
	struct claim *claim = object;
	struct texts texts = {0};

	texts_read(loader, value, "`profiles`", &texts);
	memset(claim->profiles, 0, sizeof(claim->profiles));
	for (size_t i = 0; i < texts.count; i++) {
		enum profile profile;

		if (profile_parse(texts.items[i], &profile))
			claim->profiles[profile] = true;
		else
			complain(&loader->complaints, value->place,
			         "\"%s\" is no profile; the profiles are quick, chapter, large",
			         texts.items[i]);
	}
}

static void read_claim_control(struct loader *loader, const struct node *value, void *object)
{
	struct claim *claim = object;

	flag_read(loader, value, "`control`", &claim->control);
}

static void read_claims(struct loader *loader, const struct node *value, void *object)
{
	static const struct field fields[] = {
	        {"id", true, read_claim_id, "id: a-short-name"},
	        {"says", true, read_claim_says, "says: the sentence"},
	        {"source", false, read_claim_source, "source: where it stands"},
	        {"published", false, read_claim_published, "published: 551 MB"},
	        /* needed, but a prove step may give it: the check knows */
	        {"value", false, read_claim_value, "value: select …"},
	        {"unit", false, read_claim_unit, "unit: bytes"},
	        {"type", true, read_claim_type, "type: exact, counter, timing or event"},
	        {"holds", true, read_claim_holds, "holds: the predicate, as \"> 3\""},
	        {"profiles", false, read_claim_profiles, "profiles: [chapter]"},
	        {"scope", false, read_claim_scope, "scope: the reason"},
	        {"control", false, read_claim_control, "control: true"},
	        {"expect", false, read_claim_expect, "expect: REFUTED"},
	        {"because", false, read_claim_because, "because: the reason"},
	};
	struct scenario *scenario = object;

	scenario->claims = array_make(loader, value, "claims", sizeof(*scenario->claims));
	for (size_t i = 0; scenario->claims && i < value->sequence.count; i++) {
		const struct node *item = value->sequence.items[i];
		struct claim *claim = &scenario->claims[scenario->claims_count++];
		const struct node *id = node_find(item, "id");
		char what[128] = "the claim";

		*claim = (struct claim){.id = "",
		                        .place = item->place,
		                        .node = item,
		                        .says = "",
		                        .source = "",
		                        .published = "",
		                        .unit = "",
		                        .holds = "",
		                        .profiles = {true, true, true},
		                        .scope = "",
		                        .expect = "HOLDS",
		                        .because = ""};
		if (id && id->kind == NODE_SCALAR)
			snprintf(what, sizeof(what), "the claim `%.100s`", id->scalar.text);
		fields_read(loader, item, what, fields, COUNT_OF(fields), claim);
	}
}

/* ---- charts ---- */

static void read_chart_id(struct loader *loader, const struct node *value, void *object)
{
	struct chart *chart = object;

	name_read(loader, value, "`id`", &chart->id);
}

TEXT_FIELD(read_chart_kind, struct chart, kind, "`kind`")
TEXT_FIELD(read_chart_title, struct chart, title, "`title`")
TEXT_FIELD(read_chart_data, struct chart, data, "`data`")
TEXT_FIELD(read_axis_label, struct axis, label, "`label`")
TEXT_FIELD(read_axis_unit, struct axis, unit, "`unit`")

static void read_axis_scale(struct loader *loader, const struct node *value, void *object)
{
	struct axis *axis = object;
	const char *text;

	if (!text_read(loader, value, "`scale`", &text))
		return;
	if (strcmp(text, "log") && strcmp(text, "linear"))
		complain(&loader->complaints, value->place,
		         "`scale` is \"%s\"; write log or linear", text);
	axis->log = !strcmp(text, "log");
}

static void read_axis(struct loader *loader, const struct node *value, const char *what,
                      struct axis *axis)
{
	static const struct field fields[] = {
	        {"label", true, read_axis_label, "label: what it shows"},
	        {"unit", false, read_axis_unit, "unit: MB"},
	        {"scale", false, read_axis_scale, "scale: log"},
	};

	if (value->kind == NODE_MAPPING)
		fields_read(loader, value, what, fields, COUNT_OF(fields), axis);
	else
		text_read(loader, value, what, &axis->label);
}

static void read_chart_x(struct loader *loader, const struct node *value, void *object)
{
	read_axis(loader, value, "`x`", &((struct chart *)object)->x);
}

static void read_chart_y(struct loader *loader, const struct node *value, void *object)
{
	read_axis(loader, value, "`y`", &((struct chart *)object)->y);
}

static void read_chart_claims(struct loader *loader, const struct node *value, void *object)
{
	texts_read(loader, value, "`claims`", &((struct chart *)object)->claims);
}

static void read_charts(struct loader *loader, const struct node *value, void *object)
{
	static const struct field fields[] = {
	        {"id", true, read_chart_id, "id: a-short-name"},
	        {"kind", true, read_chart_kind, "kind: lines, dots, bars, lanes or table"},
	        {"title", true, read_chart_title, "title: select … (the finding as a sentence)"},
	        {"data", true, read_chart_data, "data: select series, x, y …"},
	        {"x", true, read_chart_x, "x: the axis label"},
	        {"y", true, read_chart_y, "y: {label: what it shows, unit: MB}"},
	        {"claims", false, read_chart_claims, "claims: [id]"},
	};
	struct scenario *scenario = object;

	scenario->charts = array_make(loader, value, "charts", sizeof(*scenario->charts));
	for (size_t i = 0; scenario->charts && i < value->sequence.count; i++) {
		const struct node *item = value->sequence.items[i];
		struct chart *chart = &scenario->charts[scenario->charts_count++];
		const struct node *id = node_find(item, "id");
		char what[128] = "the chart";

		*chart = (struct chart){.id = "",
		                        .place = item->place,
		                        .node = item,
		                        .kind = "",
		                        .title = "",
		                        .data = "",
		                        .x = {.label = "", .unit = ""},
		                        .y = {.label = "", .unit = ""}};
		if (id && id->kind == NODE_SCALAR)
			snprintf(what, sizeof(what), "the chart `%.100s`", id->scalar.text);
		fields_read(loader, item, what, fields, COUNT_OF(fields), chart);
	}
}

/* ---- the whole ---- */

static void read_name(struct loader *loader, const struct node *value, void *object)
{
	name_read(loader, value, "`scenario`", &((struct scenario *)object)->name);
}

static void read_document(struct loader *loader, const struct node *value, void *object)
{
	name_read(loader, value, "`document`", &((struct scenario *)object)->document);
}

TEXT_FIELD(read_title, struct scenario, title, "`title`")
TEXT_FIELD(read_source, struct scenario, source, "`source`")
TEXT_FIELD(read_about, struct scenario, about, "`about`")

static void read_early(struct loader *loader, const struct node *value, void *object)
{
	struct scenario *scenario = object;

	flag_read(loader, value, "`early`", &scenario->early);
}

static void read_steps(struct loader *loader, const struct node *value, void *object)
{
	struct scenario *scenario = object;

	parse_steps(loader, value, &loader->main_file, &scenario->steps, &scenario->steps_count);
}

static void read_limits(struct loader *loader, const struct node *value, void *object)
{
	struct scenario *scenario = object;

	if (value->kind == NODE_SEQUENCE && !value->sequence.count)
		complain(&loader->complaints, value->place,
		         "`limits` is empty; write at least one sentence on what the scenario does "
		         "not show");
	else
		texts_read(loader, value, "a sentence of `limits`", &scenario->limits);
}

void parse_scenario(struct loader *loader, const struct node *root)
{
	static const struct field fields[] = {
	        {"scenario", true, read_name, "scenario: the file's name without .yaml"},
	        {"document", true, read_document, "document: the folder's name"},
	        {"title", true, read_title, "title: one line"},
	        {"source", false, read_source, "source: where the claims stand"},
	        {"about", true, read_about, "about: why it exists and what it leaves out"},
	        {"early", false, read_early, "early: true"},
	        {"cluster", false, read_cluster, "cluster: {version: 18}"},
	        {"params", false, read_params, "params: {rows: 100k}"},
	        {"arms", false, read_arms, "arms: {bigint: {label: bigint}}"},
	        {"steps", true, read_steps, "steps: a list of steps"},
	        {"claims", true, read_claims, "claims: a list of claims"},
	        {"charts", false, read_charts, "charts: a list of charts"},
	        {"limits", true, read_limits,
	         "limits: a list of sentences on what the scenario does not show"},
	};
	struct scenario *scenario = loader->scenario;

	scenario->node = root;
	scenario->name = scenario->document = scenario->title = "";
	scenario->source = scenario->about = "";
	scenario->cluster.version = 15;
	fields_read(loader, root, "the scenario", fields, COUNT_OF(fields), scenario);
}
