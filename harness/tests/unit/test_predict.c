/* SPDX-License-Identifier: PostgreSQL */
/* The scale law: what it computes, its ends, its ranges, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "store/predict.h"

#define ROWS_PER_LEAF 200.0
#define IMAGE_BYTES 5800.0
#define ROW_BYTES 150.0

/* A measurement that obeys the formula, but for a factor of its images. */
static struct predict_point point(const char *arm, double rows, double apart, double images)
{
	double leaves = rows / ROWS_PER_LEAF;
	struct predict_point p = {.table_rows = rows,
	                          .apart = apart,
	                          .leaf_pages = leaves,
	                          .index_bytes = leaves * 1.01 * PREDICT_PAGE_BYTES,
	                          .images = images};

	p.image_bytes = images * IMAGE_BYTES;
	p.wal_bytes = apart * ROW_BYTES + p.image_bytes;
	snprintf(p.arm, sizeof(p.arm), "%s", arm);
	return p;
}

static double touched(double rows, double apart)
{
	double leaves = rows / ROWS_PER_LEAF;

	return leaves * (1 - exp(-apart / leaves));
}

static struct predict_points sample_points(struct predict_point *items, size_t *ret_count)
{
	static const double rows[] = {250e3, 500e3, 1e6};
	size_t n = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		items[n++] = point("uuidv4", rows[i], 3000, touched(rows[i], 3000));
		items[n++] = point("uuidv4", rows[i], 10000, touched(rows[i], 10000));
		items[n++] = point("uuidv7", rows[i], 10000, 4);
	}
	*ret_count = n;
	return (struct predict_points){.items = items, .count = n, .run_id = 1};
}

static void formula(void **state)
{
	const struct predict_ask ask = {.rows = 8e6, .insert_rate = 1000, .checkpoint_s = 10};
	struct predict_point items[16];
	size_t count;
	struct predict_points points = sample_points(items, &count);
	struct predict_answer v4, v7;
	struct err err;

	(void)state;
	assert_true(predict_compute(&points, "uuidv4", &ask, &v4, &err));
	assert_true(v4.random);
	assert_int_equal(v4.points, 6);
	assert_float_equal(v4.rows_per_leaf, ROWS_PER_LEAF, 1e-6);
	assert_float_equal(v4.bytes_per_image, IMAGE_BYTES, 1e-6);
	assert_float_equal(v4.bytes_per_row, ROW_BYTES, 1e-6);
	assert_float_equal(v4.images_s.value, touched(8e6, 10000) / 10, 1e-6);
	assert_float_equal(v4.wal_bytes_s.value,
	                   (10000 * ROW_BYTES + touched(8e6, 10000) * IMAGE_BYTES) / 10, 1e-3);
	/* All points obey the formula, so one by one they say the same. */
	assert_float_equal(v4.wal_bytes_s.low, v4.wal_bytes_s.high, 1e-3);
	assert_float_equal(v4.index_bytes.value, 40000 * 1.01 * PREDICT_PAGE_BYTES, 1e-3);
	assert_float_equal(v4.cache_bytes.value, v4.index_bytes.value, 1e-3);
	assert_true(v4.beyond_rows);
	assert_false(v4.beyond_apart);

	assert_true(predict_compute(&points, "uuidv7", &ask, &v7, &err));
	assert_false(v7.random);
	assert_float_equal(v7.wal_bytes_s.value, (10000 * ROW_BYTES + 4 * IMAGE_BYTES) / 10, 1e-3);
	assert_float_equal(v7.cache_bytes.value, 4.0 * PREDICT_PAGE_BYTES, 1e-3);
	/* The ratio that a trial found at 8 million rows. */
	assert_in_range((unsigned)(v4.wal_bytes_s.value / v7.wal_bytes_s.value), 30, 40);
}

/* A small table has every leaf logged once, a large one a leaf for every row. */
static void ends(void **state)
{
	struct predict_point items[16];
	size_t count;
	struct predict_points points = sample_points(items, &count);
	struct predict_answer answer;
	struct err err;

	(void)state;
	assert_true(predict_compute(&points, "uuidv4", &(struct predict_ask){20e3, 1e6, 100},
	                            &answer, &err));
	assert_float_equal(answer.images_s.value * 100, 100, 1e-9);
	assert_true(answer.beyond_rows && answer.beyond_apart);
	assert_true(predict_compute(&points, "uuidv4", &(struct predict_ask){1e15, 10, 10}, &answer,
	                            &err));
	assert_float_equal(answer.wal_row_bytes.value, ROW_BYTES + IMAGE_BYTES, 0.01);
	assert_true(predict_compute(&points, "uuidv4", &(struct predict_ask){500e3, 500, 10},
	                            &answer, &err));
	assert_false(answer.beyond_rows || answer.beyond_apart);
	assert_float_equal(answer.rows_low, 250e3, 0.1);
	assert_float_equal(answer.apart_high, 10e3, 0.1);
}

/* Points that do not agree give a range around the value. */
static void ranges(void **state)
{
	struct predict_point items[2] = {point("uuidv4", 250e3, 3000, touched(250e3, 3000)),
	                                 point("uuidv4", 500e3, 3000, touched(500e3, 3000))};
	struct predict_points points = {.items = items, .count = 2};
	struct predict_answer answer;
	struct err err;

	(void)state;
	items[1].image_bytes *= 1.1;
	items[1].wal_bytes = 3000 * ROW_BYTES + items[1].image_bytes;
	assert_true(predict_compute(&points, "uuidv4", &(struct predict_ask){1e9, 1000, 10},
	                            &answer, &err));
	assert_true(answer.wal_row_bytes.low < answer.wal_row_bytes.value);
	assert_true(answer.wal_row_bytes.value < answer.wal_row_bytes.high);
	assert_float_equal(answer.wal_row_bytes.high, ROW_BYTES + 1.1 * IMAGE_BYTES, 10);
	assert_float_equal(answer.wal_row_bytes.low, ROW_BYTES + IMAGE_BYTES, 10);
}

static void refused(const struct predict_points *points, const char *arm, struct predict_ask ask,
                    const char *says)
{
	struct predict_answer answer = {.points = 77};
	struct err err = {0};

	assert_false(predict_compute(points, arm, &ask, &answer, &err));
	assert_int_equal(err.kind, ERR_INPUT);
	assert_non_null(strstr(err.message, says));
	assert_int_equal(answer.points, 77);
}

static void refusals(void **state)
{
	const struct predict_ask good = {1e6, 1000, 10};
	struct predict_point items[16];
	size_t count;
	struct predict_points points = sample_points(items, &count);

	(void)state;
	refused(&points, "ulid", good, "\"ulid\" were not measured");
	refused(&points, "uuidv4", (struct predict_ask){0, 1000, 10}, "a row");
	refused(&points, "uuidv4", (struct predict_ask){1e6, 0.01, 10}, "a row");
	refused(&points, "uuidv4", (struct predict_ask){1e6, INFINITY, 10}, "a row");
	refused(&points, "uuidv4", (struct predict_ask){1e6, 1000, 0}, "a row");
	/* Half the images of random keys: neither kind. */
	items[0] = point("half", 1e6, 10000, touched(1e6, 10000) / 2);
	refused(&points, "half", good, "0.50 times the images");
	items[0].table_rows = 0;
	refused(&points, "half", good, "empty table");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(formula),
	        cmocka_unit_test(ends),
	        cmocka_unit_test(ranges),
	        cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
