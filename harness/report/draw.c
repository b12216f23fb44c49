/* SPDX-License-Identifier: PostgreSQL */
/* The parts that all charts are drawn of. */
#include "report/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/words.h"

static const struct {
	const char *sent, *plain;
} inks[INK_COUNT] = {
#define X(name, sent, plain) {sent, plain},
        INKS(X)
#undef X
};

const char *ink_sent(enum ink ink)
{
	return inks[ink].sent;
}

const char *ink_plain(enum ink ink)
{
	return inks[ink].plain;
}

struct style style_find(unsigned style)
{
	/* Colours told apart by people who see none: by marker and dash as well. */
	static const struct style own[] = {
	        {INK_BIGINT, 7, "(4,3)"},
	        {INK_UUIDV4, 9, "1"},
	        {INK_UUIDV7, 5, "(12,4)"},
	};
	static const int markers[] = {13, 12, 11, 6, 4, 8, 10, 15, 2, 1, 14, 3};
	static const char *const dashes[] = {"1",          "(8,3)", "(3,3)",
	                                     "(12,3,3,3)", "(1,3)", "(6,2,2,2)"};

	if (style < COUNT_OF(own))
		return own[style];
	style -= COUNT_OF(own);
	return (struct style){.ink = INK_OTHER,
	                      .marker = markers[style % COUNT_OF(markers)],
	                      .dash = dashes[style % COUNT_OF(dashes)]};
}

bool drawing_init(struct drawing *d, struct arena *arena, bool narrow)
{
	*d = (struct drawing){.arena = arena,
	                      .narrow = narrow,
	                      .width = narrow ? 320 : 720,
	                      .height = narrow ? 300 : 340};
	buf_init(&d->script, 0);
	buf_init(&d->plot, 0);
	d->texts = arena_alloc(arena, DRAW_MAX_TEXTS * sizeof(*d->texts));
	return d->texts != NULL;
}

void drawing_finish(struct drawing *d)
{
	buf_finish(&d->script);
	buf_finish(&d->plot);
}

double axis_px(const struct axis *axis, double value)
{
	double min = axis->min, max = axis->max;

	if (axis->log) {
		min = log(min);
		max = log(max);
		value = log(value);
	}
	return axis->from + (axis->to - axis->from) * (value - min) / (max - min);
}

/* ---- texts ---- */

/* No narrower than the reader's font may draw it: the widths are those of DejaVu Sans, the widest
 * in common use. */
double text_px(const char *text)
{
	double em = 0;

	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if ((c & 0xc0) == 0x80)
			continue; /* within a character */
		if (c >= 0xe0)
			em += 1.0;
		else if (c >= 0xc0 || strchr("+=<>#~", c))
			em += 0.84;
		else if (strchr("iljI'", c))
			em += 0.29;
		else if (strchr(".,:;|! /", c))
			em += 0.34;
		else if (strchr("ftr()[]-", c))
			em += 0.40;
		else if (strchr("mwMW@%", c))
			em += 0.97;
		else if (c >= 'A' && c <= 'Z')
			em += 0.73;
		else
			em += 0.63;
	}
	return em * DRAW_FONT_PX;
}

const char *text_fit(struct drawing *d, const char *text, double max_px)
{
	if (text_px(text) <= max_px)
		return text;
	char *cut = arena_printf(d->arena, "%s…", text);
	if (!cut)
		return "";
	size_t len = strlen(text);
	while (len > 0) {
		/* One whole character less. */
		do
			len--;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80);
		memcpy(cut + len, "…", strlen("…") + 1);
		if (text_px(cut) <= max_px)
			break;
	}
	return cut;
}

struct lines text_wrap(struct drawing *d, const char *text, double max_px)
{
	const char *best = NULL;

	if (text_px(text) <= max_px)
		return (struct lines){.text = {text}, .count = 1};
	/* The last space before which everything fits. */
	for (const char *space = strchr(text, ' '); space; space = strchr(space + 1, ' ')) {
		const char *head = arena_strndup(d->arena, text, (size_t)(space - text));

		if (!head || text_px(head) > max_px)
			break;
		best = space;
	}
	if (!best)
		return (struct lines){.text = {text_fit(d, text, max_px)}, .count = 1};
	const char *head = arena_strndup(d->arena, text, (size_t)(best - text));
	return (struct lines){.text = {head ? head : "", text_fit(d, best + 1, max_px)},
	                      .count = 2};
}

