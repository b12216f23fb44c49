/* SPDX-License-Identifier: PostgreSQL */
/*
 * What a key costs in WAL at a size that was not measured: the model of
 * docs/scale-law.md with the constants that the scenario scale-law measured.
 *
 *   images of a checkpoint = L (1 - exp(-n / L)), L = rows / rows a leaf   (keys at random)
 *                          = as many as were measured                     (keys in order)
 *   WAL of a checkpoint    = n * bytes a row + images * bytes an image
 *
 * Pure but for predict_load; any thread.
 */
#ifndef KEYLAB_STORE_PREDICT_H
#define KEYLAB_STORE_PREDICT_H

#include "base/base.h"
#include "base/err.h"
#include "store/store.h"

#define PREDICT_PAGE_BYTES 8192

/* One insert of `apart` rows right after a checkpoint, as it was measured. */
struct predict_point {
	char arm[64];
	double table_rows, apart;
	double leaf_pages, index_bytes; /* before it */
	double images;                  /* full-page images it logged */
	double wal_bytes, image_bytes;  /* image_bytes of these are images */
};

/* Where they come from. */
struct predict_points {
	struct predict_point *items; /* owned */
	size_t count;
	int64_t run_id;
	char profile[16];
	int server_version; /* 180004; 0: not recorded */
};
void predict_points_finish(struct predict_points *points);

/* run_id 0: the newest run. ERR_INPUT when the store holds no scale-law that ended. */
bool predict_load(struct store *store, int64_t run_id, struct predict_points *ret,
                  struct err *err) MUST_CHECK;

struct predict_ask {
	double rows;         /* in the table */
	double insert_rate;  /* rows a second */
	double checkpoint_s; /* from one checkpoint to the next */
};

/* From all points together, and the least and the most that the points give one by one. */
struct predict_range {
	double value, low, high;
};

struct predict_answer {
	bool random; /* the images grow with the leaves; false: they do not */
	size_t points;
	double apart; /* rows between two checkpoints */
	struct predict_range wal_bytes_s, images_s, wal_row_bytes, wal_checkpoint_bytes,
	        index_bytes, cache_bytes;
	double rows_per_leaf, bytes_per_image, bytes_per_row; /* the model's constants */
	double rows_low, rows_high, apart_low, apart_high;    /* what was measured */
	bool beyond_rows, beyond_apart; /* outside of that: the answer is extrapolated */
};

/*
 * ERR_INPUT when arm was not measured, when its images are neither those of
 * keys at random nor of keys in order, or when the question has no answer
 * (nothing positive, less than a row between checkpoints).
 */
bool predict_compute(const struct predict_points *points, const char *arm,
                     const struct predict_ask *ask, struct predict_answer *ret,
                     struct err *err) MUST_CHECK;

#endif
