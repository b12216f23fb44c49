/* SPDX-License-Identifier: PostgreSQL */
/*
 * Every id format of the lab behind one table: mint, print, read, take apart.
 *
 *   format = id_format_find("uuidv7");
 *   id_generator_create(format, &options, &generator, err);
 *   id_generator_next(generator, &id, err);
 *   id_print(format, &id, NULL, text, err);
 *   id_decode(format, NULL, text, strlen(text), &parts, err);
 *
 * A generator belongs to one thread and holds no lock; give each thread its
 * own (for Snowflake kinds: its own node number). Of a generator's promises,
 * uniqueness and order hold within that one generator. The functions on
 * formats are pure and may be called from any thread.
 */
#ifndef KEYLAB_IDS_IDS_H
#define KEYLAB_IDS_IDS_H

#include "base/base.h"
#include "base/err.h"
#include "ids/id_clock.h"
#include "ids/id_random.h"

#define ID_MAX_BYTES 36
/* The longest prefix of a TypeID (TypeID specification 0.3). */
#define ID_PREFIX_MAX 63
/* Room for any printed id: prefix, underscore, the id itself, NUL. */
#define ID_TEXT_BYTES 104

/* An id as it is stored: bytes in sorting order (integers big-endian, so that they sort too). */
struct id {
	uint8_t len;
	unsigned char bytes[ID_MAX_BYTES];
};

/* One piece of a decoded id. */
enum id_part_kind { ID_PART_NUMBER, ID_PART_TEXT };
struct id_part {
	const char *name; /* static; times end in _ms */
	enum id_part_kind kind;
	int64_t number;               /* of ID_PART_NUMBER */
	char text[ID_PREFIX_MAX + 1]; /* of both kinds: printable */
};
#define ID_PARTS_MAX 8
struct id_parts {
	size_t count;
	struct id_part part[ID_PARTS_MAX];
};

/* Gives the node number that may be used right now (a lease), or refuses. */
typedef bool id_node_fn(void *context, int64_t *ret_node, struct err *err);
/* Gives the next number of a sequence, from 1 (PostgreSQL's nextval). */
typedef bool id_nextval_fn(void *context, int64_t *ret, struct err *err);

/*
 * What a generator can be told. All zero is every format's default; a format
 * ignores what it has no use for. Pointers are borrowed and must outlive the
 * generator; prefix is copied.
 */
struct id_options {
	int64_t node;          /* Snowflake kinds: node or shard number */
	id_node_fn *node_from; /* Snowflake kinds: asked before each id, instead of node */
	void *node_context;
	bool has_epoch;
	int64_t epoch_ms; /* Snowflake kinds: unix time of their time 0, with has_epoch */
	/*
	 * Snowflake kinds: the last millisecond that an earlier holder of the node
	 * number (another process, or this one before a crash) may have used; ids
	 * only come from later ones. 0: none.
	 */
	int64_t not_before_ms;
	int64_t back_limit_ms;  /* Snowflake kinds: waits out a clock this far back, refuses beyond;
	                           0: ID_BACK_LIMIT_MS */
	const char *prefix;     /* TypeID: NULL or "" for none */
	int64_t block_size;     /* sequential_uuids: ids (nextval) or seconds (time) a block; 0:
	                           65,536 or 60 */
	int64_t block_count;    /* sequential_uuids: blocks a turn; 0: 65,536 */
	id_nextval_fn *nextval; /* sequential_uuids, bigint; NULL: a counter from 1 */
	void *nextval_context;
	bool has_seed;
	uint64_t seed;            /* repeatable random bits, with has_seed */
	struct id_clock *clock;   /* NULL: the machine's */
	struct id_random *random; /* NULL: its own, from seed or the kernel */
};
#define ID_BACK_LIMIT_MS 100

/*
 * What happened to a generator's ids. attempted = issued + refused + cut_off:
 * refused when minting would break the format's promise (clock too far back,
 * field exhausted, no lease), cut_off when a wait or a source failed midway.
 */
struct id_counts {
	uint64_t attempted;
	uint64_t issued;
	uint64_t refused;
	uint64_t cut_off;
	uint64_t waits;      /* for the clock: it had gone back, or a millisecond was used up */
	uint64_t back_steps; /* times the clock was seen behind its last reading */
	uint64_t overflows;  /* counter used up within its millisecond */
};

struct id_generator;

