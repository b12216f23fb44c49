/* SPDX-License-Identifier: PostgreSQL */
/* Numbers, ranges and sentences as a reader sees them. */
#include "report/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind a formatted number; NULL for units that unit_format writes itself or none. */
static const char *unit_suffix(const char *unit)
{
	static const char *const written[] = {"",      "bytes",   "ns",   "ratio",
	                                      "count", "boolean", "list", "text"};

	for (size_t i = 0; i < COUNT_OF(written); i++)
		if (!strcmp(unit, written[i]))
			return NULL;
	return !strcmp(unit, "percent") ? "%" : unit;
}

static void add_suffix(struct buf *text, const char *suffix, bool one)
{
	size_t len = suffix ? strlen(suffix) : 0;

	if (!len)
		return;
	/* "1 rows" reads badly; the units of counts are plurals. */
	if (one && len > 2 && suffix[len - 1] == 's')
		len--;
	buf_add_char(text, ' ');
	buf_add_len(text, suffix, len);
}

void words_number(struct buf *text, double number, const char *unit)
{
	char formatted[64];

	buf_add(text, unit_format(number, unit, formatted, sizeof(formatted)));
	add_suffix(text, unit_suffix(unit), number == 1);
}

bool words_unit_named(const char *label, const char *unit)
{
	size_t len = strlen(unit);

	for (const char *at = label; len && (at = strstr(at, unit)); at++)
		if ((at == label || at[-1] == ' ') && (!at[len] || strchr(" ,;", at[len])))
			return true;
	return !len;
}

void words_decimals(struct buf *text, double number, int decimals)
{
	char plain[64];

	snprintf(plain, sizeof(plain), "%.*f", decimals, number);
	size_t whole = strcspn(plain, "."), first = plain[0] == '-';
	for (size_t i = 0; plain[i]; i++) {
		if (i > first && i < whole && (whole - i) % 3 == 0)
			buf_add_char(text, ',');
		buf_add_char(text, plain[i]);
	}
}

int words_decimals_needed(double number)
{
	/* Four digits say enough; a whole number needs no point. */
	int most = fabs(number) >= 1000 ? 0 : fabs(number) >= 100 ? 1 : fabs(number) >= 10 ? 2 : 3;
	int decimals = 0;

	if (!isfinite(number))
		return 0;
	while (decimals < most &&
	       fabs(number - round(number * pow(10, decimals)) / pow(10, decimals)) > 1e-9)
		decimals++;
	return decimals;
}

void words_exact(struct buf *text, double number, const char *unit)
{
	char digits[64];

	if (number == floor(number) && fabs(number) < 1e15) {
		/* Grouped by unit_format's rule for plain counts. */
		buf_add(text, unit_format(number, "", digits, sizeof(digits)));
	} else if (fabs(number) >= 1e3 && fabs(number) < 1e15) {
		words_decimals(text, number, 2);
	} else {
		snprintf(digits, sizeof(digits), "%.10g", number);
		buf_add(text, digits);
	}
	if (!strcmp(unit, "bytes") || !strcmp(unit, "ns"))
		add_suffix(text, unit, false);
	else
		add_suffix(text, unit_suffix(unit), number == 1);
}

void words_value(struct buf *text, const struct value *value, const char *unit)
{
	switch (value->kind) {
	case VALUE_NONE:
		buf_add(text, "–");
		break;
	case VALUE_NUMBER:
		words_number(text, value->number, unit);
		break;
	case VALUE_TEXT:
		buf_add(text, *value->text ? value->text : "(empty)");
		break;
	}
}

void words_range(struct buf *text, const struct claim *claim)
{
	if (claim->low.kind != VALUE_NUMBER || claim->high.kind != VALUE_NUMBER ||
	    claim->low.number == claim->high.number)
		return;
	words_number(text, claim->low.number, claim->unit);
	buf_add(text, " to ");
	words_number(text, claim->high.number, claim->unit);
}

void words_published(struct buf *text, const struct claim *claim)
{
	struct figure figure;

	buf_add(text, *claim->published ? claim->published : "–");
	/* Words keep to themselves, digits or not. */
	if (claim->published_value.kind == VALUE_NUMBER &&
	    figure_parse(claim->published, &figure) && !*figure.unit &&
	    strcmp(claim->unit, "bytes") != 0 && strcmp(claim->unit, "ns") != 0)
		add_suffix(text, unit_suffix(claim->unit), figure.number == 1);
}

void words_predicate(struct buf *text, const struct claim *claim)
{
	if (claim->parsed)
		predicate_words(&claim->predicate_terms, claim->unit, text);
	else
		buf_add(text, claim->predicate);
}

void words_distance(struct buf *text, const struct claim *claim)
{
	double distance;

	if (!claim->parsed || claim->value.kind != VALUE_NUMBER ||
	    (claim->predicate_terms.needs_published && !claim->has_figure) ||
	    !predicate_distance(&claim->predicate_terms, claim->value.number,
	                        claim->has_figure ? &claim->figure : NULL, &distance))
		return;
	if (distance == 0)
		return; /* equal to the one value that holds, or on the bound */
	words_number(text, fabs(distance), claim->unit);
	buf_add(text, distance < 0 ? " outside the bound" : " inside the bound");
}

