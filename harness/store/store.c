/* SPDX-License-Identifier: PostgreSQL */
/* Opening and migrating the store; the statement wrapper. */
#include "store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "sql.h"

/* "klab": says whose file it is (PRAGMA application_id). */
#define APPLICATION_ID 0x6b6c6162
/* How long a second keylab waits for the first one's short transactions, and for long ones. */
#define BUSY_TIMEOUT_MS 30000
#define BUSY_LONGEST_MS 600000
#define BUSY_POLL_MS 5
/* How often a reader's work is looked at, in steps, and how long its texts may become. */
#define READER_LOOK_STEPS 10000
#define READER_TEXT_MAX (16 << 20)
#define READER_PATTERN_MAX 200

static bool store_fault(struct store *store, struct err *err, const char *doing)
{
	int code = sqlite3_extended_errcode(store->db);
	enum err_kind kind = ERR_INTERNAL;

	switch (code & 0xff) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return err_set(err, ERR_INPUT,
		               "%s: %s is no keylab store or is damaged (%s); name another file "
		               "with --db",
		               doing, store->path, sqlite3_errmsg(store->db));
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(err, ERR_SYSTEM,
		               "%s: %s: %s; make room or give leave to write there, or name "
		               "another "
		               "file with --db",
		               store->path, doing, sqlite3_errmsg(store->db));
	case SQLITE_NOMEM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		kind = ERR_SYSTEM;
		break;
	case SQLITE_ERROR:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
	case SQLITE_AUTH:
		kind = ERR_INPUT;
		break;
	default:
		break;
	}
	return err_set(err, kind, "%s: %s: %s", store->path, doing, sqlite3_errmsg(store->db));
}

static bool run_script(struct store *store, const char *sql, const char *doing, struct err *err)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_fault(store, err, doing);
	return true;
}

static bool pragma_int(struct store *store, const char *sql, int64_t *ret, struct err *err)
{
	struct query query = {0};
	bool row = false;

	if (!query_prepare(store, sql, &query, err))
		return false;
	bool ok = query_step(&query, &row, err);
	if (ok && row)
		*ret = query_get_int(&query, 0);
	query_finish(&query);
	return ok;
}

/* Migrations are the files store/migrate/NNNN-*.sql, in order. */
static int migration_number(const struct sql_file *file)
{
	int number = 0;

	if (sscanf(file->name, "store/migrate/%d-", &number) != 1)
		return 0;
	return number;
}

static int newest_migration(void)
{
	int newest = 0;

	for (size_t i = 0; i < sql_files_count; i++)
		if (migration_number(&sql_files[i]) > newest)
			newest = migration_number(&sql_files[i]);
	return newest;
}

static const struct sql_file *find_migration(int number)
{
	for (size_t i = 0; i < sql_files_count; i++)
		if (migration_number(&sql_files[i]) == number)
			return &sql_files[i];
	return NULL;
}

static bool migrate_from(struct store *store, int version, struct err *err)
{
	for (int number = version + 1; number <= newest_migration(); number++) {
		const struct sql_file *file = find_migration(number);
		char pragma[96];

		if (!file)
			return err_set(err, ERR_INTERNAL, "migration %d is missing", number);
		snprintf(pragma, sizeof(pragma),
		         "pragma user_version = %d; pragma application_id = %d", number,
		         APPLICATION_ID);
		if (!run_script(store, file->text, file->name, err) ||
		    !run_script(store, pragma, "numbering the migration", err))
			return false;
	}
	return true;
}

/* Whose file is it, and how old? Leaves a foreign one untouched. */
static bool store_recognise(struct store *store, int *ret_version, struct err *err)
{
	int64_t application = 0, version = 0, objects = 0;

	if (!pragma_int(store, "pragma application_id", &application, err) ||
	    !pragma_int(store, "pragma user_version", &version, err) ||
	    !pragma_int(store, "select count(*) from sqlite_schema", &objects, err))
		return false;
	if (application != APPLICATION_ID && (application != 0 || version != 0 || objects != 0))
		return err_set(err, ERR_INPUT,
		               "%s is a database of another program; name another file with --db",
		               store->path);
	if (version > newest_migration())
		return err_set(err, ERR_INPUT,
		               "%s was made by a newer keylab (its version is %d, this one knows "
		               "%d); "
		               "use that keylab, or name another file with --db",
		               store->path, (int)version, newest_migration());
	*ret_version = (int)version;
	return true;
}

