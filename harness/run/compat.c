/* SPDX-License-Identifier: PostgreSQL */
/* Functions of sql/compat for servers that lack them, in a scenario's database. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "run/walk.h"
#include "sql.h"

#define COMPAT_MAX 16
#define COMPAT_WAIT_NS (60 * NS_PER_S)

/* The embedded file of compat/NAME.sql; NULL. */
static const struct sql_file *find_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "compat/%s.sql", name);
	for (size_t i = 0; i < sql_files_count; i++)
		if (!strcmp(sql_files[i].name, path))
			return &sql_files[i];
	return NULL;
}

const char *const *compat_names(void)
{
	static char texts[COMPAT_MAX][64];
	static const char *names[COMPAT_MAX + 1];
	size_t count = 0;

	for (size_t i = 0; i < sql_files_count && count < COMPAT_MAX; i++) {
		const char *stem = sql_files[i].name + strlen("compat/");

		if (strncmp(sql_files[i].name, "compat/", strlen("compat/")))
			continue;
		snprintf(texts[count], sizeof(texts[count]), "%.*s", (int)strcspn(stem, "."), stem);
		names[count] = texts[count];
		count++;
	}
	names[count] = NULL;
	return names;
}

static bool install_file(struct walk *walk, const char *name, struct err *err)
{
	const struct sql_file *file = find_file(name);
	CLEANUP(outcome_finish) struct outcome outcome;

	outcome_init(&outcome);
	if (!file)
		return err_set(err, ERR_INPUT, "there is no sql/compat/%s.sql", name);
	if (!conn_run(walk->control, file->text, deadline_after(COMPAT_WAIT_NS), &outcome, err))
		return false;
	if (outcome.kind != OUTCOME_OK)
		return err_set(err, ERR_ENVIRONMENT, "sql/compat/%s.sql: %s %s", name,
		               outcome.sqlstate, outcome.message.data);
	return true;
}

bool compat_install(struct walk *walk, struct err *err)
{
	const struct texts *compat = &walk->scenario->cluster.compat;

	for (size_t i = 0; i < compat->count; i++)
		if (!install_file(walk, compat->items[i], err))
			return false;
	return true;
}
