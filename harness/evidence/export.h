/* SPDX-License-Identifier: PostgreSQL */
/* A run in the formats that other programs read (docs/exports.md). One file and one row each. */
#ifndef KEYLAB_EVIDENCE_EXPORT_H
#define KEYLAB_EVIDENCE_EXPORT_H

#include "evidence/facts.h"

struct export_options {
	bool allow_inconclusive;
};

/* Appends the whole file to *ret. */
typedef bool export_write(const struct facts *facts, const struct export_options *options,
                          struct buf *ret, struct err *err);

struct export_format {
	const char *name;  /* --format */
	const char *about; /* one line */
	export_write *write;
};

extern const struct export_format export_formats[];
extern const size_t export_formats_count;
/* NULL when there is none of that name. */
const struct export_format *export_find(const char *name);

/* What a reader of CSV and JSON can rely on; a change of meaning counts it up. */
#define EXPORT_VERSION 1

/*
 * One line of plain text: control characters become \xNN (a line feed \n, a tab \t), so that
 * nothing is lost and nothing breaks the line. Characters of `also` get a backslash in front.
 */
void export_line(struct buf *ret, const char *text, const char *also);

#endif
