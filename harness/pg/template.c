/* SPDX-License-Identifier: PostgreSQL */
/* Data directories to copy clusters from: initdb, the lab schema, datasets. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "pg/cluster.h"
#include "pg/conn.h"
#include "pg/registry.h"
#include "sql.h"

#define INITDB_WAIT_NS (120 * NS_PER_S)
#define START_WAIT_NS (60 * NS_PER_S)
#define DATASET_WAIT_NS (1800 * NS_PER_S)
#define MAX_SETTINGS 32
#define MAX_PARALLEL 8

/* A part of a dataset: sql/dataset/NAME/NN-….sql. Its number, or -1 for other files. */
static int part_number(const struct sql_file *file, const char *dataset)
{
	char folder[128];
	int number;

	snprintf(folder, sizeof(folder), "dataset/%s/", dataset);
	if (strncmp(file->name, folder, strlen(folder)) ||
	    sscanf(file->name + strlen(folder), "%d-", &number) != 1)
		return -1;
	return number;
}

const char *const *template_datasets(void)
{
	static char names[16][64];
	static const char *list[17];
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	size_t count = 0;

	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < sql_files_count && count < COUNT_OF(names); i++) {
		char name[64];
		bool known = false;

		if (sscanf(sql_files[i].name, "dataset/%63[^/]/", name) != 1 ||
		    part_number(&sql_files[i], name) < 0)
			continue;
		for (size_t j = 0; j < count; j++)
			known = known || !strcmp(names[j], name);
		if (known)
			continue;
		memcpy(names[count], name, sizeof(name));
		list[count] = names[count];
		count++;
	}
	list[count] = NULL;
	pthread_mutex_unlock(&mutex);
	return list;
}

/* What a template depends on decides its name, so another build never finds it. */
static bool template_key(const struct server *server, const char *dataset, char ret[65],
                         struct err *err)
{
	CLEANUP(buf_finish) struct buf all;

	buf_init(&all, 0);
	buf_printf(&all, "2 %s\n", server->sha256);
#define X(option) buf_add(&all, option "\n");
	CLUSTER_INITDB_OPTIONS(X)
#undef X
	for (size_t i = 0; i < sql_files_count; i++)
		if (!strncmp(sql_files[i].name, "lab/", 4) ||
		    (dataset && part_number(&sql_files[i], dataset) >= 0))
			buf_printf(&all, "%s\n%s\n", sql_files[i].name, sql_files[i].text);
	return buf_ok(&all, err) && hash_bytes(all.data, all.len, ret, err);
}

static bool run_initdb(const struct home *home, const struct server *server, const char *data_dir,
                       struct err *err)
{
	CLEANUP(free_p) char *program = fs_join(err, server->bin_dir, "initdb");
	/* initdb's own servers would keep theirs in /dev/shm, where it stays when they are killed.
	 */
	const char *memory =
	        server->version_num >= 160000 ? "--set=dynamic_shared_memory_type=mmap" : NULL;
	const char *const argv[] = {program,
#define X(option) option,
	                            CLUSTER_INITDB_OPTIONS(X)
#undef X
	                                    "--username=" CLUSTER_USER,
	                            "-D",
	                            data_dir,
	                            memory,
	                            NULL};
	struct proc_spec spec = {.argv = argv,
	                         .dir = "/",
	                         .uid = home->server_uid,
	                         .gid = home->server_gid,
	                         .drop = home->drop,
	                         .death_signal = SIGKILL};
	struct proc_result result;
	char text[64];

	if (!program)
		return false;
	bool ok = proc_run(&spec, NULL, 1 << 20, deadline_after(INITDB_WAIT_NS), &result, err);
	if (ok && result.status != 0)
		ok = err_set(err, ERR_ENVIRONMENT, "initdb %s: %.1500s",
		             proc_status_text(result.status, text, sizeof(text)),
		             result.errors.len ? result.errors.data : result.out.data);
	buf_finish(&result.out);
	buf_finish(&result.errors);
	return ok;
}

