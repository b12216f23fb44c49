/* SPDX-License-Identifier: PostgreSQL */
/* Two arms in complete blocks: ratios of medians, resampling, and what warns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts in place. */
static double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double normal_below(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

static double normal_quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (normal_below(middle) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- the bootstrap ---- */

struct blocks {
	const double *over, *under;
	size_t n;
	double *a, *b; /* room for n each */
};

/* Ratio of the medians of the blocks that `pick` names. */
static double ratio_of(const struct blocks *blocks, const size_t *pick, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		blocks->a[i] = blocks->over[pick[i]];
		blocks->b[i] = blocks->under[pick[i]];
	}
	return median_of(blocks->a, count) / median_of(blocks->b, count);
}

/* From the ratios that leave one block out each (Efron & Tibshirani 1993, 14.15). */
static double acceleration(const struct blocks *blocks, size_t *pick, double *left_out)
{
	double mean = 0, squares = 0, cubes = 0;

	for (size_t out = 0; out < blocks->n; out++) {
		size_t count = 0;

		for (size_t i = 0; i < blocks->n; i++)
			if (i != out)
				pick[count++] = i;
		left_out[out] = ratio_of(blocks, pick, count);
		mean += left_out[out] / (double)blocks->n;
	}
	for (size_t i = 0; i < blocks->n; i++) {
		double d = mean - left_out[i];

		squares += d * d;
		cubes += d * d * d;
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* The resample at which the bias-corrected and accelerated interval ends. */
static double bca_end(const double *sorted, double z0, double a, double z)
{
	double adjusted = normal_below(z0 + (z0 + z) / (1 - a * (z0 + z)));
	double at = adjusted * (STATS_RESAMPLES - 1);

	at = at < 0 ? 0 : at > STATS_RESAMPLES - 1 ? STATS_RESAMPLES - 1 : at;
	size_t below = (size_t)at;
	size_t above = below + 1 < STATS_RESAMPLES ? below + 1 : below;
	return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static void bootstrap(const struct blocks *blocks, uint64_t seed, size_t *pick, double *resamples,
                      struct stats_ratio *ret)
{
	struct prng prng = {seed};
	double below = 0;
	double a = acceleration(blocks, pick, resamples);

	for (size_t r = 0; r < STATS_RESAMPLES; r++) {
		for (size_t i = 0; i < blocks->n; i++)
			pick[i] = prng_below(&prng, blocks->n);
		resamples[r] = ratio_of(blocks, pick, blocks->n);
		/* A median of few blocks takes few values: a resample that is the same counts half.
		 */
		below += resamples[r] < ret->ratio ? 1 : resamples[r] == ret->ratio ? 0.5 : 0;
	}
	qsort(resamples, STATS_RESAMPLES, sizeof(*resamples), compare_doubles);
	double share = below / STATS_RESAMPLES, least = 0.5 / STATS_RESAMPLES;
	double z0 = normal_quantile(fmin(fmax(share, least), 1 - least));
	ret->low = bca_end(resamples, z0, a, normal_quantile(0.025));
	ret->high = bca_end(resamples, z0, a, normal_quantile(0.975));
}

static double superiority(const double *over, const double *under, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			sum += over[i] > under[j] ? 1 : over[i] == under[j] ? 0.5 : 0;
	return sum / ((double)n * (double)n);
}

double stats_sign_flip(const double *differences, size_t n)
{
	double observed = 0, sum = 0, scale = 0;
	uint64_t extreme = 0, all = UINT64_C(1) << n, signs = 0;

	for (size_t i = 0; i < n; i++) {
		observed += differences[i];
		scale += fabs(differences[i]);
	}
	sum = observed;
	/* In the order of Gray's code each flip changes one sign. */
	for (uint64_t i = 1;; i++) {
		extreme += fabs(sum) >= fabs(observed) - 1e-9 * scale;
		if (i == all)
			break;
		size_t bit = (size_t)__builtin_ctzll(i);
		signs ^= UINT64_C(1) << bit;
		sum += (signs >> bit & 1 ? -2 : 2) * differences[bit];
	}
	return (double)extreme / (double)all;
}

static bool paired(const struct blocks *blocks, struct stats_ratio *ret, struct err *err)
{
	double coverage;

	for (size_t i = 0; i < blocks->n; i++)
		blocks->a[i] = log(blocks->over[i] / blocks->under[i]);
	ret->has_p = blocks->n <= STATS_FLIPS_MAX;
	if (ret->has_p)
		ret->p = stats_sign_flip(blocks->a, blocks->n);
	if (!stats_median_interval(blocks->a, blocks->n, 0.95, &ret->paired_low, &ret->paired_high,
	                           &coverage, &ret->has_paired, err))
		return false;
	ret->paired_low = exp(ret->paired_low);
	ret->paired_high = exp(ret->paired_high);
	return true;
}

bool stats_ratio_of_medians(const double *over, const double *under, size_t n, uint64_t seed,
                            struct stats_ratio *ret, struct err *err)
{
	struct stats_ratio result = {0};

	if (n < 2)
		return err_set(err, ERR_INTERNAL, "a ratio of medians needs two blocks");
	for (size_t i = 0; i < n; i++)
		if (!(over[i] > 0) || !(under[i] > 0) || isinf(over[i]) || isinf(under[i]))
			return err_set(err, ERR_INPUT, "a ratio needs values above zero");
	CLEANUP(free_p) double *a = malloc(n * sizeof(*a));
	CLEANUP(free_p) double *b = malloc(n * sizeof(*b));
	CLEANUP(free_p) size_t *pick = malloc(n * sizeof(*pick));
	size_t room = n > STATS_RESAMPLES ? n : STATS_RESAMPLES;
	CLEANUP(free_p) double *resamples = malloc(room * sizeof(*resamples));
	if (!a || !b || !pick || !resamples)
		return err_set(err, ERR_SYSTEM, "out of memory");
	const struct blocks blocks = {over, under, n, a, b};
	for (size_t i = 0; i < n; i++)
		pick[i] = i;
	result.ratio = ratio_of(&blocks, pick, n);
	result.over = median_of(a, n);
	result.under = median_of(b, n);
	result.superiority = superiority(over, under, n);
	bootstrap(&blocks, seed, pick, resamples, &result);
	if (!paired(&blocks, &result, err))
		return false;
	*ret = result;
	return true;
}

/* ---- several claims, and what warns ---- */

struct ranked {
	double value;
	size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static struct ranked *ranked_of(const double *values, size_t n, struct err *err)
{
	struct ranked *ranked = malloc((n + 1) * sizeof(*ranked));

	if (!ranked) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){values[i], i};
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	return ranked;
}

bool stats_holm(const double *p, size_t n, double *ret_adjusted, struct err *err)
{
	CLEANUP(free_p) struct ranked *ranked = ranked_of(p, n, err);
	double highest = 0;

	if (!ranked)
		return false;
	for (size_t i = 0; i < n; i++) {
		highest = fmax(highest, fmin(1, (double)(n - i) * ranked[i].value));
		ret_adjusted[ranked[i].index] = highest;
	}
	return true;
}

static bool ranks(const double *values, size_t n, double *ret, struct err *err)
{
	CLEANUP(free_p) struct ranked *ranked = ranked_of(values, n, err);

	if (!ranked)
		return false;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && ranked[to].value == ranked[from].value; to++)
			;
		for (size_t i = from; i < to; i++)
			ret[ranked[i].index] = (double)(from + to + 1) / 2;
	}
	return true;
}

bool stats_spearman(const double *x, const double *y, size_t n, double *ret, struct err *err)
{
	CLEANUP(free_p) double *rx = malloc((n + 1) * sizeof(*rx));
	CLEANUP(free_p) double *ry = malloc((n + 1) * sizeof(*ry));
	double mean = ((double)n + 1) / 2, xx = 0, yy = 0, xy = 0;

	if (!rx || !ry)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (!ranks(x, n, rx, err) || !ranks(y, n, ry, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		xx += (rx[i] - mean) * (rx[i] - mean);
		yy += (ry[i] - mean) * (ry[i] - mean);
		xy += (rx[i] - mean) * (ry[i] - mean);
	}
	*ret = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
	return true;
}

bool stats_outliers(const double *values, size_t n, size_t *ret_mild, size_t *ret_severe,
                    struct err *err)
{
	CLEANUP(free_p) double *sorted = malloc((n + 1) * sizeof(*sorted));
	size_t half =
	        (n + 1) / 2; /* Tukey's hinges: the middle of an odd number is in both halves */
	size_t mild = 0, severe = 0;

	if (!sorted)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (n < 4)
		return err_set(err, ERR_INTERNAL, "fences need four values");
	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	double low = median_of(sorted, half), high = median_of(sorted + (n - half), half);
	for (size_t i = 0; i < n; i++) {
		double off = fmax(low - values[i], values[i] - high);

		severe += off > 3 * (high - low);
		mild += off > 1.5 * (high - low) && off <= 3 * (high - low);
	}
	*ret_mild = mild;
	*ret_severe = severe;
	return true;
}
