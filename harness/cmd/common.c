/* SPDX-License-Identifier: PostgreSQL */
/* What commands share: faults, output, servers, finding scenarios. */
#include <assert.h>
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "cmd/cmd.h"
#include "pg/cluster.h"
#include "scenario/node.h"

const char *command_name(void)
{
	const char *name = getenv("KEYLAB_COMMAND");

	return name && name[0] ? name : "keylab";
}

/* Does "keylab VERB" begin a command here? A colon behind it makes it the head of a message. */
static bool is_hint(const char *text, const char *at)
{
	const char *verb = at + strlen("keylab ");
	size_t len = strspn(verb, "abcdefghijklmnopqrstuvwxyz");

	return (at == text || strchr(" \n(", at[-1])) && is_command(verb, len) && verb[len] != ':';
}

void add_hints(struct buf *out, const char *text)
{
	const char *from = text;

	for (const char *at = text; (at = strstr(at, "keylab ")); at++) {
		if (!is_hint(text, at))
			continue;
		buf_add_len(out, from, (size_t)(at - from));
		buf_add(out, command_name());
		from = at + strlen("keylab");
	}
	buf_add(out, from);
}

static void say_args(FILE *out, const char *format, va_list args)
{
	CLEANUP(buf_finish) struct buf text, hints, shown;
	struct err err;

	buf_init(&text, 0);
	buf_init(&hints, 0);
	buf_init(&shown, 0);
	buf_vprintf(&text, format, args);
	add_hints(&hints, text.data);
	buf_add_printable(&shown, hints.data);
	bool ok = buf_ok(&text, &err) && buf_ok(&hints, &err) && buf_ok(&shown, &err);
	fputs(ok ? shown.data : err.message, out);
}

void say(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_args(out, format, args);
	va_end(args);
}

int fail(const struct err *err)
{
	say(stderr, "keylab: %s\n", err->message);
	return err_exit_code(err->kind);
}

int usage_error(const struct command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "keylab %s: ", command->name);
	va_start(args, format);
	say_args(stderr, format, args);
	va_end(args);
	say(stderr, " (keylab help %s shows how it is used)\n", command->name);
	return EXIT_USAGE;
}

void print_help(const struct command *command)
{
	printf("%s: %s\n\n%s", command->name, command->summary, command->usage);
}

#define OPTIONS_MAX 20
/* What next_option returns when the command is to stop; no letter of an option. */
enum { STOP_WRONG = -2, STOP_HELPED = -3 };

int option_stops(int letter)
{
	return letter == STOP_HELPED ? EXIT_HELPED : EXIT_USAGE;
}

static bool is_name(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, "--", 2) && !strncmp(word + 2, name, len) &&
	       (!word[2 + len] || word[2 + len] == '=');
}

/* The one option that a word is the beginning of; NULL. */
static const char *meant_by(const char *word, const struct option *options)
{
	size_t len = strcspn(word, "=");
	const char *found = NULL;

	for (size_t i = 0; options[i].name; i++)
		if (len > 2 && !strncmp(options[i].name, word + 2, len - 2)) {
			if (found)
				return NULL;
			found = options[i].name;
		}
	return found;
}

/* A fault in the long option that the word is, or tries to be. */
static void long_fault(const struct command *command, const char *word,
                       const struct option *options)
{
	int len = (int)strcspn(word, "=");

	for (size_t i = 0; options[i].name; i++)
		if (is_name(word, options[i].name)) {
			usage_error(command,
			            options[i].has_arg ? "%.*s needs a value behind it"
			                               : "%.*s takes no value",
			            len, word);
			return;
		}
	const char *meant = meant_by(word, options);
	if (meant)
		usage_error(command, "there is no option \"%.*s\"; --%s is written in full", len,
		            word, meant);
	else
		usage_error(command, "there is no option \"%.*s\"", len, word);
}

int next_option(const struct command *command, int argc, char **argv, const char *letters,
                const struct option *options)
{
	struct option all[OPTIONS_MAX] = {{"help", no_argument, NULL, 'h'}};
	size_t plus = letters[0] == '+', count = 1;
	char all_letters[16];
	int before = optind, index = -1;

	for (size_t i = 0; options && options[i].name; i++) {
		assert(count < OPTIONS_MAX - 1);
		all[count++] = options[i];
	}
	/* ":" has a value that is missing told apart. */
	snprintf(all_letters, sizeof(all_letters), "%.*s:h%s", (int)plus, letters, letters + plus);
	opterr = 0;
	int letter = getopt_long(argc, argv, all_letters, all, &index);
	if (letter == -1)
		return -1;
	bool separate = index >= 0 && optarg && optarg == argv[optind - 1];
	const char *word = optind > before ? argv[optind - (separate ? 2 : 1)] : "";
	if (index >= 0 ? !is_name(word, all[index].name)
	               : (letter == '?' || letter == ':') && !strncmp(word, "--", 2)) {
		long_fault(command, word, all);
		return STOP_WRONG;
	}
	if (letter == '?' || letter == ':') {
		usage_error(command,
		            letter == '?' ? "there is no option \"-%c\""
		                          : "-%c needs a value behind it",
		            optopt);
		return STOP_WRONG;
	}
	if (letter == 'h') {
		print_help(command);
		return STOP_HELPED;
	}
	return letter;
}

