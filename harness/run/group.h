/* SPDX-License-Identifier: PostgreSQL */
/*
 * A group of workers as keylab sees it: started together, waited for, killed
 * and stopped, and in the end read out of its journal into samples and, where
 * the step says so, into a table.
 */
#ifndef KEYLAB_RUN_GROUP_H
#define KEYLAB_RUN_GROUP_H

#include "base/proc.h"
#include "pg/meter.h"
#include "run/journal.h"
#include "run/worker_options.h"

struct walk;

struct group {
	struct group *next;
	char *name;         /* owned */
	struct arena arena; /* of the texts that options borrow */
	struct worker_options options;
	struct journal *journal;
	int fd; /* of the journal */
	struct proc procs[JOURNAL_PROCESSES_MAX];
	int status[JOURNAL_PROCESSES_MAX]; /* wait(2)'s, once it has ended */
	bool ended[JOURNAL_PROCESSES_MAX];
	bool killed[JOURNAL_PROCESSES_MAX]; /* by a step */
};

/* Starts all processes, waits until each is ready, lets them go. Takes over pairs' texts. */
bool group_start(const char *name, const struct pairs *pairs, const char *conninfo,
                 uint64_t deadline_ns, struct group **ret, struct err *err) MUST_CHECK;
/* Kills what runs, waits for it, frees. Accepts NULL. */
void group_destroy(struct group *group);

enum group_wait {
	GROUP_CAME,   /* what was waited for */
	GROUP_LATE,   /* the deadline came first */
	GROUP_MISSED, /* it can never come: the workers have ended */
	GROUP_FAILED, /* a worker could not do its work; err says why */
};
/* false with GROUP_FAILED or an interrupt in err. */
enum group_wait group_wait(struct group *group, const struct await *what, uint64_t deadline_ns,
                           struct err *err);
bool group_has_ended(struct group *group);
/* Ids issued so far, by all of its workers. */
uint64_t group_issued(struct group *group);
/* process from 1; 0: all. SIGKILL waits until they are gone. */
bool group_signal(struct group *group, uint32_t process, int signal_number,
                  struct err *err) MUST_CHECK;

/*
 * The group's figures; origin_ns is the scenario's beginning. A worker whose
 * accounts do not add up is ERR_INTERNAL.
 */
bool group_readings(struct group *group, uint64_t origin_ns, struct readings *ret,
                    struct err *err) MUST_CHECK;
/*
 * How long its writes took: how many went well, percentiles over all clients (nearest rank), and
 * elapsed_ns from the common beginning to the last client's end, unless one was killed.
 */
bool group_write_readings(struct group *group, struct readings *ret, struct err *err) MUST_CHECK;
/* Copies what was issued to `record`: "TABLE (column, …)". */
bool group_record(struct group *group, struct conn *conn, uint64_t origin_ns, uint64_t deadline_ns,
                  struct err *err) MUST_CHECK;

#endif