/* Those would run with what keylab writes. */
static bool store_has_no_triggers(struct store *store, struct err *err)
{
	int64_t count = 0;

	if (!pragma_int(store, "select count(*) from sqlite_schema where type = 'trigger'", &count,
	                err))
		return false;
	return count == 0 || err_set(err, ERR_INPUT,
	                             "%s has a trigger, which is not keylab's; drop it, or name "
	                             "another file with --db",
	                             store->path);
}

/* Every table, view and index of a store made just now is there, with the same text. */
static bool store_compare(struct store *store, struct err *err)
{
	struct store fresh = {.path = store->path};
	struct query ours = {0}, theirs = {0};
	bool row = false, found = false;
	bool ok = sqlite3_open(":memory:", &fresh.db) == SQLITE_OK ||
	          store_fault(&fresh, err, "comparing");

	ok = ok && migrate_from(&fresh, 0, err) &&
	     query_prepare(&fresh,
	                   "select type, name, sql from sqlite_schema where sql is not null", &ours,
	                   err) &&
	     query_prepare(store,
	                   "select 1 from sqlite_schema where type = :type and name = :name and "
	                   "sql = :sql",
	                   &theirs, err);
	while (ok && (ok = query_step(&ours, &row, err)) && row) {
		query_text(&theirs, ":type", query_get_text(&ours, 0));
		query_text(&theirs, ":name", query_get_text(&ours, 1));
		query_text(&theirs, ":sql", query_get_text(&ours, 2));
		ok = query_step(&theirs, &found, err);
		if (ok && !found)
			ok = err_set(err, ERR_INPUT,
			             "%s: its %s %s is not the one that keylab makes, so that "
			             "nothing in it can be relied on; name another file with --db",
			             store->path, query_get_text(&ours, 0),
			             query_get_text(&ours, 1));
		query_reset(&theirs);
	}
	query_finish(&ours);
	query_finish(&theirs);
	sqlite3_close(fresh.db);
	return ok && store_has_no_triggers(store, err);
}

static bool store_migrate(struct store *store, struct err *err)
{
	int version;

	if (!store_begin(store, err))
		return false;
	/* Asked again under the lock: another keylab may have been faster. */
	if (store_recognise(store, &version, err) && migrate_from(store, version, err) &&
	    store_commit(store, err))
		return true;
	store_rollback(store);
	return false;
}

/*
 * Changing the mode of a new file wants it alone, and SQLite does not apply
 * the busy timeout to that: two keylabs that make one store at the same time
 * take turns here.
 */
static bool enter_wal_mode(struct store *store, struct err *err)
{
	const uint64_t deadline_ns = deadline_after(BUSY_TIMEOUT_MS * NS_PER_MS);

	for (;;) {
		if (sqlite3_exec(store->db,
		                 "pragma journal_mode = wal; pragma synchronous = normal", NULL,
		                 NULL, NULL) == SQLITE_OK)
			return true;
		if ((sqlite3_errcode(store->db) & 0xff) != SQLITE_BUSY ||
		    deadline_passed(deadline_ns))
			return store_fault(store, err, "setting up");
		poll(NULL, 0, BUSY_POLL_MS);
	}
}

/* The same in one snapshot: another keylab may be filling the file just now. */
static bool recognise_at_once(struct store *store, int *ret_version, struct err *err)
{
	if (!run_script(store, "begin", "reading", err))
		return false;
	bool ok = store_recognise(store, ret_version, err);
	sqlite3_exec(store->db, "rollback", NULL, NULL, NULL);
	return ok;
}

/*
 * Another keylab writes. It may derive the verdicts of a large run or import one, and what we
 * measured is worth the wait; asked to stop, we do not wait for long.
 */
static int wait_busy(void *arg, int times)
{
	int limit_ms = interrupt_count() ? BUSY_TIMEOUT_MS : BUSY_LONGEST_MS;

	(void)arg;
	if (times >= limit_ms / BUSY_POLL_MS)
		return 0;
	poll(NULL, 0, BUSY_POLL_MS);
	return 1;
}

