/* SPDX-License-Identifier: PostgreSQL */
/* gnuplot, once a core for all the pictures that are not kept from before. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "page.h"
#include "report/draw.h"

#define GNUPLOT_DEADLINE_NS (20 * NS_PER_S)
#define GNUPLOT_MAX_BYTES ((size_t)32 << 20)
/* gnuplot takes longer to start than to draw a few. */
#define LEAST_PICTURES 8
#define MAX_SHARES 4
#define KEPT_MAX_BYTES ((size_t)1 << 20)

struct picture {
	struct chart *chart;
	struct drawing d;
	char key[HASH_TEXT_BYTES]; /* names it in the cache */
	char *svg;                 /* gnuplot's; owned; NULL until it is there */
	size_t svg_len;
};

struct plotter {
	struct charts *charts;
	const struct report_options *options;
	struct picture *pictures;
	size_t count;
};

/* ---- running gnuplot ---- */

static bool run_gnuplot(const struct plotter *p, const char *option, const char *input,
                        struct buf *ret, struct err *err)
{
	/* -d: no start-up files of the user's. Nothing is inherited that changes numbers or texts.
	 */
	const char *argv[] = {p->options->gnuplot, option, NULL};
	const char *env[] = {"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "HOME=/nonexistent", NULL};
	struct proc_spec spec = {.argv = argv,
	                         .env = env,
	                         .stdin_fd = -1,
	                         .stdout_fd = -1,
	                         .stderr_fd = -1};
	struct proc_result result = {0};
	char how[96];

	bool ok = proc_run(&spec, input, GNUPLOT_MAX_BYTES, deadline_after(GNUPLOT_DEADLINE_NS),
	                   &result, err);
	if (ok && result.status != 0)
		ok = err_set(err, ERR_ENVIRONMENT, "gnuplot %s: %.300s",
		             proc_status_text(result.status, how, sizeof(how)), result.errors.data);
	else if (ok && result.errors.len > 0)
		ok = err_set(err, ERR_ENVIRONMENT, "gnuplot complains: %.300s", result.errors.data);
	if (ok)
		buf_add_len(ret, result.out.data, result.out.len);
	buf_finish(&result.out);
	buf_finish(&result.errors);
	return ok && buf_ok(ret, err);
}

/* What tells one gnuplot from the next, in a line; it takes 50 times as long to ask it. */
static char *program_mark(const char *path)
{
	struct stat s;

	if (stat(path, &s) != 0)
		return NULL;
	return fs_printf(NULL, "%s %lld %lld.%09ld\n", path, (long long)s.st_size,
	                 (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

/* The version that was found when the program was this very file. */
static bool recall_version(struct plotter *p, const char *path, const char *mark)
{
	struct buf text;

	buf_init(&text, 8192);
	bool ok = fs_exists(path) && fs_read(path, 8192, &text, NULL) &&
	          !strncmp(text.data, mark, strlen(mark)) &&
	          !strncmp(text.data + strlen(mark), "gnuplot ", strlen("gnuplot ")) &&
	          text_is_printable(text.data + strlen(mark));
	if (ok)
		p->charts->version = arena_strdup(&p->charts->arena, text.data + strlen(mark));
	buf_finish(&text);
	return ok;
}

static bool ask_version(struct plotter *p)
{
	struct buf out;
	struct err fault = {0};

	buf_init(&out, 4096);
	bool ok = run_gnuplot(p, "--version", "", &out, &fault);
	if (ok) {
		out.data[strcspn(out.data, "\n")] = '\0';
		p->charts->version = arena_strdup(&p->charts->arena, out.data);
	} else {
		p->charts->missing = arena_printf(&p->charts->arena, "%s", fault.message);
	}
	buf_finish(&out);
	return ok;
}

static bool find_version(struct plotter *p)
{
	const char *dir = p->options->cache_dir;
	CLEANUP(free_p) char *mark = dir ? program_mark(p->options->gnuplot) : NULL;
	CLEANUP(free_p) char *path = mark ? fs_join(NULL, dir, "version") : NULL;

	if (path && recall_version(p, path, mark))
		return true;
	if (!ask_version(p))
		return false;
	if (path) {
		struct buf text;

		buf_init(&text, 0);
		buf_add(&text, mark);
		buf_add(&text, p->charts->version ? p->charts->version : "");
		bool ok = !text.failed && fs_mkdirs(dir, 0700, NULL) &&
		          fs_write_fast(path, text.data, text.len, 0600, NULL);
		(void)ok; /* costs time, not the report */
		buf_finish(&text);
	}
	return true;
}

static bool keep_svg(struct picture *picture, const char *at, size_t len)
{
	picture->svg = malloc(len + 1);
	if (!picture->svg)
		return false;
	memcpy(picture->svg, at, len);
	picture->svg[len] = '\0';
	picture->svg_len = len;
	return true;
}

/* Draws the pictures from..to that are missing; the output holds them one behind the other. */
static bool draw_missing(const struct plotter *p, size_t from, size_t to, struct err *err)
{
	struct buf script, out;
	bool ok;

	buf_init(&script, 0);
	buf_init(&out, GNUPLOT_MAX_BYTES);
	for (size_t i = from; i < to; i++) {
		if (p->pictures[i].svg)
			continue;
		buf_add(&script, page_chart);
		buf_add_len(&script, p->pictures[i].d.script.data, p->pictures[i].d.script.len);
	}
	ok = buf_ok(&script, err) &&
	     (script.len == 0 || run_gnuplot(p, "-d", script.data, &out, err));
	const char *at = out.data;
	for (size_t i = from; ok && i < to; i++) {
		static const char close[] = "</svg>";

		if (p->pictures[i].svg)
			continue;
		const char *end = strstr(at, close);
		if (!end)
			ok = err_set(err, ERR_ENVIRONMENT,
			             "gnuplot drew fewer pictures than asked");
		else if (!keep_svg(&p->pictures[i], at, (size_t)(end - at) + strlen(close)))
			ok = err_set(err, ERR_SYSTEM, "out of memory for charts");
		else
			at = end + strlen(close);
	}
	buf_finish(&script);
	buf_finish(&out);
	return ok;
}

/* A thread's part of the pictures. */
struct share {
	const struct plotter *p;
	size_t from, to;
	pthread_t thread;
	bool started, ok;
};

static void *draw_share(void *arg)
{
	struct share *share = arg;
	struct err fault = {0};

	share->ok = draw_missing(share->p, share->from, share->to, &fault);
	return NULL;
}

/* A gnuplot for each core, where there is enough to draw; false when any of them failed. */
static bool draw_all_missing(const struct plotter *p)
{
	struct share shares[MAX_SHARES];
	size_t missing = 0, count, next = 0;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	bool ok = true;

	for (size_t i = 0; i < p->count; i++)
		missing += !p->pictures[i].svg;
	count = missing / LEAST_PICTURES < MAX_SHARES ? missing / LEAST_PICTURES : MAX_SHARES;
	count = cores > 0 && (size_t)cores < count ? (size_t)cores : count ? count : 1;
	for (size_t s = 0; s < count; s++) {
		size_t want = missing / count + (s < missing % count);
		struct share *share = &shares[s];

		*share = (struct share){.p = p, .from = next};
		while (next < p->count && want > 0)
			want -= !p->pictures[next++].svg;
		share->to = s + 1 < count ? next : p->count;
		/* The last one is this thread's; so is one for which there is no thread. */
		share->started = s + 1 < count &&
		                 pthread_create(&share->thread, NULL, draw_share, share) == 0;
		if (!share->started)
			draw_share(share);
	}
	for (size_t s = 0; s < count; s++) {
		if (shares[s].started)
			pthread_join(shares[s].thread, NULL);
		ok = ok && shares[s].ok;
	}
	return ok;
}

/* ---- pictures from before ---- */

static bool name_picture(const struct plotter *p, struct picture *picture, struct err *err)
{
	struct buf all;

	buf_init(&all, 0);
	buf_printf(&all, "%s\n%s\n", p->charts->version, page_chart);
	buf_add_len(&all, picture->d.script.data, picture->d.script.len);
	bool ok = buf_ok(&all, err) && hash_bytes(all.data, all.len, picture->key, err);
	buf_finish(&all);
	return ok;
}

static char *kept_path(const struct plotter *p, const struct picture *picture)
{
	return fs_printf(NULL, "%s/%s.svg", p->options->cache_dir, picture->key);
}

/* Whatever is wrong with a kept picture: it is drawn again. */
static void recall(const struct plotter *p, struct picture *picture)
{
	struct buf text;
	CLEANUP(free_p) char *path = p->options->cache_dir ? kept_path(p, picture) : NULL;

	if (!path || !fs_exists(path))
		return;
	buf_init(&text, KEPT_MAX_BYTES);
	if (fs_read(path, KEPT_MAX_BYTES, &text, NULL) && strstr(text.data, "</svg>"))
		(void)keep_svg(picture, text.data, text.len);
	buf_finish(&text);
}

/* A cache that cannot be written costs time, not the report. */
static void remember(const struct plotter *p, const struct picture *picture)
{
	CLEANUP(free_p) char *path = p->options->cache_dir ? kept_path(p, picture) : NULL;
	bool ok = path && !fs_exists(path) && fs_mkdirs(p->options->cache_dir, 0700, NULL) &&
	          fs_write_fast(path, picture->svg, picture->svg_len, 0600, NULL);
	(void)ok;
}

/* ---- all pictures ---- */

static void lay_out(struct picture *picture)
{
	const struct chart *chart = picture->chart;

	if (chart->kind == CHART_FOREST)
		draw_forest(&picture->d, chart);
	else if (chart->kind == CHART_LANES)
		draw_lanes(&picture->d, chart);
	else if (chart->kind == CHART_BARS || chart->grouped)
		draw_rows(&picture->d, chart);
	else
		draw_xy(&picture->d, chart);
}

/* The place of "@7@" in the texts; NULL when `at` begins no placeholder. */
static const char *placeholder_at(const struct picture *picture, const char *at,
                                  const char **ret_end)
{
	char *end;

	if (strncmp(at, "\"@", 2) != 0)
		return NULL;
	unsigned long index = strtoul(at + 2, &end, 10);
	if (strncmp(end, "@\"", 2) != 0 || index >= picture->d.texts_count)
		return NULL;
	*ret_end = end + 2;
	return picture->d.texts[index];
}

/*
 * In double quotes; what would end them, begin an escape, run a command or (in some versions) name
 * a macro is written as its number. In single quotes a text could not begin with a quote.
 */
static void add_quoted(struct buf *out, const char *text)
{
	buf_add_char(out, '"');
	for (; *text; text++) {
		if (strchr("\"\\`@", *text))
			buf_printf(out, "\\%03o", (unsigned)*text);
		else
			buf_add_char(out, (unsigned char)*text < 0x20 ? ' ' : *text);
	}
	buf_add_char(out, '"');
}

/* The script as someone runs it by hand: texts for placeholders, plain colours for marks. */
static void keep_script(struct plotter *p, const struct picture *picture)
{
	struct buf out;

	buf_init(&out, 0);
	buf_add(&out, "# gnuplot THIS-FILE > chart.svg\n");
	buf_add(&out, page_chart);
	for (const char *at = picture->d.script.data; *at;) {
		const char *end, *text = placeholder_at(picture, at, &end);
		int ink = 0;

		while (ink < INK_COUNT &&
		       !(at[0] == '#' && !strncmp(at + 1, ink_sent((enum ink)ink), 6)))
			ink++;
		if (text) {
			add_quoted(&out, text);
			at = end;
		} else if (ink < INK_COUNT) {
			buf_add(&out, ink_plain((enum ink)ink));
			at += 7;
		} else {
			buf_add_char(&out, *at++);
		}
	}
	picture->chart->script = out.failed ? NULL : arena_strdup(&p->charts->arena, out.data);
	buf_finish(&out);
}

static void finish_picture(struct plotter *p, size_t index)
{
	struct picture *picture = &p->pictures[index];
	struct chart *chart = picture->chart;
	struct err fault = {0};
	struct buf out;
	char id[48];

	snprintf(id, sizeof(id), "picture-%zu%s", index / 2 + 1,
	         picture->d.narrow ? "-narrow" : "");
	const char *description =
	        arena_printf(&p->charts->arena, "%s. The same numbers are in the table %s.",
	                     chart->kind == CHART_LANES ? chart->x_label : chart->y_label,
	                     chart->kind == CHART_FOREST ? "of claims" : "below");
	buf_init(&out, 2 * CHART_MAX_SVG_BYTES);
	if (svg_rewrite(picture->svg, picture->svg_len, &picture->d, id, chart->title,
	                description ? description : "", &out, &fault)) {
		const char *svg = arena_strndup(&p->charts->arena, out.data, out.len);

		if (picture->d.narrow)
			chart->narrow = svg;
		else
			chart->wide = svg;
	} else {
		chart->failure = arena_printf(&p->charts->arena, "%s", fault.message);
	}
	buf_finish(&out);
}

static bool plot_all(struct plotter *p, struct err *err)
{
	for (size_t i = 0; i < p->count; i++) {
		lay_out(&p->pictures[i]);
		if (!buf_ok(&p->pictures[i].d.script, err))
			return false;
		if (p->options->parts && !p->pictures[i].d.narrow)
			keep_script(p, &p->pictures[i]);
	}
	/* Without gnuplot that was all. */
	for (size_t i = 0; p->charts->version && i < p->count; i++) {
		if (!name_picture(p, &p->pictures[i], err))
			return false;
		recall(p, &p->pictures[i]);
	}
	/* All at once; should that fail, one by one, so that a bad one does not take the rest. */
	if (p->charts->version && !draw_all_missing(p))
		for (size_t i = 0; i < p->count; i++) {
			struct err one = {0};

			if (!p->pictures[i].svg && !draw_missing(p, i, i + 1, &one))
				p->pictures[i].chart->failure =
				        arena_printf(&p->charts->arena, "%s", one.message);
		}
	for (size_t i = 0; i < p->count; i++) {
		if (!p->pictures[i].svg)
			continue;
		finish_picture(p, i);
		remember(p, &p->pictures[i]);
	}
	/* Both widths or none. */
	for (size_t i = 0; i < p->count; i++) {
		struct chart *chart = p->pictures[i].chart;

		if (!chart->wide || !chart->narrow)
			chart->wide = chart->narrow = NULL;
	}
	return !p->charts->arena.failed || err_set(err, ERR_SYSTEM, "out of memory for charts");
}

bool charts_plot(struct charts *charts, struct chart *const *list, size_t count,
                 const struct report_options *options, struct err *err)
{
	struct plotter p = {.charts = charts, .options = options, .count = 2 * count};
	bool ok = true;

	if (!options->gnuplot)
		charts->missing = "gnuplot is not installed";
	bool plots = count > 0 && options->gnuplot && find_version(&p);
	if (count == 0 || (!plots && !options->parts))
		return true;
	p.pictures = calloc(p.count, sizeof(*p.pictures));
	if (!p.pictures)
		return err_set(err, ERR_SYSTEM, "out of memory for charts");
	for (size_t i = 0; ok && i < p.count; i++) {
		p.pictures[i].chart = list[i / 2];
		ok = drawing_init(&p.pictures[i].d, &charts->arena, i % 2 == 1) ||
		     err_set(err, ERR_SYSTEM, "out of memory for charts");
	}
	ok = ok && plot_all(&p, err);
	for (size_t i = 0; i < p.count; i++) {
		drawing_finish(&p.pictures[i].d);
		free(p.pictures[i].svg);
	}
	free(p.pictures);
	return ok;
}
