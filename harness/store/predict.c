/* SPDX-License-Identifier: PostgreSQL */
/* The scale law, computed. */
#include "store/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql.h"

/* Images measured over those of keys at random: near 1 they are such, near 0 keys in order. */
#define RANDOM_LOW 0.9
#define RANDOM_HIGH 1.1
#define ORDERED_HIGH 0.25

void predict_points_finish(struct predict_points *points)
{
	free(points->items);
	*points = (struct predict_points){0};
}

/* ---- out of the store ---- */

static bool take_point(struct query *query, struct predict_points *points, struct err *err)
{
	struct predict_point *grown =
	        realloc(points->items, (points->count + 1) * sizeof(*points->items));

	if (!grown)
		return err_set(err, ERR_SYSTEM, "out of memory");
	points->items = grown;
	struct predict_point *point = &grown[points->count++];
	*point = (struct predict_point){.table_rows = query_get_real(query, 4),
	                                .apart = query_get_real(query, 5),
	                                .leaf_pages = query_get_real(query, 6),
	                                .index_bytes = query_get_real(query, 7),
	                                .images = query_get_real(query, 8),
	                                .wal_bytes = query_get_real(query, 9),
	                                .image_bytes = query_get_real(query, 10)};
	snprintf(point->arm, sizeof(point->arm), "%s", query_get_text(query, 3));
	points->run_id = query_get_int(query, 0);
	snprintf(points->profile, sizeof(points->profile), "%s", query_get_text(query, 1));
	points->server_version = (int)query_get_int(query, 2);
	for (int column = 4; column <= 10; column++)
		if (!query_is_number(query, column) && column != 5)
			return err_set(err, ERR_INPUT,
			               "run %lld of scale-law lacks a figure of %s; run it again",
			               (long long)points->run_id, point->arm);
	return true;
}

bool predict_load(struct store *store, int64_t run_id, struct predict_points *ret, struct err *err)
{
	struct predict_points points = {0};
	struct query query = {0};
	bool row = false, ok = query_prepare(store, sql_store_predict_points, &query, err);

	if (ok && run_id)
		query_int(&query, ":run_id", run_id);
	while (ok && (ok = query_step(&query, &row, err)) && row)
		ok = take_point(&query, &points, err);
	query_finish(&query);
	if (ok && !points.count)
		ok = err_set(err, ERR_INPUT,
		             "%s holds no %s of the scenario scale-law that ended; measure first: "
		             "keylab run scale-law --db %s",
		             store->path, run_id ? "such run" : "run", store->path);
	if (!ok) {
		predict_points_finish(&points);
		return false;
	}
	*ret = points;
	return true;
}

/* ---- the model ---- */

/* Different leaves that n keys at random fall into. */
static double touched(double leaves, double n)
{
	return leaves * -expm1(-n / leaves);
}

/* The model's constants. */
struct constants {
	double rows_per_leaf, bytes_per_image, bytes_per_row;
	double images;         /* of a checkpoint, for keys in order */
	double pages_per_leaf; /* of the index, for each leaf */
};

static struct constants constants_of(const struct predict_point *sum, size_t points)
{
	return (struct constants){
	        .rows_per_leaf = sum->table_rows / sum->leaf_pages,
	        .bytes_per_image = sum->images > 0 ? sum->image_bytes / sum->images : 0,
	        .bytes_per_row = (sum->wal_bytes - sum->image_bytes) / sum->apart,
	        .images = sum->images / (double)points,
	        .pages_per_leaf = sum->index_bytes / PREDICT_PAGE_BYTES / sum->leaf_pages,
	};
}

/* One figure of each kind, with the constants of one point or of all. */
struct figures {
	double wal_checkpoint, images, index_bytes, cache_bytes;
};

static struct figures figures_of(const struct constants *c, const struct predict_ask *ask,
                                 double apart, bool random)
{
	double leaves = ask->rows / c->rows_per_leaf;
	double images = random ? touched(leaves, apart) : c->images;
	double index_bytes = leaves * c->pages_per_leaf * PREDICT_PAGE_BYTES;

	return (struct figures){
	        .wal_checkpoint = apart * c->bytes_per_row + images * c->bytes_per_image,
	        .images = images,
	        .index_bytes = index_bytes,
	        /* At random each page is as likely the next as any other; in order only the last
	           ones. */
	        .cache_bytes = random ? index_bytes : images * PREDICT_PAGE_BYTES,
	};
}

static void widen(struct predict_range *range, double value)
{
	range->low = value < range->low ? value : range->low;
	range->high = value > range->high ? value : range->high;
}

static struct predict_range scaled(struct predict_range range, double factor)
{
	return (struct predict_range){range.value * factor, range.low * factor,
	                              range.high * factor};
}

