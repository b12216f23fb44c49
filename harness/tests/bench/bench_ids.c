/* SPDX-License-Identifier: PostgreSQL */
/*
 * What an id costs on one core: bench_ids COUNT mints so many by each
 * generator and prints "NAME nanoseconds-an-id", a line each. libuuid's are
 * there when it was found at build time.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_LIBUUID
#include <uuid/uuid.h>
#endif

#include "base/clock.h"
#include "ids/ids.h"

static bool own(const char *name, long count)
{
	struct id_generator *generator;
	struct err err = {0};
	struct id id;
	unsigned sum = 0;

	if (!id_generator_create(id_format_find(name), NULL, &generator, &err)) {
		fprintf(stderr, "bench_ids: %s\n", err.message);
		return false;
	}
	uint64_t started_ns = clock_now_ns();
	for (long i = 0; i < count; i++) {
		if (!id_generator_next(generator, &id, &err)) {
			fprintf(stderr, "bench_ids: %s\n", err.message);
			return false;
		}
		sum ^= id.bytes[15];
	}
	double ns = (double)(clock_now_ns() - started_ns) / (double)count;
	id_generator_destroy(generator);
	/* The sum is used, so that no loop can be left out. */
	printf("%s %.2f%s\n", name, ns, sum == 256 ? "?" : "");
	return true;
}

#ifdef HAVE_LIBUUID
static void libuuid(const char *name, void (*generate)(uuid_t), long count)
{
	unsigned sum = 0;
	uuid_t uuid;
	uint64_t started_ns = clock_now_ns();

	for (long i = 0; i < count; i++) {
		generate(uuid);
		sum ^= uuid[15];
	}
	printf("%s %.2f%s\n", name, (double)(clock_now_ns() - started_ns) / (double)count,
	       sum == 256 ? "?" : "");
}
#endif

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;

	if (count < 1 || !own("uuidv7", count) || !own("uuidv4", count))
		return 1;
#ifdef HAVE_LIBUUID
	/* They make a system call for each id: a tenth is enough. */
	libuuid("libuuid-random", uuid_generate_random, count / 10 + 1);
	libuuid("libuuid-time", uuid_generate_time, count / 10 + 1);
#endif
	return 0;
}