bool read_run_id(const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (end == text || *end || errno || number <= 0)
		return false;
	*ret = number;
	return true;
}

int no_run_id(const struct command *command, const char *text)
{
	return usage_error(command, "\"%s\" is no run's number", text);
}

int print_result(const struct buf *text, int code)
{
	struct err err;

	if (!buf_ok(text, &err))
		return fail(&err);
	if (isatty(STDOUT_FILENO) && !text_is_printable(text->data)) {
		CLEANUP(buf_finish) struct buf shown;

		buf_init(&shown, 0);
		buf_add_printable(&shown, text->data);
		return print_result(&shown, code);
	}
	if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout) != 0) {
		fprintf(stderr, "keylab: cannot write to standard output: %s\n", strerror(errno));
		return EXIT_ENVIRONMENT;
	}
	return code;
}

char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	CLEANUP(free_p) char *copy = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	char *rest = NULL;

	if (strchr(name, '/'))
		return fs_is_executable(name) ? strdup(name) : NULL;
	for (char *dir = copy ? strtok_r(copy, ":", &rest) : NULL; dir;
	     dir = strtok_r(NULL, ":", &rest)) {
		char *program = fs_join(NULL, dir, name);

		if (program && fs_is_executable(program))
			return program;
		free(program);
	}
	return NULL;
}

bool open_home(struct home **ret, struct err *err)
{
	const struct home_options options = {
	        .root = getenv("KEYLAB_HOME"),
	        .cache = getenv("XDG_CACHE_HOME"),
	        .user_home = getenv("HOME"),
	        .server_user = getenv("KEYLAB_SERVER_USER"),
	};

	return home_open(&options, ret, err);
}

bool reap_dead(const struct home *home, struct err *err)
{
	struct cluster_reaped reaped;

	if (!cluster_reap(home, false, &reaped, err))
		return false;
	if (reaped.trouble.kind)
		say(stderr, "keylab: left behind by an earlier run: %s\n", reaped.trouble.message);
	return true;
}

bool find_servers(const struct home *home, const char *named, struct server_list *ret,
                  struct err *err)
{
	const struct server_search search = {
	        .named = named,
	        .pg_config = getenv("PG_CONFIG"),
	        .path = getenv("PATH"),
	        .pinned = getenv("KEYLAB_PINNED"),
	};

	return server_find(&search, home, ret, err);
}

const char *scenarios_dir(void)
{
	const char *named = getenv("KEYLAB_SCENARIOS");

	if (named && named[0])
		return named;
	return fs_is_dir("scenarios") ? "scenarios" : KEYLAB_SOURCE_ROOT "/scenarios";
}

void free_list(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

bool list_scenario_files(char ***ret, size_t *ret_count, struct err *err)
{
	CLEANUP(free_p) char *pattern = fs_printf(err, "%s/*/*.yaml", scenarios_dir());
	glob_t found = {0};

	if (!pattern)
		return false;
	int code = glob(pattern, 0, NULL, &found);
	if (code && code != GLOB_NOMATCH)
		return err_set(err, ERR_SYSTEM, "cannot list %s", pattern);
	size_t count = 0;
	char **list = calloc(found.gl_pathc + 1, sizeof(*list));
	while (list && count < found.gl_pathc && (list[count] = strdup(found.gl_pathv[count])))
		count++;
	bool all = list && count == found.gl_pathc;
	globfree(&found);
	if (!all) {
		if (list)
			free_list(list, count);
		return err_set(err, ERR_SYSTEM, "out of memory");
	}
	*ret = list;
	*ret_count = count;
	return true;
}

/* Is the file …/DOCUMENT/NAME.yaml what a word names: its name or its document? */
static bool is_named(const char *path, const char *word)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(word);

	if (!strncmp(name, word, len) && !strcmp(name + len, ".yaml"))
		return true;
	if (!slash)
		return false;
	const char *document = slash;
	while (document > path && document[-1] != '/')
		document--;
	return (size_t)(slash - document) == len && !strncmp(document, word, len);
}

static bool is_path(const char *word)
{
	return strchr(word, '/') || (strlen(word) > 5 && !strcmp(word + strlen(word) - 5, ".yaml"));
}

/* Two ways to write one path, or two links to one file. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !strcmp(a, b) || (stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	                         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/* Is there room for one more, and is it not one of those that are there? */
static bool make_room(struct scenario_set *set, const char *path, bool *ret_known, struct err *err)
{
	for (size_t i = 0; i < set->paths_count; i++)
		if (is_same_file(set->paths[i], path)) {
			*ret_known = true;
			return true;
		}
	struct scenario **items = realloc(set->items, (set->count + 1) * sizeof(*items));
	if (items)
		set->items = items;
	char **paths = realloc(set->paths, (set->paths_count + 1) * sizeof(*paths));
	if (paths)
		set->paths = paths;
	if (!items || !paths || !(paths[set->paths_count] = strdup(path)))
		return err_set(err, ERR_SYSTEM, "out of memory");
	set->paths_count++;
	*ret_known = false;
	return true;
}

