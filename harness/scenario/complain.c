/* SPDX-License-Identifier: PostgreSQL */
/* Gathering, sorting and printing the mistakes of a scenario; spelling help. */
#include "scenario/complain.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void complaints_init(struct complaints *complaints, struct arena *arena)
{
	*complaints = (struct complaints){.arena = arena};
}

static bool is_known(const struct complaints *complaints, struct place place, const char *text)
{
	for (size_t i = 0; i < complaints->count; i++) {
		const struct complaint *item = &complaints->items[i];

		if (item->place.line == place.line && item->place.column == place.column &&
		    !strcmp(item->place.file, place.file) && !strcmp(item->text, text))
			return true;
	}
	return false;
}

void complain(struct complaints *complaints, struct place place, const char *format, ...)
{
	struct buf text;
	va_list args;

	if (complaints->count >= COMPLAINTS_MAX) {
		complaints->dropped++;
		return;
	}
	buf_init(&text, 0);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (text.failed)
		complaints->arena->failed = true;
	/* One mistake is one line, whatever the text it quotes holds. */
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			text.data[i] = ' ';
	if (!place.file)
		place.file = "";
	if (!is_known(complaints, place, text.data)) {
		if (complaints->count == complaints->cap) {
			size_t cap = complaints->cap ? complaints->cap * 2 : 16;
			struct complaint *grown =
			        arena_grow(complaints->arena, complaints->items, complaints->count,
			                   cap, sizeof(*grown));

			if (!grown)
				goto out;
			complaints->items = grown;
			complaints->cap = cap;
		}
		const char *kept = arena_strdup(complaints->arena, text.data);
		if (kept) {
			complaints->items[complaints->count] =
			        (struct complaint){.place = place,
			                           .text = kept,
			                           .number = complaints->count};
			complaints->count++;
		}
	}
out:
	buf_finish(&text);
}

static int compare_places(const void *left, const void *right)
{
	const struct complaint *a = left, *b = right;
	int files = strcmp(a->place.file, b->place.file);

	if (files)
		return files;
	if (a->place.line != b->place.line)
		return a->place.line < b->place.line ? -1 : 1;
	if (a->place.column != b->place.column)
		return a->place.column < b->place.column ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void print_one(const struct complaint *item, struct buf *ret)
{
	buf_printf(ret, "%s:", item->place.file);
	if (item->place.line)
		buf_printf(ret, "%d:%d:", item->place.line, item->place.column);
	buf_printf(ret, " %s\n", item->text);
}

void complaints_print(struct complaints *complaints, const char *main_file, struct buf *ret)
{
	if (complaints->count)
		qsort(complaints->items, complaints->count, sizeof(*complaints->items),
		      compare_places);
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < complaints->count; i++) {
			const struct complaint *item = &complaints->items[i];

			if (others == (strcmp(item->place.file, main_file) != 0))
				print_one(item, ret);
		}
	if (complaints->dropped)
		buf_printf(ret, "%s: and %zu mistakes more; mend these first\n", main_file,
		           complaints->dropped);
}

#define WORD_MAX 40

/* Optimal string alignment distance; words longer than WORD_MAX are never near. */
static size_t distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned char rows[3][WORD_MAX + 1];
	unsigned char *before = rows[0], *last = rows[1], *now = rows[2];

	if (a_len > WORD_MAX || b_len > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_len; j++) {
		last[j] = (unsigned char)j;
		before[j] = 0;
	}
	for (size_t i = 1; i <= a_len; i++) {
		now[0] = (unsigned char)i;
		for (size_t j = 1; j <= b_len; j++) {
			int same = tolower((unsigned char)a[i - 1]) ==
			           tolower((unsigned char)b[j - 1]);
			int best = last[j - 1] + !same;

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = (unsigned char)best;
		}
		unsigned char *free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[b_len];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
	const char *best = NULL;
	/* A third of the letters may be wrong. */
	size_t best_distance = (strlen(word) + 1) / 3 + 1;

	for (; *candidates; candidates++) {
		size_t d = distance(word, *candidates);

		if (d < best_distance) {
			best = *candidates;
			best_distance = d;
		}
	}
	return best;
}

const char *did_you_mean(struct arena *arena, const char *word, const char *const *candidates)
{
	const char *near = nearest_word(word, candidates);
	const char *text = near ? arena_printf(arena, "; did you mean `%s`?", near) : NULL;

	return text ? text : "";
}

const char *list_words(struct arena *arena, const char *const *words)
{
	struct buf list;

	buf_init(&list, 0);
	for (size_t i = 0; words[i]; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
	if (list.failed)
		arena->failed = true;
	const char *text = arena_strdup(arena, list.data);
	buf_finish(&list);
	return text ? text : "";
}
