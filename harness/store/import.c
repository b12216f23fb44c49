/* SPDX-License-Identifier: PostgreSQL */
/*
 * Merging stores. The tables' statements are made from the schema, so that a table that a later
 * migration adds is copied without a line here: a column that is some table's integer
 * primary key gets that table's offset wherever it stands, run_id its new number.
 */
#include "store/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fs.h"
#include "sql.h"
#include "store/record.h"
#include "store/verdict.h"

struct column {
	const char *name;
	bool is_key; /* the integer primary key */
};

struct table {
	const char *name;
	struct column *columns;
	size_t columns_count;
	int64_t offset; /* of its key */
};

struct import {
	struct store *store;
	struct arena arena;
	struct table *tables; /* in the order in which they were created: parents first */
	size_t tables_count;
};

static bool exec(struct store *store, const char *sql, struct err *err)
{
	return store_exec(store, sql, NULL, 0, err);
}

static bool read_int(struct store *store, const char *sql, int64_t *ret, struct err *err)
{
	struct query query = {0};
	bool row = false;
	bool ok = query_prepare(store, sql, &query, err) && query_step(&query, &row, err);

	*ret = ok && row ? query_get_int(&query, 0) : 0;
	query_finish(&query);
	return ok;
}

static bool read_columns(struct import *import, struct table *table, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(import->store, sql_store_import_columns, &query, err);

	if (ok)
		query_text(&query, ":table", table->name);
	while (ok && (ok = query_step(&query, &row, err)) && row) {
		size_t count = table->columns_count;

		table->columns = arena_grow(&import->arena, table->columns, count, count + 1,
		                            sizeof(*table->columns));
		if (import->arena.failed)
			break;
		table->columns[table->columns_count++] = (struct column){
		        arena_strdup(&import->arena, query_get_text(&query, 0)),
		        query_get_int(&query, 1) != 0,
		};
	}
	query_finish(&query);
	return ok;
}

static bool read_tables(struct import *import, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(import->store, sql_store_import_tables, &query, err);

	while (ok && (ok = query_step(&query, &row, err)) && row) {
		size_t count = import->tables_count;

		import->tables = arena_grow(&import->arena, import->tables, count, count + 1,
		                            sizeof(*import->tables));
		if (import->arena.failed)
			break;
		import->tables[import->tables_count++] = (struct table){
		        .name = arena_strdup(&import->arena, query_get_text(&query, 0))};
	}
	query_finish(&query);
	for (size_t i = 0; ok && i < import->tables_count; i++)
		ok = read_columns(import, &import->tables[i], err);
	for (size_t i = 0; ok && i < import->tables_count; i++) {
		struct table *table = &import->tables[i];
		char sql[256];

		for (size_t c = 0; ok && c < table->columns_count; c++) {
			if (!table->columns[c].is_key)
				continue;
			snprintf(sql, sizeof(sql), "select coalesce(max(%s), 0) from main.%s",
			         table->columns[c].name, table->name);
			ok = read_int(import->store, sql, &table->offset, err);
		}
	}
	return ok && (!import->arena.failed || err_set(err, ERR_SYSTEM, "out of memory"));
}

/* The table whose integer primary key has that name, or NULL. */
static const struct table *key_of(const struct import *import, const char *column)
{
	for (size_t i = 0; i < import->tables_count; i++)
		for (size_t c = 0; c < import->tables[i].columns_count; c++)
			if (import->tables[i].columns[c].is_key &&
			    !strcmp(import->tables[i].columns[c].name, column))
				return &import->tables[i];
	return NULL;
}

static bool has_column(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->columns_count; i++)
		if (!strcmp(table->columns[i].name, name))
			return true;
	return false;
}

/* Rows of the runs that come over: by run_id, or by the parent that has one. */
static bool add_condition(const struct import *import, const struct table *table, struct buf *sql,
                          struct err *err)
{
	if (has_column(table, "run_id")) {
		buf_add(sql, " where run_id in (select old from temp.run_map)");
		return true;
	}
	for (size_t i = 0; i < table->columns_count; i++) {
		const struct table *parent = key_of(import, table->columns[i].name);

		if (!parent || parent == table || !has_column(parent, "run_id"))
			continue;
		buf_printf(sql,
		           " where %s in (select %s from other.%s where run_id in (select old from "
		           "temp.run_map))",
		           table->columns[i].name, table->columns[i].name, parent->name);
		return true;
	}
	return err_set(err, ERR_INTERNAL, "table %s belongs to no run", table->name);
}

