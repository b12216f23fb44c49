/* SPDX-License-Identifier: PostgreSQL */
/* YAML events of libfyaml into nodes with places. */
#include "scenario/node.h"

#include <libfyaml.h>
#include <string.h>

/* A key of the map being read waits here for its value. */
struct open_node {
	struct node *node;
	const char *key;
	struct place key_place;
};

struct reader {
	const char *file;
	const char *text;
	struct arena *arena;
	struct complaints *complaints;
	struct open_node stack[NODE_MAX_DEPTH];
	size_t depth;
	struct place last; /* of the last event that had one */
	struct node *root;
	bool stop; /* a mistake after which the rest makes no sense */
};

static void stop_with(struct reader *reader, const char *what)
{
	complain(reader->complaints, reader->last, "%s", what);
	reader->stop = true;
}

static struct node *node_make(struct reader *reader, enum node_kind kind)
{
	struct node *node = arena_alloc(reader->arena, sizeof(*node));

	if (!node) {
		reader->stop = true;
		return NULL;
	}
	node->kind = kind;
	node->place = reader->last;
	return node;
}

static void add_item(struct reader *reader, struct node *sequence, const struct node *item)
{
	if (sequence->sequence.count == sequence->sequence.cap) {
		size_t cap = sequence->sequence.cap ? sequence->sequence.cap * 2 : 8;
		const struct node **grown =
		        arena_grow(reader->arena, sequence->sequence.items,
		                   sequence->sequence.count, cap, sizeof(*grown));

		if (!grown) {
			reader->stop = true;
			return;
		}
		sequence->sequence.items = grown;
		sequence->sequence.cap = cap;
	}
	sequence->sequence.items[sequence->sequence.count++] = item;
}

static void add_entry(struct reader *reader, struct node *mapping, struct node_entry entry)
{
	for (size_t i = 0; i < mapping->mapping.count; i++)
		if (!strcmp(mapping->mapping.entries[i].key, entry.key)) {
			complain(reader->complaints, entry.place,
			         "the key `%s` stands twice, first at %d:%d; remove one", entry.key,
			         mapping->mapping.entries[i].place.line,
			         mapping->mapping.entries[i].place.column);
			return;
		}
	if (mapping->mapping.count == NODE_MAX_KEYS) {
		stop_with(reader, "a map of more than 1000 keys; split it");
		return;
	}
	if (mapping->mapping.count == mapping->mapping.cap) {
		size_t cap = mapping->mapping.cap ? mapping->mapping.cap * 2 : 8;
		struct node_entry *grown = arena_grow(reader->arena, mapping->mapping.entries,
		                                      mapping->mapping.count, cap, sizeof(*grown));

		if (!grown) {
			reader->stop = true;
			return;
		}
		mapping->mapping.entries = grown;
		mapping->mapping.cap = cap;
	}
	mapping->mapping.entries[mapping->mapping.count++] = entry;
}

/* Hangs a finished or just opened node where it belongs. */
static void attach(struct reader *reader, struct node *node)
{
	if (!reader->depth) {
		reader->root = node;
		return;
	}
	struct open_node *open = &reader->stack[reader->depth - 1];
	if (open->node->kind == NODE_SEQUENCE) {
		add_item(reader, open->node, node);
	} else if (open->key) {
		add_entry(reader, open->node,
		          (struct node_entry){.key = open->key,
		                              .place = open->key_place,
		                              .value = node});
		open->key = NULL;
	} else if (node->kind != NODE_SCALAR) {
		stop_with(reader, "a key must be a text; quote a key that starts with [ or {");
	} else {
		open->key = node->scalar.text;
		open->key_place = node->place;
	}
}

static void open_node(struct reader *reader, enum node_kind kind)
{
	struct node *node = node_make(reader, kind);

	if (!node)
		return;
	attach(reader, node);
	if (reader->stop)
		return;
	if (reader->depth == NODE_MAX_DEPTH) {
		stop_with(reader, "lists and maps are nested deeper than 64; a scenario needs far "
		                  "fewer, look for a stray [ or {");
		return;
	}
	reader->stack[reader->depth++] = (struct open_node){.node = node};
}

