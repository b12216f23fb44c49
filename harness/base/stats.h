/* SPDX-License-Identifier: PostgreSQL */
/* Statistics of repeated measurements. Arrays are the caller's and are not changed. */
#ifndef KEYLAB_BASE_STATS_H
#define KEYLAB_BASE_STATS_H

#include "base/base.h"
#include "base/err.h"

/* The fewest repetitions for which an order-statistic interval of 95 % exists. */
#define STATS_FEWEST 6

/* Median of n >= 1 numbers (mean of the middle two). */
bool stats_median(const double *values, size_t n, double *ret, struct err *err) MUST_CHECK;

/* The value that at least `percent` per cent of n >= 1 ascending values do not exceed (nearest
   rank): always one of them. */
uint64_t stats_percentile(const uint64_t *ascending, size_t n, double percent);

/*
 * The narrowest symmetric order-statistic interval of the median with at
 * least the given coverage (David & Nagaraja, Order Statistics, 7.1):
 * the ranks' coverage is binomial and needs no distribution. false in
 * *ret_exists when n is too small for it. ret_coverage is what it really has.
 */
bool stats_median_interval(const double *values, size_t n, double coverage, double *ret_low,
                           double *ret_high, double *ret_coverage, bool *ret_exists,
                           struct err *err) MUST_CHECK;

#define STATS_BLOCKS_MAX 1000
/* A number of repetitions "would probably resolve" a question when it does so four times in five.
 */
#define STATS_POWER 0.8
/*
 * The fewest repetitions, from STATS_FEWEST, whose order-statistic interval of the median (95 %)
 * probably lies between two bounds: the estimate is `below` standard deviations above the
 * lower one and `above` below the upper one (INFINITY: there is none), and the values are
 * normal. 0: not even STATS_BLOCKS_MAX.
 */
size_t stats_blocks_to_resolve(double below, double above);

/*
 * Upper bound on an event's probability at the given confidence after
 * `events` in `trials` (Clopper-Pearson; for none near 3/trials at 95 %:
 * Hanley & Lippman-Hand, JAMA 1983).
 */
double stats_event_bound(uint64_t events, uint64_t trials, double confidence);

/* ---- two arms in complete blocks ---- */

#define STATS_RESAMPLES 10000
/* The most blocks whose sign flips are all tried: 2^20 of them. */
#define STATS_FLIPS_MAX 20

struct stats_ratio {
	double over, under; /* the medians, in the unit of the values */
	double ratio;       /* of them */
	double low, high;   /* 95 % interval of the ratio: whole blocks resampled, BCa */
	bool has_paired;    /* n is large enough for */
	double paired_low, paired_high; /* order-statistic interval of the ratios within blocks */
	double superiority; /* P(over > under) over all pairs of values; a tie counts half */
	bool has_p;
	double p; /* exact sign-flip test of the log-ratios, two-sided */
};

/*
 * over[i] and under[i] are of block i, all above zero, n at least 2. The interval of the
 * ratio of medians is the bias-corrected and accelerated bootstrap (Efron, Better Bootstrap
 * Confidence Intervals, JASA 1987), with STATS_RESAMPLES resamples of whole blocks from `seed`.
 */
bool stats_ratio_of_medians(const double *over, const double *under, size_t n, uint64_t seed,
                            struct stats_ratio *ret, struct err *err) MUST_CHECK;

/* Two-sided p of the mean of n <= STATS_FLIPS_MAX differences under all 2^n flips of their signs
   (Fisher, The Design of Experiments, 21). */
double stats_sign_flip(const double *differences, size_t n);
/* Holm's step-down adjustment (Scandinavian Journal of Statistics, 1979) of n p-values. */
bool stats_holm(const double *p, size_t n, double *ret_adjusted, struct err *err) MUST_CHECK;
/* Spearman's rank correlation, ties by their mean rank; 0 when one side is constant. */
bool stats_spearman(const double *x, const double *y, size_t n, double *ret,
                    struct err *err) MUST_CHECK;
/* How many of n >= 4 values lie beyond Tukey's fences: 1.5 (mild) and 3 (severe) interquartile
   ranges from the hinges. Severe ones are not counted as mild. */
bool stats_outliers(const double *values, size_t n, size_t *ret_mild, size_t *ret_severe,
                    struct err *err) MUST_CHECK;

#endif
