/* SPDX-License-Identifier: PostgreSQL */
/*
 * The check of sessions in the written order: what runs in the background,
 * who collects it, and which connections were ever opened. A loop's body is
 * walked twice when its end leaves the sessions other than its start.
 */
#include "scenario/check.h"

#include <string.h>

#define SESSIONS_MAX 64

struct session {
	const char *name;
	bool busy;          /* runs a statement in the background */
	struct place since; /* of that statement */
};

struct sessions {
	struct session items[SESSIONS_MAX];
	size_t count;
};

static struct session *session_find(struct sessions *sessions, const char *name)
{
	for (size_t i = 0; i < sessions->count; i++)
		if (!strcmp(sessions->items[i].name, name))
			return &sessions->items[i];
	return NULL;
}

static void session_remove(struct sessions *sessions, struct session *session)
{
	*session = sessions->items[--sessions->count];
}

static struct session *session_use(struct loader *loader, struct sessions *sessions,
                                   const struct step *step)
{
	struct session *session = session_find(sessions, step->session);

	if (session && session->busy)
		complain(&loader->complaints, step->place,
		         "the session `%s` still runs the statement of line %d in the background; "
		         "join it first, or use another session",
		         session->name, session->since.line);
	if (!session && sessions->count == SESSIONS_MAX) {
		complain(&loader->complaints, step->place, "more than 64 sessions; use fewer");
		return NULL;
	}
	if (!session) {
		session = &sessions->items[sessions->count++];
		*session = (struct session){.name = step->session};
	}
	return session;
}

static void check_join(struct loader *loader, struct sessions *sessions, const struct step *step)
{
	struct session *session = session_find(sessions, step->name);

	if (!session || !session->busy)
		complain(&loader->complaints, node_place(step->node, "join"),
		         "`join` of the session `%s`, which runs nothing in the background here; "
		         "add "
		         "background: true to the step it should wait for, or remove the join",
		         step->name);
	else
		session->busy = false;
}

static void check_close(struct loader *loader, struct sessions *sessions, const struct step *step)
{
	struct session *session = session_find(sessions, step->name);

	if (!session)
		complain(&loader->complaints, node_place(step->node, "close"),
		         "`close` of the session `%s`, which is not open here; no step before it "
		         "uses "
		         "that session",
		         step->name);
	else
		session_remove(sessions, session);
}

static bool same_sessions(const struct sessions *a, struct sessions *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct session *other = session_find(b, a->items[i].name);

		if (!other || other->busy != a->items[i].busy)
			return false;
	}
	return true;
}

static void walk(struct loader *loader, struct sessions *sessions, const struct step *steps,
                 size_t count, size_t loops)
{
	if (loops > LOOP_MAX_DEPTH)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		struct sessions before;
		struct session *session;

		switch (step->verb) {
		case STEP_EACH:
		case STEP_REPEAT:
			before = *sessions;
			walk(loader, sessions, step->steps, step->steps_count, loops + 1);
			if (!same_sessions(&before, sessions))
				walk(loader, sessions, step->steps, step->steps_count, loops + 1);
			break;
		case STEP_JOIN:
			if (step->name)
				check_join(loader, sessions, step);
			break;
		case STEP_CLOSE:
			if (step->name)
				check_close(loader, sessions, step);
			break;
		case STEP_RESTART:
		case STEP_SERVER:
			sessions->count = 0;
			break;
		case STEP_CHECKPOINT:
		case STEP_SET:
		case STEP_WORKERS:
		case STEP_AWAIT:
		case STEP_SIGNAL:
			break;
		default:
			session = session_use(loader, sessions, step);
			if (session && step->background) {
				session->busy = true;
				session->since = step->place;
			}
			break;
		}
	}
}

void check_sessions(struct checker *checker)
{
	struct loader *loader = checker->loader;
	const struct scenario *scenario = loader->scenario;
	struct sessions sessions = {.count = 0};

	walk(loader, &sessions, scenario->steps, scenario->steps_count, 0);
	for (size_t i = 0; i < sessions.count; i++)
		if (sessions.items[i].busy)
			complain(&loader->complaints, sessions.items[i].since,
			         "nothing collects this statement, which runs in the background; "
			         "add "
			         "join: %s or close: %s behind it",
			         sessions.items[i].name, sessions.items[i].name);
}