static bool copy_table(const struct import *import, const struct table *table, struct err *err)
{
	CLEANUP(buf_finish) struct buf sql;

	buf_init(&sql, 0);
	buf_printf(&sql, "insert into main.%s (", table->name);
	for (size_t i = 0; i < table->columns_count; i++)
		buf_printf(&sql, "%s%s", i ? ", " : "", table->columns[i].name);
	buf_add(&sql, ") select ");
	for (size_t i = 0; i < table->columns_count; i++) {
		const char *name = table->columns[i].name;
		const struct table *key = key_of(import, name);

		buf_add(&sql, i ? ", " : "");
		if (!strcmp(name, "run_id"))
			buf_add(&sql, "(select new from temp.run_map where old = run_id)");
		else if (key)
			buf_printf(&sql, "%s + %lld", name, (long long)key->offset);
		else
			buf_add(&sql, name);
	}
	buf_printf(&sql, " from other.%s", table->name);
	return add_condition(import, table, &sql, err) && buf_ok(&sql, err) &&
	       exec(import->store, sql.data, err);
}

/* The stored statements of claims and charts begin with the run's number. */
static bool renumber_statements(const struct import *import, struct err *err)
{
	CLEANUP(buf_finish) struct buf head;
	int64_t left;

	buf_init(&head, 0);
	verdict_statement(0, "", "", &head);
	char *number = head.data ? strstr(head.data, "run_id = 0 and ") : NULL;
	if (!buf_ok(&head, err) || !number)
		return err_set(err, ERR_INTERNAL, "a claim's statement has another beginning");
	number[strlen("run_id = ")] = '\0';
	const struct bind bind = B_TEXT(":head", head.data);
	if (!store_exec(import->store, sql_store_import_claims, &bind, 1, err) ||
	    !store_exec(import->store, sql_store_import_charts, &bind, 1, err) ||
	    !store_exec(import->store, sql_store_import_titles, &bind, 1, err) ||
	    !read_int(import->store, sql_store_import_left, &left, err))
		return false;
	return !left ||
	       err_set(err, ERR_INPUT, "%lld claims have a statement that keylab did not write",
	               (long long)left);
}

struct row {
	int64_t run_id;
	char scenario[128], claim[128], sha256[65];
};

static bool list_rows(struct store *store, const char *sql, bool claims, struct row **ret,
                      size_t *ret_count, struct err *err)
{
	struct query query = {0};
	bool row = true, ok = query_prepare(store, sql, &query, err);

	while (ok && (ok = query_step(&query, &row, err)) && row) {
		struct row *grown = realloc(*ret, (*ret_count + 1) * sizeof(*grown));

		if (!grown) {
			ok = err_set(err, ERR_SYSTEM, "out of memory");
			break;
		}
		*ret = grown;
		struct row *to = &grown[(*ret_count)++];
		*to = (struct row){.run_id = query_get_int(&query, 0)};
		snprintf(to->scenario, sizeof(to->scenario), "%s", query_get_text(&query, 1));
		snprintf(claims ? to->claim : to->sha256,
		         claims ? sizeof(to->claim) : sizeof(to->sha256), "%s",
		         query_get_text(&query, 2));
	}
	query_finish(&query);
	return ok;
}

