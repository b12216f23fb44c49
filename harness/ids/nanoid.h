/* SPDX-License-Identifier: PostgreSQL */
/* NanoID: random characters of an alphabet (github.com/ai/nanoid). */
#ifndef KEYLAB_IDS_NANOID_H
#define KEYLAB_IDS_NANOID_H

#include "base/base.h"
#include "base/err.h"
#include "ids/id_random.h"

#define NANOID_LENGTH 21
/* The 64 characters that need no escape in a URL. */
extern const char nanoid_url_alphabet[65];

/*
 * Fills length characters (no NUL), each of the alphabet_len (2 to 256)
 * characters equally likely: random bytes are masked to the next power of two
 * and those past the alphabet are drawn again.
 */
bool nanoid_fill(struct id_random *random, const char *alphabet, size_t alphabet_len, char *ret,
                 size_t length, struct err *err) MUST_CHECK;

#endif
