/* SPDX-License-Identifier: PostgreSQL */
/* Medians, order-statistic intervals, bounds on rare events. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A sorted copy; NULL with err. */
static double *sorted(const double *values, size_t n, struct err *err)
{
	double *copy = n ? malloc(n * sizeof(*copy)) : NULL;

	if (!copy) {
		err_set(err, n ? ERR_SYSTEM : ERR_INTERNAL, n ? "out of memory" : "no values");
		return NULL;
	}
	memcpy(copy, values, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), compare_doubles);
	return copy;
}

bool stats_median(const double *values, size_t n, double *ret, struct err *err)
{
	CLEANUP(free_p) double *copy = sorted(values, n, err);

	if (!copy)
		return false;
	*ret = n % 2 ? copy[n / 2] : (copy[n / 2 - 1] + copy[n / 2]) / 2;
	return true;
}

/* P(X <= k) for X binomial(n, p), by logarithms: n may be large. */
static double binomial_below(uint64_t k, uint64_t n, double p)
{
	double sum = 0;

	if (p <= 0)
		return 1;
	if (p >= 1)
		return k >= n;
	for (uint64_t i = 0; i <= k && i <= n; i++) {
		double d_n = (double)n, d_i = (double)i;

		sum += exp(lgamma(d_n + 1) - lgamma(d_i + 1) - lgamma(d_n - d_i + 1) +
		           d_i * log(p) + (d_n - d_i) * log1p(-p));
	}
	return sum > 1 ? 1 : sum;
}

uint64_t stats_percentile(const uint64_t *ascending, size_t n, double percent)
{
	double rank = ceil(percent * (double)n / 100);

	return ascending[rank < 1 ? 0 : rank > (double)n ? n - 1 : (size_t)rank - 1];
}

/* The interval goes from x(r) to x(n+1-r): the largest r that still covers enough, 0 when none. */
static size_t interval_rank(size_t n, double coverage, double *ret_coverage)
{
	size_t best = 0;

	for (size_t rank = 1; 2 * rank <= n; rank++) {
		double covers = 1 - 2 * binomial_below(rank - 1, n, 0.5);

		if (covers < coverage)
			break;
		best = rank;
		*ret_coverage = covers;
	}
	return best;
}

bool stats_median_interval(const double *values, size_t n, double coverage, double *ret_low,
                           double *ret_high, double *ret_coverage, bool *ret_exists,
                           struct err *err)
{
	CLEANUP(free_p) double *copy = sorted(values, n, err);

	if (!copy)
		return false;
	size_t rank = interval_rank(n, coverage, ret_coverage);
	*ret_exists = rank > 0;
	if (rank) {
		*ret_low = copy[rank - 1];
		*ret_high = copy[n - rank];
	}
	return true;
}

/* P(X > z), X standard normal. */
static double normal_above(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

size_t stats_blocks_to_resolve(double below, double above)
{
	double past_low = normal_above(below), past_high = normal_above(above);
	double covers;

	for (size_t n = STATS_FEWEST; n <= STATS_BLOCKS_MAX; n++) {
		size_t rank = interval_rank(n, 0.95, &covers);
		/* The rank-th value from either end is inside when fewer than rank lie beyond. */
		double power = binomial_below(rank - 1, n, past_low) +
		               binomial_below(rank - 1, n, past_high) - 1;

		if (power >= STATS_POWER)
			return n;
	}
	return 0;
}

double stats_event_bound(uint64_t events, uint64_t trials, double confidence)
{
	double low = 0, high = 1;

	if (!trials || events >= trials)
		return 1;
	/* The largest p under which so few events are still as likely as 1 - confidence. */
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (binomial_below(events, trials, middle) > 1 - confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}
