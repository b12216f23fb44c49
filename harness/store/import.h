/* SPDX-License-Identifier: PostgreSQL */
/* Runs of another store into this one, under new numbers. */
#ifndef KEYLAB_STORE_IMPORT_H
#define KEYLAB_STORE_IMPORT_H

#include "store/store.h"

struct import_result {
	size_t imported, known, running; /* runs */
	int64_t first_run_id;            /* of those imported, which are numbered on from it */
};

/*
 * Copies every finished run of the file `path` that this store does not have yet. Each is
 * verified on the way: samples against their digest, and every verdict derived again after the
 * copy; a difference is ERR_INPUT and nothing is imported. The other file is left as it is. A
 * store none of whose runs is new is ERR_INPUT too. Call from one thread.
 */
bool store_import(struct store *store, const char *path, struct import_result *ret,
                  struct err *err) MUST_CHECK;

#endif
