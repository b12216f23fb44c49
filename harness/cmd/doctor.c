/* SPDX-License-Identifier: PostgreSQL */
/* keylab doctor: what is there, what is missing, and what would disturb a measurement. */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/fs.h"
#include "cmd/cmd.h"
#include "pg/conn.h"

/* Below this a chapter run may fill the disk. */
#define DISK_NEEDED_BYTES (UINT64_C(4) << 30)

struct doctor {
	struct buf out;
	size_t missing; /* things without which nothing runs */
};

static void line(struct doctor *doctor, bool good, const char *what, const char *format, ...)
        PRINTF(4, 5);
static void line(struct doctor *doctor, bool good, const char *what, const char *format, ...)
{
	va_list args;

	buf_printf(&doctor->out, "%-8s %-18s ", good ? "ok" : "MISSING", what);
	va_start(args, format);
	buf_vprintf(&doctor->out, format, args);
	va_end(args);
	buf_add_char(&doctor->out, '\n');
}

static void note(struct doctor *doctor, const char *what, const char *text)
{
	buf_printf(&doctor->out, "%-8s %-18s %s\n", "note", what, text);
}

static void look_at_servers(struct doctor *doctor, const struct home *home, const char *named)
{
	struct server_list list;
	struct err err;
	char *rest = NULL;

	if (!find_servers(home, named, &list, &err)) {
		line(doctor, false, "PostgreSQL", "%s", err.message);
		doctor->missing++;
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		line(doctor, true, list.items[i]->version, "%s (%s)", list.items[i]->found_in,
		     server_origin_name(list.items[i]->origin));
	for (char *text = strtok_r(list.rejected, "\n", &rest); text;
	     text = strtok_r(NULL, "\n", &rest))
		note(doctor, "not usable", text);
	const struct server *best = server_pick(&list, 18);
	if (!best) {
		line(doctor, false, "PostgreSQL",
		     "no server programs of version %d or later; ./run.sh fetches the pinned ones, "
		     "or "
		     "name a folder with --pg-bin",
		     SERVER_OLDEST_MAJOR);
		doctor->missing++;
	} else if (best->version_num / 10000 < 18) {
		note(doctor, "version", "no PostgreSQL 18: scenarios that need it are NOT RUN");
	}
	server_list_finish(&list);
}

static void look_at_machine(struct doctor *doctor, const struct home *home)
{
	struct statvfs fs;
	CLEANUP(buf_finish) struct buf text;

	buf_init(&text, 4096);
	if (statvfs(home->root, &fs) == 0) {
		uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;

		if (free_bytes < DISK_NEEDED_BYTES)
			note(doctor, "disk",
			     "less than 4 GB free for clusters; a chapter run may need more");
	}
	if (fs_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", 64, &text, NULL) &&
	    strncmp(text.data, "performance", 11))
		note(doctor, "cpu governor",
		     "not \"performance\": times will vary; counters do not");
	if (fs_exists("/.dockerenv") || fs_exists("/run/.containerenv"))
		note(doctor, "container", "times may vary with the neighbours; counters do not");
}

static void look_at_gnuplot(struct doctor *doctor)
{
	CLEANUP(free_p) char *path = find_program("gnuplot");

	if (path)
		line(doctor, true, "gnuplot", "%s", path);
	else
		note(doctor, "gnuplot", "not found: reports keep their tables and have no charts");
}

static int doctor_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {{"pg-bin", required_argument, NULL, 'b'}, {0}};
	CLEANUP(home_close_p) struct home *home = NULL;
	struct doctor doctor = {0};
	const char *named = NULL;
	struct err err;

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		if (option != 'b')
			return option_stops(option);
		named = optarg;
	}
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	buf_init(&doctor.out, 0);
	line(&doctor, true, "keylab", "%s, libpq %d, SQLite %s, jansson %s", KEYLAB_VERSION,
	     conn_library_version() / 10000, store_library_version(), jansson_version_str());
	if (open_home(&home, &err)) {
		line(&doctor, true, "folder", "%s, servers run as %s", home->root,
		     home->server_name);
		look_at_servers(&doctor, home, named);
		look_at_machine(&doctor, home);
	} else {
		line(&doctor, false, "folder", "%s", err.message);
		doctor.missing++;
	}
	look_at_gnuplot(&doctor);
	line(&doctor, fs_is_dir(scenarios_dir()), "scenarios", "%s", scenarios_dir());
	int code = print_result(&doctor.out, doctor.missing ? EXIT_ENVIRONMENT : EXIT_AS_EXPECTED);
	buf_finish(&doctor.out);
	return code;
}

const struct command command_doctor = {
        .name = "doctor",
        .summary = "say what was found and what is missing",
        .usage = "keylab doctor [--pg-bin DIR]\n\n"
                 "Lists the PostgreSQL servers in the order in which a run would take them, "
                 "keylab's\n"
                 "folder, and what could disturb a measurement. Exit: 0, or 3 when a run is "
                 "impossible.\n",
        .main = doctor_main,
};
