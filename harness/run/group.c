/* SPDX-License-Identifier: PostgreSQL */
/* Starting, watching and ending a group of workers. */
#include "run/group.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"

/* A journal is looked at this often while something in it is waited for. */
#define LOOK_MS 1
#define GONE_WAIT_NS (30 * NS_PER_S)

static char *make_spec(const char *name, const struct pairs *pairs, const char *conninfo,
                       struct err *err)
{
	json_t *options = json_object();
	bool ok = options != NULL;

	for (size_t i = 0; i < pairs->count; i++)
		ok = ok && !json_object_set_new(options, pairs->items[i].name,
		                                json_string(pairs->items[i].text));
	json_t *root = ok ? json_pack("{s:s, s:s, s:O}", "conninfo", conninfo, "name", name,
	                              "options", options)
	                  : NULL;
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	json_decref(options);
	if (!text)
		err_set(err, ERR_INPUT, "the options of the workers %s are not UTF-8, or too long",
		        name);
	return text;
}

static bool start_one(struct group *group, uint32_t index, struct err *err)
{
	char number[16];
	/* This very program, whatever has become of its file. */
	const char *const argv[] = {"/proc/self/exe", "worker", number, NULL};
	const struct proc_spec spec = {
	        .argv = argv,
	        .stdin_fd = group->fd,
	        .stdout_fd = -1,
	        .stderr_fd = -1,
	        .death_signal = SIGKILL,
	};

	snprintf(number, sizeof(number), "%u", index + 1);
	return proc_start(&spec, &group->procs[index], err);
}

static bool copy_pairs(struct group *group, const struct pairs *pairs, struct pairs *ret,
                       struct err *err)
{
	ret->items = arena_alloc(&group->arena, (pairs->count + 1) * sizeof(*ret->items));
	for (size_t i = 0; ret->items && i < pairs->count; i++)
		ret->items[ret->count++] =
		        (struct pair){.name = arena_strdup(&group->arena, pairs->items[i].name),
		                      .text = arena_strdup(&group->arena, pairs->items[i].text)};
	return !group->arena.failed || err_set(err, ERR_SYSTEM, "out of memory");
}

static void note_end(struct group *group, uint32_t index)
{
	if (!group->ended[index] && group->procs[index].pid &&
	    proc_ended(&group->procs[index], &group->status[index]))
		group->ended[index] = true;
}

/* What a worker that ended by itself has against its work; NULL when nothing. */
static const char *failure_of(struct group *group, uint32_t index, char *text, size_t size)
{
	if (!group->ended[index] || group->killed[index] || !group->status[index])
		return NULL;
	if (group->journal->process[index].failure[0])
		return group->journal->process[index].failure;
	return proc_status_text(group->status[index], text, size);
}

static bool check_failures(struct group *group, struct err *err)
{
	char text[64];

	for (uint32_t i = 0; i < group->options.processes; i++) {
		note_end(group, i);
		const char *failure = failure_of(group, i, text, sizeof(text));
		if (failure)
			return err_set(err, ERR_ENVIRONMENT, "worker %s-%u: %s", group->name, i + 1,
			               failure);
	}
	return true;
}

static bool wait_ready(struct group *group, uint64_t deadline_ns, struct err *err)
{
	for (;;) {
		uint32_t ready = 0;

		if (!interrupt_check(err) || !check_failures(group, err))
			return false;
		for (uint32_t i = 0; i < group->options.processes; i++)
			ready += atomic_load(&group->journal->process[i].state) == JOURNAL_READY;
		if (ready == group->options.processes)
			return true;
		if (deadline_passed(deadline_ns))
			return err_set(err, ERR_ENVIRONMENT,
			               "%u of %u workers %s were ready before the deadline", ready,
			               group->options.processes, group->name);
		poll(NULL, 0, LOOK_MS);
	}
}

static bool start_all(struct group *group, const char *spec, uint64_t deadline_ns, struct err *err)
{
	const struct worker_options *options = &group->options;

	if (!journal_create(options->processes, options->threads, options->ids, spec,
	                    &group->journal, &group->fd, err))
		return false;
	for (uint32_t i = 0; i < options->processes; i++)
		if (!start_one(group, i, err))
			return false;
	if (!wait_ready(group, deadline_ns, err))
		return false;
	journal_go(group->journal);
	return true;
}

bool group_start(const char *name, const struct pairs *pairs, const char *conninfo,
                 uint64_t deadline_ns, struct group **ret, struct err *err)
{
	struct group *group = calloc(1, sizeof(*group));
	struct pairs own = {0};

	if (!group)
		return err_set(err, ERR_SYSTEM, "out of memory");
	arena_init(&group->arena, 0);
	group->fd = -1;
	for (size_t i = 0; i < JOURNAL_PROCESSES_MAX; i++)
		group->procs[i] = PROC_NONE;
	group->name = fs_printf(err, "%s", name);
	CLEANUP(free_p) char *spec = group->name ? make_spec(name, pairs, conninfo, err) : NULL;
	if (spec && copy_pairs(group, pairs, &own, err) &&
	    worker_options_read(&own, &group->options, err) &&
	    start_all(group, spec, deadline_ns, err)) {
		*ret = group;
		return true;
	}
	group_destroy(group);
	return false;
}

