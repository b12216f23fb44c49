/* SPDX-License-Identifier: PostgreSQL */
/*
 * Random bytes for ids: the kernel's (getrandom(2), taken 16 kB at a time, since
 * a system call for each id would cost more than the id), or a seeded stream
 * for tests and repeatable runs.
 *
 * A source belongs to one thread. A source in the kernel's service may be
 * used on both sides of a fork(2): the child's copy is refilled first.
 */
#ifndef KEYLAB_IDS_ID_RANDOM_H
#define KEYLAB_IDS_ID_RANDOM_H

#include <string.h>

#include "base/base.h"
#include "base/err.h"

#define ID_RANDOM_BUFFER_BYTES 16384

struct id_random {
	/* Fills len bytes, or false with err. */
	bool (*fill)(struct id_random *random, void *bytes, size_t len, struct err *err);
	uint64_t state[4];        /* the seeded stream's; unused by the kernel's */
	unsigned fork_generation; /* in which process the buffer was filled */
	uint32_t left_bytes;      /* unused ones, at the end of the buffer */
	unsigned char buffer[ID_RANDOM_BUFFER_BYTES];
};

/* Number of forks between the first process and this one. Not for callers. */
extern unsigned id_random_forks;

void id_random_init_system(struct id_random *random);
/* xoshiro256** seeded by splitmix64: the same seed, the same bytes. Not secret. */
void id_random_init_seeded(struct id_random *random, uint64_t seed);
/* Wipes what is left in the buffer. */
void id_random_finish(struct id_random *random);

bool id_random_refill(struct id_random *random, struct err *err) MUST_CHECK;
bool id_random_take_slow(struct id_random *random, void *ret, size_t len,
                         struct err *err) MUST_CHECK;

/* Takes len fresh bytes. Inline: it is most of what a random id costs. */
static inline bool MUST_CHECK id_random_take(struct id_random *random, void *ret, size_t len,
                                             struct err *err)
{
	if (random->left_bytes < len || random->fork_generation != id_random_forks)
		return id_random_take_slow(random, ret, len, err);
	memcpy(ret, random->buffer + ID_RANDOM_BUFFER_BYTES - random->left_bytes, len);
	random->left_bytes -= (uint32_t)len;
	return true;
}

#endif
