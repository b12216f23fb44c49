/* SPDX-License-Identifier: PostgreSQL */
/*
 * The files that go with a page, and the archive of all of them: the page,
 * the store, the scenarios' texts, what was logged, each chart's gnuplot
 * script with its data, the commands, and SHA256SUMS over the rest.
 */
#ifndef KEYLAB_REPORT_BUNDLE_H
#define KEYLAB_REPORT_BUNDLE_H

#include "report/report.h"

struct report_part {
	char *name;  /* owned; below the bundle's folder */
	void *bytes; /* owned */
	size_t len;
};

struct report_parts {
	struct report_part *items; /* owned */
	size_t count;
	bool failed; /* out of memory; sticky */
};

/* folder and end are ours; of name only letters, digits, dots and _ are kept. Copies the bytes. A
 * name that is there already gets a number. */
void report_parts_add(struct report_parts *parts, const char *folder, const char *name,
                      const char *end, const void *bytes, size_t len);
/* Accepts a zeroed one. */
void report_parts_finish(struct report_parts *parts);

#endif
