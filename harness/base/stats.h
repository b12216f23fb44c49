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

/*
 * The narrowest symmetric order-statistic interval of the median with at
 * least the given coverage (David & Nagaraja, Order Statistics, 7.1):
 * the ranks' coverage is binomial and needs no distribution. false in
 * *ret_exists when n is too small for it. ret_coverage is what it really has.
 */
bool stats_median_interval(const double *values, size_t n, double coverage, double *ret_low,
                           double *ret_high, double *ret_coverage, bool *ret_exists,
                           struct err *err) MUST_CHECK;

/*
 * Upper bound on an event's probability at the given confidence after
 * `events` in `trials` (Clopper-Pearson; for none near 3/trials at 95 %:
 * Hanley & Lippman-Hand, JAMA 1983).
 */
double stats_event_bound(uint64_t events, uint64_t trials, double confidence);

#endif
