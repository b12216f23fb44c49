/* SPDX-License-Identifier: PostgreSQL */
/* Counts requests to stop. */
#include "base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* timeout(1) sends its signal to the program and again to its group: that is one request. */
#define SAME_REQUEST_NS (100 * NS_PER_MS)

static atomic_int requests;
static _Atomic uint64_t first_ns;
static _Atomic(const char *) first_words, last_words;

static void say(const char *words)
{
	/* Nothing can be done about words that do not arrive. */
	if (words && write(STDERR_FILENO, words, strlen(words)) < 0)
		return;
}

/* Calls nothing that signal-safety(7) does not allow. */
static void on_signal(int number)
{
	int saved = errno;
	uint64_t now_ns = clock_now_ns();

	(void)number;
	if (!atomic_load(&requests)) {
		atomic_store(&first_ns, now_ns);
		atomic_fetch_add(&requests, 1);
		say(atomic_load(&first_words));
	} else if (now_ns - atomic_load(&first_ns) > SAME_REQUEST_NS) {
		say(atomic_load(&last_words));
		_exit(err_exit_code(ERR_INTERRUPTED));
	}
	errno = saved;
}

void interrupt_words(const char *first, const char *last)
{
	atomic_store(&first_words, first);
	atomic_store(&last_words, last);
}

bool interrupt_catch(struct err *err)
{
	/* No SA_RESTART: a wait returns and asks. */
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	/* One who ignores it may have started us, and then nobody would tell how children end. */
	struct sigaction usual = {.sa_handler = SIG_DFL};

	if (sigaction(SIGCHLD, &usual, NULL) < 0 || sigaction(SIGINT, &action, NULL) < 0 ||
	    sigaction(SIGTERM, &action, NULL) < 0 || sigaction(SIGPIPE, &ignore, NULL) < 0)
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