/* Only the user who runs keylab gets in, as the one superuser. */
static bool write_access(const struct home *home, const char *data_dir, struct err *err)
{
	CLEANUP(free_p) char *hba = fs_join(err, data_dir, "pg_hba.conf");
	CLEANUP(free_p) char *ident = fs_join(err, data_dir, "pg_ident.conf");
	CLEANUP(free_p) char *conf = fs_join(err, data_dir, "postgresql.conf");
	CLEANUP(free_p)
	char *map = fs_printf(err, "keylab \"%s\" " CLUSTER_USER "\n", home->client_name);
	static const char rule[] = "local all all peer map=keylab\n";
	CLEANUP(buf_finish) struct buf text;

	buf_init(&text, 0);
	if (!hba || !ident || !conf || !map || !fs_read_nofollow(conf, 1 << 20, &text, err))
		return false;
	buf_add(&text, "\ninclude 'keylab.conf'\n");
	return buf_ok(&text, err) && fs_write(conf, text.data, text.len, 0600, err) &&
	       fs_write(hba, rule, strlen(rule), 0600, err) &&
	       fs_write(ident, map, strlen(map), 0600, err) &&
	       (!home->drop || fs_chown_tree(data_dir, home->server_uid, home->server_gid, err));
}

/* No room, an administrator, the disk, the connection (src/backend/utils/errcodes.txt): not the
 * SQL's fault. */
static enum err_kind fault_of(const struct outcome *outcome)
{
	static const char *const classes[] = {"53", "57", "58", "08"};

	for (size_t i = 0; i < COUNT_OF(classes); i++)
		if (!strncmp(outcome->sqlstate, classes[i], 2))
			return ERR_ENVIRONMENT;
	return ERR_INTERNAL;
}

static bool run_file(struct conn *conn, const struct sql_file *file, struct err *err)
{
	struct outcome outcome;

	outcome_init(&outcome);
	bool ok = conn_run(conn, file->text, deadline_after(DATASET_WAIT_NS), &outcome, err);
	if (ok && outcome.kind != OUTCOME_OK)
		ok = err_set(err, fault_of(&outcome), "sql/%s: %s: %s", file->name,
		             outcome.sqlstate, outcome.message.data);
	outcome_finish(&outcome);
	return ok;
}

/* The lab schema goes into template1 as well: databases of shared clusters come from there. */
static bool install_lab(struct cluster *cluster, struct err *err)
{
	static const char *const databases[] = {"template1", CLUSTER_DATABASE};

	for (size_t d = 0; d < COUNT_OF(databases); d++) {
		CLEANUP(conn_close_p) struct conn *conn = NULL;
		CLEANUP(result_clear_p) PGresult *result = NULL;

		if (!conn_open(cluster, databases[d], "keylab template", &conn, err))
			return false;
		for (size_t i = 0; d == 0 && i < sql_files_count; i++)
			if (!strncmp(sql_files[i].name, "lab/", 4) &&
			    !run_file(conn, &sql_files[i], err))
				return false;
		conn_close(conn);
		conn = NULL;
		if (d == 0 &&
		    (!conn_open(cluster, "postgres", "keylab template", &conn, err) ||
		     !conn_query(conn, "create database " CLUSTER_DATABASE, NULL, 0, &result, err)))
			return false;
	}
	return true;
}

/* ---- datasets ---- */

struct part {
	const struct cluster *cluster;
	_Atomic(struct part *)
	        *first_fault; /* of all parts of the phase: the others' faults follow from it */
	const struct sql_file *file;
	struct err err;
	bool ok;
	pthread_t thread;
};

/* NN-check.sql: a query of name, expected, found, ok; each ok must be true. */
static bool is_check(const struct sql_file *file)
{
	static const char end[] = "-check.sql";
	size_t len = strlen(file->name);

	return len >= sizeof(end) - 1 && !strcmp(file->name + len - (sizeof(end) - 1), end);
}

