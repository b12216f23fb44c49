/* SPDX-License-Identifier: PostgreSQL */
/* What the verbs of workers and faults do. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/walk.h"

static struct group **find_slot(struct walk *walk, const char *name)
{
	struct group **at = &walk->groups;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

void groups_close(struct walk *walk)
{
	while (walk->groups) {
		struct group *group = walk->groups;

		walk->groups = group->next;
		group_destroy(group);
	}
}

/* Faults of a scenario's workers end the scenario; an interrupt or a lack of memory the run. */
static enum walk_end fault(struct walk *walk, const struct step *step, struct err *err)
{
	if (err->kind == ERR_INPUT || err->kind == ERR_ENVIRONMENT)
		return walk_end_at(walk, step, "%s", err->message);
	return WALK_FAILS;
}

static bool record_times(struct walk *walk, const struct step *step, const struct frame *frame,
                         const char *name, struct readings *readings, uint64_t started_ns,
                         int64_t started_us, struct err *err)
{
	CLEANUP(outcome_finish) struct outcome outcome;
	int64_t step_id;

	outcome_init(&outcome);
	outcome.started_us = started_us;
	outcome.duration_ns = clock_now_ns() - started_ns;
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .name = name,
	                                   .outcome = &outcome,
	                                   .readings = readings};
	return walk_record(walk, &record, &step_id, err);
}

/* The group has ended: its figures, its rows, and no more of it. */
static enum walk_end collect(struct walk *walk, const struct step *step, const struct frame *frame,
                             struct group *group, struct err *err)
{
	struct readings readings = {0};
	CLEANUP(outcome_finish) struct outcome outcome;
	int64_t step_id;

	outcome_init(&outcome);
	outcome.started_us = clock_wall_us();
	bool ok = group_readings(group, walk->origin_ns, &readings, err);
	const struct step_record record = {.step = step,
	                                   .frame = frame,
	                                   .name = group->name,
	                                   .outcome = &outcome,
	                                   .readings = &readings};
	ok = ok && walk_record(walk, &record, &step_id, err);
	readings_finish(&readings);
	if (!ok)
		return WALK_FAILS;
	if (group->options.record &&
	    (!walk_control(walk, err) || !group_record(group, walk->control, walk->origin_ns,
	                                               deadline_after(step->deadline_ns), err))) {
		return fault(walk, step, err);
	}
	struct group **slot = find_slot(walk, group->name);
	*slot = group->next;
	group_destroy(group);
	return WALK_GOES_ON;
}

static enum walk_end wait_for(struct walk *walk, const struct step *step, const struct frame *frame,
                              struct group *group, const struct await *what, struct err *err)
{
	uint64_t started_ns = clock_now_ns();
	int64_t started_us = clock_wall_us();

	switch (group_wait(group, what, deadline_after(step->deadline_ns), err)) {
	case GROUP_FAILED:
		return fault(walk, step, err);
	case GROUP_LATE:
		return walk_end_at(walk, step,
		                   "the workers %s had not come to that before the deadline",
		                   group->name);
	case GROUP_MISSED:
		return walk_end_at(walk, step, "the workers %s ended before they came to that",
		                   group->name);
	case GROUP_CAME:
		break;
	}
	if (what->kind == AWAIT_ENDED)
		return collect(walk, step, frame, group, err);
	return record_times(walk, step, frame, NULL, NULL, started_ns, started_us, err)
	               ? WALK_GOES_ON
	               : WALK_FAILS;
}

/* The options with their names replaced; texts live in arena. */
static bool expand_options(struct walk *walk, const struct step *step, const struct scope *scope,
                           struct arena *arena, struct pairs *ret, enum walk_end *ret_end,
                           struct err *err)
{
	ret->items = arena_alloc(arena, (step->settings.count + 1) * sizeof(*ret->items));
	for (size_t i = 0; ret->items && i < step->settings.count; i++) {
		const struct pair *pair = &step->settings.items[i];
		CLEANUP(free_p)
		char *text = walk_expand(walk, step, pair->text, scope, ret_end, err);

		if (!text)
			return false;
		ret->items[ret->count++] =
		        (struct pair){.name = pair->name, .text = arena_strdup(arena, text)};
	}
	if (!arena->failed)
		return true;
	*ret_end = WALK_FAILS;
	return err_set(err, ERR_SYSTEM, "out of memory");
}

