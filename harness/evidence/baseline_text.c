/* SPDX-License-Identifier: PostgreSQL */
/* A baseline's text: read with everything checked, written so that a diff shows one line a metric.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "evidence/baseline.h"

#define BASELINE_SCHEMA "keylab.baseline"
#define BASELINE_VERSION 1
#define BASELINE_MAX_BYTES ((size_t)16 << 20)

struct reader {
	const char *path;
	struct baseline *to;
	struct err *err;
};

static bool wrong(struct reader *reader, const char *where, const char *what)
{
	return err_set(reader->err, ERR_INPUT, "%s: %s%s%s", reader->path, where,
	               where[0] ? ": " : "", what);
}

/* A key that nothing here reads is a slip of a hand. */
static bool only_keys(struct reader *reader, const char *where, json_t *object,
                      const char *const *known, const char *const *optional)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return wrong(reader, where, "is no object");
	json_object_foreach(object, key, value)
	{
		bool found = false;

		for (size_t i = 0; optional && optional[i]; i++)
			found = found || !strcmp(optional[i], key);
		for (size_t i = 0; known[i]; i++)
			found = found || !strcmp(known[i], key);
		if (!found)
			return err_set(reader->err, ERR_INPUT, "%s: %s: unknown key \"%s\"",
			               reader->path, where, key);
	}
	for (size_t i = 0; known[i]; i++)
		if (!json_object_get(object, known[i]))
			return err_set(reader->err, ERR_INPUT, "%s: %s: \"%s\" is missing",
			               reader->path, where, known[i]);
	return true;
}

static const char *text_of(struct reader *reader, json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? arena_strdup(&reader->to->arena, text) : NULL;
}

static bool value_of(struct reader *reader, const char *where, json_t *value,
                     struct fact_value *ret)
{
	struct arena *arena = &reader->to->arena;

	*ret = (struct fact_value){.text = ""};
	if (json_is_null(value))
		return true;
	if (json_is_integer(value)) {
		ret->kind = FACT_INTEGER;
		ret->integer = json_integer_value(value);
		ret->number = (double)ret->integer;
		ret->text = arena_printf(arena, "%lld", (long long)ret->integer);
	} else if (json_is_real(value)) {
		ret->kind = FACT_REAL;
		ret->number = json_real_value(value);
		ret->text = arena_printf(arena, "%.15g", ret->number);
	} else if (json_is_string(value)) {
		ret->kind = FACT_TEXT;
		ret->text = arena_strdup(arena, json_string_value(value));
	} else {
		return wrong(reader, where, "a value is a number, a text or null");
	}
	return true;
}

static bool direction_of(const char *word, enum direction *ret)
{
	for (int i = DIRECTION_BOTH; i <= DIRECTION_DOWN; i++) {
		if (word && !strcmp(direction_word((enum direction)i), word)) {
			*ret = (enum direction)i;
			return true;
		}
	}
	return false;
}

static bool is_type(const char *type)
{
	return type && (!strcmp(type, "exact") || !strcmp(type, "counter") ||
	                !strcmp(type, "timing") || !strcmp(type, "event"));
}

/* "document/scenario/claim", of which none is empty. */
static bool split_key(struct reader *reader, const char *key, struct metric *ret)
{
	struct arena *arena = &reader->to->arena;
	const char *first = strchr(key, '/');
	const char *second = first ? strchr(first + 1, '/') : NULL;

	if (!second || first == key || second == first + 1 || !second[1])
		return wrong(reader, key, "a metric's name is document/scenario/claim");
	ret->document = arena_strndup(arena, key, (size_t)(first - key));
	ret->scenario = arena_strndup(arena, first + 1, (size_t)(second - first - 1));
	ret->claim = arena_strdup(arena, second + 1);
	return true;
}

/* What is allowed must be above it. Of a timing, null says that nobody has measured it. */
static bool read_noise(struct reader *reader, const char *key, json_t *noise, struct metric *ret)
{
	bool timing = !strcmp(ret->type, "timing"), counter = !strcmp(ret->type, "counter");
	double size = fabs(ret->value.number);

	ret->has_noise = json_is_number(noise);
	ret->noise = json_number_value(noise);
	if (!noise)
		return true;
	if (!(timing && json_is_null(noise)) &&
	    (!(timing || counter) || !ret->has_noise || ret->noise < 0 || ret->by_predicate))
		return wrong(reader, key,
		             "noise is a number from 0, of a timing or of a counter with a "
		             "rel_tol, or a timing's null");
	if (!ret->has_noise || ret->rel_tol >= ret->noise ||
	    (counter && ret->abs_floor >= ret->noise * size))
		return true;
	return err_set(reader->err, ERR_INPUT, "%s: %s: rel_tol %.3g is below the noise, %.3g: %s",
	               reader->path, key, ret->rel_tol, ret->noise,
	               timing ? "identical arms differ by as much on this machine (keylab aa)"
	                      : "runs in a row differ by as much");
}

