/* SPDX-License-Identifier: PostgreSQL */
/*
 * HTML into a buf: everything that is not a literal of this room goes through
 * html_text or html_attr and is escaped. Failure is the buf's, and sticky.
 */
#ifndef KEYLAB_REPORT_HTML_H
#define KEYLAB_REPORT_HTML_H

#include "base/buf.h"

/* Our own markup, as it is. */
void html_raw(struct buf *out, const char *markup);
/*
 * Text between tags or in a quoted attribute: & < > " ' are escaped, control
 * characters other than tab and newline and bytes that are no UTF-8 are shown
 * as U+FFFD, as are the characters that turn the writing direction.
 */
void html_text(struct buf *out, const char *text);
void html_textf(struct buf *out, const char *format, ...) PRINTF(2, 3);
/* <tag class="class">text</tag>; class may be NULL. */
void html_element(struct buf *out, const char *tag, const char *class, const char *text);
/* Prose: text in which `code` between backquotes becomes <code>. */
void html_prose(struct buf *out, const char *text);

#endif