void group_destroy(struct group *group)
{
	if (!group)
		return;
	for (size_t i = 0; i < JOURNAL_PROCESSES_MAX; i++)
		if (!group->ended[i])
			proc_kill(&group->procs[i]);
	journal_unmap(group->journal);
	close_p(&group->fd);
	arena_finish(&group->arena);
	free(group->name);
	free(group);
}

/* ---- waiting ---- */

bool group_has_ended(struct group *group)
{
	bool all = true;

	for (uint32_t i = 0; i < group->options.processes; i++) {
		note_end(group, i);
		all = all && group->ended[i];
	}
	return all;
}

struct totals {
	uint64_t issued, failed;
};

static struct totals count_all(struct group *group)
{
	struct totals totals = {0};

	for (uint32_t p = 0; p < group->options.processes; p++)
		for (uint32_t t = 0; t < group->options.threads; t++) {
			struct journal_thread *thread = journal_thread_of(group->journal, p, t);

			totals.issued += atomic_load(&thread->issued);
			totals.failed +=
			        atomic_load(&thread->refused) + atomic_load(&thread->cut_off);
		}
	return totals;
}

uint64_t group_issued(struct group *group)
{
	return count_all(group).issued;
}

/* The third field of /proc/PID/stat, behind the name in brackets (proc(5)). */
static bool is_stopped(pid_t pid)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	const char *bracket = strrchr(text, ')');
	return bracket && bracket[1] == ' ' && bracket[2] == 'T';
}

/* All that live have stopped themselves, and there is one at least. */
static bool all_frozen(struct group *group)
{
	uint32_t frozen = 0, living = 0;

	for (uint32_t i = 0; i < group->options.processes; i++) {
		if (group->ended[i])
			continue;
		living++;
		frozen += atomic_load(&group->journal->process[i].state) == JOURNAL_FROZEN &&
		          is_stopped(group->procs[i].pid);
	}
	return living && frozen == living;
}

static bool has_come(struct group *group, const struct await *what, struct totals before,
                     bool ended)
{
	struct totals now = count_all(group);

	switch (what->kind) {
	case AWAIT_ENDED:
		return ended;
	case AWAIT_FROZEN:
		return all_frozen(group);
	case AWAIT_IDS:
		return now.issued >= what->count;
	case AWAIT_MORE_IDS:
		return now.issued >= before.issued + what->count;
	case AWAIT_REFUSALS:
		return now.failed >= before.failed + what->count;
	case AWAIT_TIME:
		break;
	}
	return deadline_passed(atomic_load(&group->journal->started_ns) + what->wait_ns);
}

enum group_wait group_wait(struct group *group, const struct await *what, uint64_t deadline_ns,
                           struct err *err)
{
	struct totals before = count_all(group);

	for (;;) {
		if (!interrupt_check(err) || !check_failures(group, err))
			return GROUP_FAILED;
		/* First the end: what they did until then counts. */
		bool ended = group_has_ended(group);
		if (has_come(group, what, before, ended))
			return GROUP_CAME;
		if (ended && what->kind != AWAIT_TIME)
			return GROUP_MISSED;
		if (deadline_passed(deadline_ns))
			return GROUP_LATE;
		poll(NULL, 0, LOOK_MS);
	}
}

/* ---- faults ---- */

static bool wait_stopped(struct group *group, uint32_t index, struct err *err)
{
	uint64_t deadline_ns = deadline_after(GONE_WAIT_NS);

	while (!is_stopped(group->procs[index].pid)) {
		note_end(group, index);
		if (group->ended[index])
			return true;
		if (!interrupt_check(err))
			return false;
		if (deadline_passed(deadline_ns))
			return err_set(err, ERR_SYSTEM, "worker %s-%u does not stop", group->name,
			               index + 1);
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

bool group_signal(struct group *group, uint32_t process, int signal_number, struct err *err)
{
	for (uint32_t i = 0; i < group->options.processes; i++) {
		note_end(group, i);
		if (group->ended[i] || (process && process != i + 1))
			continue;
		proc_signal(&group->procs[i], signal_number);
		if (signal_number == SIGSTOP && !wait_stopped(group, i, err))
			return false;
		if (signal_number != SIGKILL)
			continue;
		group->killed[i] = true;
		if (!proc_wait(&group->procs[i], deadline_after(GONE_WAIT_NS), &group->status[i],
		               err))
			return err_within(err, "worker %s-%u after SIGKILL", group->name, i + 1);
		group->ended[i] = true;
	}
	return true;
}
