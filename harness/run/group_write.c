/* SPDX-License-Identifier: PostgreSQL */
/* How long a group's writes took: all of its clients together, no write left out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "run/group.h"

/* Counts, and, where there is room, copies the times of the writes that went well. */
static size_t collect(struct group *group, uint64_t *times)
{
	size_t count = 0;

	for (uint32_t p = 0; p < group->options.processes; p++)
		for (uint32_t t = 0; t < group->options.threads; t++) {
			uint64_t entries =
			        atomic_load(&journal_thread_of(group->journal, p, t)->entries);
			const struct journal_entry *entry = journal_entries(group->journal, p, t);

			for (uint64_t i = 0; i < entries; i++) {
				if (!entry[i].write_ns)
					continue;
				if (times)
					times[count] = entry[i].write_ns;
				count++;
			}
		}
	return count;
}

/* From the beginning of all to the last thread's end; 0 when one was killed. */
static uint64_t elapsed(struct group *group)
{
	uint64_t last = 0;

	for (uint32_t p = 0; p < group->options.processes; p++)
		for (uint32_t t = 0; t < group->options.threads; t++) {
			uint64_t ended =
			        atomic_load(&journal_thread_of(group->journal, p, t)->ended_ns);

			if (!ended)
				return 0;
			last = ended > last ? ended : last;
		}
	return last - atomic_load(&group->journal->started_ns);
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool put(struct readings *readings, const char *metric, const char *type, uint64_t value,
                struct err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return readings_add(readings, metric, type, text, NULL, err);
}

bool group_write_readings(struct group *group, struct readings *ret, struct err *err)
{
	static const struct {
		const char *metric;
		double percent;
	} percentiles[] = {{"write_p50_ns", 50},
	                   {"write_p95_ns", 95},
	                   {"write_p99_ns", 99},
	                   {"write_max_ns", 100}};
	size_t count = collect(group, NULL);
	uint64_t elapsed_ns = elapsed(group);
	CLEANUP(free_p) uint64_t *times = malloc((count + 1) * sizeof(*times));

	if (!times)
		return err_set(err, ERR_SYSTEM, "out of memory");
	(void)collect(group, times);
	qsort(times, count, sizeof(*times), compare_times);
	if (!put(ret, "write_count", "exact", count, err) ||
	    (elapsed_ns && !put(ret, "elapsed_ns", "timing", elapsed_ns, err)))
		return false;
	for (size_t i = 0; count && i < COUNT_OF(percentiles); i++)
		if (!put(ret, percentiles[i].metric, "timing",
		         stats_percentile(times, count, percentiles[i].percent), err))
			return false;
	return true;
}
