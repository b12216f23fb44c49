/* SPDX-License-Identifier: PostgreSQL */
/*
 * TypeID 0.3 (github.com/jetify-com/typeid, spec/): PREFIX_SUFFIX, where the
 * suffix is a uuid in 26 lower-case characters of Crockford's base32 and the
 * prefix 0 to 63 of a-z and _, neither beginning nor ending with _. Without a
 * prefix there is no underscore. Pure functions.
 */
#ifndef KEYLAB_IDS_TYPEID_H
#define KEYLAB_IDS_TYPEID_H

#include "base/base.h"
#include "base/err.h"

bool typeid_check_prefix(const char *prefix, size_t len, struct err *err) MUST_CHECK;
/* Where prefix and suffix of a printed id lie. Checks the prefix, not the suffix. */
bool typeid_split(const char *text, size_t len, size_t *ret_prefix_len, size_t *ret_suffix_at,
                  struct err *err) MUST_CHECK;

#endif
