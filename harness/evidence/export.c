/* SPDX-License-Identifier: PostgreSQL */
/* The table of export formats, and what they share. */
#include "evidence/export.h"

#include <string.h>

#include "evidence/formats.h"

const struct export_format export_formats[] = {
        {"tap", "Test Anything Protocol, for prove and its kin", export_tap},
        {"tap14", "the same, under the version line of TAP 14", export_tap14},
        {"junit", "JUnit's XML, for CI servers", export_junit},
        {"csv", "a line a claim (RFC 4180)", export_csv},
        {"json", "one object with the run and its claims", export_json},
        {"md", "a table in Markdown, for a pull request", export_md},
        {"github", "annotations for a step of GitHub Actions", export_github},
        {"case", "a line a claim: CASE name PASS key=value …", export_case},
};

const size_t export_formats_count = COUNT_OF(export_formats);

const struct export_format *export_find(const char *name)
{
	for (size_t i = 0; i < export_formats_count; i++)
		if (!strcmp(export_formats[i].name, name))
			return &export_formats[i];
	return NULL;
}

void export_line(struct buf *ret, const char *text, const char *also)
{
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '\n')
			buf_add(ret, "\\n");
		else if (c == '\t')
			buf_add(ret, "\\t");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(ret, "\\x%02x", c);
		else if (strchr(also, c))
			buf_printf(ret, "\\%c", c);
		else
			buf_add_char(ret, *at);
	}
}