static bool run_check(struct conn *conn, const struct sql_file *file, struct err *err)
{
	CLEANUP(result_clear_p) PGresult *result = NULL;

	if (!conn_query(conn, file->text, NULL, 0, &result, err))
		return err_within(err, "sql/%s", file->name);
	if (PQntuples(result) == 0 || PQnfields(result) != 4)
		return err_set(err, ERR_INTERNAL, "sql/%s checks nothing", file->name);
	for (int row = 0; row < PQntuples(result); row++)
		if (strcmp(PQgetvalue(result, row, 3), "t") != 0)
			return err_set(err, ERR_INTERNAL, "sql/%s: %s: %s expected, %s found",
			               file->name, PQgetvalue(result, row, 0),
			               PQgetvalue(result, row, 1), PQgetvalue(result, row, 2));
	return true;
}

static void *part_main(void *arg)
{
	struct part *part = arg;
	CLEANUP(conn_close_p) struct conn *conn = NULL;

	part->ok =
	        conn_open(part->cluster, CLUSTER_DATABASE, "keylab dataset", &conn, &part->err) &&
	        (is_check(part->file) ? run_check(conn, part->file, &part->err)
	                              : run_file(conn, part->file, &part->err));
	if (!part->ok)
		atomic_compare_exchange_strong(part->first_fault, &(struct part *){NULL}, part);
	return NULL;
}

/* The parts of one number, side by side. */
static bool load_phase(const struct cluster *cluster, const char *dataset, int number,
                       struct err *err)
{
	struct part parts[MAX_PARALLEL];
	_Atomic(struct part *) first_fault = NULL;
	size_t count = 0;
	bool ok = true;

