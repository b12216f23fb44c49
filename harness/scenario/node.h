/* SPDX-License-Identifier: PostgreSQL */
/*
 * YAML as a tree with places. Of YAML 1.2 it takes maps, lists and scalars;
 * anchors, aliases, tags and further documents are refused, so that a file
 * says what it says. Nodes and texts live in an arena.
 */
#ifndef KEYLAB_SCENARIO_NODE_H
#define KEYLAB_SCENARIO_NODE_H

#include "scenario/complain.h"

#define NODE_MAX_DEPTH 64
#define NODE_MAX_BYTES ((size_t)1 << 20)
#define NODE_MAX_KEYS 1000 /* in one map: the check for doubles is quadratic */

enum node_kind {
	NODE_SCALAR,
	NODE_SEQUENCE,
	NODE_MAPPING,
};

struct node;
struct node_entry {
	const char *key;
	struct place place; /* of the key */
	const struct node *value;
};

struct node {
	enum node_kind kind;
	struct place place;
	union {
		struct {
			const char *text; /* after YAML's unquoting; "" for nothing at all */
			bool plain;       /* neither quoted nor a block */
			const char
			        *source; /* the whole file's text, for places within the scalar */
		} scalar;
		struct {
			const struct node **items;
			size_t count, cap;
		} sequence;
		struct {
			struct node_entry *entries;
			size_t count, cap;
		} mapping;
	};
};

/*
 * Reads the text of one file; text must stay (it lives in the arena, with a
 * NUL behind len bytes). NULL when it is no such tree; the complaints then
 * say why, where they can.
 */
const struct node *node_read(const char *file, const char *text, size_t len, struct arena *arena,
                             struct complaints *complaints);
/* The value of a key, or NULL (also for NULL and for what is no map). */
const struct node *node_find(const struct node *node, const char *key);
/* The place of a key's value; of the node itself when it has no such key. */
struct place node_place(const struct node *node, const char *key);
/* The place of the len bytes at offset of a scalar's text, as near as can be told. */
struct place node_text_place(const struct node *scalar, size_t offset, size_t len);
/* "a list", "a map", "a text" for messages. */
const char *node_kind_text(const struct node *node);

#endif