/* The samples that come are those that were recorded: asked of the other file, before the copy. */
static bool check_samples(struct store *other, struct err *err)
{
	CLEANUP(free_p) struct row *rows = NULL;
	size_t count = 0;

	if (!list_rows(other, sql_store_import_sealed, false, &rows, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		char digest[65];

		if (!samples_digest(other, rows[i].run_id, rows[i].scenario, digest, err))
			return false;
		if (strcmp(digest, rows[i].sha256) != 0)
			return err_set(err, ERR_INPUT,
			               "run %lld %s: its samples are not those that were recorded",
			               (long long)rows[i].run_id, rows[i].scenario);
	}
	return true;
}

/* A digest speaks of the samples' numbers too, and those are new. */
static bool seal_again(const struct import *import, struct err *err)
{
	CLEANUP(free_p) struct row *rows = NULL;
	size_t count = 0;

	if (!list_rows(import->store, sql_store_import_to_seal, false, &rows, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		char digest[65];

		if (!samples_digest(import->store, rows[i].run_id, rows[i].scenario, digest, err))
			return false;
		const struct bind binds[] = {B_INT(":run_id", rows[i].run_id),
		                             B_TEXT(":scenario", rows[i].scenario),
		                             B_TEXT(":samples_sha256", digest)};
		if (!store_exec(import->store, sql_store_import_seal, binds, COUNT_OF(binds), err))
			return false;
	}
	return true;
}

static bool check_verdicts(const struct import *import, struct err *err)
{
	CLEANUP(free_p) struct row *rows = NULL;
	CLEANUP(buf_finish) struct buf difference;
	size_t count = 0;

	buf_init(&difference, 0);
	if (!list_rows(import->store, sql_store_import_to_verify, true, &rows, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		bool same;

		if (!verdict_compare(import->store, rows[i].run_id, rows[i].scenario, rows[i].claim,
		                     &same, &difference, err))
			return false;
		if (!same)
			return err_set(err, ERR_INPUT, "%s", difference.data);
	}
	return true;
}

static bool import_runs(struct import *import, struct import_result *ret, struct err *err)
{
	int64_t imported, known, running;

	if (!exec(import->store, sql_store_import_map, err) ||
	    !read_int(import->store, "select count(*) from temp.run_map", &imported, err) ||
	    !read_int(import->store, "select coalesce(min(new), 0) from temp.run_map",
	              &ret->first_run_id, err) ||
	    !read_int(import->store, "select count(*) from other.run where status = 'running'",
	              &running, err) ||
	    !read_int(import->store, "select count(*) from other.run", &known, err))
		return false;
	ret->imported = (size_t)imported;
	ret->running = (size_t)running;
	ret->known = (size_t)(known - running - imported);
	if (!imported)
		return err_set(err, ERR_INPUT,
		               "none of its %lld runs is new here (a run is imported once; %lld "
		               "still run)",
		               (long long)known, (long long)running);
	if (!read_tables(import, err))
		return false;
	for (size_t i = 0; i < import->tables_count; i++)
		if (!copy_table(import, &import->tables[i], err))
			return false;
	return renumber_statements(import, err) && seal_again(import, err) &&
	       check_verdicts(import, err);
}

/* A copy, brought to this keylab's schema: the file itself is not ours to change. */
static bool copy_other(const char *path, const char *copy, struct err *err)
{
	CLEANUP(store_close_p) struct store *other = NULL;
	CLEANUP(store_close_p) struct store *made = NULL;

	return store_open(path, STORE_READ, &other, err) && store_copy(other, copy, err) &&
	       store_open(copy, STORE_WRITE, &made, err) && check_samples(made, err);
}

static bool import_copy(struct store *store, const char *copy, struct import_result *ret,
                        struct err *err)
{
	struct import import = {.store = store};
	const struct bind bind = B_TEXT(":path", copy);
	struct import_result result = {0};

	if (!exec(store,
	          "create temp table if not exists run_map (old integer primary key, new integer)",
	          err) ||
	    !store_exec(store, "attach database :path as other", &bind, 1, err))
		return false;
	arena_init(&import.arena, 0);
	bool ok = store_begin(store, err);
	if (ok) {
		ok = exec(store, "delete from temp.run_map", err) &&
		     import_runs(&import, &result, err) && store_commit(store, err);
		if (!ok)
			store_rollback(store);
	}
	arena_finish(&import.arena);
	struct err inner;
	if (!exec(store, "detach database other", ok ? err : &inner))
		ok = false;
	if (ok)
		*ret = result;
	return ok;
}

bool store_import(struct store *store, const char *path, struct import_result *ret, struct err *err)
{
	CLEANUP(free_p) char *prefix = fs_printf(err, "%s.import-", store->path);
	/* Its name is nobody's to guess, and others may not enter it. */
	CLEANUP(free_p) char *folder = prefix ? fs_make_temp_dir(prefix, err) : NULL;
	CLEANUP(free_p) char *copy = folder ? fs_join(err, folder, "copy.db") : NULL;
	struct err inner;

	if (!folder)
		return false;
	bool ok = copy && copy_other(path, copy, err) && import_copy(store, copy, ret, err);
	if (!fs_remove_tree(folder, ok ? err : &inner))
		ok = false;
	return ok || err_within(err, "importing %s", path);
}
