/* SPDX-License-Identifier: PostgreSQL */
/* From a path to a checked scenario: files, includes, passes, the report of mistakes. */
#include "scenario/loader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/hash.h"

/* The text in the arena with a NUL behind it; NULL when out of memory. */
static const char *keep_text(struct loader *loader, const char *text, size_t len)
{
	buf_add_len(&loader->all_text, text, len);
	if (loader->all_text.failed)
		loader->arena->failed = true;
	return arena_strndup(loader->arena, text, len);
}

/* "a.yaml includes b.yaml includes c.yaml", outermost first. */
static void print_chain(const struct include_chain *chain, struct buf *ret)
{
	if (!chain)
		return;
	print_chain(chain->outer, ret);
	buf_printf(ret, "%s%s", ret->len ? " includes " : "", chain->file);
}

static bool check_chain(struct loader *loader, struct place place, struct include_chain *link)
{
	int depth = 0;
	bool cycle = false;

	for (const struct include_chain *at = link->outer; at; at = at->outer) {
		depth++;
		cycle = cycle || (at->device == link->device && at->inode == link->inode);
	}
	if (cycle || depth > INCLUDE_MAX_DEPTH) {
		struct buf chain;

		buf_init(&chain, 0);
		print_chain(link, &chain);
		if (chain.failed)
			loader->arena->failed = true;
		complain(&loader->complaints, place,
		         cycle ? "a file includes itself: %s; remove one of the includes"
		               : "includes are nested deeper than 8 files: %s; flatten them",
		         chain.data);
		buf_finish(&chain);
		return false;
	}
	if (++loader->files_count > INCLUDE_MAX_FILES) {
		complain(&loader->complaints, place,
		         "more than 100 files are included; use each or repeat instead");
		return false;
	}
	return true;
}

const struct node *load_file(struct loader *loader, const char *path, struct place place,
                             struct include_chain *link)
{
	struct stat status;
	struct buf text;
	struct err err = {0};
	const struct node *root = NULL;

	if (stat(path, &status)) {
		complain(&loader->complaints, place,
		         "the file \"%s\" cannot be opened; include "
		         "names are relative to the file they stand in",
		         path);
		return NULL;
	}
	if (!S_ISREG(status.st_mode)) {
		complain(&loader->complaints, place, "\"%s\" is no regular file; name a YAML file",
		         path);
		return NULL;
	}
	link->file = path;
	link->device = status.st_dev;
	link->inode = status.st_ino;
	if (!check_chain(loader, place, link))
		return NULL;
	buf_init(&text, NODE_MAX_BYTES + 1);
	if (!fs_read(path, NODE_MAX_BYTES, &text, &err)) {
		loader->arena->failed = loader->arena->failed || text.failed;
		complain(&loader->complaints, place, "%s", err.message);
	} else {
		const char *kept = keep_text(loader, text.data, text.len);

		if (kept)
			root = node_read(path, kept, text.len, loader->arena, &loader->complaints);
	}
	buf_finish(&text);
	return root;
}

static bool load_text(struct loader *loader, struct buf *messages, struct err *err)
{
	struct scenario *scenario = loader->scenario;
	size_t len = loader->all_text.len;

	scenario->text = arena_strndup(loader->arena, loader->all_text.data, len);
	if (scenario->text) {
		const struct node *root = node_read(scenario->path, scenario->text, len,
		                                    loader->arena, &loader->complaints);

		if (root) {
			parse_scenario(loader, root);
			check_scenario(loader);
		}
	}
	if (loader->arena->failed || loader->all_text.failed)
		return err_set(err, ERR_SYSTEM,
		               "%s: out of memory, or the scenario takes more than "
		               "%zu MB of it",
		               scenario->path, SCENARIO_MAX_BYTES >> 20);
	size_t count = loader->complaints.count + loader->complaints.dropped;
	if (count) {
		complaints_print(&loader->complaints, scenario->path, messages);
		if (!buf_ok(messages, err))
			return false;
		return err_set(err, ERR_INPUT, "%s: %zu mistake%s", scenario->path, count,
		               count == 1 ? "" : "s");
	}
	return hash_bytes(loader->all_text.data, loader->all_text.len, scenario->sha256, err);
}

bool scenario_load_text(const char *path, const char *text, size_t len,
                        const struct scenario_vocabulary *vocabulary, struct scenario **ret,
                        struct buf *messages, struct err *err)
{
	struct loader loader = {.vocabulary = vocabulary};
	struct stat status;

	if (len > NODE_MAX_BYTES) {
		buf_printf(messages, "%s: the file has more than 1 MB; a scenario is far smaller\n",
		           path);
		return err_set(err, ERR_INPUT, "%s: 1 mistake", path);
	}
	loader.scenario = calloc(1, sizeof(*loader.scenario));
	if (!loader.scenario)
		return err_set(err, ERR_SYSTEM, "out of memory");
	loader.arena = &loader.scenario->arena;
	arena_init(loader.arena, SCENARIO_MAX_BYTES);
	complaints_init(&loader.complaints, loader.arena);
	buf_init(&loader.all_text, 0);
	buf_add_len(&loader.all_text, text, len);
	loader.scenario->path = arena_strdup(loader.arena, path);
	loader.main_file.file = loader.scenario->path;
	if (!stat(path, &status)) {
		loader.main_file.device = status.st_dev;
		loader.main_file.inode = status.st_ino;
	}

	bool good = loader.scenario->path && !loader.all_text.failed
	                    ? load_text(&loader, messages, err)
	                    : err_set(err, ERR_SYSTEM, "out of memory");
	buf_finish(&loader.all_text);
	if (!good) {
		scenario_destroy(loader.scenario);
		return false;
	}
	*ret = loader.scenario;
	return true;
}

bool scenario_load(const char *path, const struct scenario_vocabulary *vocabulary,
                   struct scenario **ret, struct buf *messages, struct err *err)
{
	struct stat status;
	struct buf text;
	bool good = false;

	if (stat(path, &status))
		return err_errno(err, "%s", path);
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_INPUT, "%s: no regular file; name a scenario's YAML file",
		               path);
	if ((uint64_t)status.st_size > NODE_MAX_BYTES) {
		buf_printf(messages, "%s: the file has %lld bytes; a scenario has at most 1 MB\n",
		           path, (long long)status.st_size);
		return err_set(err, ERR_INPUT, "%s: 1 mistake", path);
	}
	buf_init(&text, NODE_MAX_BYTES + 2);
	if (fs_read(path, NODE_MAX_BYTES, &text, err))
		good = scenario_load_text(path, text.data, text.len, vocabulary, ret, messages,
		                          err);
	buf_finish(&text);
	return good;
}

void scenario_destroy(struct scenario *scenario)
{
	if (!scenario)
		return;
	arena_finish(&scenario->arena);
	free(scenario);
}
