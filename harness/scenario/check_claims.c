/* SPDX-License-Identifier: PostgreSQL */
/* The check of claims and charts. */
#include "scenario/check.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/predicate.h"

static struct place place_of(const struct claim *claim, const char *key)
{
	return node_place(claim->node, key);
}

/* ---- value ---- */

static void check_value(struct checker *checker, struct claim *claim)
{
	struct loader *loader = checker->loader;
	const struct node *value = node_find(claim->node, "value");

	if (claim->proved && value) {
		complain(&loader->complaints, value->place,
		         "the claim `%s` has a `value` and is proved by a step (prove, lab.prove) "
		         "too; remove one of them",
		         claim->id);
	} else if (claim->proved) {
		const char *sql = arena_printf(loader->arena,
		                               "select value from sample where step = '%s' and "
		                               "metric = 'value'",
		                               claim->id);

		claim->value = sql ? sql : "";
	} else if (!value) {
		complain(&loader->complaints, claim->place,
		         "the claim `%s` has no value; add value: select …, or a step prove: %s",
		         claim->id, *claim->id ? claim->id : "ID");
	} else {
		check_select(checker, value, "`value`");
	}
}

/* ---- units ---- */

static void check_unit(struct loader *loader, const struct claim *claim)
{
	static const char *const known[] = {"bytes",  "pages", "blocks",  "ratio", "percent",
	                                    "points", "rows",  "records", NULL};
	static const char *const scaled[] = {"kb", "mb", "gb", "tb", "kib", "mib", NULL};
	const struct place place = place_of(claim, "unit");

	for (const char *at = claim->unit; *at; at++)
		if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) &&
		    !strchr(" -/_", *at)) {
			for (size_t i = 0; scaled[i]; i++)
				if (!strcasecmp(scaled[i], claim->unit)) {
					complain(&loader->complaints, place,
					         "`unit` is \"%s\"; values are kept in bytes, so "
					         "write unit: bytes (the report scales them)",
					         claim->unit);
					return;
				}
			complain(&loader->complaints, place,
			         "`unit` is \"%s\"; write a word in lower case, as bytes, pages, "
			         "ratio, percent, points, ns, ms, ids",
			         claim->unit);
			return;
		}
	for (size_t i = 0; known[i]; i++) {
		size_t len = strlen(known[i]);

		if (strlen(claim->unit) + 1 == len && !strncmp(known[i], claim->unit, len - 1))
			complain(&loader->complaints, place, "`unit` is \"%s\"; write %s",
			         claim->unit, known[i]);
	}
}

/* The unit that numbers of a kind are kept in; NULL for plain ones, which fit any. */
static const char *unit_of_kind(enum quantity_kind kind)
{
	return kind == QUANTITY_SIZE ? "bytes" : kind == QUANTITY_DURATION ? "ms" : NULL;
}

static void check_kind(struct loader *loader, const struct claim *claim, const char *key,
                       const char *text, enum quantity_kind kind)
{
	const char *unit = unit_of_kind(kind);

	if (unit && strcmp(unit, claim->unit))
		complain(&loader->complaints, place_of(claim, key),
		         "`%s: %s` is compared in %s, but the claim's unit is \"%s\"; write unit: "
		         "%s, or "
		         "the number without a unit",
		         key, text, unit, claim->unit, unit);
}

/* ---- predicate and published figure ---- */

