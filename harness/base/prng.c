/* SPDX-License-Identifier: PostgreSQL */
/* SplitMix64, and what is drawn with it. */
#include "base/prng.h"

uint64_t prng_next(struct prng *prng)
{
	uint64_t z = prng->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t prng_below(struct prng *prng, uint64_t below)
{
	/* Numbers past the last whole multiple would favour the small ones. */
	uint64_t limit = UINT64_MAX - UINT64_MAX % below, drawn;

	do
		drawn = prng_next(prng);
	while (drawn >= limit);
	return drawn % below;
}

uint64_t prng_seed(uint64_t seed, const char *text)
{
	struct prng prng = {seed};

	for (const char *at = text; *at; at++)
		prng.state = prng_next(&prng) ^ (unsigned char)*at;
	return prng_next(&prng);
}

void prng_shuffle(struct prng *prng, size_t *ret, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t j = prng_below(prng, i + 1);

		ret[i] = ret[j];
		ret[j] = i;
	}
}
