/* SPDX-License-Identifier: PostgreSQL */
/* From --pg and --pg-bin to servers. */
#include "cmd/builds.h"

#include <stdlib.h>
#include <string.h>

void builds_finish(struct builds *builds)
{
	for (size_t i = 0; i < BUILDS_MAX; i++) {
		server_list_finish(&builds->lists[i]);
		free(builds->names[i]);
	}
	*builds = (struct builds){0};
}

static bool add(struct builds *builds, const struct server *server, const char *name, size_t len,
                struct err *err)
{
	if (builds->count == BUILDS_MAX)
		return err_set(err, ERR_USAGE, "at most %d servers side by side", BUILDS_MAX);
	for (size_t i = 0; i < builds->count; i++)
		if (name && builds->names[i] && strlen(builds->names[i]) == len &&
		    !strncmp(builds->names[i], name, len))
			return err_set(err, ERR_USAGE, "two servers are called %.*s", (int)len,
			               name);
	builds->names[builds->count] = name ? strndup(name, len) : NULL;
	if (name && !builds->names[builds->count])
		return err_set(err, ERR_SYSTEM, "out of memory");
	builds->servers[builds->count++] = server;
	return true;
}

/* NAME=DIR has its = before any slash. */
static size_t name_len(const char *bin)
{
	size_t len = strcspn(bin, "=/");

	return bin[len] == '=' ? len : 0;
}

static bool add_bin(struct builds *builds, const struct home *home, const char *bin,
                    struct err *err)
{
	size_t len = name_len(bin);
	struct server_list *list = &builds->lists[builds->count];

	if (!find_servers(home, len ? bin + len + 1 : bin, list, err))
		return false;
	if (!list->count)
		return err_set(err, ERR_ENVIRONMENT, "no server programs in %s", bin);
	return add(builds, list->items[0], len ? bin : NULL, len, err);
}

/* The pinned one of a major version is the same on every machine, so it comes first. */
static const struct server *of_major(const struct server_list *list, int major)
{
	const struct server *found = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct server *server = list->items[i];

		if (server->version_num / 10000 == major &&
		    (!found || (server->origin == SERVER_PINNED && found->origin != SERVER_PINNED)))
			found = server;
	}
	return found;
}

static bool add_majors(struct builds *builds, const struct home *home, const char *majors,
                       struct err *err)
{
	/* The list that all of them are from; the last place, which no --pg-bin takes. */
	struct server_list *list = &builds->lists[BUILDS_MAX - 1];
	char *end;

	if (!find_servers(home, NULL, list, err))
		return false;
	for (const char *at = majors;; at = end + 1) {
		long major = strtol(at, &end, 10);

		if (end == at || (*end && *end != ',') || major < SERVER_OLDEST_MAJOR || major > 99)
			return err_set(err, ERR_USAGE,
			               "--pg %s: write major versions from %d on, as in 16,17,18",
			               majors, SERVER_OLDEST_MAJOR);
		const struct server *server = of_major(list, (int)major);
		if (!server)
			return err_set(err, ERR_ENVIRONMENT,
			               "no PostgreSQL %ld was found; ./run.sh fetch %ld fetches "
			               "the pinned one",
			               major, major);
		if (!add(builds, server, at, (size_t)(end - at), err))
			return false;
		if (!*end)
			return true;
	}
}

static bool find_default(struct builds *builds, const struct home *home, int needed_major,
                         struct err *err)
{
	if (!find_servers(home, NULL, &builds->lists[0], err))
		return false;
	const struct server *server = server_pick(&builds->lists[0], needed_major);
	if (!server)
		return err_set(err, ERR_ENVIRONMENT,
		               "no PostgreSQL server programs found; ./run.sh fetches the pinned "
		               "ones, or name a folder with --pg-bin (keylab doctor says what was "
		               "looked at)");
	return add(builds, server, NULL, 0, err);
}

bool builds_find(const struct builds_wanted *wanted, const struct home *home, int needed_major,
                 struct builds *ret, struct err *err)
{
	struct builds builds = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < wanted->bins_count; i++)
		ok = add_bin(&builds, home, wanted->bins[i], err);
	if (ok && wanted->majors && wanted->bins_count == BUILDS_MAX)
		ok = err_set(err, ERR_USAGE, "at most %d servers side by side", BUILDS_MAX);
	if (ok && wanted->majors)
		ok = add_majors(&builds, home, wanted->majors, err);
	if (ok && !builds.count)
		ok = find_default(&builds, home, needed_major, err);
	if (!ok) {
		builds_finish(&builds);
		return false;
	}
	*ret = builds;
	return true;
}
