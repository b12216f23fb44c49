/* SPDX-License-Identifier: PostgreSQL */
/* Looking for server binaries. */
#include "pg/server.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"

#define ASK_WAIT_NS (20 * NS_PER_S)

const char *server_origin_name(enum server_origin origin)
{
	static const char *const names[] = {
#define X(name, text) [SERVER_##name] = text,
	        SERVER_ORIGINS(X)
#undef X
	};
	return names[origin];
}

static void server_destroy(struct server *server)
{
	if (!server)
		return;
	free(server->bin_dir);
	free(server->found_in);
	free(server->version);
	free(server);
}

/* Runs PROGRAM ARG and keeps the first line that it prints. */
static char *ask(const struct home *home, const char *program, const char *arg, struct err *err)
{
	const char *const argv[] = {program, arg, NULL};
	struct proc_spec spec = {.argv = argv, .dir = "/"};
	struct proc_result result;
	char *line = NULL;
	char text[64];

	if (home && home->drop) {
		spec.drop = true;
		spec.uid = home->server_uid;
		spec.gid = home->server_gid;
	}
	if (proc_run(&spec, NULL, 65536, deadline_after(ASK_WAIT_NS), &result, err)) {
		result.out.data[strcspn(result.out.data, "\n")] = '\0';
		if (result.status != 0)
			err_set(err, ERR_ENVIRONMENT, "%s %s %s: %.400s", program, arg,
			        proc_status_text(result.status, text, sizeof(text)),
			        result.errors.data);
		else
			line = fs_printf(err, "%s", result.out.data);
	}
	buf_finish(&result.out);
	buf_finish(&result.errors);
	return line;
}

/*
 * Copies an installation (bin, lib, share beside each other) to where the
 * server user can read it; once for each build and place, since what lies
 * beside the same `postgres` elsewhere may be another's.
 */
static bool relocate(struct server *server, const struct home *home, struct err *err)
{
	CLEANUP(free_p) char *from = fs_printf(err, "%s/..", server->bin_dir);
	CLEANUP(free_p) char *share = fs_printf(err, "%s/../share", server->bin_dir);
	CLEANUP(free_p) char *which = fs_printf(err, "%s %s", server->sha256, server->found_in);
	char key[HASH_TEXT_BYTES];
	if (!which || !hash_bytes(which, strlen(which), key, err))
		return false;
	CLEANUP(free_p) char *to = fs_printf(err, "%s/servers/%.16s", home->root, key);
	CLEANUP(free_p) char *bin = fs_printf(err, "%s/servers/%.16s/bin", home->root, key);
	struct err inner;

	if (!from || !share || !to || !bin)
		return false;
	if (!fs_is_dir(share))
		return err_set(err, ERR_ENVIRONMENT,
		               "user %s may not read %s, and it is no self-contained installation "
		               "that could be copied (no share folder beside it); move it to where "
		               "everybody can read it",
		               home->server_name, server->found_in);
	CLEANUP(free_p) char *lock_path = fs_printf(err, "%s/servers/lock", home->root);
	CLEANUP(close_p) int lock = lock_path ? fs_lock(lock_path, err) : -1;
	if (lock < 0)
		return false;
	if (!fs_is_dir(to)) {
		CLEANUP(free_p) char *prefix = fs_printf(err, "%s/servers/new-", home->root);
		CLEANUP(free_p) char *parent = prefix ? fs_make_temp_dir(prefix, err) : NULL;
		CLEANUP(free_p) char *fresh = parent ? fs_join(err, parent, "copy") : NULL;

		if (!fresh || !fs_copy_tree(from, fresh, (uid_t)-1, (gid_t)-1, err))
			return false;
		if (rename(fresh, to) < 0)
			return err_errno(err, "%s", to);
		if (!fs_remove_tree(parent, &inner))
			return err_set(err, ERR_SYSTEM, "%s", inner.message);
	}
	free(server->bin_dir);
	server->bin_dir = fs_printf(err, "%s", bin);
	return server->bin_dir != NULL;
}

static bool read_version(struct server *server, const struct home *home, const char *postgres,
                         struct err *err)
{
	int major = 0, minor = 0;
	CLEANUP(free_p) char *line = ask(home, postgres, "--version", err);

	if (!line)
		return false;
	/* "postgres (PostgreSQL) 18.4", "… 19devel", "… 18.4 (Debian …)" */
	const char *number = strstr(line, ") ");
	int got = number ? sscanf(number + 2, "%d.%d", &major, &minor) : 0;
	if (got < 1)
		return err_set(err, ERR_ENVIRONMENT, "%s is no PostgreSQL server: it says \"%s\"",
		               postgres, line);
	server->version_num = major * 10000 + minor;
	server->version = fs_printf(err, "PostgreSQL %s", number + 2);
	if (!server->version)
		return false;
	if (major < SERVER_OLDEST_MAJOR)
		return err_set(err, ERR_ENVIRONMENT, "%s is too old: keylab needs %d or later",
		               server->version, SERVER_OLDEST_MAJOR);
	return true;
}

