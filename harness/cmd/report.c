/* SPDX-License-Identifier: PostgreSQL */
/* keylab report: the evidence page. */
#include "report/report.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cmd/cmd.h"

#define RUNS_MAX 64

struct request {
	const char *db, *out, *bundle;
	struct report_options options;
	char *gnuplot; /* owned */
	int64_t runs[RUNS_MAX];
	bool open;
};

static bool parse_one(const char *from, const char *to, struct request *ret)
{
	char text[24]; /* a run's number has 19 digits at most */

	return (size_t)(to - from) < sizeof(text) && ret->options.runs_count < RUNS_MAX &&
	       snprintf(text, sizeof(text), "%.*s", (int)(to - from), from) > 0 &&
	       read_run_id(text, &ret->runs[ret->options.runs_count++]);
}

static bool parse_runs(const char *text, struct request *ret)
{
	for (const char *end; *(end = strchrnul(text, ',')); text = end + 1)
		if (!parse_one(text, end, ret))
			return false;
	return parse_one(text, strchr(text, '\0'), ret);
}

static int parse(const struct command *command, int argc, char **argv, struct request *ret)
{
	static const struct option options[] = {{"db", required_argument, NULL, 'd'},
	                                        {"out", required_argument, NULL, 'o'},
	                                        {"bundle", required_argument, NULL, 'b'},
	                                        {"run", required_argument, NULL, 'r'},
	                                        {"document", required_argument, NULL, 'D'},
	                                        {"assets", required_argument, NULL, 'a'},
	                                        {"expand", no_argument, NULL, 'e'},
	                                        {"open", no_argument, NULL, 'O'},
	                                        {"no-charts", no_argument, NULL, 'n'},
	                                        {0}};
	bool charts = true;

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		switch (option) {
		case 'd':
			ret->db = optarg;
			break;
		case 'o':
			ret->out = optarg;
			break;
		case 'b':
			ret->bundle = optarg;
			break;
		case 'r':
			if (!parse_runs(optarg, ret))
				return usage_error(command, "\"%s\" is no list of run numbers",
				                   optarg);
			break;
		case 'D':
			ret->options.document = optarg;
			break;
		case 'a':
			if (strcmp(optarg, "external") && strcmp(optarg, "inline"))
				return usage_error(command, "--assets is inline or external");
			ret->options.assets_external = !strcmp(optarg, "external");
			break;
		case 'e':
			ret->options.expand = true;
			break;
		case 'n':
			charts = false;
			break;
		case 'O':
			ret->open = true;
			break;
		default:
			return option_stops(option);
		}
	}
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	if (ret->bundle && (ret->out || ret->open))
		return usage_error(command, "--bundle puts the page into the archive; --out and "
		                            "--open are for a page of its own");
	ret->gnuplot = charts ? find_program("gnuplot") : NULL;
	ret->options.gnuplot = ret->gnuplot;
	return 0;
}

/* The page beside its store when nobody says where. */
static char *out_path(const struct request *request, struct err *err)
{
	const char *slash = strrchr(request->db, '/');

	if (request->out)
		return fs_printf(err, "%s", request->out);
	if (!slash)
		return fs_printf(err, "report.html");
	return fs_printf(err, "%.*s/report.html", (int)(slash - request->db), request->db);
}

static bool write_css(const char *page, struct err *err)
{
	const char *slash = strrchr(page, '/');
	CLEANUP(free_p)
	char *path = fs_printf(err, "%.*s%sreport.css", slash ? (int)(slash - page) : 0, page,
	                       slash ? "/" : "");

	return path && fs_write(path, report_css(), strlen(report_css()), 0644, err);
}

/* Asks the desktop to show it; not being able to is no failure of the report. */
static void open_page(const char *path)
{
	CLEANUP(free_p) char *program = find_program("xdg-open");
	const char *const argv[] = {program, path, NULL};
	const struct proc_spec spec = {.argv = argv,
	                               .stdin_fd = -1,
	                               .stdout_fd = -1,
	                               .stderr_fd = -1};
	struct proc proc = PROC_NONE;
	struct err err;

	if (!program || !proc_start(&spec, &proc, &err))
		fprintf(stderr, "keylab: no program to open it with; it is in %s\n", path);
}

static bool render(struct request *request, char **ret_path, struct err *err)
{
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(home_close_p) struct home *home = NULL;
	CLEANUP(free_p) char *cache = NULL;
	CLEANUP(buf_finish) struct buf html;

	buf_init(&html, 0);
	/* Without a folder of its own keylab draws every chart anew. */
	if (open_home(&home, NULL))
		cache = fs_join(err, home->root, "charts");
	request->options.cache_dir = cache;
	if (request->options.runs_count)
		request->options.runs = request->runs;
	if (!store_open(request->db, STORE_READ, &store, err))
		return false;
	if (request->bundle) {
		*ret_path = fs_printf(err, "%s", request->bundle);
		return *ret_path && report_bundle(store, &request->options, *ret_path, err);
	}
	if (!report_render(store, &request->options, &html, err))
		return false;
	if (html.len > REPORT_WARN_BYTES)
		fprintf(stderr, "keylab: the page is %zu kB large\n", html.len / 1024);
	*ret_path = out_path(request, err);
	return *ret_path && fs_write(*ret_path, html.data, html.len, 0644, err) &&
	       (!request->options.assets_external || write_css(*ret_path, err));
}

static int report_main(const struct command *command, int argc, char **argv)
{
	struct request request = {.db = DEFAULT_DB};
	CLEANUP(free_p) char *path = NULL;
	struct err err;
	int code = parse(command, argc, argv, &request);
	bool rendered = !code && render(&request, &path, &err);

	free(request.gnuplot);
	if (code)
		return code;
	if (!rendered)
		return fail(&err);
	say(stdout, "%s\n", path);
	if (request.open)
		open_page(path);
	return fflush(stdout) ? EXIT_ENVIRONMENT : EXIT_AS_EXPECTED;
}

const struct command command_report = {
        .name = "report",
        .summary = "render the evidence page from a store",
        .usage = "keylab report [--db FILE] [--out FILE] [--run N[,M...]] [--document NAME]\n"
                 "              [--assets inline|external] [--expand] [--no-charts] [--open]\n"
                 "              [--bundle FILE.tar]\n\n"
                 "Writes one self-contained HTML file (beside the store when --out is absent) and\n"
                 "prints its path. Several runs are compared, the first one in full. Needs no "
                 "server;\n"
                 "charts need gnuplot, and without it the page keeps its tables.\n"
                 "\n"
                 "  --document NAME    this document's scenarios only\n"
                 "  --assets external  the style sheet in a file of its own, report.css\n"
                 "  --expand           all details are open\n"
                 "  --no-charts        tables only; gnuplot is not called\n"
                 "  --open             shows the page in a browser\n\n"
                 "--bundle packs the page with all that it was made of (store, scenarios, logs, "
                 "the\n"
                 "charts' scripts and data, commands, SHA256SUMS) instead; the same store gives "
                 "the\nsame bytes.\n",
        .main = report_main,
};
