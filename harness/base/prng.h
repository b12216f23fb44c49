/* SPDX-License-Identifier: PostgreSQL */
/*
 * Seeded random numbers for shuffles and resampling, the same on every machine: SplitMix64
 * (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014). Not for
 * ids and not for secrets.
 */
#ifndef KEYLAB_BASE_PRNG_H
#define KEYLAB_BASE_PRNG_H

#include "base/base.h"

struct prng {
	uint64_t state; /* any number is a seed */
};

uint64_t prng_next(struct prng *prng);
/* From 0 to below `below` (at least 1), without bias. */
uint64_t prng_below(struct prng *prng, uint64_t below);
/* A seed from another and a text: streams for different uses. */
uint64_t prng_seed(uint64_t seed, const char *text);
/* The numbers 0 to count-1 in random order. */
void prng_shuffle(struct prng *prng, size_t *ret, size_t count);

#endif
