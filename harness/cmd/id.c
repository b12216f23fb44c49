/* SPDX-License-Identifier: PostgreSQL */
/* keylab id: mints ids of every format of the lab, and takes them apart. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "cmd/cmd.h"
#include "ids/ids.h"

#define COUNT_MAX 100000000
/* Text is handed to stdout in pieces of about this size. */
#define CHUNK_BYTES 65536

struct id_request {
	int64_t count;
	bool has_at, json;
	int64_t at_ms;
	struct id_options options;
};

/* Digits after the point as milliseconds; what is finer is cut off. False when there are none. */
static bool read_fraction(const char **at, int *ret_ms)
{
	int scale = 100;

	if (!isdigit((unsigned char)**at))
		return false;
	*ret_ms = 0;
	for (; isdigit((unsigned char)**at); (*at)++, scale /= 10)
		*ret_ms += (**at - '0') * scale;
	return true;
}

/* "Z", "+02", "+02:00" or nothing, which is UTC too. */
static bool read_zone(const char *at, int *ret_minutes)
{
	int hours, minutes = 0, len = 0;

	*ret_minutes = 0;
	if (!strcmp(at, "Z") || !*at)
		return true;
	if (*at != '+' && *at != '-')
		return false;
	if ((sscanf(at + 1, "%2d:%2d%n", &hours, &minutes, &len) < 2 &&
	     sscanf(at + 1, "%2d%n", &hours, &len) < 1) ||
	    at[1 + len] || hours < 0 || hours > 15 || minutes < 0 || minutes > 59)
		return false;
	*ret_minutes = (*at == '-' ? -1 : 1) * (hours * 60 + minutes);
	return true;
}