static void check_holds(struct loader *loader, const struct claim *claim)
{
	struct place place = place_of(claim, "holds");
	struct predicate predicate;
	struct figure figure;
	struct err err;

	if (!*claim->holds)
		return;
	if (!predicate_parse(claim->holds, &predicate, &err)) {
		complain(&loader->complaints, place, "`holds`: %s", err.message);
		return;
	}
	bool known = predicate_published(claim->published, claim->has_published_value,
	                                 claim->published_value, &figure);
	for (size_t i = 0; i < predicate.count; i++) {
		const struct predicate_term *term = &predicate.terms[i];

		check_kind(loader, claim, "holds", claim->holds, term->kind);
		if (term->op == PREDICATE_PRINTS && *claim->published &&
		    (!known || !figure_parse(claim->published, &figure)))
			complain(&loader->complaints, place,
			         "prints published needs a published figure, but \"%s\" is none; "
			         "write "
			         "published as 551 MB or 3.8, or use within",
			         claim->published);
		else if (term->op != PREDICATE_PRINTS && *claim->published && !known &&
		         (term->op == PREDICATE_WITHIN || term->op == PREDICATE_WITHIN_SHARE))
			complain(&loader->complaints, place,
			         "within needs a published number, but \"%s\" is none; write "
			         "published: {text: \"%s\", value: 4}",
			         claim->published, claim->published);
	}
	if (predicate.needs_published && !node_find(claim->node, "published"))
		complain(&loader->complaints, place,
		         "`holds` speaks of the published figure, but the claim has none; add "
		         "published: 551 MB or the like");
	if (predicate_range(&predicate, -INFINITY, INFINITY, known ? &figure : NULL) ==
	            PREDICATE_OUTSIDE &&
	    (!predicate.needs_published || known) && predicate.count > 1)
		complain(&loader->complaints, place,
		         "\"%s\" holds for no number at all; its terms exclude each other",
		         claim->holds);
}

/*
 * A published number is compared with the value, in a chart of ratios too. One
 * that its own predicate refuses counts something else: a limit, say, where the
 * value counts what is beyond it.
 */
static void check_same_quantity(struct loader *loader, const struct claim *claim)
{
	struct predicate predicate;
	struct figure figure;

	if (!claim->has_published_value || strcmp(claim->expect, "HOLDS") ||
	    !predicate_parse(claim->holds, &predicate, NULL) ||
	    !predicate_published(claim->published, true, claim->published_value, &figure) ||
	    predicate_range(&predicate, claim->published_value, claim->published_value, &figure) !=
	            PREDICATE_OUTSIDE)
		return;
	complain(&loader->complaints, place_of(claim, "published"),
	         "the published figure %.15g is no value for which \"%s\" holds; when it counts "
	         "something else than the value, write it as words: published: {text: \"%s\"}",
	         claim->published_value, claim->holds, claim->published);
}

static void check_published(struct loader *loader, const struct claim *claim)
{
	struct figure figure;
	struct quantity quantity;

	if (!figure_parse(claim->published, &figure))
		return;
	char with_unit[sizeof(figure.unit) + 1];
	snprintf(with_unit, sizeof(with_unit), "1%s", figure.unit);
	if (quantity_parse(with_unit, &quantity))
		check_kind(loader, claim, "published", claim->published, quantity.kind);
	const struct node *node = node_find(claim->node, "published");
	if (node && node->kind == NODE_MAPPING && claim->has_published_value &&
	    !figure_prints(&figure, claim->published_value))
		complain(&loader->complaints, node_place(node, "value"),
		         "the published value %.15g does not print as \"%s\"; correct one of them",
		         claim->published_value, claim->published);
}

/* ---- expectation and scope ---- */

static void check_expectation(struct loader *loader, const struct claim *claim)
{
	static const char *const verdicts[] = {"HOLDS", "REFUTED", "INCONCLUSIVE", "NOT_RUN", NULL};
	bool known = false;

	for (size_t i = 0; verdicts[i]; i++)
		known = known || !strcmp(verdicts[i], claim->expect);
	if (!known)
		complain(&loader->complaints, place_of(claim, "expect"),
		         "`expect` is \"%s\"; write one of %s", claim->expect,
		         list_words(loader->arena, verdicts));
	if (node_find(claim->node, "expect") && !node_find(claim->node, "because"))
		complain(&loader->complaints, place_of(claim, "expect"),
		         "`expect` without a reason; add because: why this verdict is expected");
	if (!node_find(claim->node, "expect") && node_find(claim->node, "because"))
		complain(&loader->complaints, place_of(claim, "because"),
		         "`because` without `expect`; add expect: the verdict, or remove it");
}

static void check_scope(struct loader *loader, const struct claim *claim)
{
	bool profiles = node_find(claim->node, "profiles"), all = true;

	for (int i = 0; i < PROFILE_COUNT; i++)
		all = all && claim->profiles[i];
	if (profiles && all)
		complain(&loader->complaints, place_of(claim, "profiles"),
		         "`profiles` names all of them, as when it is absent; remove it");
	else if (profiles && !*claim->scope)
		complain(&loader->complaints, place_of(claim, "profiles"),
		         "`profiles` without a reason; add scope: why it makes sense only there");
	if (!profiles && *claim->scope)
		complain(&loader->complaints, place_of(claim, "scope"),
		         "`scope` without `profiles`; add profiles: [chapter] or the like, or "
		         "remove "
		         "it");
}