/* The points of one arm, added up. */
struct arm_sum {
	struct predict_point sum;
	double touched; /* what keys at random would have */
	size_t count;
	double rows_low, rows_high, apart_low, apart_high;
};

static bool add_up(const struct predict_points *points, const char *arm, struct arm_sum *ret,
                   struct err *err)
{
	struct arm_sum all = {.rows_low = INFINITY, .apart_low = INFINITY};

	for (size_t i = 0; i < points->count; i++) {
		const struct predict_point *point = &points->items[i];

		if (strcmp(point->arm, arm) != 0)
			continue;
		if (!(point->table_rows > 0 && point->apart > 0 && point->leaf_pages > 0))
			return err_set(err, ERR_INPUT, "%s was measured in an empty table", arm);
		all.count++;
		all.sum.table_rows += point->table_rows;
		all.sum.apart += point->apart;
		all.sum.leaf_pages += point->leaf_pages;
		all.sum.index_bytes += point->index_bytes;
		all.sum.images += point->images;
		all.sum.wal_bytes += point->wal_bytes;
		all.sum.image_bytes += point->image_bytes;
		all.touched += touched(point->leaf_pages, point->apart);
		all.rows_low = fmin(all.rows_low, point->table_rows);
		all.rows_high = fmax(all.rows_high, point->table_rows);
		all.apart_low = fmin(all.apart_low, point->apart);
		all.apart_high = fmax(all.apart_high, point->apart);
	}
	if (!all.count)
		return err_set(err, ERR_INPUT, "keys of kind \"%s\" were not measured", arm);
	*ret = all;
	return true;
}

static bool find_kind(const struct arm_sum *all, const char *arm, bool *ret_random, struct err *err)
{
	double share = all->sum.images / all->touched;

	if (share >= RANDOM_LOW && share <= RANDOM_HIGH)
		*ret_random = true;
	else if (share <= ORDERED_HIGH)
		*ret_random = false;
	else
		return err_set(err, ERR_INPUT,
		               "%s logs %.2f times the images of keys at random, and fewer would "
		               "be "
		               "keys in order: the model speaks of those two only",
		               arm, share);
	return true;
}

static void fill_ranges(const struct predict_points *points, const char *arm,
                        const struct predict_ask *ask, const struct figures *f, double apart,
                        struct predict_answer *ret)
{
	struct predict_range wal = {f->wal_checkpoint, f->wal_checkpoint, f->wal_checkpoint};
	struct predict_range images = {f->images, f->images, f->images};

	ret->index_bytes = (struct predict_range){f->index_bytes, f->index_bytes, f->index_bytes};
	ret->cache_bytes = (struct predict_range){f->cache_bytes, f->cache_bytes, f->cache_bytes};
	for (size_t i = 0; i < points->count; i++) {
		if (strcmp(points->items[i].arm, arm) != 0)
			continue;
		struct constants own = constants_of(&points->items[i], 1);
		struct figures one = figures_of(&own, ask, apart, ret->random);
		widen(&wal, one.wal_checkpoint);
		widen(&images, one.images);
		widen(&ret->index_bytes, one.index_bytes);
		widen(&ret->cache_bytes, one.cache_bytes);
	}
	ret->wal_checkpoint_bytes = wal;
	ret->wal_bytes_s = scaled(wal, 1 / ask->checkpoint_s);
	ret->wal_row_bytes = scaled(wal, 1 / apart);
	ret->images_s = scaled(images, 1 / ask->checkpoint_s);
}

bool predict_compute(const struct predict_points *points, const char *arm,
                     const struct predict_ask *ask, struct predict_answer *ret, struct err *err)
{
	double apart = ask->insert_rate * ask->checkpoint_s;
	struct predict_answer answer = {.apart = apart};
	struct arm_sum all = {0};

	if (!(ask->rows >= 1 && ask->checkpoint_s > 0 && apart >= 1) || !isfinite(apart))
		return err_set(err, ERR_INPUT,
		               "there must be a row in the table, and one or more between two "
		               "checkpoints");
	if (!add_up(points, arm, &all, err) || !find_kind(&all, arm, &answer.random, err))
		return false;
	struct constants c = constants_of(&all.sum, all.count);
	struct figures f = figures_of(&c, ask, apart, answer.random);
	answer.points = all.count;
	answer.rows_per_leaf = c.rows_per_leaf;
	answer.bytes_per_image = c.bytes_per_image;
	answer.bytes_per_row = c.bytes_per_row;
	answer.rows_low = all.rows_low;
	answer.rows_high = all.rows_high;
	answer.apart_low = all.apart_low;
	answer.apart_high = all.apart_high;
	answer.beyond_rows = ask->rows < all.rows_low || ask->rows > all.rows_high;
	answer.beyond_apart = apart < all.apart_low || apart > all.apart_high;
	fill_ranges(points, arm, ask, &f, apart, &answer);
	*ret = answer;
	return true;
}
