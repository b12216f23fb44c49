/* SPDX-License-Identifier: PostgreSQL */
/* From a step and its readings to rows of the store. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/walk.h"

enum walk_end walk_end_at(struct walk *walk, const struct step *step, const char *format, ...)
{
	va_list args;
	int len = snprintf(walk->reason, sizeof(walk->reason), "%s:%d:%d: ", step->place.file,
	                   step->place.line, step->place.column);

	va_start(args, format);
	if (len >= 0 && len < (int)sizeof(walk->reason))
		vsnprintf(walk->reason + len, sizeof(walk->reason) - (size_t)len, format, args);
	va_end(args);
	return WALK_ENDS;
}

/* The innermost repeat counts the repetitions. */
static const struct frame *innermost_repeat(const struct frame *frame)
{
	while (frame && frame->verb != STEP_REPEAT)
		frame = frame->outer;
	return frame;
}

static bool is_json_number(const char *text)
{
	const char *at = text + (*text == '-');

	if (!isdigit((unsigned char)*at) || (at[0] == '0' && isdigit((unsigned char)at[1])))
		return false;
	at += strspn(at, "0123456789");
	if (at[0] == '.' && isdigit((unsigned char)at[1]))
		at += 1 + strspn(at + 1, "0123456789");
	return !*at && strlen(text) <= 15;
}

/* Variables of all loops but the arms' and the one that counts, outermost first. */
static void add_labels(const struct frame *frame, const struct frame *counting, struct buf *ret)
{
	if (!frame)
		return;
	add_labels(frame->outer, counting, ret);
	if (!frame->name || frame == counting || !strcmp(frame->name, "arm"))
		return;
	if (ret->len > 1)
		buf_add_char(ret, ',');
	buf_add_json(ret, frame->name);
	buf_add_char(ret, ':');
	if (is_json_number(frame->value))
		buf_add(ret, frame->value);
	else
		buf_add_json(ret, frame->value);
}

/* {"a":1} and {"b":2} as {"a":1,"b":2}. */
static void join_labels(const char *a, const char *b, struct buf *ret)
{
	if (!strcmp(b, "{}"))
		buf_add(ret, a);
	else if (!strcmp(a, "{}"))
		buf_add(ret, b);
	else
		buf_printf(ret, "%.*s,%s", (int)strlen(a) - 1, a, b + 1);
}

static struct bind reading_bind(const struct reading *reading)
{
	if (reading->is_text)
		return B_TEXT(":value", reading->text);
	if (reading->is_integer)
		return B_INT(":value", reading->integer);
	return B_REAL(":value", reading->real);
}

static bool fill_samples(const struct step_record *record, const char *step_labels,
                         struct record_sample *samples, struct arena *arena, struct err *err)
{
	for (size_t i = 0; record->readings && i < record->readings->count; i++) {
		const struct reading *reading = &record->readings->items[i];
		CLEANUP(buf_finish) struct buf labels;

		buf_init(&labels, 0);
		join_labels(step_labels, reading->labels, &labels);
		if (!buf_ok(&labels, err))
			return false;
		samples[i] = (struct record_sample){
		        .metric = reading->metric,
		        .unit = reading->unit,
		        .type = reading->type,
		        .labels = arena_strdup(arena, labels.data),
		        .rep = record->reps ? record->reps[i] : 0,
		        .value = reading_bind(reading),
		};
	}
	return !arena->failed || err_set(err, ERR_SYSTEM, "out of memory");
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

bool walk_record(struct walk *walk, const struct step_record *record, int64_t *ret_step_id,
                 struct err *err)
{
	const struct step *step = record->step;
	const struct outcome *outcome = record->outcome;
	const struct frame *counting = innermost_repeat(record->frame);
	size_t count = record->readings ? record->readings->count : 0;
	CLEANUP(free_p) struct record_sample *samples = calloc(count + 1, sizeof(*samples));
	CLEANUP(arena_finish) struct arena arena;
	CLEANUP(buf_finish) struct buf labels;
	char position[512];

