/* SPDX-License-Identifier: PostgreSQL */
/* Buffered random bytes, from the kernel or from a seed. */
#include "ids/id_random.h"

#include <errno.h>
#include <pthread.h>
#include <sys/random.h>

unsigned id_random_forks;

static void count_fork(void)
{
	id_random_forks++;
}

static void watch_forks(void)
{
	/* Fails only without memory at start; then the caller's next malloc reports it. */
	(void)pthread_atfork(NULL, NULL, count_fork);
}

static bool system_fill(struct id_random *random, void *bytes, size_t len, struct err *err)
{
	unsigned char *at = bytes;

	(void)random;
	while (len) {
		ssize_t got = getrandom(at, len, 0);

		if (got < 0) {
			if (errno == EINTR)
				continue;
			return err_errno(err, "getrandom");
		}
		at += got;
		len -= (size_t)got;
	}
	return true;
}

static uint64_t rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/* Blackman, Vigna: xoshiro256**. */
static uint64_t seeded_next(uint64_t s[4])
{
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

static bool seeded_fill(struct id_random *random, void *bytes, size_t len, struct err *err)
{
	unsigned char *at = bytes;

	(void)err;
	for (size_t i = 0; i < len;) {
		uint64_t word = seeded_next(random->state);

		/* Byte by byte, so that both byte orders give one stream. */
		for (int b = 0; b < 8 && i < len; b++, i++)
			at[i] = (unsigned char)(word >> (8 * b));
	}
	return true;
}

void id_random_init_system(struct id_random *random)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	memset(random, 0, sizeof(*random));
	random->fill = system_fill;
	random->fork_generation = id_random_forks;
}

void id_random_init_seeded(struct id_random *random, uint64_t seed)
{
	memset(random, 0, sizeof(*random));
	random->fill = seeded_fill;
	random->fork_generation = id_random_forks;
	for (int i = 0; i < 4; i++) {
		/* Vigna: splitmix64, which never gives the all-zero state. */
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		random->state[i] = z ^ z >> 31;
	}
}

void id_random_finish(struct id_random *random)
{
	if (random)
		explicit_bzero(random, sizeof(*random));
}

bool id_random_refill(struct id_random *random, struct err *err)
{
	random->left_bytes = 0;
	if (!random->fill(random, random->buffer, sizeof(random->buffer), err))
		return false;
	random->left_bytes = sizeof(random->buffer);
	random->fork_generation = id_random_forks;
	return true;
}

bool id_random_take_slow(struct id_random *random, void *ret, size_t len, struct err *err)
{
	if (len > sizeof(random->buffer))
		return random->fill(random, ret, len, err);
	if (!id_random_refill(random, err))
		return false;
	return id_random_take(random, ret, len, err);
}
