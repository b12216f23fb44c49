/* SPDX-License-Identifier: PostgreSQL */
/*
 * gnuplot's SVG (term/svg.trm, 5.4) read tag by tag and written anew: only
 * paths, polygons and texts, flattened, in the page's classes. Whatever is not
 * known here is an error and never passed on, so nothing can come in by it.
 */
#include "report/draw.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"

#define MAX_DEPTH 16
#define MAX_ATTRIBUTES 12
/* No picture reaches that far. */
#define FAR_PX 1e5

struct slice {
	const char *at;
	size_t len;
};

struct tag {
	struct slice name;
	bool closing, empty;
	struct slice names[MAX_ATTRIBUTES], values[MAX_ATTRIBUTES];
	size_t count;
};

/* What a <g> hands down. */
struct group {
	double width; /* of strokes */
	double x, y;  /* of texts */
	struct slice anchor, fill, stroke;
	bool named;  /* a plot; its title becomes a tooltip */
	bool opened; /* ... and has been written */
};

struct reader {
	const char *at, *end;
	const struct drawing *d;
	struct buf *out;
	struct err *err;
	struct group groups[MAX_DEPTH];
	size_t depth;
	/* Points of one look are gathered into one path. */
	struct slice marker, marker_colour;
	double marker_scale;
	bool marking;
};

static bool is(struct slice slice, const char *text)
{
	return slice.len == strlen(text) && !memcmp(slice.at, text, slice.len);
}

static bool fault(struct reader *r, const char *what, struct slice slice)
{
	return err_set(r->err, ERR_INTERNAL, "gnuplot's picture has %s that is not known: %.*s",
	               what, slice.len < 60 ? (int)slice.len : 60, slice.at);
}

/* ---- reading tags ---- */

static struct slice attribute(const struct tag *tag, const char *name)
{
	for (size_t i = 0; i < tag->count; i++)
		if (is(tag->names[i], name))
			return tag->values[i];
	return (struct slice){.at = "", .len = 0};
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

/* From behind the < to behind the >. */
static bool read_tag(struct reader *r, struct tag *ret)
{
	const char *at = r->at, *end = r->end;
	struct tag tag = {.closing = at < end && *at == '/'};

	at += tag.closing;
	tag.name.at = at;
	while (at < end && (isalnum((unsigned char)*at) || *at == ':'))
		at++;
	tag.name.len = (size_t)(at - tag.name.at);
	while ((at = skip_space(at, end)) < end && *at != '>' && *at != '/') {
		const char *name = at;

		while (at < end && *at != '=' && !isspace((unsigned char)*at) && *at != '>')
			at++;
		struct slice key = {.at = name, .len = (size_t)(at - name)};
		at = skip_space(at, end);
		if (at == end || *at != '=' || tag.count == MAX_ATTRIBUTES)
			return fault(r, "an attribute", key);
		at = skip_space(at + 1, end);
		if (at == end || (*at != '"' && *at != '\''))
			return fault(r, "an attribute", key);
		const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
		if (!close)
			return fault(r, "an attribute", key);
		tag.names[tag.count] = key;
		tag.values[tag.count++] =
		        (struct slice){.at = at + 1, .len = (size_t)(close - at - 1)};
		at = close + 1;
	}
	tag.empty = at < end && *at == '/';
	at += tag.empty;
	if (at >= end || *at != '>')
		return fault(r, "a tag", tag.name);
	r->at = at + 1;
	*ret = tag;
	return true;
}

/* The text up to the next <. */
static struct slice read_text(struct reader *r)
{
	const char *from = r->at;
	const char *to = memchr(from, '<', (size_t)(r->end - from));

