/* SPDX-License-Identifier: PostgreSQL */
/*
 * A drawing: a gnuplot script that holds numbers and placeholders, and the
 * texts that the placeholders stand for. Sizes are in the picture's own
 * pixels, from the top left corner, unless they are said to be data.
 */
#ifndef KEYLAB_REPORT_DRAW_H
#define KEYLAB_REPORT_DRAW_H

#include "base/arena.h"
#include "base/buf.h"
#include "report/chart.h"

/* X(name, what gnuplot writes, what stands without a style sheet); the order is that of the
 * classes. */
#define INKS(X)                                                                                    \
	X(TEXT, "010203", "#1b1c1e")                                                               \
	X(GRID, "010204", "#e2e0d8")                                                               \
	X(BAND, "010205", "#e3e8ee")                                                               \
	X(SOFT, "010206", "#55585d")                                                               \
	X(BIGINT, "0072b2", "#0072b2")                                                             \
	X(UUIDV4, "d55e00", "#d55e00")                                                             \
	X(UUIDV7, "009e73", "#009e73")                                                             \
	X(OTHER, "cc79a7", "#cc79a7")                                                              \
	X(PAPER, "010207", "#fffefb")
enum ink {
#define X(name, sent, plain) INK_##name,
	INKS(X)
#undef X
	        INK_COUNT
};
/* As gnuplot wants it, without the #: six digits. */
const char *ink_sent(enum ink ink);
const char *ink_plain(enum ink ink);

/* How a series looks; style is chart_series'. */
struct style {
	enum ink ink;
	int marker;       /* gnuplot's pt */
	const char *dash; /* gnuplot's dt */
};
struct style style_find(unsigned style);

#define DRAW_FONT_PX 13
#define DRAW_LINE_PX 15
#define DRAW_MAX_TEXTS 600

struct drawing {
	struct arena *arena; /* borrowed */
	struct buf script;   /* finished by drawing_finish */
	const char **texts;  /* DRAW_MAX_TEXTS */
	size_t texts_count;
	int width, height;
	bool narrow;
	int left, right, top, bottom; /* margins of the plot's own area */
	int labels, arrows, blocks;   /* counted, for their names */
	bool plots;                   /* a plot command has begun */
	struct buf plot;              /* what it holds so far */
};

/* One axis: data from min to max lie at pixels from to to. */
struct axis {
	double min, max;
	bool log;
	double from, to;
};
double axis_px(const struct axis *axis, double value);

/* Room for the pictures of both widths; false when out of memory. */
bool drawing_init(struct drawing *d, struct arena *arena, bool narrow);
void drawing_finish(struct drawing *d);

/* Estimated width of a text at the common size; fonts differ, so leave some air. */
double text_px(const char *text);
/* The text, cut with an ellipsis where it is wider than max_px. */
const char *text_fit(struct drawing *d, const char *text, double max_px);
/* The text in one line or, broken at a space, in two; only what then is too wide is cut. */
struct lines {
	const char *text[2];
	int count;
};
struct lines text_wrap(struct drawing *d, const char *text, double max_px);
/* The placeholder of a text: "@7@". Valid until the next call. */
const char *draw_text(struct drawing *d, const char *text);

enum align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };
/* A text whose middle line is at y. */
void draw_label(struct drawing *d, const char *text, double x, double y, enum align align,
                enum ink ink);
/* Lines of a text, around y. */
void draw_lines(struct drawing *d, const struct lines *lines, double x, double y, enum align align,
                enum ink ink);
void draw_line(struct drawing *d, double x1, double y1, double x2, double y2, enum ink ink,
               double width);

/* Begins the script: size, margins, ranges. Everything else follows. */
void draw_frame(struct drawing *d, const struct axis *x, const struct axis *y);
/* A block of numbers; returns its number for draw_plot. Rows follow by draw_row. */
int draw_block(struct drawing *d);
void draw_row(struct drawing *d, const double *numbers, size_t count);
void draw_block_end(struct drawing *d);
/* `$bN` followed by what gnuplot's plot is told about it; format has numbers only. */
void draw_plot(struct drawing *d, int block, const char *format, ...) PRINTF(3, 4);
/* Ends the script. */
void draw_end(struct drawing *d);

#define DRAW_MAX_TICKS 24
struct ticks {
	double at[DRAW_MAX_TICKS];
	const char *text[DRAW_MAX_TICKS];
	size_t count;
};
/* Round numbers that cover min to max, which they may widen; want: about how many. */
void ticks_find(struct drawing *d, struct axis *axis, const char *unit, size_t want,
                struct ticks *ret);
double ticks_width(const struct ticks *ticks);
void draw_x_ticks(struct drawing *d, const struct axis *axis, const struct ticks *ticks, bool grid);
void draw_y_ticks(struct drawing *d, const struct axis *axis, const struct ticks *ticks);
/* Label with its unit: "WAL, MB (log scale)". */
const char *axis_title(struct drawing *d, const char *label, const char *unit, bool log);

/* The kinds of charts. Each writes a whole script. */
void draw_xy(struct drawing *d, const struct chart *chart);    /* draw_xy.c */
void draw_rows(struct drawing *d, const struct chart *chart);  /* draw_rows.c: bars, grouped dots */
void draw_lanes(struct drawing *d, const struct chart *chart); /* draw_lanes.c */
void draw_forest(struct drawing *d, const struct chart *chart); /* forest.c */

/*
 * svg.c: gnuplot's SVG as the page carries it: only shapes and texts, no ids
 * but two that begin with `id`, placeholders filled in. title and description
 * name it. Appended; false when there is anything in it that is not expected.
 */
bool svg_rewrite(const char *svg, size_t len, const struct drawing *d, const char *id,
                 const char *title, const char *description, struct buf *ret,
                 struct err *err) MUST_CHECK;

#endif
