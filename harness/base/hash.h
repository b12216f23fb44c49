/* SPDX-License-Identifier: PostgreSQL */
/* SHA-256 (FIPS 180-4, by libcrypto), as lower-case hexadecimal. */
#ifndef KEYLAB_BASE_HASH_H
#define KEYLAB_BASE_HASH_H

#include "base/base.h"
#include "base/err.h"

#define HASH_TEXT_BYTES 65

bool hash_bytes(const void *bytes, size_t len, char ret[HASH_TEXT_BYTES],
                struct err *err) MUST_CHECK;
bool hash_file(const char *path, char ret[HASH_TEXT_BYTES], struct err *err) MUST_CHECK;

#endif
