/* SPDX-License-Identifier: PostgreSQL */
/* The shared memory of a group of workers. */
#include "run/journal.h"

#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

/* memfd_create(2): no name in any file system, so a killed keylab leaves nothing. */
static bool map_new(size_t bytes, int *ret_fd, struct journal **ret, struct err *err)
{
	int fd = memfd_create("keylab-journal", MFD_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "memfd_create");
	if (ftruncate(fd, (off_t)bytes) < 0) {
		err_errno(err, "a journal of %zu bytes", bytes);
		close(fd);
		return false;
	}
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		err_errno(err, "mapping a journal of %zu bytes", bytes);
		close(fd);
		return false;
	}
	*ret_fd = fd;
	*ret = map;
	return true;
}

static void init_meeting(struct journal *journal)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&journal->lock, &mutex);
	pthread_mutexattr_destroy(&mutex);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&journal->met, &cond);
	pthread_condattr_destroy(&cond);
}

bool journal_create(uint32_t processes, uint32_t threads, uint64_t ids_each, const char *spec,
                    struct journal **ret, int *ret_fd, struct err *err)
{
	size_t workers = (size_t)processes * threads;
	size_t head = sizeof(struct journal) + workers * sizeof(struct journal_thread);
	size_t entries_offset = (head + 63) / 64 * 64;
	uint64_t each = ids_each + JOURNAL_FAILURES_MAX;
	size_t spec_offset = entries_offset + workers * each * sizeof(struct journal_entry);
	size_t bytes = spec_offset + strlen(spec) + 1;
	struct journal *journal = NULL;

	if (processes > JOURNAL_PROCESSES_MAX || threads > JOURNAL_THREADS_MAX ||
	    workers > JOURNAL_WORKERS_MAX || ids_each * workers > JOURNAL_IDS_MAX)
		return err_set(err, ERR_INPUT,
		               "%u processes of %u threads with %llu ids each are too many; at "
		               "most "
		               "%d threads and %d ids in all",
		               processes, threads, (unsigned long long)ids_each,
		               JOURNAL_WORKERS_MAX, JOURNAL_IDS_MAX);
	if (!map_new(bytes, ret_fd, &journal, err))
		return false;
	journal->bytes = bytes;
	journal->spec_offset = spec_offset;
	journal->entries_offset = entries_offset;
	journal->entries_each = each;
	journal->processes = processes;
	journal->threads = threads;
	journal->present = (uint32_t)workers;
	init_meeting(journal);
	memcpy((char *)journal + spec_offset, spec, strlen(spec) + 1);
	*ret = journal;
	return true;
}

bool journal_map(int fd, struct journal **ret, struct err *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return err_errno(err, "the journal");
	if (!S_ISREG(status.st_mode) || (size_t)status.st_size < sizeof(struct journal))
		return err_set(err, ERR_USAGE,
		               "this is no journal; keylab starts its workers itself");
	void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_errno(err, "mapping the journal");
	struct journal *journal = map;
	if (journal->bytes != (size_t)status.st_size) {
		munmap(map, (size_t)status.st_size);
		return err_set(err, ERR_USAGE,
		               "this is no journal; keylab starts its workers itself");
	}
	*ret = journal;
	return true;
}

void journal_unmap(struct journal *journal)
{
	if (journal)
		munmap(journal, journal->bytes);
}

const char *journal_spec(const struct journal *journal)
{
	return (const char *)journal + journal->spec_offset;
}

struct journal_thread *journal_thread_of(struct journal *journal, uint32_t process, uint32_t thread)
{
	return &journal->thread[process * journal->threads + thread];
}

struct journal_entry *journal_entries(struct journal *journal, uint32_t process, uint32_t thread)
{
	size_t index = (size_t)process * journal->threads + thread;

	return (struct journal_entry *)(void *)((char *)journal + journal->entries_offset) +
	       index * journal->entries_each;
}

/* futex(2) has no wrapper in libc; not the private kind, since processes share the word. */
void journal_wait_go(struct journal *journal)
{
	while (!atomic_load(&journal->go))
		syscall(SYS_futex, &journal->go, FUTEX_WAIT, 0, NULL, NULL, 0);
}

void journal_go(struct journal *journal)
{
	atomic_store(&journal->started_ns, clock_now_ns());
	atomic_store(&journal->go, 1);
	syscall(SYS_futex, &journal->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Lock held. */
static void meet_if_all(struct journal *journal)
{
	if (journal->waiting < journal->present)
		return;
	journal->waiting = 0;
	journal->meetings++;
	pthread_cond_broadcast(&journal->met);
}

void journal_meet(struct journal *journal)
{
	pthread_mutex_lock(&journal->lock);
	uint64_t meeting = journal->meetings;
	journal->waiting++;
	meet_if_all(journal);
	while (journal->meetings == meeting)
		pthread_cond_wait(&journal->met, &journal->lock);
	pthread_mutex_unlock(&journal->lock);
}

void journal_leave(struct journal *journal)
{
	pthread_mutex_lock(&journal->lock);
	journal->present--;
	if (journal->present)
		meet_if_all(journal);
	pthread_mutex_unlock(&journal->lock);
}
