/* SPDX-License-Identifier: PostgreSQL */
/* What the passes over one scenario share while it is loaded; of this room alone. */
#ifndef KEYLAB_SCENARIO_LOADER_H
#define KEYLAB_SCENARIO_LOADER_H

#include "scenario/complain.h"
#include "scenario/node.h"
#include "scenario/scenario.h"

#define INCLUDE_MAX_DEPTH 8
#define INCLUDE_MAX_FILES 100
#define LOOP_MAX_DEPTH 8
/* Of the tree in memory; a scenario of 1 MB needs about a tenth. */
#define SCENARIO_MAX_BYTES ((size_t)128 << 20)
#define DEADLINE_DEFAULT_NS (UINT64_C(300) * NS_PER_S)

/* The files that are being included, innermost first. */
struct include_chain {
	const struct include_chain *outer; /* NULL: this is the scenario's own file */
	const char *file;
	uint64_t device, inode; /* the same file under another name is the same */
};

struct loader {
	struct scenario *scenario;
	struct arena *arena; /* the scenario's */
	struct complaints complaints;
	const struct scenario_vocabulary *vocabulary; /* may be NULL */
	struct buf all_text;                          /* of every file, for the hash */
	struct include_chain main_file;               /* the scenario's own, outermost */
	bool names_unsure;  /* params or arms were not read: more may exist */
	bool steps_unsure;  /* the same of steps */
	size_t files_count; /* included so far */
};

/* ---- fields of a map (fields.c) ---- */

struct field {
	const char *key;
	bool needed;
	/* object is what the table is for. */
	void (*read)(struct loader *loader, const struct node *value, void *object);
	const char *hint; /* how to write it, for messages */
};

/*
 * Calls read for each key that is there; complains of unknown and of missing
 * keys. what: "the claim `x`", "the scenario". False when node is no map.
 */
bool fields_read(struct loader *loader, const struct node *node, const char *what,
                 const struct field *fields, size_t count, void *object);
/* The scalar's text; complains (false) when it is none or empty. */
bool text_read(struct loader *loader, const struct node *node, const char *what, const char **ret);
/* The same, and it may only hold letters, digits, _ and -, starting with a letter or digit. */
bool name_read(struct loader *loader, const struct node *node, const char *what, const char **ret);
/* `true` or `false`. */
bool flag_read(struct loader *loader, const struct node *node, const char *what, bool *ret);
/* A list of texts, or one text. Doubles are mistakes. */
bool texts_read(struct loader *loader, const struct node *node, const char *what,
                struct texts *ret);
/* A map of texts. */
bool pairs_read(struct loader *loader, const struct node *node, const char *what,
                struct pairs *ret);
bool name_is_good(const char *text);       /* of arms, steps, claims, sessions */
bool identifier_is_good(const char *text); /* what ${} can name: letters, digits, _ */

/* ---- passes ---- */

/* parse.c: nodes into loader->scenario. */
void parse_scenario(struct loader *loader, const struct node *root);
/* parse_steps.c: a list of steps; chain says which files it came through. */
void parse_steps(struct loader *loader, const struct node *list, struct include_chain *chain,
                 struct step **ret, size_t *ret_count);
/* load.c: reads and parses one file into nodes; NULL after a complaint at place. */
const struct node *load_file(struct loader *loader, const char *path, struct place place,
                             struct include_chain *chain);
/* check.c and its parts (check.h): what needs the whole tree. */
void check_scenario(struct loader *loader);

#endif
