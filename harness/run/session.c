/* SPDX-License-Identifier: PostgreSQL */
/* Named sessions of a scenario, and what servers tell them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/walk.h"

void pending_destroy(struct pending *pending)
{
	while (pending) {
		struct pending *next = pending->next;

		free(pending->kind);
		free(pending->payload);
		free(pending);
		pending = next;
	}
}

/* The lab schema speaks by RAISE INFO: "lab.prove" or "lab.record", the payload in the detail. */
static void on_notice(void *arg, const char *severity, const char *sqlstate, const char *message,
                      const char *detail)
{
	struct session *session = arg;

	(void)sqlstate;
	if (strcmp(severity, "INFO") ||
	    (strcmp(message, "lab.prove") && strcmp(message, "lab.record")))
		return;
	struct pending *pending = calloc(1, sizeof(*pending));
	if (!pending || !(pending->kind = strdup(message)) ||
	    !(pending->payload = strdup(detail))) {
		pending_destroy(pending);
		session->lost = true;
		return;
	}
	if (session->pending_last)
		session->pending_last->next = pending;
	else
		session->pending = pending;
	session->pending_last = pending;
}

struct pending *session_take_pending(struct session *session)
{
	struct pending *pending = session->pending;

	session->pending = session->pending_last = NULL;
	return pending;
}

static struct session *session_find(struct walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->sessions_count; i++)
		if (!strcmp(walk->sessions[i].name, name))
			return &walk->sessions[i];
	return NULL;
}

bool session_get(struct walk *walk, const char *name, struct session **ret, struct err *err)
{
	struct session *session = session_find(walk, name);

	if (!session) {
		if (walk->sessions_count == SESSIONS_MAX || strlen(name) >= sizeof(session->name))
			return err_set(err, ERR_INPUT,
			               "session \"%s\": more than %d, or too long a name", name,
			               SESSIONS_MAX);
		session = &walk->sessions[walk->sessions_count++];
		*session = (struct session){.walk = walk};
		memcpy(session->name, name, strlen(name) + 1);
	}
	/* One that the server ended is opened anew, like any client would. */
	if (session->conn && !session->sent && !conn_is_alive(session->conn))
		session_close(session);
	if (!session->conn) {
		if (!conn_open(walk->cluster, walk->database, name, &session->conn, err))
			return err_within(err, "session %s", name);
		conn_on_notice(session->conn, on_notice, session);
	}
	*ret = session;
	return true;
}

void session_close(struct session *session)
{
	conn_close(session->conn);
	session->conn = NULL;
	session->sent = NULL;
	free(session->sent_sql);
	session->sent_sql = NULL;
	pending_destroy(session_take_pending(session));
}

void sessions_close(struct walk *walk)
{
	for (size_t i = 0; i < walk->sessions_count; i++)
		session_close(&walk->sessions[i]);
	conn_close(walk->control);
	walk->control = NULL;
}

bool walk_control(struct walk *walk, struct err *err)
{
	if (walk->control && conn_is_alive(walk->control))
		return true;
	conn_close(walk->control);
	walk->control = NULL;
	return conn_open(walk->cluster, walk->database, "keylab", &walk->control, err);
}