static bool read_metric(struct reader *reader, const char *key, json_t *object, struct metric *ret)
{
	static const char *const known[] = {"abs_floor", "direction", "high",    "low",
	                                    "n",         "rel_tol",   "run",     "type",
	                                    "unit",      "value",     "verdict", NULL};
	static const char *const optional[] = {"noise", "why", NULL};

	if (!only_keys(reader, key, object, known, optional) || !split_key(reader, key, ret) ||
	    !value_of(reader, key, json_object_get(object, "value"), &ret->value) ||
	    !value_of(reader, key, json_object_get(object, "low"), &ret->low) ||
	    !value_of(reader, key, json_object_get(object, "high"), &ret->high))
		return false;
	json_t *rel_tol = json_object_get(object, "rel_tol");
	json_t *abs_floor = json_object_get(object, "abs_floor");
	ret->type = text_of(reader, object, "type");
	ret->unit = text_of(reader, object, "unit");
	ret->run = text_of(reader, object, "run");
	ret->rel_tol = json_number_value(rel_tol);
	ret->abs_floor = json_number_value(abs_floor);
	ret->n = json_integer_value(json_object_get(object, "n"));
	if (!is_type(ret->type))
		return wrong(reader, key, "type is exact, counter, timing or event");
	if (!ret->unit || !ret->run)
		return wrong(reader, key, "unit and run are texts");
	ret->by_predicate = json_is_null(rel_tol);
	ret->why = json_object_get(object, "why") ? text_of(reader, object, "why") : "";
	if (!ret->why || (ret->by_predicate && !ret->why[0]))
		return wrong(reader, key, "why is a text, and rel_tol null needs one");
	if (ret->by_predicate && strcmp(ret->type, "counter") != 0)
		return wrong(reader, key, "rel_tol null is for counters");
	if ((!json_is_number(rel_tol) && !ret->by_predicate) || !json_is_number(abs_floor) ||
	    ret->rel_tol < 0 || ret->abs_floor < 0 || ret->rel_tol >= 1)
		return wrong(reader, key,
		             "rel_tol is a share from 0 to below 1 (0.05 for 5 %), abs_floor a "
		             "number from 0");
	if (!json_is_integer(json_object_get(object, "n")) || ret->n < 0)
		return wrong(reader, key, "n is a whole number");
	if (!direction_of(json_string_value(json_object_get(object, "direction")), &ret->direction))
		return wrong(reader, key, "direction is up, down or both");
	const char *verdict = json_string_value(json_object_get(object, "verdict"));
	if (!verdict || !verdict_read(verdict, &ret->verdict))
		return wrong(reader, key, "verdict is none that there is");
	return read_noise(reader, key, json_object_get(object, "noise"), ret);
}

static bool read_metrics(struct reader *reader, json_t *object)
{
	struct baseline *to = reader->to;
	const char *key;
	json_t *value;

	if (!json_is_object(object) || !json_object_size(object))
		return wrong(reader, "metrics", "there are none");
	to->metrics = arena_alloc(&to->arena, json_object_size(object) * sizeof(*to->metrics));
	if (!to->metrics)
		return err_set(reader->err, ERR_SYSTEM, "out of memory");
	json_object_foreach(object, key, value)
	{
		if (!read_metric(reader, key, value, &to->metrics[to->metrics_count]))
			return false;
		to->metrics_count++;
	}
	return true;
}

static bool read_acceptances(struct reader *reader, json_t *array)
{
	static const char *const known[] = {"commit", "reason", "run", NULL};
	struct baseline *to = reader->to;

	if (!json_is_array(array) || !json_array_size(array))
		return wrong(reader, "accepted", "somebody must have accepted it");
	to->acceptances =
	        arena_alloc(&to->arena, json_array_size(array) * sizeof(*to->acceptances));
	for (size_t i = 0; to->acceptances && i < json_array_size(array); i++) {
		json_t *object = json_array_get(array, i);

		if (!only_keys(reader, "accepted", object, known, NULL))
			return false;
		const struct acceptance read = {text_of(reader, object, "run"),
		                                text_of(reader, object, "commit"),
		                                text_of(reader, object, "reason")};
		if (!read.run || !read.commit || !read.reason || !read.reason[0])
			return wrong(reader, "accepted", "run, commit and reason are texts");
		to->acceptances[to->acceptances_count++] = read;
	}
	return true;
}

static bool read_root(struct reader *reader, json_t *root)
{
	static const char *const known[] = {"accepted", "fingerprint", "metrics", "pg_major",
	                                    "profile",  "schema",      "version", NULL};
	struct baseline *to = reader->to;

	if (!only_keys(reader, "the file", root, known, NULL))
		return false;
	const char *schema = json_string_value(json_object_get(root, "schema"));
	if (!schema || strcmp(schema, BASELINE_SCHEMA) != 0 ||
	    json_integer_value(json_object_get(root, "version")) != BASELINE_VERSION)
		return wrong(reader, "", "schema and version are not those of a baseline");
	to->pg_major = (int)json_integer_value(json_object_get(root, "pg_major"));
	to->profile = text_of(reader, root, "profile");
	to->fingerprint = text_of(reader, root, "fingerprint");
	if (to->pg_major <= 0 || !to->profile || !to->fingerprint)
		return wrong(reader, "", "pg_major is a number, profile and fingerprint are texts");
	return read_acceptances(reader, json_object_get(root, "accepted")) &&
	       read_metrics(reader, json_object_get(root, "metrics"));
}