enum walk_end walk_workers(struct walk *walk, const struct step *step, const struct scope *scope,
                           const struct frame *frame, struct err *err)
{
	CLEANUP(arena_finish) struct arena arena;
	CLEANUP(buf_finish) struct buf conninfo;
	struct pairs options = {0};
	enum walk_end end = WALK_GOES_ON;
	uint64_t started_ns = clock_now_ns();
	int64_t started_us = clock_wall_us();
	struct group **slot = find_slot(walk, step->name);

	arena_init(&arena, 0);
	buf_init(&conninfo, 0);
	if (*slot)
		return walk_end_at(walk, step, "the workers %s run already; await them first",
		                   step->name);
	if (!expand_options(walk, step, scope, &arena, &options, &end, err))
		return end;
	if (!conn_string(walk->cluster, walk->database, &conninfo, err))
		return WALK_FAILS;
	if (!group_start(step->name, &options, conninfo.data, deadline_after(step->deadline_ns),
	                 slot, err))
		return fault(walk, step, err);
	if (!step->background) {
		const struct await ended = {.kind = AWAIT_ENDED};

		return wait_for(walk, step, frame, *slot, &ended, err);
	}
	return record_times(walk, step, frame, NULL, NULL, started_ns, started_us, err)
	               ? WALK_GOES_ON
	               : WALK_FAILS;
}

static enum walk_end no_group(struct walk *walk, const struct step *step)
{
	return walk_end_at(walk, step, "no workers %s run here", step->name);
}

enum walk_end walk_await(struct walk *walk, const struct step *step, const struct scope *scope,
                         const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p)
	char *until =
	        walk_expand(walk, step, step->until ? step->until : "ended", scope, &end, err);
	struct group *group = *find_slot(walk, step->name);
	struct await what;

	if (!until)
		return end;
	if (!group)
		return no_group(walk, step);
	if (!await_parse(until, &what))
		return walk_end_at(walk, step, "`until` is \"%s\", which nothing can come to",
		                   until);
	return wait_for(walk, step, frame, group, &what, err);
}

static bool read_process(const char *text, const struct group *group, uint32_t *ret)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 1 || number > (long)group->options.processes)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* A fault's moments are samples of the group: kill_at_ns, stop_at_ns, continue_at_ns. */
enum walk_end walk_signal(struct walk *walk, const struct step *step, const struct scope *scope,
                          const struct frame *frame, struct err *err)
{
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p)
	char *text = walk_expand(walk, step, step->process ? step->process : "1", scope, &end, err);
	struct group *group = *find_slot(walk, step->name);
	struct readings readings = {0};
	uint64_t started_ns = clock_now_ns();
	int64_t started_us = clock_wall_us();
	char metric[32], at[32], labels[32] = "{}";
	uint32_t process = 0;

	if (!text)
		return end;
	if (!group)
		return no_group(walk, step);
	if (step->process && !read_process(text, group, &process))
		return walk_end_at(walk, step, "`process` is \"%s\"; the workers %s are 1 to %u",
		                   text, group->name, group->options.processes);
	int number = !strcmp(step->send, "kill")   ? SIGKILL
	             : !strcmp(step->send, "stop") ? SIGSTOP
	                                           : SIGCONT;
	if (!group_signal(group, process, number, err))
		return fault(walk, step, err);
	snprintf(metric, sizeof(metric), "%s_at_ns", step->send);
	snprintf(at, sizeof(at), "%llu", (unsigned long long)(started_ns - walk->origin_ns));
	if (process)
		snprintf(labels, sizeof(labels), "{\"process\":%u}", process);
	bool ok = readings_add(&readings, metric, "timing", at, labels, err) &&
	          record_times(walk, step, frame, group->name, &readings, started_ns, started_us,
	                       err);
	readings_finish(&readings);
	return ok ? WALK_GOES_ON : WALK_FAILS;
}

