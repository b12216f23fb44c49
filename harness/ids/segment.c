/* SPDX-License-Identifier: PostgreSQL */
/* Double-buffered numbers, fetched ahead by a thread of their own. */
#include "ids/segment.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define DEFAULT_LOW_PERCENT 20
#define DEFAULT_WAIT_NS (10 * NS_PER_S)
#define DEFAULT_RETRY_NS (100 * NS_PER_MS)

/* What is left of a range; empty when next is past last. */
struct buffer {
	int64_t next;
	int64_t last;
	uint64_t low; /* fetch ahead when at most so many are left */
};

struct segment_allocator {
	char *tag;
	segment_fetch_fn *fetch;
	void *context;
	unsigned low_percent;
	uint64_t wait_ns;
	uint64_t retry_ns;

	pthread_t thread;
	pthread_mutex_t lock;    /* guards all below */
	pthread_cond_t work;     /* wanted or stopping was set: for the thread */
	pthread_cond_t finished; /* a fetch has ended or stopping was set: for callers */
	struct buffer current;
	struct buffer ahead;
	bool has_ahead;
	bool wanted;    /* a fetch is asked for, not yet begun */
	bool fetching;  /* under way */
	bool for_ahead; /* asked for while numbers were left */
	bool stopping;
	int64_t step;
	int64_t highest;      /* of all ranges received; 0 before the first */
	bool any;             /* a range was received */
	uint64_t ended;       /* fetches that ended, well or not */
	uint64_t retry_at_ns; /* no fetch ahead before this; monotonic */
	struct err failure;   /* of the last fetch; kind NONE when it went well */
	uint64_t inside;      /* callers whose attempt has not ended */
	struct segment_counts counts;
};

static uint64_t left(const struct buffer *buffer)
{
	return buffer->next > buffer->last ? 0 : (uint64_t)(buffer->last - buffer->next) + 1;
}

/* The counters as of now, without the callers who are inside. Lock held. */
static struct segment_counts sums(const struct segment_allocator *s)
{
	struct segment_counts counts = s->counts;

	counts.attempted -= s->inside;
	counts.unused = left(&s->current) + (s->has_ahead ? left(&s->ahead) : 0);
	assert(counts.allocated == counts.issued + counts.unused);
	assert(counts.attempted == counts.issued + counts.refused + counts.cut_off);
	return counts;
}

static bool check_range(const struct segment_allocator *s, const struct segment_range *range,
                        struct err *err)
{
	if (range->last < range->first || range->first < 1 || range->last == INT64_MAX)
		return err_set(err, ERR_INTERNAL,
		               "the store gave the range %" PRId64 " to %" PRId64, range->first,
		               range->last);
	if (s->any && range->first <= s->highest)
		return err_set(err, ERR_INTERNAL,
		               "the store gave the range %" PRId64 " to %" PRId64
		               ", not above %" PRId64,
		               range->first, range->last, s->highest);
	return true;
}

/* With the lock held. */
static void receive(struct segment_allocator *s, const struct segment_range *range)
{
	uint64_t count = (uint64_t)(range->last - range->first) + 1;
	struct buffer buffer = {
	        .next = range->first,
	        .last = range->last,
	        .low = (uint64_t)((double)count * s->low_percent / 100),
	};

	assert(!s->has_ahead);
	s->ahead = buffer;
	s->has_ahead = true;
	s->any = true;
	s->highest = range->last;
	s->counts.fetches++;
	s->counts.fetches_ahead += s->for_ahead;
	s->counts.allocated += count;
	s->failure.kind = ERR_NONE;
}

/* One fetch, with the lock given back for its duration. */
static void fetch_one(struct segment_allocator *s)
{
	struct segment_range range = {0};
	struct err err = {.kind = ERR_NONE};
	int64_t step = s->step;

	s->wanted = false;
	s->fetching = true;
	pthread_mutex_unlock(&s->lock);
	bool ok = s->fetch(s->context, s->tag, step, &range, &err);
	pthread_mutex_lock(&s->lock);
	s->fetching = false;
	s->ended++;
	if (ok && check_range(s, &range, &err)) {
		receive(s, &range);
	} else {
		s->counts.fetch_failures++;
		s->failure = err;
		if (s->failure.kind == ERR_NONE)
			err_set(&s->failure, ERR_INTERNAL, "the fetch failed without a reason");
		s->retry_at_ns = deadline_after(s->retry_ns);
	}
	pthread_cond_broadcast(&s->finished);
}

static void *fetch_thread(void *argument)
{
	struct segment_allocator *s = argument;

	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		if (s->wanted)
			fetch_one(s);
		else
			pthread_cond_wait(&s->work, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* With the lock held. */
static void want_fetch(struct segment_allocator *s, bool for_ahead)
{
	if (s->wanted || s->fetching || s->has_ahead)
		return;
	s->wanted = true;
	s->for_ahead = for_ahead;
	pthread_cond_signal(&s->work);
}

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
	                         .tv_nsec = (long)(ns % NS_PER_S)};
}

/* Waits until a fetch has ended after the first `ended`; false at the deadline. */
static bool wait_for_end(struct segment_allocator *s, uint64_t ended, uint64_t deadline_ns)
{
	struct timespec until = as_timespec(deadline_ns);

	while (s->ended == ended && !s->stopping) {
		if (pthread_cond_timedwait(&s->finished, &s->lock, &until) == ETIMEDOUT)
			return s->ended != ended;
	}
	return true;
}