const char *draw_text(struct drawing *d, const char *text)
{
	static const char *const none = "";

	if (d->texts_count == DRAW_MAX_TEXTS)
		return none;
	d->texts[d->texts_count] = arena_strdup(d->arena, text);
	const char *placeholder = arena_printf(d->arena, "@%zu@", d->texts_count++);
	return placeholder ? placeholder : none;
}

void draw_label(struct drawing *d, const char *text, double x, double y, enum align align,
                enum ink ink)
{
	static const char *const aligns[] = {"left", "center", "right"};

	buf_printf(&d->script, "set label %d \"%s\" at screen %.5f,%.5f %s tc rgb \"#%s\" front\n",
	           ++d->labels, draw_text(d, text), x / d->width, 1 - y / d->height, aligns[align],
	           ink_sent(ink));
}

void draw_lines(struct drawing *d, const struct lines *lines, double x, double y, enum align align,
                enum ink ink)
{
	for (int i = 0; i < lines->count; i++)
		draw_label(d, lines->text[i], x, y + DRAW_LINE_PX * (i - (lines->count - 1) / 2.0),
		           align, ink);
}

void draw_line(struct drawing *d, double x1, double y1, double x2, double y2, enum ink ink,
               double width)
{
	buf_printf(&d->script,
	           "set arrow %d from screen %.5f,%.5f to screen %.5f,%.5f nohead lc rgb \"#%s\" "
	           "lw %.2f back\n",
	           ++d->arrows, x1 / d->width, 1 - y1 / d->height, x2 / d->width,
	           1 - y2 / d->height, ink_sent(ink), width);
}

const char *axis_title(struct drawing *d, const char *label, const char *unit, bool log)
{
	bool named = words_unit_named(label, unit);
	const char *title = arena_printf(d->arena, "%s%s%s%s", label, named ? "" : ", ",
	                                 named                          ? ""
	                                 : strcmp(unit, "percent") != 0 ? unit
	                                                                : "%",
	                                 log ? " (log scale)" : "");

	return title ? title : "";
}

/* ---- the script ---- */

void draw_frame(struct drawing *d, const struct axis *x, const struct axis *y)
{
	buf_printf(&d->script,
	           "set term svg noenhanced dynamic size %d,%d font \"sans-serif,%d\"\n", d->width,
	           d->height, DRAW_FONT_PX);
	buf_printf(&d->script, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n",
	           (double)d->left / d->width, 1 - (double)d->right / d->width);
	buf_printf(&d->script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
	           1 - (double)d->top / d->height, (double)d->bottom / d->height);
	if (x->log)
		buf_add(&d->script, "set logscale x\n");
	if (y->log)
		buf_add(&d->script, "set logscale y\n");
	buf_printf(&d->script, "set xrange [%.10g:%.10g]\nset yrange [%.10g:%.10g]\n", x->min,
	           x->max, y->min, y->max);
}

int draw_block(struct drawing *d)
{
	buf_printf(&d->script, "$b%d << END\n", d->blocks);
	return d->blocks++;
}

void draw_row(struct drawing *d, const double *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isfinite(numbers[i]))
			buf_printf(&d->script, i ? " %.10g" : "%.10g", numbers[i]);
		else
			buf_add(&d->script, i ? " NaN" : "NaN");
	buf_add_char(&d->script, '\n');
}

void draw_block_end(struct drawing *d)
{
	buf_add(&d->script, "END\n");
}

void draw_plot(struct drawing *d, int block, const char *format, ...)
{
	va_list args;

	buf_printf(&d->plot, "%s$b%d ", d->plots ? ", \\\n\t" : "plot ", block);
	va_start(args, format);
	buf_vprintf(&d->plot, format, args);
	va_end(args);
	d->plots = true;
}

void draw_end(struct drawing *d)
{
	if (d->plot.failed)
		d->script.failed = true;
	buf_add(&d->script, d->plot.data);
	buf_add_char(&d->script, '\n');
}

/* ---- ticks ---- */

static void add_tick(struct ticks *ticks, double at, const char *text)
{
	if (ticks->count == DRAW_MAX_TICKS)
		return;
	ticks->at[ticks->count] = at;
	ticks->text[ticks->count++] = text ? text : "";
}