void words_plural(struct buf *text, size_t n, const char *one, const char *many)
{
	buf_printf(text, "%zu %s", n, n == 1 ? one : many);
}

void words_counts(struct buf *text, const struct run_row *run)
{
	if (run->in_scope == 0) {
		buf_add(text, "No claim was checked");
		return;
	}
	buf_printf(text, "%zu of ", run->counted[VERDICT_HOLDS]);
	words_plural(text, run->in_scope, "claim", "claims");
	buf_printf(text, " %s",
	           report_verdict_clause(VERDICT_HOLDS, run->counted[VERDICT_HOLDS] != 1));
	for (size_t i = 0; i < VERDICT_KIND_COUNT; i++) {
		enum verdict_kind verdict = report_verdict_order[i];

		if (verdict != VERDICT_HOLDS && run->counted[verdict])
			buf_printf(text, ", %zu %s", run->counted[verdict],
			           report_verdict_clause(verdict, run->counted[verdict] != 1));
	}
}

/* 180004 is 18.4 (PostgreSQL documentation, PQserverVersion). */
void words_servers(struct buf *text, const struct run_row *run)
{
	int64_t before = -1;

	if (run->clusters_count == 0)
		buf_add(text, "no server");
	for (size_t i = 0; i < run->clusters_count; i++) {
		int64_t version = run->clusters[i].version_num;

		if (version == before)
			continue;
		buf_printf(text, "%s%lld.%lld", before < 0 ? "PostgreSQL " : " and ",
		           (long long)(version / 10000), (long long)(version % 10000));
		before = version;
	}
}

void words_time(struct buf *text, const char *stored)
{
	static const char *const months[] = {"January",   "February", "March",    "April",
	                                     "May",       "June",     "July",     "August",
	                                     "September", "October",  "November", "December"};
	int year, month, day, hour, minute;

	if (sscanf(stored, "%d-%d-%d %d:%d", &year, &month, &day, &hour, &minute) == 5 &&
	    month >= 1 && month <= 12)
		buf_printf(text, "%d %s %d, %02d:%02d UTC", day, months[month - 1], year, hour,
		           minute);
	else
		buf_add(text, *stored ? stored : "not finished");
}

static void add_shell_word(struct buf *text, const char *word)
{
	bool plain = *word != '\0';

	for (const char *at = word; *at; at++)
		plain = plain && (isalnum((unsigned char)*at) || strchr("-_./=+:,", *at));
	if (plain) {
		buf_add(text, word);
		return;
	}
	buf_add_char(text, '\'');
	for (const char *at = word; *at; at++) {
		if (*at == '\'')
			buf_add(text, "'\\''");
		else
			buf_add_char(text, *at);
	}
	buf_add_char(text, '\'');
}

void words_rerun(struct buf *text, const struct run_row *run, const struct scenario_row *scenario)
{
	buf_add(text, "./run.sh run --profile ");
	add_shell_word(text, run->profile);
	buf_add(text, " --seed ");
	add_shell_word(text, run->seed);
	for (size_t i = 0; i < scenario->params.count; i++) {
		const struct named *param = &scenario->params.items[i];

		if (strcmp(param->extra, "set") != 0)
			continue;
		struct buf pair;
		buf_init(&pair, 0);
		buf_printf(&pair, "%s=%s", param->name, param->value);
		buf_add(text, " --set ");
		add_shell_word(text, pair.data);
		buf_finish(&pair);
	}
	buf_add_char(text, ' ');
	add_shell_word(text, scenario->name);
}

void words_reproduce(struct buf *text, const struct run_row *run)
{
	if (*run->commit)
		buf_printf(text, "git checkout %s\n", run->commit);
	for (size_t i = 0; i < run->scenarios_count; i++) {
		words_rerun(text, run, &run->scenarios[i]);
		buf_add_char(text, '\n');
	}
	buf_add(text, "./run.sh verify results/keylab.db\n./run.sh report\n");
}

const char *words_arm(const struct scenario_row *scenario, const char *arm)
{
	const char *label = named_find(&scenario->arms, arm);

	return *label ? label : arm;
}

void words_redacted(struct buf *out, const char *text)
{
	static const char *const homes[] = {"/home/", "/Users/", "/root"};

	while (*text) {
		size_t skip = 0;

		for (size_t i = 0; i < COUNT_OF(homes) && !skip; i++) {
			size_t len = strlen(homes[i]);

			if (strncmp(text, homes[i], len) != 0)
				continue;
			if (homes[i][len - 1] == '/')
				len += strcspn(text + len, "/\"' \t\n,:;)");
			else if (isalnum((unsigned char)text[len]))
				continue;
			skip = len;
		}
		if (skip)
			buf_add_char(out, '~');
		else
			buf_add_char(out, *text);
		text += skip ? skip : 1;
	}
}