static void read_scalar(struct reader *reader, struct fy_token *token)
{
	size_t len = 0;
	const char *text = fy_token_get_text(token, &len);
	struct node *node = node_make(reader, NODE_SCALAR);

	if (!node)
		return;
	if (!text)
		len = 0;
	if (len && memchr(text, '\0', len)) {
		stop_with(reader,
		          "the text holds a NUL byte (\\0), which no SQL text can; remove it");
		return;
	}
	node->scalar.text = arena_strndup(reader->arena, len ? text : "", len);
	node->scalar.plain = fy_token_scalar_style(token) == FYSS_PLAIN;
	node->scalar.source = reader->text;
	if (!node->scalar.text) {
		reader->stop = true;
		return;
	}
	attach(reader, node);
}

/* Anchors and tags stand before the node that has them. */
static bool refuse_properties(struct reader *reader, struct fy_event *event)
{
	struct fy_token *anchor = NULL, *tag = NULL;

	if (event->type == FYET_SCALAR) {
		anchor = event->scalar.anchor;
		tag = event->scalar.tag;
	} else if (event->type == FYET_SEQUENCE_START) {
		anchor = event->sequence_start.anchor;
		tag = event->sequence_start.tag;
	} else if (event->type == FYET_MAPPING_START) {
		anchor = event->mapping_start.anchor;
		tag = event->mapping_start.tag;
	}
	if (anchor)
		stop_with(reader, "YAML anchors (&name) are not taken; write the value out, or use "
		                  "params, arms or include");
	else if (tag)
		stop_with(reader,
		          "YAML tags (!name) are not taken; remove it, and quote a text that "
		          "starts with !");
	return anchor || tag;
}

static void read_event(struct reader *reader, struct fy_event *event)
{
	const struct fy_mark *mark = fy_event_start_mark(event);

	if (mark) {
		reader->last.line = mark->line + 1;
		reader->last.column = mark->column + 1;
	}
	if (refuse_properties(reader, event))
		return;
	switch (event->type) {
	case FYET_SCALAR:
		read_scalar(reader, event->scalar.value);
		break;
	case FYET_SEQUENCE_START:
		open_node(reader, NODE_SEQUENCE);
		break;
	case FYET_MAPPING_START:
		open_node(reader, NODE_MAPPING);
		break;
	case FYET_SEQUENCE_END:
	case FYET_MAPPING_END:
		if (reader->depth)
			reader->depth--;
		break;
	case FYET_ALIAS:
		stop_with(reader,
		          "YAML aliases (*name) are not taken; write the value out, and quote "
		          "a text that starts with *");
		break;
	case FYET_DOCUMENT_START:
		if (reader->root)
			stop_with(reader,
			          "a second YAML document (---) in one file; one file is one "
			          "scenario");
		break;
	default:
		break;
	}
}

/* The length of the UTF-8 sequence at text (RFC 3629, section 4), 0 when it is none. */
static size_t utf8_len(const unsigned char *text, size_t left)
{
	size_t len = text[0] < 0x80   ? 1
	             : text[0] < 0xc2 ? 0
	             : text[0] < 0xe0 ? 2
	             : text[0] < 0xf0 ? 3
	             : text[0] < 0xf5 ? 4
	                              : 0;

	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
}

/* libfyaml passes most control characters; a scenario has no use for them. */
static bool check_bytes(struct reader *reader, size_t len)
{
	const unsigned char *text = (const unsigned char *)reader->text;
	struct place place = {.file = reader->file, .line = 1, .column = 1};

	for (size_t at = 0; at < len;) {
		size_t step = utf8_len(text + at, len - at);

		if (!step) {
			complain(reader->complaints, place,
			         "byte 0x%02x is no UTF-8; save the file as UTF-8", text[at]);
			return false;
		}
		if ((text[at] < 0x20 && !strchr("\t\n\r", text[at])) || !text[at] ||
		    text[at] == 0x7f) {
			complain(reader->complaints, place,
			         "control character 0x%02x; remove it, a scenario is plain text",
			         text[at]);
			return false;
		}
		if (text[at] == '\n') {
			place.line++;
			place.column = 1;
		} else {
			place.column++;
		}
		at += step;
	}
	return true;
}