/* What the device has not got of a server that is killed now is gone. */
static bool power_off(struct walk *walk, const struct step *step, struct readings *readings,
                      struct err *err)
{
	uint64_t pages = 0;

	bool ok = cluster_stop(walk->cluster, CLUSTER_STOP_KILL, deadline_after(step->deadline_ns),
	                       err);
	sessions_close(walk);
	return ok && cluster_drop_unsynced(walk->cluster, &pages, err) &&
	       readings_add_int(readings, "lost_pages", "event", (int64_t)pages, err);
}

/* Ends the server in the step's way, or starts it again. */
static bool change_server(struct walk *walk, const struct step *step, struct readings *readings,
                          struct err *err)
{
	enum cluster_stop_mode mode = CLUSTER_STOP_KILL;

	if (!strcmp(step->name, "sync"))
		return cluster_sync(walk->cluster, err);
	if (!strcmp(step->name, "power-off"))
		return power_off(walk, step, readings, err);
	if (!strcmp(step->name, "start")) {
		if (cluster_is_running(walk->cluster))
			return err_set(err, ERR_ENVIRONMENT, "the server runs already");
		return cluster_start(walk->cluster, deadline_after(step->deadline_ns), err);
	}
	if (!strcmp(step->name, "fast")) {
		mode = CLUSTER_STOP_FAST;
		/* A clean end waits for sessions that are in a transaction: they go first. */
		sessions_close(walk);
	} else if (!strcmp(step->name, "immediate")) {
		mode = CLUSTER_STOP_IMMEDIATE;
	}
	bool ok = cluster_stop(walk->cluster, mode, deadline_after(step->deadline_ns), err);
	sessions_close(walk);
	return ok;
}

/* How far each group has come: what it issues from here on, it issues in the server's new state. */
static bool add_progress(struct walk *walk, const char *mode, struct readings *readings,
                         struct err *err)
{
	for (struct group *group = walk->groups; group; group = group->next) {
		char metric[32], count[32], labels[96];

		snprintf(metric, sizeof(metric), "%s_issued_ids", mode);
		snprintf(count, sizeof(count), "%llu", (unsigned long long)group_issued(group));
		snprintf(labels, sizeof(labels), "{\"workers\":\"%.60s\"}", group->name);
		if (!readings_add(readings, metric, "event", count, labels, err))
			return false;
	}
	return true;
}

/* Its moments are samples of the step `server`: kill_at_ns and kill_done_ns, and so on. */
enum walk_end walk_server(struct walk *walk, const struct step *step, const struct scope *scope,
                          const struct frame *frame, struct err *err)
{
	struct readings readings = {0};
	uint64_t started_ns = clock_now_ns();
	int64_t started_us = clock_wall_us();
	char metric[32];
	/* Names of metrics have no hyphen. */
	const char *mode = !strcmp(step->name, "power-off") ? "power_off" : step->name;

	(void)scope;
	if (!change_server(walk, step, &readings, err)) {
		readings_finish(&readings);
		/* A machine that cannot show it does not make the claims false. */
		walk->cannot = err->kind == ERR_ENVIRONMENT && !strcmp(step->name, "sync");
		return err->kind == ERR_INTERRUPTED ? WALK_FAILS : fault(walk, step, err);
	}
	if (!add_progress(walk, mode, &readings, err)) {
		readings_finish(&readings);
		return WALK_FAILS;
	}
	snprintf(metric, sizeof(metric), "%s_at_ns", mode);
	bool ok = readings_add_int(&readings, metric, "timing",
	                           (int64_t)(started_ns - walk->origin_ns), err);
	snprintf(metric, sizeof(metric), "%s_done_ns", mode);
	ok = ok &&
	     readings_add_int(&readings, metric, "timing",
	                      (int64_t)(clock_now_ns() - walk->origin_ns), err) &&
	     record_times(walk, step, frame, "server", &readings, started_ns, started_us, err);
	readings_finish(&readings);
	return ok ? WALK_GOES_ON : WALK_FAILS;
}