/* A number from memory, if there is one; asks for more when it runs low. Lock held. */
static bool take(struct segment_allocator *s, int64_t *ret)
{
	if (!left(&s->current) && s->has_ahead) {
		s->current = s->ahead;
		s->has_ahead = false;
	}
	if (!left(&s->current))
		return false;
	*ret = s->current.next++;
	/* With nothing left, whoever comes next asks in earnest. */
	if (left(&s->current) && left(&s->current) <= s->current.low &&
	    deadline_passed(s->retry_at_ns))
		want_fetch(s, true);
	return true;
}

static bool next_locked(struct segment_allocator *s, int64_t *ret, struct err *err)
{
	uint64_t deadline_ns = 0;

	for (;;) {
		if (s->stopping) {
			s->counts.cut_off++;
			return err_set(err, ERR_INTERRUPTED, "the allocator is stopping");
		}
		if (take(s, ret)) {
			s->counts.issued++;
			return true;
		}
		if (!deadline_ns) {
			deadline_ns = deadline_after(s->wait_ns);
			s->counts.waits++;
		}
		uint64_t ended = s->ended;
		want_fetch(s, false);
		if (!wait_for_end(s, ended, deadline_ns)) {
			s->counts.cut_off++;
			return err_set(err, ERR_SYSTEM,
			               "no number: the store has not answered within %" PRIu64
			               " ms",
			               s->wait_ns / NS_PER_MS);
		}
		if (!left(&s->current) && !s->has_ahead && !s->stopping &&
		    s->failure.kind != ERR_NONE) {
			s->counts.refused++;
			return err_set(err, s->failure.kind, "no number: %s", s->failure.message);
		}
	}
}

bool segment_next(struct segment_allocator *s, int64_t *ret, struct err *err)
{
	pthread_mutex_lock(&s->lock);
	s->counts.attempted++;
	s->inside++;
	bool ok = next_locked(s, ret, err);
	s->inside--;
	pthread_mutex_unlock(&s->lock);
	return ok || err_within(err, "segment \"%s\"", s->tag);
}

bool segment_nextval(void *segment, int64_t *ret, struct err *err)
{
	return segment_next(segment, ret, err);
}

static bool init_sync(struct segment_allocator *s, struct err *err)
{
	pthread_condattr_t attributes;

	if ((errno = pthread_condattr_init(&attributes)))
		return err_errno(err, "pthread_condattr_init");
	/* Deadlines are on the monotonic clock: wall time may be stepped by a scenario. */
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->finished, &attributes);
	pthread_condattr_destroy(&attributes);
	return true;
}

static void finish_sync(struct segment_allocator *s)
{
	pthread_cond_destroy(&s->finished);
	pthread_cond_destroy(&s->work);
	pthread_mutex_destroy(&s->lock);
}

bool segment_create(const struct segment_options *options, struct segment_allocator **ret,
                    struct err *err)
{
	if (!options->tag || !options->fetch || options->step < 0 || options->low_percent > 100)
		return err_set(err, ERR_USAGE,
		               "a segment needs a tag, a fetch, a step of 0 or more and a "
		               "threshold of at most 100 percent");
	struct segment_allocator *s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ERR_SYSTEM, "out of memory");
	s->fetch = options->fetch;
	s->context = options->context;
	s->step = options->step;
	s->low_percent = options->low_percent ? options->low_percent : DEFAULT_LOW_PERCENT;
	s->wait_ns = options->wait_ns ? options->wait_ns : DEFAULT_WAIT_NS;
	s->retry_ns = options->retry_ns ? options->retry_ns : DEFAULT_RETRY_NS;
	s->current.last = -1;
	s->tag = strdup(options->tag);
	if (!s->tag) {
		free(s);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	if (!init_sync(s, err))
		goto fail;
	if ((errno = pthread_create(&s->thread, NULL, fetch_thread, s))) {
		err_errno(err, "starting the thread of segment \"%s\"", s->tag);
		finish_sync(s);
		goto fail;
	}
	*ret = s;
	return true;

fail:
	free(s->tag);
	free(s);
	return false;
}

void segment_stop(struct segment_allocator *s)
{
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_broadcast(&s->work);
	pthread_cond_broadcast(&s->finished);
	pthread_mutex_unlock(&s->lock);
}

void segment_destroy(struct segment_allocator *s)
{
	if (!s)
		return;
	segment_stop(s);
	pthread_join(s->thread, NULL);
	(void)sums(s);
	finish_sync(s);
	free(s->tag);
	free(s);
}

void segment_set_step(struct segment_allocator *s, int64_t step)
{
	assert(step >= 0);
	pthread_mutex_lock(&s->lock);
	s->step = step;
	pthread_mutex_unlock(&s->lock);
}

bool segment_settle(struct segment_allocator *s, uint64_t deadline_ns)
{
	struct timespec until = as_timespec(deadline_ns);
	bool settled = true;

	pthread_mutex_lock(&s->lock);
	while ((s->wanted || s->fetching) && !s->stopping) {
		if (pthread_cond_timedwait(&s->finished, &s->lock, &until) == ETIMEDOUT) {
			settled = !s->wanted && !s->fetching;
			break;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return settled;
}

struct segment_counts segment_counts(struct segment_allocator *s)
{
	pthread_mutex_lock(&s->lock);
	struct segment_counts counts = sums(s);
	pthread_mutex_unlock(&s->lock);
	return counts;
}