static bool store_set_up(struct store *store, enum store_mode mode, struct err *err)
{
	int version;

	sqlite3_busy_handler(store->db, wait_busy, NULL);
	sqlite3_extended_result_codes(store->db, 1);
	if (!recognise_at_once(store, &version, err))
		return false;
	if (mode == STORE_READ && version < newest_migration())
		return err_set(err, ERR_INPUT,
		               version ? "%s was made by an older keylab; run keylab once with "
		                         "--db %s to bring it up to date"
		                       : "%s is empty (nothing was ever recorded in it); "
		                         "keylab run --db %s fills it",
		               store->path, store->path);
	if (!run_script(store, "pragma foreign_keys = on", "setting up", err))
		return false;
	if (mode == STORE_READ)
		return run_script(store, "pragma query_only = on", "setting up", err) &&
		       store_compare(store, err);
	/*
	 * In WAL mode with synchronous = normal a killed process loses nothing;
	 * a power cut may lose the last commits, never the file.
	 */
	if (!enter_wal_mode(store, err))
		return false;
	return (version == newest_migration() || store_migrate(store, err)) &&
	       store_compare(store, err);
}

static void mutex_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/*
 * In a folder that takes no new file (no right to write, a read-only file system) a reader cannot
 * make the -shm file that SQLite's WAL mode wants. Without a -wal file beside it nobody writes
 * there either, and it can be read as a file that does not change.
 */
static bool is_frozen(const char *path)
{
	CLEANUP(free_p) char *wal = fs_printf(NULL, "%s-wal", path);
	const char *slash = strrchr(path, '/');
	CLEANUP(free_p)
	char *folder = slash == path ? strdup("/")
	               : slash       ? strndup(path, (size_t)(slash - path))
	                             : strdup(".");

	return wal && folder && access(folder, W_OK) != 0 && !fs_exists(wal);
}

static int open_frozen(const char *path, sqlite3 **ret)
{
	CLEANUP(buf_finish) struct buf uri;

	buf_init(&uri, 0);
	buf_add(&uri, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_printf(&uri, "%%%02x", (unsigned char)*path);
		else
			buf_add_char(&uri, *path);
	buf_add(&uri, "?immutable=1");
	return uri.failed ? SQLITE_NOMEM
	                  : sqlite3_open_v2(uri.data, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
	                                    NULL);
}

bool store_open(const char *path, enum store_mode mode, struct store **ret, struct err *err)
{
	struct store *store = calloc(1, sizeof(*store));
	/* A writable folder is enough for a reader: that is where the -shm file goes. */
	int flags = mode == STORE_WRITE       ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
	            : access(path, W_OK) == 0 ? SQLITE_OPEN_READWRITE
	                                      : SQLITE_OPEN_READONLY;

	if (!store || !(store->path = strdup(path))) {
		free(store);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	mutex_init(&store->mutex);
	if (mode == STORE_READ && !fs_exists(path)) {
		store_close(store);
		return err_set(err, ERR_INPUT, "%s does not exist; keylab run makes it", path);
	}
	int code = mode == STORE_READ && is_frozen(path)
	                   ? open_frozen(path, &store->db)
	                   : sqlite3_open_v2(path, &store->db, flags, NULL);
	if (code != SQLITE_OK) {
		err_set(err, fs_is_dir(path) ? ERR_INPUT : ERR_SYSTEM,
		        "cannot open %s: %s; name another file with --db", path,
		        fs_is_dir(path) ? "it is a folder" : sqlite3_errmsg(store->db));
		store_close(store);
		return false;
	}
	if (!store_set_up(store, mode, err)) {
		store_close(store);
		return false;
	}
	*ret = store;
	return true;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	pthread_mutex_destroy(&store->mutex);
	free(store->path);
	free(store);
}

void store_close_p(struct store **store)
{
	store_close(*store);
}

const char *store_library_version(void)
{
	return sqlite3_libversion();
}

void store_lock(struct store *store)
{
	pthread_mutex_lock(&store->mutex);
}

void store_unlock(struct store *store)
{
	pthread_mutex_unlock(&store->mutex);
}

bool store_begin(struct store *store, struct err *err)
{
	store_lock(store);
	if (run_script(store, "begin immediate", "begin", err))
		return true;
	store_unlock(store);
	return false;
}

bool store_commit(struct store *store, struct err *err)
{
	if (!run_script(store, "commit", "commit", err))
		return false;
	store_unlock(store);
	return true;
}

void store_rollback(struct store *store)
{
	sqlite3_exec(store->db, "rollback", NULL, NULL, NULL);
	store_unlock(store);
}

int64_t store_last_id(struct store *store)
{
	return sqlite3_last_insert_rowid(store->db);
}

/* ---- statements ---- */

/* Also where the program was asked to stop. */
static int reader_look(void *arg)
{
	struct store *store = arg;

	store->reader_steps += READER_LOOK_STEPS;
	return store->reader_steps > READER_STEPS_MAX || interrupt_count() > 0;
}

static void reader_begin(struct store *store)
{
	store->reader_steps = 0;
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, READER_TEXT_MAX);
	sqlite3_limit(store->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, READER_PATTERN_MAX);
	sqlite3_progress_handler(store->db, READER_LOOK_STEPS, reader_look, store);
}

static void reader_end(struct store *store)
{
	sqlite3_progress_handler(store->db, 0, NULL, NULL);
	sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, INT_MAX);
	sqlite3_limit(store->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, INT_MAX);
}

