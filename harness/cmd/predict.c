/* SPDX-License-Identifier: PostgreSQL */
/* keylab predict: WAL, images, index and cache at a size that was not measured. */
#include "store/predict.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/cmd.h"

#define KEYS_MAX 16
#define WAL_SIZE_DEFAULT ((double)(1 << 30)) /* PostgreSQL documentation, max_wal_size */

struct request {
	const char *db;
	const char *keys[KEYS_MAX];
	size_t keys_count;
	struct predict_ask ask;
	int64_t run_id;
	bool json;
};

/* ---- options ---- */

/* A count as people write it: 1e9, 200k, 5,000. */
static bool read_count(const char *text, size_t len, double *ret)
{
	char copy[64];
	size_t kept = 0;
	struct quantity quantity;
	char *end;

	for (size_t i = 0; i < len; i++)
		if (text[i] != ',' && kept + 1 < sizeof(copy))
			copy[kept++] = text[i];
	copy[kept] = '\0';
	if (quantity_parse(copy, &quantity) && quantity.kind == QUANTITY_COUNT) {
		*ret = quantity.value;
	} else {
		*ret = strtod(copy, &end);
		if (end == copy || *end)
			return false;
	}
	return isfinite(*ret) && *ret > 0;
}

/* 5000/s, 300k/min, 2M/h; without a unit, a second. */
static bool read_rate(const char *text, double *ret)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
	const char *slash = strchr(text, '/');

	if (!read_count(text, slash ? (size_t)(slash - text) : strlen(text), ret))
		return false;
	if (!slash)
		return true;
	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (!strcmp(units[i].name, slash + 1)) {
			*ret /= units[i].seconds;
			return true;
		}
	return false;
}

static bool read_seconds(const char *text, double *ret)
{
	struct quantity quantity;

	if (!quantity_parse(text, &quantity) || quantity.kind != QUANTITY_DURATION ||
	    !(quantity.value > 0))
		return false;
	*ret = quantity.value / 1000;
	return true;
}

/* Cuts the list at its commas, in place. */
static bool read_keys(char *text, struct request *ret)
{
	char *rest = NULL;

	ret->keys_count = 0;
	for (char *key = strtok_r(text, ",", &rest); key; key = strtok_r(NULL, ",", &rest)) {
		if (ret->keys_count == KEYS_MAX)
			return false;
		ret->keys[ret->keys_count++] = key;
	}
	return ret->keys_count > 0;
}

static int parse(const struct command *command, int argc, char **argv, struct request *ret)
{
	static const struct option options[] = {{"rows", required_argument, NULL, 'r'},
	                                        {"insert-rate", required_argument, NULL, 'i'},
	                                        {"checkpoint", required_argument, NULL, 'c'},
	                                        {"keys", required_argument, NULL, 'k'},
	                                        {"db", required_argument, NULL, 'd'},
	                                        {"run", required_argument, NULL, 'R'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {0}};

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		bool good = true;

		if (option == 'r')
			good = read_count(optarg, strlen(optarg), &ret->ask.rows);
		else if (option == 'i')
			good = read_rate(optarg, &ret->ask.insert_rate);
		else if (option == 'c')
			good = read_seconds(optarg, &ret->ask.checkpoint_s);
		else if (option == 'k')
			good = read_keys(optarg, ret);
		else if (option == 'd')
			ret->db = optarg;
		else if (option == 'R')
			good = read_run_id(optarg, &ret->run_id);
		else if (option == 'j')
			ret->json = true;
		else
			return option_stops(option);
		if (!good)
			return usage_error(
			        command,
			        option == 'r'   ? "--rows takes a number, as 1e9 or 200M"
			        : option == 'i' ? "--insert-rate takes a number a unit of time, as "
			                          "5000/s or 2M/h"
			        : option == 'c' ? "--checkpoint takes a duration, as 5min"
			        : option == 'k' ? "--keys takes names with commas between"
			                        : "--run takes the number of a run");
	}
	if (optind < argc)
		return usage_error(command, "\"%s\" was not expected", argv[optind]);
	if (!ret->ask.rows || !ret->ask.insert_rate)
		return usage_error(command, "%s is needed",
		                   ret->ask.rows ? "--insert-rate" : "--rows");
	return EXIT_AS_EXPECTED;
}

/* Without --keys: all kinds that were measured, in the order of their names. */
static void all_keys(const struct predict_points *points, struct request *request)
{
	for (size_t i = 0; i < points->count && request->keys_count < KEYS_MAX; i++) {
		bool known = false;

		for (size_t k = 0; k < request->keys_count; k++)
			known = known || !strcmp(request->keys[k], points->items[i].arm);
		if (!known)
			request->keys[request->keys_count++] = points->items[i].arm;
	}
}