/* ISO 8601 ("2026-10-06", "2026-10-06T12:34:56.789Z", "… 12:34+02"), or milliseconds since 1970. */
static bool parse_time(const char *text, int64_t *ret_ms, struct err *err)
{
	struct tm parts = {0};
	int len = 0, ms = 0, zone_minutes = 0;
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (end != text && !*end && !errno) {
		*ret_ms = number;
		return true;
	}
	if (sscanf(text, "%4d-%2d-%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &len) < 3)
		goto bad;
	text += len;
	if (*text == 'T' || *text == ' ') {
		text++;
		if (sscanf(text, "%2d:%2d%n", &parts.tm_hour, &parts.tm_min, &len) < 2)
			goto bad;
		text += len;
		if (*text == ':') {
			if (sscanf(text, ":%2d%n", &parts.tm_sec, &len) < 1)
				goto bad;
			text += len;
		}
		if (*text == '.' && (text++, !read_fraction(&text, &ms)))
			goto bad;
	}
	if (!read_zone(text, &zone_minutes) || parts.tm_mon < 1 || parts.tm_mon > 12 ||
	    parts.tm_mday < 1 || parts.tm_mday > 31 || parts.tm_hour > 23 || parts.tm_min > 59 ||
	    parts.tm_sec > 60)
		goto bad;
	int day = parts.tm_mday;
	parts.tm_year -= 1900;
	parts.tm_mon -= 1;
	int64_t seconds = timegm(&parts);
	/* timegm makes 1 March of 29 February where there is none. */
	if (parts.tm_mday != day && parts.tm_sec != 60)
		goto bad;
	*ret_ms = (seconds - zone_minutes * 60) * 1000 + ms;
	return true;
bad:
	return err_set(err, ERR_USAGE,
	               "it is no time; write 2026-10-06T12:34:56.789Z, or milliseconds since 1970");
}

static bool parse_number(const char *text, int64_t min, int64_t max, int64_t *ret)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (end == text || *end || errno || number < min || number > max)
		return false;
	*ret = number;
	return true;
}

static int parse_option(const struct command *command, int option, struct id_request *ret)
{
	struct err err;

	switch (option) {
	case 'c':
		if (!parse_number(optarg, 1, COUNT_MAX, &ret->count))
			return usage_error(command,
			                   "--count is \"%s\"; write a number from 1 to %d", optarg,
			                   COUNT_MAX);
		return 0;
	case 'p':
		ret->options.prefix = optarg;
		return 0;
	case 't':
		ret->has_at = true;
		if (!parse_time(optarg, &ret->at_ms, &err))
			return usage_error(command, "--at \"%s\": %s", optarg, err.message);
		return 0;
	case 'n':
		if (!parse_number(optarg, 0, INT64_MAX, &ret->options.node))
			return usage_error(command, "--node is \"%s\"; write a number from 0",
			                   optarg);
		return 0;
	case 'j':
		ret->json = true;
		return 0;
	default:
		return option_stops(option);
	}
}

static bool put_out(struct buf *out, size_t at_least, struct err *err)
{
	if (!buf_ok(out, err))
		return false;
	if (out->len < at_least || !out->len)
		return true;
	if (fwrite(out->data, 1, out->len, stdout) != out->len)
		return err_errno(err, "cannot write to standard output");
	buf_clear(out);
	return true;
}

static bool mint_all(const struct id_format *format, const struct id_request *request,
                     struct id_generator *generator, struct buf *out, struct err *err)
{
	char text[ID_TEXT_BYTES];
	struct id id;

	if (request->json) {
		buf_add(out, "{\"version\":1,\"format\":");
		buf_add_json(out, format->name);
		buf_add(out, ",\"ids\":[");
	}
	for (int64_t i = 0; i < request->count; i++) {
		if (!interrupt_check(err))
			return false;
		if (!(request->has_at ? id_generator_at(generator, request->at_ms, &id, err)
		                      : id_generator_next(generator, &id, err)) ||
		    !id_generator_print(generator, &id, text, err))
			return false;
		if (request->json) {
			buf_add(out, i ? ",\n" : "\n");
			buf_add_json(out, text);
		} else {
			buf_add(out, text);
			buf_add_char(out, '\n');
		}
		if (!put_out(out, CHUNK_BYTES, err))
			return false;
	}
	buf_add(out, request->json ? "\n]}\n" : "");
	return put_out(out, 0, err);
}

static int id_new(const struct id_format *format, const struct id_request *request)
{
	CLEANUP(id_generator_destroy_p) struct id_generator *generator = NULL;
	CLEANUP(buf_finish) struct buf out;
	struct err err;

	buf_init(&out, 0);
	if (!id_generator_create(format, &request->options, &generator, &err) ||
	    !mint_all(format, request, generator, &out, &err)) {
		/* What the format refuses, the command line asked for. */
		err.kind = err.kind == ERR_INPUT ? ERR_USAGE : err.kind;
		return fail(&err);
	}
	return print_result(&out, EXIT_AS_EXPECTED);
}

static bool is_time(const struct id_part *part)
{
	size_t len = strlen(part->name);

	return part->kind == ID_PART_NUMBER && len >= 7 && !strcmp(part->name + len - 7, "time_ms");
}

/* Years past 9999 have no such text. */
static bool time_text(int64_t ms, char text[CLOCK_TEXT_BYTES])
{
	if (ms < INT64_C(-62135596800000) || ms > INT64_C(253402300799999))
		return false;
	clock_text(ms * 1000, text);
	return true;
}

static void parts_text(const char *id, const struct id_parts *parts, struct buf *out)
{
	char time[CLOCK_TEXT_BYTES];

	buf_printf(out, "%s\n", id);
	for (size_t i = 0; i < parts->count; i++) {
		const struct id_part *part = &parts->part[i];

		buf_printf(out, "  %-16s %s", part->name, part->text);
		if (is_time(part) && time_text(part->number, time))
			buf_printf(out, "  (%s)", time);
		buf_add_char(out, '\n');
	}
}

static void parts_json(const char *id, const struct id_parts *parts, struct buf *out)
{
	char time[CLOCK_TEXT_BYTES];

	buf_add(out, "{\"id\":");
	buf_add_json(out, id);
	for (size_t i = 0; i < parts->count; i++) {
		const struct id_part *part = &parts->part[i];

		buf_add_char(out, ',');
		buf_add_json(out, part->name);
		buf_add_char(out, ':');
		if (part->kind == ID_PART_NUMBER)
			buf_printf(out, "%" PRId64, part->number);
		else
			buf_add_json(out, part->text);
		if (is_time(part) && time_text(part->number, time))
			buf_printf(out, ",\"time\":\"%s\"", time);
	}
	buf_add_char(out, '}');
}

static int id_take_apart(const struct command *command, const struct id_format *format,
                         const struct id_request *request, char **ids, int count)
{
	CLEANUP(buf_finish) struct buf out;
	struct err err;

	buf_init(&out, 0);
	if (count < 1)
		return usage_error(command, "decode needs an id");
	if (request->json) {
		buf_add(&out, "{\"version\":1,\"format\":");
		buf_add_json(&out, format->name);
		buf_add(&out, ",\"ids\":[");
	}
	for (int i = 0; i < count; i++) {
		struct id_parts parts;

		if (!id_decode(format, &request->options, ids[i], strlen(ids[i]), &parts, &err)) {
			err_within(&err, "\"%.80s\" is no %s id", ids[i], format->name);
			err.kind = ERR_USAGE;
			return fail(&err);
		}
		if (request->json)
			buf_add(&out, i ? ",\n" : "\n");
		(request->json ? parts_json : parts_text)(ids[i], &parts, &out);
	}
	buf_add(&out, request->json ? "\n]}\n" : "");
	return print_result(&out, EXIT_AS_EXPECTED);
}

static void add_format(const struct id_format *format, bool json, struct buf *out)
{
	if (!json) {
		buf_printf(out, "%-18s %2u bytes  %3u random bits  %-13s %s\n", format->name,
		           format->stored_bytes, format->random_bits,
		           format->sorts_by_time ? "sorts by time" : "", format->title);
		return;
	}
	buf_add(out, "{\"name\":");
	buf_add_json(out, format->name);
	buf_add(out, ",\"title\":");
	buf_add_json(out, format->title);
	buf_add(out, ",\"source\":");
	buf_add_json(out, format->source);
	buf_add(out, ",\"pg_type\":");
	buf_add_json(out, format->pg_type);
	buf_add(out, ",\"coordination\":");
	buf_add_json(out, format->coordination);
	buf_printf(out,
	           ",\"stored_bytes\":%u,\"text_bytes\":%u,\"random_bits\":%u,"
	           "\"sorts_by_time\":%s}",
	           format->stored_bytes, format->text_bytes, format->random_bits,
	           format->sorts_by_time ? "true" : "false");
}

static int id_formats_list(bool json)
{
	CLEANUP(buf_finish) struct buf out;

	buf_init(&out, 0);
	buf_add(&out, json ? "{\"version\":1,\"formats\":[" : "");
	for (size_t i = 0; i < id_format_count; i++) {
		if (json)
			buf_add(&out, i ? ",\n" : "\n");
		add_format(id_formats[i], json, &out);
	}
	buf_add(&out, json ? "\n]}\n" : "");
	return print_result(&out, EXIT_AS_EXPECTED);
}

static int id_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
	        {"count", required_argument, NULL, 'c'}, {"prefix", required_argument, NULL, 'p'},
	        {"at", required_argument, NULL, 't'},    {"node", required_argument, NULL, 'n'},
	        {"json", no_argument, NULL, 'j'},        {0},
	};
	struct id_request request = {.count = 1};
	struct err err;

	for (int option; (option = next_option(command, argc, argv, "", options)) != -1;) {
		int code = parse_option(command, option, &request);

		if (code)
			return code;
	}
	char **words = argv + optind;
	int count = argc - optind;
	bool is_new = count && !strcmp(words[0], "new");

	if (count == 1 && !strcmp(words[0], "formats"))
		return id_formats_list(request.json);
	if (!count || (!is_new && strcmp(words[0], "decode") != 0))
		return usage_error(command, "say new, decode or formats");
	if (count < 2)
		return usage_error(command, "%s needs a format; keylab id formats lists them",
		                   words[0]);
	const struct id_format *format = id_format_require(words[1], &err);
	if (!format)
		return fail(&err);
	if (is_new && count > 2)
		return usage_error(command, "new takes one format, and options");
	return is_new ? id_new(format, &request)
	              : id_take_apart(command, format, &request, words + 2, count - 2);
}

const struct command command_id = {
        .name = "id",
        .summary = "mint ids and take them apart",
        .usage =
                "keylab id new FORMAT [--count N] [--at TIME] [--prefix TEXT] [--node N] [--json]\n"
                "keylab id decode FORMAT [--json] ID...\n"
                "keylab id formats [--json]\n\n"
                "new prints ids, one a line; decode prints the parts of each, times in UTC too.\n\n"
                "  --count N      how many (1)\n"
                "  --at TIME      ids of another moment: 2026-10-06T12:34:56.789Z (UTC without a\n"
                "                 zone), or milliseconds since 1970\n"
                "  --prefix TEXT  of a typeid\n"
                "  --node N       node or shard of a snowflake or instagram id\n\n"
                "Exit: 64 for an id that the format cannot have made.\n",
        .main = id_main,
};