/* A row of the table. Public fields describe; functions are called through id_*(). */
struct id_format {
	const char *name;         /* in scenarios and on the command line */
	const char *title;        /* for people */
	const char *source;       /* where it is specified */
	const char *pg_type;      /* column type it is stored as: uuid, bigint, bytea, text */
	const char *coordination; /* who must agree with whom so that it stays unique */
	uint8_t stored_bytes;     /* of the value; bytea and text columns add a header byte */
	uint8_t text_bytes;       /* printed, without prefix; the longest where it varies */
	uint8_t random_bits;      /* fresh ones in each id; 0: guessable */
	bool sorts_by_time;       /* by stored bytes, to the resolution of its time */
	bool unchecked;           /* a negative control: it does repeat */
	bool has_node;            /* options.node and its companions mean something */
	bool has_blocks;          /* the same of options.block_size and block_count */

	size_t state_bytes; /* of its own in a generator */
	/* Checks the options and sets up zeroed state; NULL: nothing to do. */
	bool (*create)(struct id_generator *generator, struct err *err);
	bool (*next)(struct id_generator *generator, struct id *ret, struct err *err);
	/* An id of another moment; NULL: the format holds no time. */
	bool (*at)(struct id_generator *generator, struct id_time time, struct id *ret,
	           struct err *err);
	/* Writes text_bytes at most and a NUL. */
	void (*encode)(const struct id *id, char *text);
	/* Strict reading of what encode writes; the prefix is gone already. */
	bool (*decode)(const char *text, size_t len, struct id *ret, struct err *err);
	/* Takes apart; refuses what the format cannot have made. */
	bool (*inspect)(const struct id *id, const struct id_options *options, struct id_parts *ret,
	                struct err *err);
	bool has_prefix; /* TypeID: text is PREFIX_… */
};

extern const struct id_format *const id_formats[];
extern const size_t id_format_count;

/* The row of that name; NULL when there is none. */
const struct id_format *id_format_find(const char *name);
/* The same, with an err that lists the names there are. */
const struct id_format *id_format_require(const char *name, struct err *err) MUST_CHECK;

bool id_generator_create(const struct id_format *format, const struct id_options *options,
                         struct id_generator **ret, struct err *err) MUST_CHECK;
void id_generator_destroy(struct id_generator *generator);
void id_generator_destroy_p(struct id_generator **generator);

/* Mints the next id. Never gives one that it cannot vouch for (but for unchecked formats). */
bool id_generator_next(struct id_generator *generator, struct id *ret, struct err *err) MUST_CHECK;
/*
 * Mints one whose embedded time is unix_ms (for histories and late arrivals).
 * Formats with random bits fill everything below the time anew and leave the
 * generator's order alone; Snowflake kinds have one state for both, so that
 * here too times may only go forward. Refused by formats without a time.
 */
bool id_generator_at(struct id_generator *generator, int64_t unix_ms, struct id *ret,
                     struct err *err) MUST_CHECK;
const struct id_counts *id_generator_counts(const struct id_generator *generator);
const struct id_format *id_generator_format(const struct id_generator *generator);
/* The printed form, with the generator's prefix. */
bool id_generator_print(const struct id_generator *generator, const struct id *id,
                        char text[ID_TEXT_BYTES], struct err *err) MUST_CHECK;

/* Prints. prefix: NULL for none; an error where the format has none. */
bool id_print(const struct id_format *format, const struct id *id, const char *prefix,
              char text[ID_TEXT_BYTES], struct err *err) MUST_CHECK;
/* Reads a printed id; text need not be terminated. ret_prefix may be NULL. */
bool id_parse(const struct id_format *format, const char *text, size_t len, struct id *ret,
              char ret_prefix[ID_PREFIX_MAX + 1], struct err *err) MUST_CHECK;
/* Takes stored bytes apart. options (NULL: defaults) give epoch and blocks. */
bool id_inspect(const struct id_format *format, const struct id_options *options,
                const struct id *id, struct id_parts *ret, struct err *err) MUST_CHECK;
/* id_parse and id_inspect: printed id to parts, with the prefix as the first part if any. */
bool id_decode(const struct id_format *format, const struct id_options *options, const char *text,
               size_t len, struct id_parts *ret, struct err *err) MUST_CHECK;
/* The part of that name; NULL when there is none. */
const struct id_part *id_parts_find(const struct id_parts *parts, const char *name);

/* An 8-byte id as the number it is. */
int64_t id_int64(const struct id *id);
struct id id_from_int64(int64_t number);
/* Below, at or above 0 as stored bytes compare. */
int id_compare(const struct id *a, const struct id *b);

/*
 * How many ids with so many random bits can be drawn until a collision has
 * this probability: sqrt(2^(bits+1) p), the birthday bound for small p.
 */
double id_collision_count(unsigned random_bits, double probability);

#endif