	for (size_t i = 0; i < sql_files_count && count < MAX_PARALLEL; i++)
		if (part_number(&sql_files[i], dataset) == number)
			parts[count++] = (struct part){.cluster = cluster,
			                               .first_fault = &first_fault,
			                               .file = &sql_files[i]};
	for (size_t i = 0; i < count; i++) {
		if (pthread_create(&parts[i].thread, NULL, part_main, &parts[i])) {
			count = i;
			ok = err_set(err, ERR_SYSTEM, "no thread for a part of dataset %s",
			             dataset);
		}
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(parts[i].thread, NULL);
	if (ok && first_fault) {
		*err = atomic_load(&first_fault)->err;
		ok = false;
	}
	return ok;
}

static bool load_dataset(const struct cluster *cluster, const char *dataset, struct err *err)
{
	int number = -1;

	for (;;) {
		int next = -1;

		for (size_t i = 0; i < sql_files_count; i++) {
			int at = part_number(&sql_files[i], dataset);

			if (at > number && (next < 0 || at < next))
				next = at;
		}
		if (next < 0)
			return true;
		number = next;
		if (!load_phase(cluster, dataset, number, err))
			return err_within(err, "dataset %s", dataset);
	}
}

struct build_settings {
	struct cluster_setting items[MAX_SETTINGS];
	char texts[MAX_SETTINGS][2][128];
	size_t count;
};

/* Header lines "-- setting: name = value" of a dataset's parts, for the time of the build. */
static void collect_settings(const char *dataset, struct build_settings *ret)
{
	ret->count = 0;
	for (size_t i = 0; dataset && i < sql_files_count; i++) {
		if (part_number(&sql_files[i], dataset) < 0)
			continue;
		for (const char *at = sql_files[i].text; at && ret->count < MAX_SETTINGS;
		     at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
			char(*text)[128] = ret->texts[ret->count];

			if (sscanf(at, "-- setting: %127[a-z_.] = %127[^\n]", text[0], text[1]) !=
			    2)
				continue;
			ret->items[ret->count] =
			        (struct cluster_setting){.name = text[0], .value = text[1]};
			ret->count++;
		}
	}
}

/* What the build wrote without fsync reaches the disk before the template gets its name. */
static bool flush(const char *path, struct err *err)
{
	CLEANUP(close_p) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		return err_errno(err, "%s", path);
	return true;
}

/* Starts a cluster from a data directory, fills it, stops it, and takes its data directory, in the
   place of an empty folder. */
static bool fill(const struct home *home, const struct server *server, const char *from,
                 const char *dataset, const char *to, struct err *err)
{
	CLEANUP(cluster_destroy_p) struct cluster *cluster = NULL;
	struct build_settings settings;

	collect_settings(dataset, &settings);
	if (!cluster_create(home, server, from, settings.items, settings.count, &cluster, err) ||
	    !cluster_start(cluster, deadline_after(START_WAIT_NS), err) ||
	    !(dataset ? load_dataset(cluster, dataset, err) : install_lab(cluster, err)) ||
	    !cluster_stop(cluster, CLUSTER_STOP_FAST, deadline_after(START_WAIT_NS * 5), err))
		return false;
	if (rename(cluster->data_dir, to) < 0)
		return err_errno(err, "%s", to);
	return flush(to, err);
}

/* A folder new-xxxxxxxxxxxx, whose name nobody knows before it is there; owned. */
static char *new_folder(const struct home *home, struct err *err)
{
	CLEANUP(free_p) char *prefix = fs_join(err, home->root, "templates/new-");

	return prefix ? fs_make_temp_dir(prefix, err) : NULL;
}

static bool build(const struct home *home, const struct server *server, const char *dataset,
                  const char *base, const char *fresh, struct err *err)
{
	if (dataset)
		return fill(home, server, base, dataset, fresh, err);

	CLEANUP(free_p) char *bare = new_folder(home, err);
	struct err ignored;

	if (!bare)
		return false;
	bool ok = (!home->drop || chown(bare, home->server_uid, home->server_gid) == 0 ||
	           err_errno(err, "%s", bare)) &&
	          run_initdb(home, server, bare, err) && write_access(home, bare, err) &&
	          fill(home, server, bare, NULL, fresh, err);
	if (!fs_remove_tree(bare, ok ? err : &ignored))
		ok = false;
	return ok;
}

static bool template_make(const struct home *home, const struct server *server, const char *dataset,
                          const char *base, const struct template_progress *progress,
                          const char *path, struct err *err)
{
	CLEANUP(free_p) char *folder = fs_join(err, home->root, "templates");
	CLEANUP(free_p) char *lock_path = folder ? fs_join(err, folder, "lock") : NULL;
	CLEANUP(close_p) int lock = lock_path ? fs_lock(lock_path, err) : -1;
	struct err ignored;
	char what[160];

	if (lock < 0)
		return false;
	/* Another keylab may have made it while we waited. */
	if (fs_is_dir(path))
		return true;
	if (!registry_remove_unfinished(home, folder, err))
		return false;
	if (progress && progress->begin) {
		snprintf(what, sizeof(what), "%s%s", dataset ? "dataset " : "initdb",
		         dataset ? dataset : "");
		progress->begin(progress->arg, what);
	}
	/* Empty, and replaced when there is a whole one. */
	CLEANUP(free_p) char *fresh = new_folder(home, err);
	/* A server that could write there would decide what later clusters are made of. */
	bool ok = fresh && build(home, server, dataset, base, fresh, err) &&
	          (!home->drop || fs_chown_tree(fresh, geteuid(), getegid(), err)) &&
	          (rename(fresh, path) == 0 || err_errno(err, "%s", path));
	if (!ok && fresh && !fs_remove_tree(fresh, &ignored))
		err_within(err, "(and %s)", ignored.message);
	return ok;
}

bool template_get(const struct home *home, const struct server *server, const char *dataset,
                  const struct template_progress *progress, char **ret_dir, struct err *err)
{
	CLEANUP(free_p) char *base = NULL;
	char key[HASH_TEXT_BYTES];

	if (dataset && !template_get(home, server, NULL, progress, &base, err))
		return false;
	if (!template_key(server, dataset, key, err))
		return false;
	char *path = fs_printf(err, "%s/templates/%s%s%.20s", home->root, dataset ? dataset : "",
	                       dataset ? "-" : "", key);
	if (!path)
		return false;
	if (!fs_is_dir(path) && !template_make(home, server, dataset, base, progress, path, err)) {
		free(path);
		return err_within(err,
		                  "preparing a template in %s (KEYLAB_HOME names another folder)",
		                  home->root);
	}
	*ret_dir = path;
	return true;
}