/* A statement of a reader that reader_look ended. */
static bool reader_fault(struct err *err)
{
	if (!interrupt_check(err))
		return false;
	return err_set(err, ERR_INPUT,
	               "the SQL had not ended after %llu million steps of SQLite; give what is "
	               "recursive in it an end, or let it read fewer samples",
	               (unsigned long long)(READER_STEPS_MAX / 1000000));
}

bool query_prepare(struct store *store, const char *sql, struct query *ret, struct err *err)
{
	struct query query = {.store = store};
	const char *rest = NULL;

	if (sqlite3_prepare_v3(store->db, sql, -1, 0, &query.stmt, &rest) != SQLITE_OK)
		return store_fault(store, err, "preparing a statement");
	if (!query.stmt)
		return err_set(err, ERR_INPUT, "%s: there is no statement in this text",
		               store->path);
	*ret = query;
	return true;
}

void query_finish(struct query *query)
{
	sqlite3_finalize(query->stmt);
	query->stmt = NULL;
	if (query->reader)
		reader_end(query->store);
	query->reader = false;
}

void query_reset(struct query *query)
{
	sqlite3_reset(query->stmt);
	sqlite3_clear_bindings(query->stmt);
	query->fault.kind = ERR_NONE;
}

/* 0 when there is none of that name, which is remembered. */
static int bind_index(struct query *query, const char *name)
{
	int index = sqlite3_bind_parameter_index(query->stmt, name);

	if (!index && query->fault.kind == ERR_NONE)
		err_set(&query->fault, ERR_INTERNAL, "a statement has no parameter %s", name);
	return index;
}

static void bind_check(struct query *query, int code, const char *name)
{
	if (code != SQLITE_OK && query->fault.kind == ERR_NONE)
		err_set(&query->fault, ERR_SYSTEM, "binding %s: %s", name, sqlite3_errstr(code));
}

void query_int(struct query *query, const char *name, int64_t value)
{
	int index = bind_index(query, name);

	if (index)
		bind_check(query, sqlite3_bind_int64(query->stmt, index, value), name);
}

void query_real(struct query *query, const char *name, double value)
{
	int index = bind_index(query, name);

	if (index)
		bind_check(query, sqlite3_bind_double(query->stmt, index, value), name);
}

void query_text(struct query *query, const char *name, const char *value)
{
	int index = bind_index(query, name);

	if (index)
		bind_check(query,
		           sqlite3_bind_text(query->stmt, index, value, -1, SQLITE_TRANSIENT),
		           name);
}

void query_null(struct query *query, const char *name)
{
	int index = bind_index(query, name);

	if (index)
		bind_check(query, sqlite3_bind_null(query->stmt, index), name);
}