bool baseline_parse(const char *path, const char *text, struct baseline *ret, struct err *err)
{
	struct baseline to = {0};
	struct reader reader = {.path = path, .to = &to, .err = err};
	json_error_t fault;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &fault);

	arena_init(&to.arena, 0);
	bool ok = root ? read_root(&reader, root)
	               : err_set(err, ERR_INPUT, "%s:%d: %s", path, fault.line, fault.text);
	json_decref(root);
	if (ok && to.arena.failed)
		ok = err_set(err, ERR_SYSTEM, "out of memory");
	if (!ok) {
		baseline_finish(&to);
		return false;
	}
	*ret = to;
	return true;
}

bool baseline_read(const char *path, struct baseline *ret, struct err *err)
{
	CLEANUP(buf_finish) struct buf text;

	buf_init(&text, BASELINE_MAX_BYTES);
	return fs_read(path, BASELINE_MAX_BYTES, &text, err) &&
	       baseline_parse(path, text.data, ret, err);
}

/* The shortest text that reads back as the same number. */
static void print_number(struct buf *ret, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_add(ret, isfinite(value) ? text : "null");
	/* A real that happens to be whole stays a real. */
	if (isfinite(value) && !strpbrk(text, ".e"))
		buf_add(ret, ".0");
}

static void print_value(struct buf *ret, const char *key, const struct fact_value *value)
{
	buf_printf(ret, "\"%s\": ", key);
	if (value->kind == FACT_TEXT)
		buf_add_json(ret, value->text);
	else if (value->kind == FACT_REAL)
		print_number(ret, value->number);
	else
		buf_add(ret, value->kind == FACT_NONE ? "null" : value->text);
}

static void print_metric(const struct metric *metric, struct buf *ret)
{
	CLEANUP(buf_finish) struct buf key;

	buf_init(&key, 0);
	buf_printf(&key, "%s/%s/%s", metric->document, metric->scenario, metric->claim);
	buf_add_json(ret, key.data);
	if (key.failed)
		ret->failed = true;
	buf_printf(ret, ": {\"abs_floor\": %.15g, \"direction\": \"%s\", ", metric->abs_floor,
	           direction_word(metric->direction));
	print_value(ret, "high", &metric->high);
	buf_add(ret, ", ");
	print_value(ret, "low", &metric->low);
	buf_printf(ret, ", \"n\": %lld", (long long)metric->n);
	if (metric->has_noise)
		buf_printf(ret, ", \"noise\": %.15g", metric->noise);
	else if (!strcmp(metric->type, "timing"))
		buf_add(ret, ", \"noise\": null");
	if (metric->by_predicate)
		buf_add(ret, ", \"rel_tol\": null, \"run\": ");
	else
		buf_printf(ret, ", \"rel_tol\": %.15g, \"run\": ", metric->rel_tol);
	buf_add_json(ret, metric->run);
	buf_add(ret, ", \"type\": ");
	buf_add_json(ret, metric->type);
	buf_add(ret, ", \"unit\": ");
	buf_add_json(ret, metric->unit);
	buf_add(ret, ", ");
	print_value(ret, "value", &metric->value);
	buf_printf(ret, ", \"verdict\": \"%s\"", verdict_name(metric->verdict));
	if (metric->why[0]) {
		buf_add(ret, ", \"why\": ");
		buf_add_json(ret, metric->why);
	}
	buf_add_char(ret, '}');
}

bool baseline_print(const struct baseline *baseline, struct buf *ret, struct err *err)
{
	buf_add(ret, "{\n\"accepted\": [");
	for (size_t i = 0; i < baseline->acceptances_count; i++) {
		buf_add(ret, i ? ",\n{\"commit\": " : "\n{\"commit\": ");
		buf_add_json(ret, baseline->acceptances[i].commit);
		buf_add(ret, ", \"reason\": ");
		buf_add_json(ret, baseline->acceptances[i].reason);
		buf_add(ret, ", \"run\": ");
		buf_add_json(ret, baseline->acceptances[i].run);
		buf_add_char(ret, '}');
	}
	buf_add(ret, "\n],\n\"fingerprint\": ");
	buf_add_json(ret, baseline->fingerprint);
	buf_add(ret, ",\n\"metrics\": {");
	for (size_t i = 0; i < baseline->metrics_count; i++) {
		buf_add(ret, i ? ",\n" : "\n");
		print_metric(&baseline->metrics[i], ret);
	}
	buf_printf(ret, "\n},\n\"pg_major\": %d,\n\"profile\": ", baseline->pg_major);
	buf_add_json(ret, baseline->profile);
	buf_printf(ret, ",\n\"schema\": \"%s\",\n\"version\": %d\n}\n", BASELINE_SCHEMA,
	           BASELINE_VERSION);
	return buf_ok(ret, err);
}
