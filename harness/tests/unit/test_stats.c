/* SPDX-License-Identifier: PostgreSQL */
/* Statistics against brute force and against published worked examples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "base/stats.h"

static void near(double got, double wanted, double within)
{
	if (!(fabs(got - wanted) <= within))
		fail_msg("got %.10g, wanted %.10g", got, wanted);
}

/* Hollander & Wolfe and B4 of the report: n=6 x1..x6 96.9 %, n=10 x2..x9 97.9 %. */
static void median_intervals(void **state)
{
	static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	double low, high, coverage;
	bool exists;
	struct err err;

	(void)state;
	assert_true(stats_median_interval(values, 6, 0.95, &low, &high, &coverage, &exists, &err));
	assert_true(exists && low == 1 && high == 6);
	near(coverage, 0.96875, 1e-9);
	assert_true(stats_median_interval(values, 10, 0.95, &low, &high, &coverage, &exists, &err));
	assert_true(exists && low == 2 && high == 9);
	near(coverage, 0.978515625, 1e-9);
	assert_true(stats_median_interval(values, 5, 0.95, &low, &high, &coverage, &exists, &err));
	assert_false(exists);
}

/* Hanley & Lippman-Hand: none in n is near 3/n; exactly 1 - 0.05^(1/n). */
static void rule_of_three(void **state)
{
	(void)state;
	near(stats_event_bound(0, 100, 0.95), 1 - pow(0.05, 0.01), 1e-9);
	near(stats_event_bound(0, 14, 0.95), 0.1926, 1e-4);
}

/*
 * Darwin's fifteen pairs of maize (The Effects of Cross and Self Fertilisation, 1876), which Fisher
 * took for his randomisation test: of 32,768 arrangements 835 go as far as the 314 observed one
 * way, and 28 just as far, 863 in all; two-sided 1,726 (The Design of Experiments, 21).
 */
static void darwins_maize(void **state)
{
	static const double differences[] = {49, -67, 8,  16, 6,  23, 28, 41,
	                                     14, 29,  56, 24, 75, 60, -48};

	(void)state;
	near(stats_sign_flip(differences, 15), 1726.0 / 32768, 1e-12);
}

/* Below six blocks the test cannot reach 5 %. */
static void least_p(void **state)
{
	static const double ones[] = {1, 1, 1, 1, 1, 1};

	(void)state;
	near(stats_sign_flip(ones, 5), 2.0 / 32, 1e-12);
	near(stats_sign_flip(ones, 6), 2.0 / 64, 1e-12);
}

static void flips_by_brute_force(void **state)
{
	struct prng prng = {7};

	(void)state;
	for (int trial = 0; trial < 20; trial++) {
		double d[10], observed = 0;
		size_t n = 2 + trial % 9, extreme = 0;

		for (size_t i = 0; i < n; i++) {
			d[i] = (double)prng_below(&prng, 2001) - 1000;
			observed += d[i];
		}
		for (size_t mask = 0; mask < (size_t)1 << n; mask++) {
			double sum = 0;

			for (size_t i = 0; i < n; i++)
				sum += mask >> i & 1 ? -d[i] : d[i];
			extreme += fabs(sum) >= fabs(observed);
		}
		near(stats_sign_flip(d, n), (double)extreme / (double)((size_t)1 << n), 1e-12);
	}
}

/* Four p-values by hand: 0.01*4, 0.02*3, 0.03*2 (not below the one before), 0.04. */
static void holm(void **state)
{
	static const double p[] = {0.03, 0.01, 0.04, 0.02};
	double adjusted[4];
	struct err err;

	(void)state;
	assert_true(stats_holm(p, 4, adjusted, &err));
	near(adjusted[1], 0.04, 1e-12);
	near(adjusted[3], 0.06, 1e-12);
	near(adjusted[0], 0.06, 1e-12);
	near(adjusted[2], 0.06, 1e-12);
}

/* The ten pairs of the Wikipedia article on Spearman's coefficient (IQ and hours of television):
 * -29/165. */