static const char *tick_text(struct drawing *d, double at, double step, double largest,
                             const char *unit)
{
	char text[64];

	/* The axis says "bytes"; from 10 kB on each number says what it is. */
	if ((!strcmp(unit, "bytes") && fabs(at) >= 10240) || !strcmp(unit, "ns"))
		return arena_strdup(d->arena, unit_format(at, unit, text, sizeof(text)));
	if (largest >= 1e5 && fabs(at) >= 1e9 && fmod(at, 1e7) == 0)
		return arena_printf(d->arena, "%gG", at / 1e9);
	if (largest >= 1e5 && fabs(at) >= 1e6 && fmod(at, 1e4) == 0)
		return arena_printf(d->arena, "%gM", at / 1e6);
	if (largest >= 1e5 && fabs(at) >= 1e3 && fmod(at, 10) == 0)
		return arena_printf(d->arena, "%gk", at / 1e3);
	if (step < 1) {
		int decimals = (int)ceil(-log10(step) - 1e-9);

		return arena_printf(d->arena, "%.*f", decimals > 9 ? 9 : decimals, at);
	}
	return arena_strdup(d->arena, unit_format(at, "", text, sizeof(text)));
}

static void ticks_log(struct drawing *d, struct axis *axis, const char *unit, size_t want,
                      struct ticks *ret)
{
	static const double parts[] = {1, 2, 5};
	double decades = log10(axis->max / axis->min);
	bool all = decades < 2.5;
	int first = (int)floor(log10(axis->min) - 1e-9), last = (int)ceil(log10(axis->max) + 1e-9);
	double below = 0, above = 0;
	int every = decades > (double)want ? 2 : 1;

	for (int power = first - 1; power <= last + 1; power++)
		for (size_t i = 0; i < (all ? COUNT_OF(parts) : 1); i++) {
			double at = parts[i] * pow(10, power);

			if (at <= axis->min * (1 + 1e-9))
				below = at;
			if (at >= axis->max * (1 - 1e-9) && above == 0)
				above = at;
		}
	axis->min = below;
	axis->max = above;
	for (int power = first - 1; power <= last + 1; power++)
		for (size_t i = 0; i < (all ? COUNT_OF(parts) : 1); i++) {
			double at = parts[i] * pow(10, power);

			if (at >= below * (1 - 1e-9) && at <= above * (1 + 1e-9) &&
			    (all || power % every == 0))
				add_tick(ret, at, tick_text(d, at, fmin(at, 1), above, unit));
		}
}

void ticks_find(struct drawing *d, struct axis *axis, const char *unit, size_t want,
                struct ticks *ret)
{
	*ret = (struct ticks){.count = 0};
	if (axis->log) {
		ticks_log(d, axis, unit, want, ret);
		return;
	}
	/* Sizes are counted in 1024s: their round numbers are powers of two of the unit. */
	bool bytes = !strcmp(unit, "bytes") && axis->max - axis->min > 10240;
	double span = axis->max - axis->min;
	double rough = span / (double)want;
	double power =
	        bytes ? pow(1024, floor(log(rough) / log(1024))) : pow(10, floor(log10(rough)));
	double share = rough / power;
	double step = share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10;

	if (bytes) {
		step = 1;
		while (step < share)
			step *= 2;
	}
	step *= power;
	axis->min = floor(axis->min / step + 1e-9) * step;
	axis->max = ceil(axis->max / step - 1e-9) * step;
	for (int i = 0; i <= (int)lround((axis->max - axis->min) / step); i++)
		add_tick(ret, axis->min + i * step,
		         tick_text(d, axis->min + i * step, step, axis->max, unit));
}

double ticks_width(const struct ticks *ticks)
{
	double width = 0;

	for (size_t i = 0; i < ticks->count; i++)
		width = fmax(width, text_px(ticks->text[i]));
	return width;
}

void draw_x_ticks(struct drawing *d, const struct axis *axis, const struct ticks *ticks, bool grid)
{
	double base = d->height - d->bottom;
	double free_from = -INFINITY;

	for (size_t i = 0; i < ticks->count; i++) {
		double x = axis_px(axis, ticks->at[i]);
		double half = text_px(ticks->text[i]) / 2;
		double at = fmin(fmax(x, half + 1), d->width - half - 1);

		if (grid)
			draw_line(d, x, d->top, x, base, INK_GRID, 1);
		else
			draw_line(d, x, base, x, base + 4, INK_TEXT, 1);
		if (at - half < free_from)
			continue; /* it would touch the one before */
		draw_label(d, ticks->text[i], at, base + 15, ALIGN_CENTER, INK_SOFT);
		free_from = at + half + 8;
	}
}

void draw_y_ticks(struct drawing *d, const struct axis *axis, const struct ticks *ticks)
{
	for (size_t i = 0; i < ticks->count; i++) {
		double y = axis_px(axis, ticks->at[i]);

		draw_line(d, d->left, y, d->width - d->right, y, INK_GRID, 1);
		draw_label(d, ticks->text[i], d->left - 8, y, ALIGN_RIGHT, INK_SOFT);
	}
}