/* Looks at one bin folder. */
static bool server_look(const char *bin_dir, enum server_origin origin, const struct home *home,
                        struct server **ret, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));
	CLEANUP(free_p) char *postgres = fs_join(err, bin_dir, "postgres");
	CLEANUP(free_p) char *initdb = fs_join(err, bin_dir, "initdb");
	CLEANUP(free_p) char *now = NULL;

	if (!server || !postgres || !initdb) {
		free(server);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	server->origin = origin;
	server->found_in = fs_absolute(err, bin_dir);
	server->bin_dir = server->found_in ? fs_printf(err, "%s", server->found_in) : NULL;
	if (!server->bin_dir)
		goto fail;
	if (!fs_is_executable(postgres) || !fs_is_executable(initdb)) {
		err_set(err, ERR_ENVIRONMENT, "%s does not hold the programs initdb and postgres",
		        bin_dir);
		goto fail;
	}
	if (!hash_file(postgres, server->sha256, err))
		goto fail;
	if (!home_server_can_read(home, postgres) && !relocate(server, home, err))
		goto fail;
	now = fs_join(err, server->bin_dir, "postgres");
	if (!now || !read_version(server, home, now, err))
		goto fail;
	*ret = server;
	return true;
fail:
	server_destroy(server);
	return false;
}

struct search {
	const struct home *home;
	struct server_list *list;
	struct buf rejected;
};

static bool list_has(const struct server_list *list, const struct server *server)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i]->sha256, server->sha256))
			return true;
	return false;
}

/* A candidate that was not named: silently skipped when there is nothing there. */
static bool add_candidate(struct search *search, const char *bin_dir, enum server_origin origin,
                          struct err *err)
{
	CLEANUP(free_p) char *postgres = fs_join(err, bin_dir, "postgres");
	struct server *server;
	struct err why = {0};

	if (!postgres)
		return false;
	if (!fs_exists(postgres))
		return true;
	if (!server_look(bin_dir, origin, search->home, &server, &why)) {
		buf_printf(&search->rejected, "%s (%s): %s\n", bin_dir, server_origin_name(origin),
		           why.message);
		return true;
	}
	if (list_has(search->list, server)) {
		server_destroy(server);
		return true;
	}
	struct server **grown =
	        realloc(search->list->items, (search->list->count + 1) * sizeof(struct server *));
	if (!grown) {
		server_destroy(server);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	search->list->items = grown;
	grown[search->list->count++] = server;
	return true;
}

static bool add_each(struct search *search, const char *colon_list, enum server_origin origin,
                     struct err *err)
{
	CLEANUP(free_p) char *copy = strdup(colon_list);
	char *rest = NULL;

	if (!copy)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (char *dir = strtok_r(copy, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest))
		if (dir[0] == '/' && !add_candidate(search, dir, origin, err))
			return false;
	return true;
}

/* Debian, Fedora and RHEL (PGDG), Homebrew, newest major first. */
static bool add_distribution(struct search *search, struct err *err)
{
	static const char *const patterns[] = {
	        "/usr/lib/postgresql/%d/bin",
	        "/usr/pgsql-%d/bin",
	        "/opt/homebrew/opt/postgresql@%d/bin",
	        "/usr/local/opt/postgresql@%d/bin",
	};

	for (int major = 30; major >= SERVER_OLDEST_MAJOR; major--) {
		for (size_t i = 0; i < COUNT_OF(patterns); i++) {
			char dir[128];

			/* The patterns above are the only formats. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(dir, sizeof(dir), patterns[i], major);
#pragma GCC diagnostic pop
			if (!add_candidate(search, dir, SERVER_DISTRIBUTION, err))
				return false;
		}
	}
	return true;
}

/* A folder that was asked for by name must be usable. */
static bool add_named(struct search *search, const char *bin_dir, enum server_origin origin,
                      struct err *err)
{
	struct server *server;

	if (!server_look(bin_dir, origin, search->home, &server, err))
		return err_within(err, "%s", server_origin_name(origin));
	search->list->items = malloc(sizeof(struct server *));
	if (!search->list->items) {
		server_destroy(server);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	search->list->items[0] = server;
	search->list->count = 1;
	return true;
}

static bool find_all(struct search *search, const struct server_search *where, struct err *err)
{
	if (where->named)
		return add_named(search, where->named, SERVER_NAMED, err);
	if (where->pg_config) {
		CLEANUP(free_p) char *dir = ask(NULL, where->pg_config, "--bindir", err);

		if (!dir)
			return err_within(err, "PG_CONFIG");
		return add_named(search, dir, SERVER_CONFIG, err);
	}
	return (!where->path || add_each(search, where->path, SERVER_PATH, err)) &&
	       add_distribution(search, err) &&
	       (!where->pinned || add_each(search, where->pinned, SERVER_PINNED, err));
}

bool server_find(const struct server_search *where, const struct home *home,
                 struct server_list *ret, struct err *err)
{
	struct server_list list = {0};
	struct search search = {.home = home, .list = &list};

	buf_init(&search.rejected, 0);
	if (!find_all(&search, where, err) || !(list.rejected = buf_steal(&search.rejected, err))) {
		buf_finish(&search.rejected);
		server_list_finish(&list);
		return false;
	}
	*ret = list;
	return true;
}

void server_list_finish(struct server_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		server_destroy(list->items[i]);
	free(list->items);
	free(list->rejected);
	*list = (struct server_list){0};
}

const struct server *server_pick(const struct server_list *list, int major)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->version_num / 10000 >= major)
			return list->items[i];
	return list->count ? list->items[0] : NULL;
}