/* A run tells its scenarios apart by their names alone. */
static bool has_free_name(const struct scenario_set *set, const struct scenario *scenario,
                          struct buf *messages)
{
	for (size_t i = 0; i < set->count; i++) {
		struct place place = node_place(scenario->node, "scenario");

		if (strcmp(set->items[i]->name, scenario->name) != 0)
			continue;
		buf_printf(messages,
		           "%s:%d:%d: %s has a scenario \"%s\" too; rename one of them, or name "
		           "one file alone\n",
		           scenario->path, place.line, place.column, set->items[i]->path,
		           scenario->name);
		return false;
	}
	return true;
}

static bool add_file(struct scenario_set *set, const char *path, struct buf *messages,
                     struct err *err)
{
	struct scenario *scenario;
	struct err inner = {0};
	bool known = false;

	if (!make_room(set, path, &known, err) || known)
		return known;
	size_t before = messages->len;
	if (scenario_load(path, run_vocabulary(), &scenario, messages, &inner)) {
		if (has_free_name(set, scenario, messages)) {
			set->items[set->count++] = scenario;
		} else {
			scenario_destroy(scenario);
			set->faulty++;
		}
		return true;
	}
	if (inner.kind != ERR_INPUT && messages->len == before) {
		*err = inner;
		return false;
	}
	if (messages->len == before)
		buf_printf(messages, "%s\n", inner.message);
	set->faulty++;
	return true;
}

static bool add_word(struct scenario_set *set, const char *word, char *const *files,
                     size_t files_count, struct buf *messages, struct err *err)
{
	bool any = false;

	if (is_path(word))
		return add_file(set, word, messages, err);
	for (size_t i = 0; i < files_count; i++) {
		if (!is_named(files[i], word))
			continue;
		any = true;
		if (!add_file(set, files[i], messages, err))
			return false;
	}
	if (!any)
		return err_set(err, ERR_USAGE,
		               "there is no scenario or document \"%s\" in %s; keylab list shows "
		               "them",
		               word, scenarios_dir());
	return true;
}

bool load_scenarios(char *const *names, size_t count, struct scenario_set *ret,
                    struct buf *messages, struct err *err)
{
	struct scenario_set set = {0};
	char **files = NULL;
	size_t files_count = 0;
	bool ok = list_scenario_files(&files, &files_count, err);

	for (size_t i = 0; ok && i < count; i++)
		ok = add_word(&set, names[i], files, files_count, messages, err);
	for (size_t i = 0; ok && !count && i < files_count; i++)
		ok = add_file(&set, files[i], messages, err);
	free_list(files, files_count);
	if (ok && !set.count && !set.faulty)
		ok = err_set(err, ERR_INPUT,
		             "there are no scenarios in %s; KEYLAB_SCENARIOS names "
		             "another folder",
		             scenarios_dir());
	if (!ok) {
		scenario_set_finish(&set);
		return false;
	}
	*ret = set;
	return true;
}

void scenario_set_finish(struct scenario_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		scenario_destroy(set->items[i]);
	free(set->items);
	free_list(set->paths, set->paths_count);
	*set = (struct scenario_set){0};
}

int overrides_add(const struct command *command, struct overrides *overrides, const char *text)
{
	if (overrides->count == OVERRIDES_MAX)
		return usage_error(command, "too many --set");
	overrides->items[overrides->count++] = text;
	return 0;
}

static bool has_param(const struct scenario *scenario, const char *name, size_t len)
{
	for (size_t i = 0; i < scenario->params_count; i++)
		if (!strncmp(scenario->params[i].name, name, len) && !scenario->params[i].name[len])
			return true;
	return false;
}

/* One scenario can say which parameters it has. */
static bool unknown_param(const char *override, int len, const struct scenario_set *set,
                          struct err *err)
{
	CLEANUP(arena_finish) struct arena arena;
	struct pairs params;

	arena_init(&arena, 0);
	if (set->count == 1 &&
	    !scenario_params(set->items[0], PROFILE_QUICK, &override, 1, &arena, &params, err))
		return false;
	return err_set(err, ERR_USAGE, "--set %s: none of these scenarios has a parameter \"%.*s\"",
	               override, len, override);
}

bool overrides_check(const struct overrides *overrides, const struct scenario_set *set,
                     struct err *err)
{
	for (size_t i = 0; i < overrides->count; i++) {
		const char *override = overrides->items[i];
		size_t len = strcspn(override, "=");
		bool known = false;

		if (!override[len] || !len)
			return err_set(err, ERR_USAGE, "--set %s: write NAME=VALUE", override);
		for (size_t s = 0; s < set->count; s++)
			known = known || has_param(set->items[s], override, len);
		if (!known)
			return unknown_param(override, (int)len, set, err);
	}
	return true;
}