static void spearman(void **state)
{
	static const double iq[] = {106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
	static const double hours[] = {7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
	static const double flat[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	double rho;
	struct err err;

	(void)state;
	assert_true(stats_spearman(iq, hours, 10, &rho, &err));
	near(rho, -29.0 / 165, 1e-12);
	assert_true(stats_spearman(iq, flat, 10, &rho, &err));
	near(rho, 0, 0);
}

static void fences(void **state)
{
	/* Hinges 3 and 7, fences at -3 and 13, far ones at -9 and 19. */
	static const double values[] = {1, 2, 3, 4, 5, 6, 7, 14, 30};
	size_t mild, severe;
	struct err err;

	(void)state;
	assert_true(stats_outliers(values, 9, &mild, &severe, &err));
	assert_int_equal(mild, 1);
	assert_int_equal(severe, 1);
}

/* ---- the bootstrap ---- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, size_t n)
{
	double sorted[16];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double below(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

static double quantile(double p)
{
	double z = 0;

	/* Newton's method on the distribution function. */
	for (int i = 0; i < 100; i++)
		z -= (below(z) - p) / (exp(-z * z / 2) / sqrt(2 * M_PI));
	return z;
}

/* All n^n resamples of n blocks instead of ten thousand: what the bootstrap estimates. */
static void exhaustive(const double *over, const double *under, size_t n, double *ret_low,
                       double *ret_high)
{
	size_t total = 1;
	double theta = median(over, n) / median(under, n), less = 0;
	double mean = 0, squares = 0, cubes = 0, left[8];

	for (size_t i = 0; i < n; i++)
		total *= n;
	double *all = malloc(total * sizeof(*all));
	assert_non_null(all);
	for (size_t r = 0; r < total; r++) {
		double a[8], b[8];

		for (size_t i = 0, rest = r; i < n; i++, rest /= n) {
			a[i] = over[rest % n];
			b[i] = under[rest % n];
		}
		all[r] = median(a, n) / median(b, n);
		less += all[r] < theta ? 1 : all[r] == theta ? 0.5 : 0;
	}
	for (size_t out = 0; out < n; out++) {
		double a[8], b[8];
		size_t count = 0;

		for (size_t i = 0; i < n; i++) {
			if (i == out)
				continue;
			a[count] = over[i];
			b[count++] = under[i];
		}
		left[out] = median(a, count) / median(b, count);
		mean += left[out] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		squares += pow(mean - left[i], 2);
		cubes += pow(mean - left[i], 3);
	}
	double a = cubes / (6 * pow(squares, 1.5)), z0 = quantile(less / (double)total);
	qsort(all, total, sizeof(*all), compare_doubles);
	double p_low = below(z0 + (z0 - 1.959964) / (1 - a * (z0 - 1.959964)));
	double p_high = below(z0 + (z0 + 1.959964) / (1 - a * (z0 + 1.959964)));
	*ret_low = all[(size_t)(p_low * (double)(total - 1))];
	*ret_high = all[(size_t)(p_high * (double)(total - 1))];
	free(all);
}

static void bca_against_all_resamples(void **state)
{
	static const double over[] = {10.1, 11.7, 12.2, 13.9, 17.3, 19.4, 24.8};
	static const double under[] = {5.3, 6.1, 4.9, 6.6, 5.8, 7.2, 6.9};
	struct stats_ratio ratio;
	double low, high;
	struct err err;

	(void)state;
	exhaustive(over, under, 7, &low, &high);
	assert_true(stats_ratio_of_medians(over, under, 7, 1, &ratio, &err));
	near(ratio.ratio, 13.9 / 6.1, 1e-12);
	near(ratio.over, 13.9, 1e-12);
	near(ratio.under, 6.1, 1e-12);
	/* Ten thousand resamples of a lumpy distribution: within one lump of the whole. */
	near(ratio.low, low, 0.12);
	near(ratio.high, high, 0.25);
	near(ratio.superiority, 1, 0);
	assert_true(ratio.has_p);
	near(ratio.p, 2.0 / 128, 1e-12);
}

static void same_seed_same_interval(void **state)
{
	static const double over[] = {3, 4, 5, 6, 7, 8};
	static const double under[] = {3, 5, 4, 7, 6, 8};
	struct stats_ratio a, b;
	struct err err;

	(void)state;
	assert_true(stats_ratio_of_medians(over, under, 6, 42, &a, &err));
	assert_true(stats_ratio_of_medians(over, under, 6, 42, &b, &err));
	assert_true(a.low == b.low && a.high == b.high);
	near(a.ratio, 1, 1e-12);
	near(a.superiority, 0.5, 1e-12);
	assert_true(a.low <= 1 && a.high >= 1 && a.p > 0.05);
	assert_false(
	        stats_ratio_of_medians(over, (const double[]){1, 0, 1, 1, 1, 1}, 6, 1, &a, &err));
}

/* Of intervals of known truth about 95 % hold it: two equal arms, 200 times, ten blocks. */
static void coverage_of_equal_arms(void **state)
{
	struct prng prng = {11};
	int hold = 0, trials = 200;
	struct err err;

	(void)state;
	for (int t = 0; t < trials; t++) {
		double over[10], under[10];
		struct stats_ratio ratio;

		for (size_t i = 0; i < 10; i++) {
			over[i] = 100 + (double)prng_below(&prng, 4000) / 100;
			under[i] = 100 + (double)prng_below(&prng, 4000) / 100;
		}
		assert_true(stats_ratio_of_medians(over, under, 10, (uint64_t)t, &ratio, &err));
		hold += ratio.low <= 1 && ratio.high >= 1;
	}
	/* 0.95 +- four standard errors. */
	assert_in_range(hold, (uintmax_t)(trials * 0.885), (uintmax_t)trials);
}

static void shuffles(void **state)
{
	struct prng prng = {3};
	int counts[6] = {0};

	(void)state;
	for (int i = 0; i < 6000; i++) {
		size_t order[3];

		prng_shuffle(&prng, order, 3);
		assert_true(order[0] < 3 && order[1] < 3 && order[0] + order[1] + order[2] == 3 &&
		            order[0] != order[1]);
		counts[order[0] * 2 + (order[1] > order[2])]++;
	}
	for (int i = 0; i < 6; i++)
		assert_in_range(counts[i], 850, 1150);
	/* The reference output of SplitMix64 for the seed 1234567. */
	prng.state = 1234567;
	assert_true(prng_next(&prng) == UINT64_C(6457827717110365317));
	assert_true(prng_next(&prng) == UINT64_C(3203168211198807973));
}

/* ---- how many blocks resolve a question ---- */

/* A draw from the standard normal (Box & Muller 1958). */
static double normal(struct prng *prng)
{
	double u = ((double)prng_below(prng, 1u << 30) + 1) / (double)(1u << 30);
	double v = (double)prng_below(prng, 1u << 30) / (double)(1u << 30);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* How often the order-statistic interval of n draws lies between the bounds. */
static double share_resolved(struct prng *prng, size_t n, double below, double above)
{
	enum { TRIALS = 1200 };
	double values[STATS_BLOCKS_MAX], low, high, coverage;
	int resolved = 0;
	bool exists;

	for (int trial = 0; trial < TRIALS; trial++) {
		for (size_t i = 0; i < n; i++)
			values[i] = normal(prng);
		assert_true(stats_median_interval(values, n, 0.95, &low, &high, &coverage, &exists,
		                                  NULL));
		resolved += exists && low > -below && high < above;
	}
	return resolved / (double)TRIALS;
}

/* By brute force: that many blocks resolve it four times in five, one block fewer less often. */
static void blocks_by_simulation(void **state)
{
	static const double cases[][2] = {{1.2, INFINITY}, {0.6, INFINITY}, {INFINITY, 0.4},
	                                  {0.8, 0.5},      {1, 1},          {4, INFINITY}};
	struct prng prng = {11};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = stats_blocks_to_resolve(cases[i][0], cases[i][1]);

		assert_true(n >= STATS_FEWEST && n < 200);
		double share = share_resolved(&prng, n, cases[i][0], cases[i][1]);
		if (!(share > STATS_POWER - 0.035))
			fail_msg("%zu blocks resolve %.3f of case %zu", n, share, i);
		if (n == STATS_FEWEST)
			continue;
		share = share_resolved(&prng, n - 1, cases[i][0], cases[i][1]);
		if (!(share < STATS_POWER + 0.035))
			fail_msg("%zu blocks resolve %.3f of case %zu already", n - 1, share, i);
	}
	assert_int_equal(stats_blocks_to_resolve(4, INFINITY), STATS_FEWEST);
	assert_int_equal(stats_blocks_to_resolve(0, INFINITY), 0);
	assert_int_equal(stats_blocks_to_resolve(0.001, INFINITY), 0);
}

/* And for a claim's ratio, whose two intervals must both decide: arms of log-normal times. */
static void blocks_of_a_ratio(void **state)
{
	enum { TRIALS = 30 };
	/* The ratio is 1.15, asked for above 1; each arm spreads by 0.1, their ratio by 0.1414. */
	const double spread = 0.1, shift = log(1.15);
	size_t n = stats_blocks_to_resolve(shift / (spread * sqrt(2)), INFINITY);
	struct prng prng = {12};
	int resolved = 0;

	(void)state;
	for (int trial = 0; trial < TRIALS; trial++) {
		double over[200], under[200];
		struct stats_ratio ratio;

		assert_true(n < 200);
		for (size_t i = 0; i < n; i++) {
			over[i] = exp(shift + spread * normal(&prng));
			under[i] = exp(spread * normal(&prng));
		}
		assert_true(stats_ratio_of_medians(over, under, n, (uint64_t)trial, &ratio, NULL));
		resolved += ratio.low > 1 && ratio.paired_low > 1;
	}
	/* 0.8 of 30, less three standard errors. */
	assert_true(resolved > 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(median_intervals),
	        cmocka_unit_test(rule_of_three),
	        cmocka_unit_test(darwins_maize),
	        cmocka_unit_test(least_p),
	        cmocka_unit_test(flips_by_brute_force),
	        cmocka_unit_test(holm),
	        cmocka_unit_test(spearman),
	        cmocka_unit_test(fences),
	        cmocka_unit_test(bca_against_all_resamples),
	        cmocka_unit_test(same_seed_same_interval),
	        cmocka_unit_test(coverage_of_equal_arms),
	        cmocka_unit_test(shuffles),
	        cmocka_unit_test(blocks_by_simulation),
	        cmocka_unit_test(blocks_of_a_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