void check_claims(struct checker *checker)
{
	struct loader *loader = checker->loader;
	struct scenario *scenario = loader->scenario;

	for (size_t i = 0; i < scenario->claims_count; i++) {
		struct claim *claim = &scenario->claims[i];

		if (claim->node->kind != NODE_MAPPING)
			continue;
		for (size_t k = 0; *claim->id && k < i && k < NODE_MAX_KEYS; k++)
			if (!strcmp(scenario->claims[k].id, claim->id)) {
				complain(&loader->complaints, place_of(claim, "id"),
				         "the claim `%s` stands twice, first at line %d; give this "
				         "one "
				         "another id",
				         claim->id, scenario->claims[k].place.line);
				break;
			}
		check_text(checker, node_find(claim->node, "says"));
		check_value(checker, claim);
		check_unit(loader, claim);
		check_holds(loader, claim);
		check_published(loader, claim);
		check_same_quantity(loader, claim);
		check_expectation(loader, claim);
		check_scope(loader, claim);
	}
}

/* ---- charts ---- */

static void check_title(struct checker *checker, const struct node *title)
{
	if (!title || title->kind != NODE_SCALAR)
		return;
	const char *text = title->scalar.text + strspn(title->scalar.text, " \t\r\n");
	if (!strncasecmp(text, "select ", 7) || !strncasecmp(text, "select\n", 7) ||
	    !strncasecmp(text, "with ", 5)) {
		check_select(checker, title, "`title`");
		return;
	}
	check_text(checker, title);
	size_t digit = strcspn(text, "0123456789");
	if (text[digit] && !strstr(text, "${"))
		complain(&checker->loader->complaints, title->place,
		         "`title` has a figure that no sample backs; compute it: title: select …");
}

static void check_chart(struct checker *checker, const struct chart *chart)
{
	static const char *const kinds[] = {"lines", "dots", "bars", "lanes", "table", NULL};
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;
	bool logs = !strcmp(chart->kind, "lines") || !strcmp(chart->kind, "dots");
	bool known = false;

	for (size_t i = 0; kinds[i]; i++)
		known = known || !strcmp(kinds[i], chart->kind);
	if (!known && *chart->kind)
		complain(&loader->complaints, node_place(chart->node, "kind"),
		         "`kind` is \"%s\"; write lines, dots, bars, lanes or table", chart->kind);
	for (int i = 0; i < 2; i++) {
		const struct node *axis = node_find(chart->node, i ? "y" : "x");

		check_plain(checker, axis, "an axis");
		check_plain(checker, node_find(axis, "label"), "an axis");
		check_plain(checker, node_find(axis, "unit"), "an axis");
		if ((i ? chart->y.log : chart->x.log) && known && !logs)
			complain(&loader->complaints, node_place(axis, "scale"),
			         "a chart of kind %s has no logarithmic axis; remove scale, or use "
			         "lines or dots",
			         chart->kind);
	}
	check_title(checker, node_find(chart->node, "title"));
	check_select(checker, node_find(chart->node, "data"), "`data`");
	for (size_t i = 0; i < chart->claims.count; i++) {
		bool found = false;

		for (size_t k = 0; k < scenario->claims_count; k++)
			found = found || !strcmp(scenario->claims[k].id, chart->claims.items[i]);
		if (!found)
			complain(&loader->complaints, node_place(chart->node, "claims"),
			         "the chart shows the claim `%s`, which there is not; name one of "
			         "`claims`",
			         chart->claims.items[i]);
	}
}

void check_charts(struct checker *checker)
{
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;

	for (size_t i = 0; i < scenario->charts_count; i++) {
		const struct chart *chart = &scenario->charts[i];

		if (chart->node->kind != NODE_MAPPING)
			continue;
		for (size_t k = 0; *chart->id && k < i && k < NODE_MAX_KEYS; k++)
			if (!strcmp(scenario->charts[k].id, chart->id)) {
				complain(&loader->complaints, node_place(chart->node, "id"),
				         "the chart `%s` stands twice; give this one another id",
				         chart->id);
				break;
			}
		check_chart(checker, chart);
	}
}
