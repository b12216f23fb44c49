/* SPDX-License-Identifier: PostgreSQL */
/*
 * Charts: their data out of the store (chart.c), a picture laid out for two
 * widths (draw*.c), gnuplot once for all of them (plot.c), its SVG read and
 * written anew for the page (svg.c).
 *
 * gnuplot sees numbers only. Every text of a picture (labels, names, ticks)
 * is a placeholder in the script and comes in when the SVG is written anew,
 * so no text of a scenario or a server can be a command.
 */
#ifndef KEYLAB_REPORT_CHART_H
#define KEYLAB_REPORT_CHART_H

#include "base/arena.h"
#include "base/buf.h"
#include "report/model.h"
#include "report/report.h"

/* Points kept of one series; beyond, every second, fourth, … and the figure says so. */
#define CHART_MAX_POINTS 500
#define CHART_MAX_SERIES 24
/* Of one picture, as the page carries it. */
#define CHART_MAX_SVG_BYTES ((size_t)60 << 10)

enum chart_kind { CHART_LINES, CHART_DOTS, CHART_BARS, CHART_LANES, CHART_TABLE, CHART_FOREST };

struct chart_point {
	double x, y;      /* lanes: start and stop; forest: -, ratio */
	double low, high; /* of y; NAN when not given */
	const char
	        *group; /* the x when it is a text; lanes: the kind; table: the column; else "" */
	const char *label; /* lanes, forest: what is written beside it; table: the cell */
	const char *claim; /* table: the claim behind the cell; else "" */
};

struct chart_series {
	const char *name;  /* as the data gives it; lanes: the lane */
	const char *label; /* as it is shown */
	unsigned style;    /* see draw.h: colour, marker, dash */
	struct chart_point *points;
	size_t count;
	size_t seen;  /* rows there were */
	size_t every; /* 1: each of them was kept; 2: every second, and so on */
};

struct chart {
	enum chart_kind kind;
	const char *title; /* the finding */
	const char *x_label, *x_unit, *y_label, *y_unit;
	bool x_log, y_log;
	bool grouped; /* x is a text */
	struct chart_series series[CHART_MAX_SERIES];
	size_t series_count;
	struct scenario_row *scenario; /* borrowed; NULL for the forest */
	const struct claim *claims;    /* borrowed; the forest's, which its points' x counts */
	size_t claims_count;
	const char *failure; /* why there is no picture; NULL when there is one */
	const char *script;  /* for gnuplot alone, with its texts; NULL unless parts are wanted */
	const char *wide, *narrow; /* SVG, ready for the page; NULL when not drawn */
};

/* Room for the pictures' names: arms that are none of the three with a colour of their own. */
#define CHARTS_MAX_OTHERS 64

struct charts {
	struct arena arena;
	struct chart *forest; /* NULL when no claim has a figure to stand against */
	const char *version;  /* what gnuplot says it is; NULL when there is none */
	const char *missing;  /* why there are no pictures at all; NULL when there are */
	const char *others[CHARTS_MAX_OTHERS];
	size_t others_count;
};

/*
 * Reads the data of all charts of the model's first run and draws them.
 * A chart's own trouble is its failure text; false is for the store and memory.
 */
bool charts_load(struct store *store, struct model *model, const struct report_options *options,
                 struct charts *ret, struct err *err) MUST_CHECK;
/* Each chart's script and data as files: charts/SCENARIO.CHART.gp and .tsv. */
void charts_parts(const struct charts *charts, const struct model *model, struct report_parts *ret);
/* Accepts a zeroed one. */
void charts_finish(struct charts *charts);

/* The chart of measured against published, from the claims; NULL when there is nothing to show. */
struct chart *chart_forest(struct charts *charts, const struct run_row *run);

/* plot.c: draws all of them with one gnuplot. */
bool charts_plot(struct charts *charts, struct chart *const *list, size_t count,
                 const struct report_options *options, struct err *err) MUST_CHECK;

#endif