	arena_init(&arena, 0);
	buf_init(&labels, 0);
	buf_add_char(&labels, '{');
	add_labels(record->frame, counting, &labels);
	if (walk->block)
		buf_printf(&labels, "%s\"block\":%lld,\"position\":%lld", labels.len > 1 ? "," : "",
		           (long long)walk->block, (long long)walk->position);
	buf_add_char(&labels, '}');
	if (!samples)
		return err_set(err, ERR_SYSTEM, "out of memory");
	if (!buf_ok(&labels, err) || !fill_samples(record, labels.data, samples, &arena, err))
		return false;
	snprintf(position, sizeof(position), "%s:%d:%d", step->place.file, step->place.line,
	         step->place.column);
	const struct record_step row = {
	        .run_id = walk->run_id,
	        .scenario = walk->scenario->name,
	        .cluster_id = walk->cluster_id,
	        .verb = record->verb ? record->verb : step_verb_name(step->verb),
	        .name = record->name ? record->name : or_empty(step->name),
	        .session = or_empty(record->session),
	        .arm = walk->arm ? walk->arm->name : "",
	        .rep = counting ? counting->rep : walk->block,
	        .labels = labels.data,
	        .position = position,
	        .sql = or_empty(record->sql),
	        .started_us =
	                outcome && outcome->started_us ? outcome->started_us : clock_wall_us(),
	        .duration_ns = outcome ? outcome->duration_ns : 0,
	        .outcome = record->outcome_text ? record->outcome_text
	                   : outcome            ? outcome_name(outcome->kind)
	                                        : "ok",
	        .sqlstate = outcome && outcome->kind != OUTCOME_OK ? outcome->sqlstate : "",
	        .message = outcome ? outcome->message.data : "",
	};
	if (outcome)
		walk->server_ns += outcome->duration_ns;
	return record_step(walk->request->store, &row, samples, count, ret_step_id, err);
}

/*
 * The value of a payload as a sample's text. A number keeps its digits: JSON's reader has it as a
 * double at best, but the server writes the key `value`, the shortest, in front of the others.
 */
static const char *value_text(const char *payload, const json_t *value, char *number, size_t size)
{
	static const char front[] = "{\"value\": ";

	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_boolean(value)) {
		snprintf(number, size, "%d", json_is_true(value));
		return number;
	}
	if (!json_is_number(value))
		return NULL;
	const char *at = payload + sizeof(front) - 1;
	size_t len = strncmp(payload, front, sizeof(front) - 1) ? 0 : strspn(at, "+-0123456789.eE");
	if (len && len < size)
		snprintf(number, size, "%.*s", (int)len, at);
	else
		snprintf(number, size, "%.17g", json_number_value(value));
	return number;
}

/* {"claim": …, "holds": true|false|null, "detail": …} or {"metric": …, "value": …, "labels": {…}}.
 */
static bool record_one(struct walk *walk, const struct pending *pending, const struct step *step,
                       const struct frame *frame, struct err *err)
{
	json_error_t fault;
	json_t *root = json_loads(pending->payload, 0, &fault);
	/* An integer beyond 64 bits is no fault of the payload's. */
	if (!root)
		root = json_loads(pending->payload, JSON_DECODE_INT_AS_REAL, &fault);
	bool prove = !strcmp(pending->kind, "lab.prove");
	const char *name = json_string_value(json_object_get(root, prove ? "claim" : "metric"));
	json_t *value = json_object_get(root, prove ? "holds" : "value");
	const char *detail = json_string_value(json_object_get(root, "detail"));
	json_t *own = json_object_get(root, "labels");
	struct readings readings = {0};
	char *labels = own && json_object_size(own) ? json_dumps(own, JSON_COMPACT) : NULL;
	char number[512];
	int64_t step_id;
	bool ok = name != NULL;

	if (!ok)
		err_set(err, ERR_INPUT, "%s: its payload is not what docs/lab.md says: %.200s",
		        pending->kind, pending->payload);
	const char *text = value_text(pending->payload, value, number, sizeof(number));
	const char *metric = prove ? "value" : name, *type = prove ? "exact" : "counter";
	if (ok && json_is_string(value))
		ok = readings_add_text(&readings, metric, type, text, labels, err);
	else if (ok)
		ok = readings_add(&readings, metric, type, text, labels, err);
	ok = ok && (!prove || !detail ||
	            readings_add_text(&readings, "detail", "exact", detail, labels, err));
	if (ok) {
		const struct step_record record = {
		        .step = step,
		        .frame = frame,
		        .name = prove ? name : NULL,
		        .verb = prove ? "prove" : NULL,
		        .readings = &readings,
		};
		ok = walk_record(walk, &record, &step_id, err);
	}
	free(labels);
	readings_finish(&readings);
	json_decref(root);
	return ok;
}

bool walk_record_pending(struct walk *walk, struct session *session, const struct step *step,
                         const struct frame *frame, struct err *err)
{
	struct pending *first = session_take_pending(session);
	bool ok = !session->lost || err_set(err, ERR_SYSTEM, "out of memory");

	for (const struct pending *at = first; at && ok; at = at->next)
		ok = record_one(walk, at, step, frame, err);
	pending_destroy(first);
	return ok;
}
