/* SPDX-License-Identifier: PostgreSQL */
/*
 * SIGINT and SIGTERM as a flag. What waits for long asks it; the first
 * one ends the work in an orderly way, the second one ends the process at once
 * (exit code 130). Servers and workers end with it; their folders are removed at the next start.
 */
#ifndef KEYLAB_BASE_INTERRUPT_H
#define KEYLAB_BASE_INTERRUPT_H

#include "base/base.h"
#include "base/err.h"

/* Catches SIGINT and SIGTERM for the process; SIGPIPE is ignored, SIGCHLD is not. */
bool interrupt_catch(struct err *err) MUST_CHECK;
/* What the first and the second one write to standard error (NULL: nothing); kept, not copied. */
void interrupt_words(const char *first, const char *last);
/* Was it asked to stop (1, else 0)? Safe in any thread. */
int interrupt_count(void);
/* False with ERR_INTERRUPTED when it was asked to stop. */
bool interrupt_check(struct err *err) MUST_CHECK;

#endif
