/* SPDX-License-Identifier: PostgreSQL */
/* Showing where a run is. */
#include "cmd/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"

/* On a terminal at most ten times a second; elsewhere a sign of life every 30 s. */
#define REDRAW_NS (NS_PER_S / 10)
#define HEARTBEAT_NS (30 * NS_PER_S)

void progress_init(struct progress *progress, bool quiet, bool verbose)
{
	*progress = (struct progress){
	        .quiet = quiet,
	        .verbose = verbose,
	        .terminal = isatty(STDERR_FILENO),
	        .started_ns = clock_now_ns(),
	};
}

static void clear_line(struct progress *progress)
{
	if (progress->line_is_open)
		fputs("\r\033[K", stderr);
	progress->line_is_open = false;
}

/*
 * What is left, from the share of the run's steps that are done. Steps differ
 * in length, so it is an estimate and says so by its "~".
 */
static uint64_t remaining_ns(const struct progress *progress, const struct run_moment *moment)
{
	double done =
	        moment->run_steps ? (double)moment->run_step_index / (double)moment->run_steps : 0;
	double elapsed = (double)(clock_now_ns() - progress->started_ns);

	return done > 0.01 ? (uint64_t)(elapsed * (1 - done) / done) : 0;
}

static void draw(struct progress *progress, const struct run_moment *moment)
{
	uint64_t elapsed_ns = clock_now_ns() - progress->started_ns;
	uint64_t left_ns = remaining_ns(progress, moment);

	clear_line(progress);
	say(stderr, "[%zu/%zu] %s%s%s · %s · step %zu/%zu · %.0f s", moment->scenario_index + 1,
	    moment->scenarios, moment->scenario, moment->arm[0] ? " · " : "", moment->arm,
	    moment->step, moment->step_index + 1, moment->steps, (double)elapsed_ns / 1e9);
	if (left_ns)
		fprintf(stderr, ", ~%.0f s left", (double)left_ns / 1e9);
	if (progress->terminal && !progress->verbose)
		progress->line_is_open = true;
	else
		fputc('\n', stderr);
	fflush(stderr);
	progress->shown_ns = clock_now_ns();
}

static void show_end(struct progress *progress, const struct run_moment *moment)
{
	clear_line(progress);
	say(stderr, "[%zu/%zu] %s: %s in %.1f s%s%s\n", moment->scenario_index + 1,
	    moment->scenarios, moment->scenario, moment->status, (double)moment->scenario_ns / 1e9,
	    moment->reason[0] ? ": " : "", moment->reason);
	progress->shown_ns = clock_now_ns();
}

void progress_moment(void *arg, const struct run_moment *moment)
{
	struct progress *progress = arg;
	uint64_t since_ns = clock_now_ns() - progress->shown_ns;

	if (progress->quiet)
		return;
	if (moment->ends_scenario)
		show_end(progress, moment);
	else if (progress->verbose || since_ns >= (progress->terminal ? REDRAW_NS : HEARTBEAT_NS))
		draw(progress, moment);
}

void progress_message(void *arg, const char *text)
{
	struct progress *progress = arg;

	if (progress->quiet)
		return;
	clear_line(progress);
	say(stderr, "keylab: %s\n", text);
}

void progress_finish(struct progress *progress)
{
	clear_line(progress);
}