/* ---- text ---- */

static void add_number(struct buf *out, double value, const char *unit)
{
	char text[64];

	buf_add(out, unit_format(value, unit, text, sizeof(text)));
}

static void add_line(struct buf *out, const char *what, const struct predict_range *range,
                     const char *unit, const char *behind)
{
	buf_printf(out, "  %-28s", what);
	add_number(out, range->value, unit);
	buf_add(out, behind);
	/* A range that prints as its value says nothing. */
	if (range->high > range->low * 1.001) {
		buf_add(out, "  (");
		add_number(out, range->low, unit);
		buf_add(out, " to ");
		add_number(out, range->high, unit);
		buf_add_char(out, ')');
	}
	buf_add_char(out, '\n');
}

/* "the table is 40 times the largest one measured" */
static void add_beyond(struct buf *out, const char *what, double asked, double low, double high,
                       const char *most, const char *least)
{
	bool above = asked > high;
	double times = asked / (above ? high : low);

	buf_printf(out, "%s ", what);
	if (times >= 10)
		add_number(out, times, "");
	else
		buf_printf(out, "%.2g", times);
	buf_printf(out, " times the %s measured", above ? most : least);
}

static void add_extrapolation(struct buf *out, const struct request *request,
                              const struct predict_answer *answer)
{
	if (!answer->beyond_rows && !answer->beyond_apart)
		return;
	buf_add(out, "  extrapolated: ");
	if (answer->beyond_rows)
		add_beyond(out, "the table is", request->ask.rows, answer->rows_low,
		           answer->rows_high, "largest", "smallest");
	if (answer->beyond_rows && answer->beyond_apart)
		buf_add(out, ", ");
	if (answer->beyond_apart)
		add_beyond(out, "the rows between checkpoints are", answer->apart,
		           answer->apart_low, answer->apart_high, "most", "fewest");
	buf_add_char(out, '\n');
}

static void add_answer(struct buf *out, const struct request *request, const char *key,
                       const struct predict_answer *answer)
{
	buf_printf(out, "\n%s (keys %s)\n", key,
	           answer->random ? "at random: images grow with the table"
	                          : "in order: as many images at every size");
	add_line(out, "WAL", &answer->wal_bytes_s, "bytes", " a second");
	add_line(out, "WAL per row", &answer->wal_row_bytes, "bytes", "");
	add_line(out, "WAL between two checkpoints", &answer->wal_checkpoint_bytes, "bytes", "");
	if (answer->wal_checkpoint_bytes.value > WAL_SIZE_DEFAULT)
		buf_add(out, "    more than max_wal_size has by default (1GB): with less than that "
		             "there, checkpoints\n    come sooner and the WAL is more\n");
	if (answer->images_s.value < 10)
		buf_printf(out, "  %-28s%.2g a second\n", "page images", answer->images_s.value);
	else
		add_line(out, "page images", &answer->images_s, "", " a second");
	add_line(out, "index", &answer->index_bytes, "bytes", "");
	add_line(out, "cache for inserts", &answer->cache_bytes, "bytes", "");
	buf_printf(out, "  measured: %zu inserts into ", answer->points);
	add_number(out, answer->rows_low, "");
	buf_add(out, " to ");
	add_number(out, answer->rows_high, "");
	buf_add(out, " rows, ");
	add_number(out, answer->apart_low, "");
	buf_add(out, " to ");
	add_number(out, answer->apart_high, "");
	buf_printf(out,
	           " rows a checkpoint\n  constants: %.1f rows a leaf, %.0f bytes an image, %.0f "
	           "bytes a row beside images\n",
	           answer->rows_per_leaf, answer->bytes_per_image, answer->bytes_per_row);
	add_extrapolation(out, request, answer);
}

static void add_head(struct buf *out, const struct request *request,
                     const struct predict_points *points)
{
	add_number(out, request->ask.rows, "");
	buf_add(out, " rows, ");
	add_number(out, request->ask.insert_rate, "");
	buf_printf(out,
	           " inserts a second, a checkpoint every %.4g s: ", request->ask.checkpoint_s);
	add_number(out, request->ask.insert_rate * request->ask.checkpoint_s, "");
	buf_printf(out, " rows from one to the next\nby run %lld of scale-law, profile %s",
	           (long long)points->run_id, points->profile);
	if (points->server_version)
		buf_printf(out, ", PostgreSQL %d.%d", points->server_version / 10000,
		           points->server_version % 10000);
	buf_add(out, "; in brackets what its measurements give one by one\n");
}

