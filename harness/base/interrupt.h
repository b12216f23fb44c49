/* SPDX-License-Identifier: PostgreSQL */
/*
 * SIGINT and SIGTERM as a flag. Everything that waits asks it; the first
 * one ends the work in an orderly way, the second one gives up waiting.
 */
#ifndef KEYLAB_BASE_INTERRUPT_H
#define KEYLAB_BASE_INTERRUPT_H

#include "base/base.h"
#include "base/err.h"

/* Catches SIGINT and SIGTERM for the process; SIGPIPE is ignored. */
bool interrupt_catch(struct err *err) MUST_CHECK;
/* How often it was asked to stop. Safe in any thread. */
int interrupt_count(void);
/* False with ERR_INTERRUPTED when it was asked to stop. */
bool interrupt_check(struct err *err) MUST_CHECK;

#endif
