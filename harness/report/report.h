/* SPDX-License-Identifier: PostgreSQL */
/*
 * The evidence page: one HTML file, and the same table in Markdown, from the
 * store alone. Nothing is written to the store and no server is needed; the
 * only other program is gnuplot, and without it the page keeps its tables.
 *
 * The same store, options and gnuplot give the same bytes: every time on the
 * page comes from the store. Not thread-safe for one store.
 */
#ifndef KEYLAB_REPORT_REPORT_H
#define KEYLAB_REPORT_REPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

/* Bytes of a page beyond which a caller should warn, and beyond which rendering fails. */
#define REPORT_WARN_BYTES ((size_t)2 << 20)
#define REPORT_MAX_BYTES ((size_t)5 << 20)

/* More runs than this make no table that anyone can read. */
#define REPORT_MAX_RUNS 16

struct report_parts;

struct report_options {
	const int64_t *runs;   /* run ids, the one in full first; NULL: the newest finished run */
	size_t runs_count;     /* more than one: a comparison, with the first as its base */
	const char *document;  /* show this one only; NULL: all */
	const char *gnuplot;   /* path of the program; NULL: tables only, and the page says so */
	const char *cache_dir; /* where drawn charts are kept; created; NULL: nowhere */
	bool assets_external;  /* link report.css instead of carrying it */
	bool expand;           /* details are open */
	struct report_parts *parts; /* bundle.h; gets the charts' scripts and data; NULL: nobody
	                               wants them */
};

/*
 * Appends the page to *ret_html. An unknown run or document is ERR_USAGE, a
 * store without a run ERR_INPUT. A chart that cannot be drawn is no error:
 * the page says why and shows its table.
 */
bool report_render(struct store *store, const struct report_options *options, struct buf *ret_html,
                   struct err *err) MUST_CHECK;

/*
 * Writes the page and all that it was made of as a tar archive to path: sorted
 * names, times of the run, so that the same store gives the same bytes.
 * Everything is below keylab-run-N/; SHA256SUMS is for sha256sum -c. The store
 * goes in whole, with all its runs. options->parts is not looked at.
 */
bool report_bundle(struct store *store, const struct report_options *options, const char *path,
                   struct err *err) MUST_CHECK;

/* What report.css holds beside a page with assets_external. Static. */
const char *report_css(void);

/* The table of claims in Markdown (GitHub's), appended. run 0: the newest finished one. */
bool report_markdown(struct store *store, int64_t run, struct buf *ret, struct err *err) MUST_CHECK;

#endif