/* ---- JSON ---- */

static void json_range(struct buf *out, const char *name, const struct predict_range *range)
{
	buf_printf(out, ",\"%s\":{\"value\":%.6g,\"low\":%.6g,\"high\":%.6g}", name, range->value,
	           range->low, range->high);
}

static void json_answer(struct buf *out, const char *key, const struct predict_answer *answer)
{
	buf_add(out, "{\"keys\":");
	buf_add_json(out, key);
	buf_printf(out, ",\"random\":%s", answer->random ? "true" : "false");
	json_range(out, "wal_bytes_per_s", &answer->wal_bytes_s);
	json_range(out, "wal_bytes_per_row", &answer->wal_row_bytes);
	json_range(out, "wal_bytes_per_checkpoint", &answer->wal_checkpoint_bytes);
	json_range(out, "images_per_s", &answer->images_s);
	json_range(out, "index_bytes", &answer->index_bytes);
	json_range(out, "cache_bytes", &answer->cache_bytes);
	buf_printf(out,
	           ",\"rows_per_leaf\":%.6g,\"bytes_per_image\":%.6g,\"bytes_per_row\":%.6g,"
	           "\"measured\":{\"inserts\":%zu,\"rows\":[%.0f,%.0f],\"rows_per_checkpoint\":"
	           "[%.0f,%.0f]},\"extrapolated\":{\"rows\":%s,\"rows_per_checkpoint\":%s}}",
	           answer->rows_per_leaf, answer->bytes_per_image, answer->bytes_per_row,
	           answer->points, answer->rows_low, answer->rows_high, answer->apart_low,
	           answer->apart_high, answer->beyond_rows ? "true" : "false",
	           answer->beyond_apart ? "true" : "false");
}

static bool predict_all(const struct request *request, const struct predict_points *points,
                        struct buf *out, struct err *err)
{
	if (request->json)
		buf_printf(out,
		           "{\"version\":1,\"run\":%lld,\"profile\":\"%s\",\"rows\":%.0f,"
		           "\"insert_rate_per_s\":%.6g,\"checkpoint_s\":%.6g,\"predictions\":[",
		           (long long)points->run_id, points->profile, request->ask.rows,
		           request->ask.insert_rate, request->ask.checkpoint_s);
	else
		add_head(out, request, points);
	for (size_t i = 0; i < request->keys_count; i++) {
		struct predict_answer answer = {0};

		if (!predict_compute(points, request->keys[i], &request->ask, &answer, err))
			return false;
		if (request->json) {
			buf_add(out, i ? ",\n" : "\n");
			json_answer(out, request->keys[i], &answer);
		} else {
			add_answer(out, request, request->keys[i], &answer);
		}
	}
	buf_add(out, request->json ? "\n]}\n"
	                           : "\nThe formula and what it leaves out: docs/scale-law.md\n");
	return true;
}

static int predict_main(const struct command *command, int argc, char **argv)
{
	struct request request = {.db = DEFAULT_DB, .ask = {.checkpoint_s = 300}};
	CLEANUP(predict_points_finish) struct predict_points points = {0};
	CLEANUP(store_close_p) struct store *store = NULL;
	CLEANUP(buf_finish) struct buf out;
	struct err err;

	buf_init(&out, 0);
	int code = parse(command, argc, argv, &request);
	if (code != EXIT_AS_EXPECTED)
		return code;
	if (!store_open(request.db, STORE_READ, &store, &err) ||
	    !predict_load(store, request.run_id, &points, &err))
		return fail(&err);
	if (!request.keys_count)
		all_keys(&points, &request);
	if (!predict_all(&request, &points, &out, &err))
		return fail(&err);
	return print_result(&out, EXIT_AS_EXPECTED);
}

const struct command command_predict = {
        .name = "predict",
        .summary = "compute WAL, index and cache at a size that was not measured",
        .usage = "keylab predict --rows N --insert-rate N/s [--checkpoint DURATION] [--keys "
                 "NAME,...]\n"
                 "               [--db FILE] [--run N] [--json]\n\n"
                 "  keylab predict --rows 1e9 --insert-rate 5000/s --checkpoint 5min --keys "
                 "uuidv4,uuidv7\n\n"
                 "Computes from what the scenario scale-law measured into FILE (" DEFAULT_DB
                 "), by the\nformula of docs/scale-law.md, and says when it goes beyond what "
                 "was measured. A\ncheckpoint is taken to come every 5min when --checkpoint is "
                 "absent, and all kinds of\nkeys that were measured are computed without --keys. "
                 "A rate may be per s, min, h or d.\nNeeds no server.\n",
        .main = predict_main,
};