bool query_step(struct query *query, bool *ret_row, struct err *err)
{
	if (query->fault.kind != ERR_NONE) {
		if (err)
			*err = query->fault;
		return false;
	}
	int code = sqlite3_step(query->stmt);
	if (query->reader && (code & 0xff) == SQLITE_INTERRUPT)
		return reader_fault(err);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return store_fault(query->store, err, "running a statement");
	*ret_row = code == SQLITE_ROW;
	return true;
}

bool query_run(struct query *query, struct err *err)
{
	bool row = false;

	if (!query_step(query, &row, err)) {
		query_reset(query);
		return false;
	}
	query_reset(query);
	return true;
}

int64_t query_get_int(struct query *query, int column)
{
	return sqlite3_column_int64(query->stmt, column);
}

double query_get_real(struct query *query, int column)
{
	return sqlite3_column_double(query->stmt, column);
}

const char *query_get_text(struct query *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query->stmt, column);

	return text ? text : "";
}

bool query_is_null(struct query *query, int column)
{
	return sqlite3_column_type(query->stmt, column) == SQLITE_NULL;
}

bool query_is_number(struct query *query, int column)
{
	int type = sqlite3_column_type(query->stmt, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

int query_columns(struct query *query)
{
	return sqlite3_column_count(query->stmt);
}

const char *query_column_name(struct query *query, int column)
{
	return sqlite3_column_name(query->stmt, column);
}

void query_bind(struct query *query, const struct bind *binds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct bind *bind = &binds[i];

		switch (bind->kind) {
		case BIND_INT:
			query_int(query, bind->name, bind->integer);
			break;
		case BIND_REAL:
			query_real(query, bind->name, bind->real);
			break;
		case BIND_TEXT:
			query_text(query, bind->name, bind->text);
			break;
		case BIND_NULL:
			query_null(query, bind->name);
			break;
		}
	}
}

bool store_exec(struct store *store, const char *sql, const struct bind *binds, size_t count,
                struct err *err)
{
	struct query query = {0};

	store_lock(store);
	bool ok = query_prepare(store, sql, &query, err);
	if (ok) {
		query_bind(&query, binds, count);
		ok = query_run(&query, err);
	}
	query_finish(&query);
	store_unlock(store);
	return ok;
}

static int allow_reading(void *arg, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
	(void)arg;
	(void)a;
	(void)c;
	(void)d;
	if (action == SQLITE_FUNCTION)
		return b && !strcasecmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE
	               ? SQLITE_OK
	               : SQLITE_DENY;
}

bool query_prepare_reader(struct store *store, const char *sql, struct query *ret, struct err *err)
{
	sqlite3_set_authorizer(store->db, allow_reading, NULL);
	reader_begin(store);
	bool ok = query_prepare(store, sql, ret, err);
	sqlite3_set_authorizer(store->db, NULL, NULL);
	if (ok) {
		ret->reader = true;
		return true;
	}
	bool denied = (sqlite3_errcode(store->db) & 0xff) == SQLITE_AUTH;
	reader_end(store);
	return denied ? err_within(err, "(only a SELECT over the store is allowed here)") : false;
}

bool store_newest_run(struct store *store, int64_t *ret, struct err *err)
{
	struct query query = {0};
	bool row = false;

	store_lock(store);
	bool ok = query_prepare(store, sql_store_newest_run, &query, err) &&
	          query_step(&query, &row, err);
	if (ok && row)
		*ret = query_get_int(&query, 0);
	else if (ok)
		ok = err_set(err, ERR_INPUT, "%s holds no run; keylab run makes one", store->path);
	query_finish(&query);
	store_unlock(store);
	return ok;
}

bool store_copy(struct store *store, const char *path, struct err *err)
{
	int64_t reads = 0;

	/* A store that is open for reading takes any vacuum for a write, although this one writes
	 * to the other file only. */
	if (!pragma_int(store, "pragma query_only", &reads, err) ||
	    !run_script(store, "pragma query_only = off", "copying", err))
		return false;
	bool ok = store_exec(store, sql_store_copy, (struct bind[]){B_TEXT(":path", path)}, 1, err);
	if (reads)
		sqlite3_exec(store->db, "pragma query_only = on", NULL, NULL, NULL);
	return ok;
}
