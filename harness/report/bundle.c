/* SPDX-License-Identifier: PostgreSQL */
/* The bundle: the page and everything that it was made of, in one archive that anyone can check. */
#include "report/bundle.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/tar.h"
#include "report/model.h"
#include "report/words.h"
#include "sql.h"

struct bundle {
	struct store *store;
	int64_t run_id, at_s;
	struct report_parts parts;
	char *db; /* the copy of the store; owned */
};

/* ---- parts ---- */

static bool name_taken(const struct report_parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->count; i++)
		if (!strcmp(parts->items[i].name, name))
			return true;
	return false;
}

/* Names come from the store: whatever is not plainly part of a file's name becomes a hyphen. */
static char *safe_name(const struct report_parts *parts, const char *folder, const char *name,
                       const char *end)
{
	char *stem = fs_printf(NULL, "%s%.90s", folder, name), *found = NULL;

	for (char *at = stem ? stem + strlen(folder) : NULL; at && *at; at++)
		if (!(isalnum((unsigned char)*at) && (unsigned char)*at < 0x80) && *at != '_' &&
		    !(*at == '.' && at[-1] != '/' && at[-1] != '.'))
			*at = '-';
	if (stem)
		found = fs_printf(NULL, "%s%s", stem, end);
	for (int again = 2; found && name_taken(parts, found); again++) {
		free(found);
		found = fs_printf(NULL, "%s-%d%s", stem, again, end);
	}
	free(stem);
	return found;
}

void report_parts_add(struct report_parts *parts, const char *folder, const char *name,
                      const char *end, const void *bytes, size_t len)
{
	struct report_part *grown =
	        parts->failed ? NULL : realloc(parts->items, (parts->count + 1) * sizeof(*grown));
	struct report_part part = {.name = NULL};

	if (grown) {
		parts->items = grown;
		part.name = safe_name(parts, folder, name, end);
		part.bytes = malloc(len + 1);
		part.len = len;
	}
	if (!part.name || !part.bytes) {
		free(part.name);
		free(part.bytes);
		parts->failed = true;
		return;
	}
	memcpy(part.bytes, bytes, len);
	parts->items[parts->count++] = part;
}

void report_parts_finish(struct report_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		free(parts->items[i].name);
		free(parts->items[i].bytes);
	}
	free(parts->items);
	*parts = (struct report_parts){.count = 0};
}

static bool add_buf(struct bundle *b, const char *folder, const char *name, const char *end,
                    struct buf *text, struct err *err)
{
	bool ok = buf_ok(text, err);

	if (ok)
		report_parts_add(&b->parts, folder, name, end, text->data, text->len);
	buf_finish(text);
	return ok;
}

/* ---- out of the store ---- */

static bool find_time(struct bundle *b, struct err *err)
{
	struct query query = {0};
	bool row = false;
	bool ok = query_prepare(b->store, sql_store_bundle_run, &query, err);

	if (ok) {
		query_int(&query, ":run_id", b->run_id);
		ok = query_step(&query, &row, err);
	}
	if (ok && row)
		b->at_s = query_get_int(&query, 0);
	query_finish(&query);
	return ok;
}

/* A cell of a tab-separated line: what would end it is written as C does. */
static void add_cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\t')
			buf_add(out, "\\t");
		else if (*text == '\n')
			buf_add(out, "\\n");
		else if (*text == '\r')
			buf_add(out, "\\r");
		else if (*text == '\\')
			buf_add(out, "\\\\");
		else
			buf_add_char(out, *text);
	}
}

/* The rows of a query as tab-separated lines, the first with the columns' names. */
static bool add_table(struct bundle *b, const char *sql, const char *name, struct err *err)
{
	struct query query = {0};
	struct buf text;
	bool row = false, ok = query_prepare(b->store, sql, &query, err);

	if (!ok)
		return false;
	buf_init(&text, 0);
	query_int(&query, ":run_id", b->run_id);
	for (int i = 0; i < query_columns(&query); i++)
		buf_printf(&text, i ? "\t%s" : "%s", query_column_name(&query, i));
	buf_add_char(&text, '\n');
	while ((ok = query_step(&query, &row, err)) && row) {
		for (int i = 0; i < query_columns(&query); i++) {
			if (i)
				buf_add_char(&text, '\t');
			add_cell(&text, query_get_text(&query, i));
		}
		buf_add_char(&text, '\n');
	}
	query_finish(&query);
	if (!ok) {
		buf_finish(&text);
		return false;
	}
	return add_buf(b, "logs/", name, ".tsv", &text, err);
}

static bool add_scenarios(struct bundle *b, struct err *err)
{
	struct query query = {0};
	bool row = false, ok = query_prepare(b->store, sql_store_bundle_scenarios, &query, err);

	if (ok)
		query_int(&query, ":run_id", b->run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		struct buf name;

		buf_init(&name, 0);
		buf_printf(&name, "%s.%s", query_get_text(&query, 0), query_get_text(&query, 1));
		const char *text = query_get_text(&query, 2);
		report_parts_add(&b->parts, "scenarios/", name.data, ".yaml", text, strlen(text));
		buf_finish(&name);
	}
	query_finish(&query);
	return ok;
}

