/* SPDX-License-Identifier: PostgreSQL */
/* Counts requests to stop. */
#include "base/interrupt.h"

#include <signal.h>
#include <stdatomic.h>

static atomic_int requests;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&requests, 1);
}

bool interrupt_catch(struct err *err)
{
	/* No SA_RESTART: a wait returns and asks. */
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	if (sigaction(SIGINT, &action, NULL) < 0 || sigaction(SIGTERM, &action, NULL) < 0 ||
	    sigaction(SIGPIPE, &ignore, NULL) < 0)
		return err_errno(err, "sigaction");
	return true;
}

int interrupt_count(void)
{
	return atomic_load(&requests);
}

bool interrupt_check(struct err *err)
{
	if (interrupt_count())
		return err_set(err, ERR_INTERRUPTED, "interrupted");
	return true;
}