static void report_syntax(struct reader *reader, struct fy_diag *diag)
{
	void *iterator = NULL;
	struct fy_diag_error *error;
	bool any = false;

	while ((error = fy_diag_errors_iterate(diag, &iterator))) {
		struct place place = {.file = reader->file,
		                      .line = error->line,
		                      .column = error->column};

		const char *what = error->msg ? error->msg : "unknown mistake";
		complain(reader->complaints, place, "the YAML cannot be read: %s; %s", what,
		         strstr(what, "tab") ? "indent with blanks"
		         : strstr(what, "on the same line")
		                 ? "quote a text that has \": \" in it"
		                 : "look for a missing bracket, quote or blank here and above");
		any = true;
	}
	if (!any)
		complain(reader->complaints, reader->last,
		         "the YAML cannot be read behind this place");
}

static bool read_events(struct reader *reader, struct fy_parser *parser, struct fy_diag *diag,
                        size_t len)
{
	if (fy_parser_set_string(parser, reader->text, len)) {
		report_syntax(reader, diag);
		return false;
	}
	while (!reader->stop) {
		struct fy_event *event = fy_parser_parse(parser);

		if (!event)
			break;
		read_event(reader, event);
		fy_parser_event_free(parser, event);
	}
	if (!reader->stop && fy_parser_get_stream_error(parser)) {
		report_syntax(reader, diag);
		return false;
	}
	return !reader->stop;
}

const struct node *node_read(const char *file, const char *text, size_t len, struct arena *arena,
                             struct complaints *complaints)
{
	struct reader reader = {.file = file,
	                        .text = text,
	                        .arena = arena,
	                        .complaints = complaints,
	                        .last = {.file = file, .line = 1, .column = 1}};

	if (!check_bytes(&reader, len))
		return NULL;
	/* Without fp and output function, and collecting, libfyaml writes nowhere itself. */
	struct fy_diag_cfg diag_config;
	fy_diag_cfg_default(&diag_config);
	diag_config.fp = NULL;
	diag_config.level = FYET_ERROR;
	struct fy_diag *diag = fy_diag_create(&diag_config);
	if (!diag) {
		arena->failed = true;
		return NULL;
	}
	fy_diag_set_collect_errors(diag, true);
	struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_DISABLE_MMAP_OPT |
	                                       FYPCF_JSON_NONE,
	                              .diag = diag};
	struct fy_parser *parser = fy_parser_create(&config);
	bool good = false;

	if (parser)
		good = read_events(&reader, parser, diag, len);
	else
		arena->failed = true;
	fy_parser_destroy(parser);
	fy_diag_destroy(diag);
	if (good && !reader.root)
		complain(complaints, reader.last, "the file is empty; see docs/scenarios.md");
	return good && !arena->failed ? reader.root : NULL;
}

const struct node *node_find(const struct node *node, const char *key)
{
	if (!node || node->kind != NODE_MAPPING)
		return NULL;
	for (size_t i = 0; i < node->mapping.count; i++)
		if (!strcmp(node->mapping.entries[i].key, key))
			return node->mapping.entries[i].value;
	return NULL;
}

struct place node_place(const struct node *node, const char *key)
{
	const struct node *value = node_find(node, key);

	return value ? value->place : node ? node->place : (struct place){.file = ""};
}

struct place node_text_place(const struct node *scalar, size_t offset, size_t len)
{
	struct place place = scalar->place;
	const char *text = scalar->scalar.text;
	const char *line = scalar->scalar.source;
	int number = 1;

	for (const char *at = text; at < text + offset; at++)
		place.line += *at == '\n';
	for (; line && number < place.line; number++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return scalar->place;
	/* A folded or escaped text does not stand in the file as it reads: then its start. */
	int column = 1;
	for (const char *at = line; *at && *at != '\n'; at++) {
		bool behind = place.line > scalar->place.line || column >= scalar->place.column;

		if (behind && !strncmp(at, text + offset, len)) {
			place.column = column;
			return place;
		}
		column += (*at & 0xc0) != 0x80;
	}
	return scalar->place;
}

const char *node_kind_text(const struct node *node)
{
	switch (node->kind) {
	case NODE_SCALAR:
		return *node->scalar.text ? "a text" : "nothing";
	case NODE_SEQUENCE:
		return "a list";
	case NODE_MAPPING:
		return "a map";
	}
	return "";
}
