/* SPDX-License-Identifier: PostgreSQL */
/*
 * Time, node and sequence in the 63 bits of a positive bigint. Where the
 * fields lie is data: another layout is another row in snowflake.c.
 */
#ifndef KEYLAB_IDS_SNOWFLAKE_H
#define KEYLAB_IDS_SNOWFLAKE_H

#include "base/base.h"
#include "base/err.h"

struct snowflake_layout {
	const char *node_name;
	int64_t epoch_ms; /* unix time of time 0 */
	uint8_t time_bits;
	uint8_t node_bits;
	uint8_t sequence_bits;
};

/* Twitter's: 41 bits of milliseconds, 10 of node, 12 of sequence. */
extern const struct snowflake_layout snowflake_twitter;
/* Instagram's: 41, 13 of shard, 10 of sequence. */
extern const struct snowflake_layout snowflake_instagram;

/* Puts the fields together; err when one does not fit, or the id would be negative as bigint. */
bool snowflake_compose(const struct snowflake_layout *layout, int64_t epoch_ms, int64_t unix_ms,
                       int64_t node, int64_t sequence, int64_t *ret, struct err *err) MUST_CHECK;

#endif