	r->at = to ? to : r->end;
	return (struct slice){.at = from, .len = (size_t)(r->at - from)};
}

static bool skip_element(struct reader *r, const char *name)
{
	char close[32];

	snprintf(close, sizeof(close), "</%s>", name);
	const char *to = memmem(r->at, (size_t)(r->end - r->at), close, strlen(close));
	if (!to)
		return fault(r, "an element without an end", (struct slice){name, strlen(name)});
	r->at = to + strlen(close);
	return true;
}

/* ---- values ---- */

static double number(struct slice slice)
{
	char text[32];

	if (slice.len == 0 || slice.len >= sizeof(text))
		return NAN;
	memcpy(text, slice.at, slice.len);
	text[slice.len] = '\0';
	return strtod(text, NULL);
}

/* "rgb(  1,   2,   3)" to an ink; black and currentColor are text. */
static bool find_ink(struct reader *r, struct slice colour, enum ink *ret)
{
	unsigned red, green, blue;
	char text[48], hex[8];

	if (is(colour, "black") || is(colour, "currentColor")) {
		*ret = INK_TEXT;
		return true;
	}
	if (colour.len >= sizeof(text))
		return fault(r, "a colour", colour);
	memcpy(text, colour.at, colour.len);
	text[colour.len] = '\0';
	if (sscanf(text, "rgb( %u, %u, %u)", &red, &green, &blue) != 3)
		return fault(r, "a colour", colour);
	snprintf(hex, sizeof(hex), "%02x%02x%02x", red & 255, green & 255, blue & 255);
	for (int i = 0; i < INK_COUNT; i++)
		if (!strcmp(hex, ink_sent((enum ink)i))) {
			*ret = (enum ink)i;
			return true;
		}
	return fault(r, "a colour", colour);
}

/*
 * To a tenth, 12.00 as 12 and 12.50 as 12.5: a fifth of the picture is such
 * zeros. Pages have a hundred thousand of these, so printf does not write them.
 */
static void add_number(struct buf *out, double value)
{
	char text[32], *at = text + sizeof(text);
	long tenths = lrint(value * 10);
	unsigned long rest = tenths < 0 ? 0UL - (unsigned long)tenths : (unsigned long)tenths;

	if (rest % 10) {
		*--at = (char)('0' + rest % 10);
		*--at = '.';
	}
	rest /= 10;
	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (tenths < 0)
		*--at = '-';
	buf_add_len(out, at, (size_t)(text + sizeof(text) - at));
}

/* A number as gnuplot writes them, "-12.34"; *ret_after is at where there is none. */
static double read_number(const char *at, const char *end, const char **ret_after)
{
	const char *from = at;
	bool minus = at < end && *at == '-', digits = false;
	double value = 0, place = 1;

	for (at += minus; at < end && isdigit((unsigned char)*at); at++, digits = true)
		value = value * 10 + (*at - '0');
	if (at < end && *at == '.')
		for (at++; at < end && isdigit((unsigned char)*at); at++, digits = true)
			value += (*at - '0') * (place /= 10);
	*ret_after = digits ? at : from;
	return minus ? -value : value;
}

/* Path data or points: numbers, and the commands M and L. nan and inf have other letters. */
static bool add_path(struct reader *r, struct slice data)
{
	const char *at = data.at, *end = data.at + data.len;
	bool space = false;

	while ((at = skip_space(at, end)) < end) {
		const char *after;

		if (*at == 'M' || *at == 'L' || *at == 'z') {
			buf_add_char(r->out, *at++);
			space = false;
			continue;
		}
		if (*at == ',') {
			at++;
			continue;
		}
		if (!isdigit((unsigned char)*at) && *at != '-')
			return fault(r, "a path", (struct slice){at, (size_t)(end - at)});
		double value = read_number(at, end, &after);
		if (after == at || fabs(value) > FAR_PX)
			return fault(r, "a path", (struct slice){at, (size_t)(end - at)});
		if (space)
			buf_add_char(r->out, ' ');
		add_number(r->out, value);
		space = true;
		at = after;
	}
	return true;
}

/* ---- writing ---- */

static struct group *top(struct reader *r)
{
	return &r->groups[r->depth];
}

static void end_marks(struct reader *r)
{
	if (r->marking)
		buf_add(r->out, "\"/>");
	r->marking = false;
}

static bool write_path(struct reader *r, const struct tag *tag)
{
	struct slice stroke = attribute(tag, "stroke"), data = attribute(tag, "d");
	struct slice dashes = attribute(tag, "stroke-dasharray");
	enum ink ink;

	end_marks(r);
	if (data.len == 0)
		return true;
	if (!find_ink(r, stroke.len ? stroke : top(r)->stroke, &ink))
		return false;
	buf_printf(r->out, "<path class=\"s%d\" stroke=\"%s\"", ink, ink_plain(ink));
	if (top(r)->width != 1)
		buf_printf(r->out, " stroke-width=\"%g\"", top(r)->width);
	if (dashes.len) {
		buf_add(r->out, " stroke-dasharray=\"");
		if (!add_path(r, dashes))
			return false;
		buf_add_char(r->out, '"');
	}
	buf_add(r->out, " d=\"");
	if (!add_path(r, data))
		return false;
	buf_add(r->out, "\"/>");
	return true;
}

static bool write_polygon(struct reader *r, const struct tag *tag)
{
	enum ink ink;

	end_marks(r);
	if (!find_ink(r, attribute(tag, "fill"), &ink))
		return false;
	buf_printf(r->out, "<polygon class=\"f%d\" fill=\"%s\" points=\"", ink, ink_plain(ink));
	if (!add_path(r, attribute(tag, "points")))
		return false;
	buf_add(r->out, "\"/>");
	return true;
}

/* gnuplot's gpPtN, by N: full ones are filled. Radius 1 is gnuplot's unit. */
static const struct {
	const char *id;
	bool full;
	int corners;     /* 0: a circle, -1: +, -2: ×, -3: both */
	double turn_deg; /* of the first corner, 0 is up */
	double radius;
} markers[] = {
        {"#gpPt0", false, -1, 0, 1},     {"#gpPt1", false, -2, 0, 1},
        {"#gpPt2", false, -3, 0, 1},     {"#gpPt3", false, 4, 45, 1.4142},
        {"#gpPt4", true, 4, 45, 1.4142}, {"#gpPt5", false, 0, 0, 1},
        {"#gpPt6", true, 0, 0, 1.1},     {"#gpPt7", false, 3, 0, 1.45},
        {"#gpPt8", true, 3, 0, 1.55},    {"#gpPt9", false, 3, 180, 1.45},
        {"#gpPt10", true, 3, 180, 1.55}, {"#gpPt11", false, 4, 0, 1.4142},
        {"#gpPt12", true, 4, 0, 1.4142}, {"#gpPt13", false, 5, 0, 1.33},
        {"#gpPt14", true, 5, 0, 1.33},
};

static void add_point(struct buf *out, const char *command, double x, double y)
{
	buf_add(out, command);
	add_number(out, x);
	if (y >= 0)
		buf_add_char(out, ' ');
	add_number(out, y);
}

static void add_marker(struct buf *out, size_t which, double x, double y, double scale)
{
	double radius = markers[which].radius * scale;
	int corners = markers[which].corners;

	if (corners == 0) {
		add_point(out, "M", x - radius, y);
		for (int half = 1; half >= -1; half -= 2) {
			buf_add_char(out, 'a');
			add_number(out, radius);
			buf_add_char(out, ' ');
			add_number(out, radius);
			buf_add(out, " 0 1 0 ");
			add_number(out, half * 2 * radius);
			buf_add(out, " 0");
		}
		return;
	}
	if (corners == -1 || corners == -3) {
		add_point(out, "M", x - radius, y);
		add_point(out, "l", 2 * radius, 0);
		add_point(out, "M", x, y - radius);
		add_point(out, "l", 0, 2 * radius);
	}
	if (corners == -2 || corners == -3) {
		double r = radius * 0.8;

		add_point(out, "M", x - r, y - r);
		add_point(out, "l", 2 * r, 2 * r);
		add_point(out, "M", x - r, y + r);
		add_point(out, "l", 2 * r, -2 * r);
	}
	double before_x = 0, before_y = 0;
	for (int i = 0; i < corners; i++) {
		double angle = (markers[which].turn_deg + 360.0 * i / corners) * acos(-1) / 180;
		double at_x = x + radius * sin(angle), at_y = y - radius * cos(angle);

		if (i == 0)
			add_point(out, "M", at_x, at_y);
		else
			add_point(out, "l", at_x - before_x, at_y - before_y);
		before_x = at_x;
		before_y = at_y;
	}
	if (corners > 0)
		buf_add_char(out, 'z');
}

static bool same_slice(struct slice a, struct slice b)
{
	return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

static bool write_use(struct reader *r, const struct tag *tag)
{
	struct slice id = attribute(tag, "xlink:href"), colour = attribute(tag, "color");
	struct slice transform = attribute(tag, "transform");
	double x, y, scale;
	char text[96];
	size_t which = 0;
	enum ink ink;

	/* The white one below each point of errorbars: not drawn, the page may be dark. */
	if (is(colour, "white"))
		return true;
	while (which < COUNT_OF(markers) && !is(id, markers[which].id))
		which++;
	if (which == COUNT_OF(markers) || transform.len >= sizeof(text))
		return fault(r, "a marker", id);
	memcpy(text, transform.at, transform.len);
	text[transform.len] = '\0';
	if (sscanf(text, "translate(%lf,%lf) scale(%lf)", &x, &y, &scale) != 3 ||
	    !(fabs(x) <= FAR_PX) || !(fabs(y) <= FAR_PX) || !(fabs(scale) <= FAR_PX))
		return fault(r, "a place", transform);
	if (!r->marking || !same_slice(id, r->marker) || !same_slice(colour, r->marker_colour) ||
	    scale != r->marker_scale) {
		end_marks(r);
		if (!find_ink(r, colour, &ink))
			return false;
		if (markers[which].full)
			buf_printf(r->out, "<path class=\"f%d\" fill=\"%s\" d=\"", ink,
			           ink_plain(ink));
		else
			buf_printf(r->out,
			           "<path class=\"s%d\" stroke=\"%s\" stroke-width=\"1.6\" d=\"",
			           ink, ink_plain(ink));
		r->marking = true;
		r->marker = id;
		r->marker_colour = colour;
		r->marker_scale = scale;
	}
	add_marker(r->out, which, x, y, scale);
	return true;
}

/* "@7@" is the seventh text of the drawing. NULL when it is no placeholder. */
static const char *placeholder(const struct reader *r, struct slice text)
{
	char *after;

	if (text.len < 3 || text.at[0] != '@' || text.at[text.len - 1] != '@')
		return NULL;
	unsigned long index = strtoul(text.at + 1, &after, 10);
	if (after != text.at + text.len - 1 || index >= r->d->texts_count)
		return NULL;
	return r->d->texts[index];
}

static bool write_text(struct reader *r)
{
	const struct group *group = top(r);
	struct slice text = read_text(r);
	const char *words = placeholder(r, text);
	enum ink ink;

	end_marks(r);
	if (!words)
		return fault(r, "a text", text);
	if (!find_ink(r, group->fill, &ink))
		return false;
	buf_printf(r->out, "<text class=\"f%d\" fill=\"%s\" x=\"", ink, ink_plain(ink));
	add_number(r->out, group->x);
	buf_add(r->out, "\" y=\"");
	add_number(r->out, group->y);
	buf_add_char(r->out, '"');
	if (is(group->anchor, "middle") || is(group->anchor, "end"))
		buf_printf(r->out, " text-anchor=\"%.*s\"", (int)group->anchor.len,
		           group->anchor.at);
	buf_add_char(r->out, '>');
	html_text(r->out, words);
	buf_add(r->out, "</text>");
	return skip_element(r, "text");
}

/* ---- groups ---- */

static bool open_group(struct reader *r, const struct tag *tag)
{
	struct slice transform = attribute(tag, "transform"),
	             width = attribute(tag, "stroke-width");
	struct slice fill = attribute(tag, "fill"), stroke = attribute(tag, "stroke");
	struct slice id = attribute(tag, "id");
	char text[96];

	if (r->depth + 1 == MAX_DEPTH)
		return fault(r, "a depth", tag->name);
	end_marks(r);
	struct group group = *top(r);
	group.named = group.opened = false;
	if (width.len)
		group.width = number(width);
	if (fill.len && !is(fill, "none"))
		group.fill = fill;
	if (stroke.len && !is(stroke, "none"))
		group.stroke = stroke;
	group.anchor = attribute(tag, "text-anchor");
	group.named = id.len > 0 && memmem(id.at, id.len, "_plot_", 6) != NULL;
	if (transform.len && transform.len < sizeof(text)) {
		memcpy(text, transform.at, transform.len);
		text[transform.len] = '\0';
		if (sscanf(text, "translate(%lf,%lf)", &group.x, &group.y) != 2 ||
		    strstr(text, "rotate") || !(fabs(group.x) <= FAR_PX) ||
		    !(fabs(group.y) <= FAR_PX))
			return fault(r, "a place", transform);
	}
	r->groups[++r->depth] = group;
	return true;
}

static bool group_title(struct reader *r)
{
	const char *words = placeholder(r, read_text(r));

	if (top(r)->named && words && *words) {
		end_marks(r);
		buf_add(r->out, "<g><title>");
		html_text(r->out, words);
		buf_add(r->out, "</title>");
		top(r)->opened = true;
	}
	return skip_element(r, "title");
}

static void close_group(struct reader *r)
{
	end_marks(r);
	if (top(r)->opened)
		buf_add(r->out, "</g>");
	if (r->depth)
		r->depth--;
}

/* ---- the picture ---- */

static bool element(struct reader *r, const struct tag *tag)
{
	if (is(tag->name, "g")) {
		if (tag->closing) {
			close_group(r);
			return true;
		}
		return open_group(r, tag);
	}
	if (tag->closing)
		return is(tag->name, "svg") || fault(r, "an end", tag->name);
	if (is(tag->name, "path"))
		return write_path(r, tag);
	if (is(tag->name, "polygon"))
		return write_polygon(r, tag);
	if (is(tag->name, "use"))
		return write_use(r, tag);
	if (is(tag->name, "text"))
		return write_text(r);
	if (is(tag->name, "title"))
		return group_title(r);
	/* The symbols are written out where they are used; the background is the page's. */
	if (is(tag->name, "desc") || is(tag->name, "defs"))
		return skip_element(r, is(tag->name, "desc") ? "desc" : "defs");
	if (is(tag->name, "svg") || is(tag->name, "rect"))
		return true;
	return fault(r, "an element", tag->name);
}

bool svg_rewrite(const char *svg, size_t len, const struct drawing *d, const char *id,
                 const char *title, const char *description, struct buf *ret, struct err *err)
{
	struct reader r = {.at = svg, .end = svg + len, .d = d, .out = ret, .err = err};
	size_t before = ret->len;

	r.groups[0] = (struct group){.width = 1, .fill = {"black", 5}, .stroke = {"black", 5}};
	buf_printf(ret,
	           "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d "
	           "%d\" "
	           "role=\"img\" aria-labelledby=\"%s-t %s-d\" fill=\"none\"><title id=\"%s-t\">",
	           d->width, d->height, id, id, id);
	html_text(ret, title);
	buf_printf(ret, "</title><desc id=\"%s-d\">", id);
	html_text(ret, description);
	buf_add(ret, "</desc>");
	while (r.at < r.end) {
		struct tag tag;

		read_text(&r);
		if (r.at == r.end)
			break;
		r.at++;
		if (r.at < r.end && *r.at == '?') {
			const char *close = memmem(r.at, (size_t)(r.end - r.at), "?>", 2);

			r.at = close ? close + 2 : r.end;
			continue;
		}
		if (!read_tag(&r, &tag) || !element(&r, &tag))
			return false;
	}
	end_marks(&r);
	if (r.depth)
		return err_set(err, ERR_INTERNAL, "gnuplot's picture ends before its end");
	buf_add(ret, "</svg>");
	if (ret->len - before > CHART_MAX_SVG_BYTES)
		return err_set(err, ERR_INTERNAL, "the picture is larger than %d kB",
		               (int)(CHART_MAX_SVG_BYTES >> 10));
	return buf_ok(ret, err);
}