/* How it was made, and how it is made again. */
static bool add_commands(struct bundle *b, const struct run_row *run, struct err *err)
{
	struct buf text, argv;

	buf_init(&text, 0);
	buf_init(&argv, 0);
	words_redacted(&argv, run->argv);
	buf_printf(&text, "Run %lld of keylab %s was started as (a JSON array):\n",
	           (long long)run->id, run->version);
	for (const char *at = argv.data; *at; at++)
		buf_add_char(&text, (unsigned char)*at < 0x20 ? ' ' : *at);
	buf_add(&text, "\n\nWhether the files are as they were packed:\n"
	               "sha256sum -c SHA256SUMS\n\nThe same again, in a checkout of keylab:\n");
	words_reproduce(&text, run);
	if (argv.failed)
		text.failed = true;
	buf_finish(&argv);
	return add_buf(b, "", "command", ".txt", &text, err);
}

/* ---- the archive ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct report_part *)a)->name, ((const struct report_part *)b)->name);
}

#define DB_NAME "keylab.db"

/* The part that stands for the store's copy, which may be larger than memory. No other one lies
 * beside it with that end. */
static bool is_store(const struct report_part *part)
{
	return !strcmp(part->name, DB_NAME);
}

/* In the order of the names, with the store's copy at its place among them. */
static bool add_sums(struct bundle *b, struct err *err)
{
	char sum[HASH_TEXT_BYTES];
	struct buf text;
	bool ok = true;

	buf_init(&text, 0);
	for (size_t i = 0; ok && i < b->parts.count; i++) {
		const struct report_part *part = &b->parts.items[i];

		ok = is_store(part) ? hash_file(b->db, sum, err)
		                    : hash_bytes(part->bytes, part->len, sum, err);
		if (ok)
			buf_printf(&text, "%s  %s\n", sum, part->name);
	}
	if (!ok) {
		buf_finish(&text);
		return false;
	}
	return add_buf(b, "", "SHA256SUMS", "", &text, err);
}

static bool write_members(const struct bundle *b, int fd, struct err *err)
{
	for (size_t i = 0; i < b->parts.count; i++) {
		const struct report_part *part = &b->parts.items[i];
		CLEANUP(free_p)
		char *name = fs_printf(err, "keylab-run-%lld/%s", (long long)b->run_id, part->name);

		if (!name)
			return false;
		if (is_store(part) ? !tar_add_file(fd, name, b->db, b->at_s, err)
		                   : !tar_add(fd, name, part->bytes, part->len, b->at_s, err))
			return false;
	}
	return tar_end(fd, err);
}

/* Under a name that nobody has put anything at, until it is whole. */
static bool write_archive(const struct bundle *b, const char *path, struct err *err)
{
	CLEANUP(free_p) char *prefix = fs_printf(err, "%s.part-", path);
	CLEANUP(free_p) char *part = NULL;
	CLEANUP(close_p) int fd = prefix ? fs_open_temp(prefix, 0644, &part, err) : -1;

	if (fd < 0)
		return false;
	bool ok = write_members(b, fd, err);
	if (ok && (fsync(fd) < 0 || rename(part, path) < 0))
		ok = err_errno(err, "cannot write %s", path);
	if (!ok)
		unlink(part);
	return ok;
}

static bool copy_store(struct bundle *b, const char *folder, struct err *err)
{
	b->db = fs_join(err, folder, DB_NAME);
	if (!b->db || !store_copy(b->store, b->db, err))
		return false;
	report_parts_add(&b->parts, "", "keylab", ".db", "", 0);
	return true;
}

static bool collect(struct bundle *b, const struct report_options *options, const char *folder,
                    struct err *err)
{
	struct report_options with = *options;
	struct model model;
	struct buf page;

	if (!model_load(b->store, options->runs, options->runs_count, options->document, &model,
	                err))
		return false;
	b->run_id = model.runs[0].id;
	bool ok = add_commands(b, &model.runs[0], err);
	model_finish(&model);
	with.parts = &b->parts;
	buf_init(&page, 0);
	if (!ok || !report_render(b->store, &with, &page, err)) {
		buf_finish(&page);
		return false;
	}
	if (options->assets_external)
		report_parts_add(&b->parts, "", "report", ".css", report_css(),
		                 strlen(report_css()));
	ok = add_buf(b, "", "report", ".html", &page, err) && find_time(b, err) &&
	     add_table(b, sql_store_bundle_steps, "steps", err) &&
	     add_table(b, sql_store_bundle_incidents, "incidents", err) && add_scenarios(b, err) &&
	     copy_store(b, folder, err);
	if (!ok)
		return false;
	qsort(b->parts.items, b->parts.count, sizeof(*b->parts.items), by_name);
	if (!add_sums(b, err))
		return false;
	qsort(b->parts.items, b->parts.count, sizeof(*b->parts.items), by_name);
	return !b->parts.failed || err_set(err, ERR_SYSTEM, "out of memory for the bundle");
}

bool report_bundle(struct store *store, const struct report_options *options, const char *path,
                   struct err *err)
{
	struct bundle b = {.store = store};
	CLEANUP(free_p) char *folder = fs_make_temp_dir("keylab-bundle", err);
	struct err ignored;

	if (!folder)
		return false;
	bool ok = collect(&b, options, folder, err) && write_archive(&b, path, err);
	report_parts_finish(&b.parts);
	free(b.db);
	/* A copy of the store that stays behind is trouble, too; what went wrong first is told. */
	bool removed = fs_remove_tree(folder, ok ? err : &ignored);
	return ok && removed;
}
