/* SPDX-License-Identifier: PostgreSQL */
/*
 * The ${…} of any text, over any value: it is replaced or refused with a reason; what the check of
 * a scenario lets through can only fail at its numbers; a quoted value stays one SQL literal.
 *
 * The first line of the input is the value of the name `a`, the rest is the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"
#include "scenario/subst.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_subst: %s\n", what);
	abort();
}

/* The bytes with a NUL behind them, in memory of just that size. */
static char *copy(const uint8_t *bytes, size_t len)
{
	char *text = malloc(len + 1);

	if (!text)
		abort();
	if (len)
		memcpy(text, bytes, len);
	text[len] = '\0';
	return text;
}

static const char *find_dry(void *context, const char *name, bool arithmetic)
{
	(void)context;
	if (strcmp(name, "a") != 0 && strcmp(name, "n") != 0)
		return NULL;
	return arithmetic ? "7" : "text";
}

/* '…' in which each quote is doubled: PostgreSQL with standard_conforming_strings reads one
 * literal. */
static void check_literal(const struct scope *scope)
{
	struct buf out;
	struct err err;

	buf_init(&out, 0);
	if (subst_expand("${quote a}", scope, &out, &err)) {
		must(out.len >= 2 && out.data[0] == '\'' && out.data[out.len - 1] == '\'',
		     "a literal without its quotes");
		for (size_t i = 1; i + 1 < out.len; i++)
			if (out.data[i] == '\'')
				must(++i + 1 < out.len && out.data[i] == '\'',
				     "a literal ends inside");
	}
	buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = memchr(data, '\n', size);
	size_t value_len = line ? (size_t)(line - data) : 0;
	size_t text_at = line ? value_len + 1 : 0;
	char *value = copy(data, value_len);
	char *text = copy(data + text_at, size - text_at);
	struct pair items[] = {{.name = "a", .text = value}, {.name = "n", .text = "12"}};
	const struct pairs pairs = {.items = items, .count = COUNT_OF(items)};
	const struct scope scope = {.pairs = &pairs};
	const struct subst_names dry = {.find = find_dry, .dry = true};
	struct subst_fault fault = {0};
	struct buf first, second;
	struct err err = {0};

	buf_init(&first, 1 << 22);
	buf_init(&second, 1 << 22);
	bool looked = subst_walk(text, &dry, NULL, &fault, &err);
	must(looked || (err.message[0] && fault.offset + fault.len <= strlen(text)),
	     "a fault without a reason, or outside the text");
	err = (struct err){0};
	bool expanded = subst_expand(text, &scope, &first, &err);
	must(expanded || err.message[0], "a refusal without a reason");
	must(looked || !expanded, "the check refuses what can be expanded");
	must(!expanded || (subst_expand(text, &scope, &second, &err) &&
	                   !strcmp(first.data, second.data)),
	     "twice, and not the same");
	must(subst_is_needed(text) || !expanded || !strcmp(first.data, text),
	     "nothing to be replaced, and yet another text");
	check_literal(&scope);
	buf_finish(&first);
	buf_finish(&second);
	free(value);
	free(text);
	return 0;
}
