/* SPDX-License-Identifier: PostgreSQL */
/* A run: its scenarios one after the other, each on its cluster. */
#include "run/run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/prng.h"
#include "pg/meter.h"
#include "run/walk.h"
#include "sql.h"
#include "store/verdict.h"

#define START_WAIT_NS (120 * NS_PER_S)

struct run {
	const struct run_request *request;
	int64_t run_id;
	uint64_t started_ns;
	size_t steps_total;
	struct cluster
	        *shared; /* that several scenarios use; the main thread's alone; NULL: none yet */

	pthread_mutex_t mutex; /* guards what follows, and the watcher */
	bool *taken;           /* a scenario each: somebody runs it or has run it */
	size_t running;
	bool alone;           /* one runs that must have no neighbour */
	pthread_cond_t ended; /* a scenario has */
	size_t steps_done;
	uint64_t server_ns;
	size_t errors;
	bool interrupted;
	bool machine_trouble;
	struct err err; /* of the first trouble that ends the run */
};

static void say(struct run *run, const char *text)
{
	const struct run_watcher *watcher = &run->request->watcher;

	pthread_mutex_lock(&run->mutex);
	if (watcher->message)
		watcher->message(watcher->arg, text);
	pthread_mutex_unlock(&run->mutex);
}

void walk_tell(struct walk *walk, const struct step *step)
{
	struct run *run = walk->run;
	const struct run_watcher *watcher = &run->request->watcher;

	pthread_mutex_lock(&run->mutex);
	const struct run_moment moment = {
	        .scenario_index = walk->scenario_index,
	        .scenarios = run->request->scenarios_count,
	        .scenario = walk->scenario->name,
	        .arm = walk->arm ? walk->arm->name : "",
	        .step = step->name ? step->name : step_verb_name(step->verb),
	        .step_index = walk->steps_done,
	        .steps = walk->steps_total,
	        .run_step_index = run->steps_done++,
	        .run_steps = run->steps_total,
	};
	if (watcher->moment)
		watcher->moment(watcher->arg, &moment);
	pthread_mutex_unlock(&run->mutex);
}

static void say_slow(void *arg, const char *what)
{
	struct run *run = arg;
	char text[256];

	snprintf(text, sizeof(text), "preparing a template: %s (once for this server build)", what);
	say(run, text);
}

/* What is left behind, and why, is no trouble of the run's, but is told. */
static void end_cluster(struct run *run, struct cluster *cluster, const char *whose)
{
	struct err err;
	char text[sizeof(err.message) + 256];

	if (cluster_destroy(cluster, &err))
		return;
	snprintf(text, sizeof(text), "%.200s: %s", whose, err.message);
	say(run, text);
}

static bool new_cluster(struct run *run, const struct scenario *scenario, struct cluster **ret,
                        struct err *err)
{
	const struct run_request *request = run->request;
	const struct pairs *needs = &scenario->cluster.settings;
	const struct template_progress progress = {.begin = say_slow, .arg = run};
	CLEANUP(free_p) char *template_dir = NULL;
	CLEANUP(free_p)
	struct cluster_setting *settings = calloc(needs->count + 1, sizeof(*settings));
	struct cluster *cluster;

	if (!settings)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; i < needs->count; i++)
		settings[i] = (struct cluster_setting){.name = needs->items[i].name,
		                                       .value = needs->items[i].text};
	if (!template_get(request->home, request->server, scenario->cluster.dataset, &progress,
	                  &template_dir, err) ||
	    !cluster_create(request->home, request->server, template_dir, settings, needs->count,
	                    &cluster, err))
		return false;
	cluster->keep = request->keep;
	if (!cluster_start(cluster, deadline_after(START_WAIT_NS), err)) {
		end_cluster(run, cluster, scenario->name);
		return false;
	}
	*ret = cluster;
	return true;
}

static bool shared_cluster(struct run *run, const struct scenario *scenario, struct cluster **ret,
                           struct err *err)
{
	/* One that a scenario brought down is replaced. */
	if (run->shared && !cluster_is_running(run->shared)) {
		end_cluster(run, run->shared, "shared cluster");
		run->shared = NULL;
	}
	if (!run->shared && !new_cluster(run, scenario, &run->shared, err))
		return false;
	*ret = run->shared;
	return true;
}

/* A database of the scenario's own, copied from the one with the lab schema. */
static bool own_database(struct walk *walk, struct err *err)
{
	CLEANUP(conn_close_p) struct conn *conn = NULL;
	CLEANUP(result_clear_p) PGresult *result = NULL;
	CLEANUP(buf_finish) struct buf sql;

	buf_init(&sql, 0);
	buf_add(&sql, "create database ");
	buf_add_sql_name(&sql, walk->scenario->name);
	buf_add(&sql, " template " CLUSTER_DATABASE);
	walk->database = walk->scenario->name;
	return buf_ok(&sql, err) && conn_open(walk->cluster, "postgres", "keylab", &conn, err) &&
	       conn_query(conn, sql.data, NULL, 0, &result, err);
}

static bool create_extensions(struct walk *walk, struct err *err)
{
	const struct texts *extensions = &walk->scenario->cluster.extensions;

	for (size_t i = 0; i < extensions->count; i++) {
		CLEANUP(result_clear_p) PGresult *result = NULL;
		CLEANUP(buf_finish) struct buf sql;

		buf_init(&sql, 0);
		buf_add(&sql, "create extension if not exists ");
		buf_add_sql_name(&sql, extensions->items[i]);
		if (!buf_ok(&sql, err) ||
		    !conn_query(walk->control, sql.data, NULL, 0, &result, err))
			return err_within(err, "extension %s", extensions->items[i]);
	}
	return true;
}

static bool take_cluster(struct run *run, struct walk *walk, struct err *err)
{
	const struct scenario *scenario = walk->scenario;

	/*
	 * A cluster with settings of its own is nobody else's. Nor is one with a dataset: a copy of
	 * the template's files takes a fraction of what the server takes to copy its database,
	 * which goes through the log or to the disk.
	 */
	walk->shared = scenario->cluster.shared && !scenario->cluster.settings.count &&
	               !scenario->cluster.dataset;
	walk->database = CLUSTER_DATABASE;
	if (walk->shared) {
		if (!shared_cluster(run, scenario, &walk->cluster, err) || !own_database(walk, err))
			return false;
	} else if (!new_cluster(run, scenario, &walk->cluster, err)) {
		return false;
	}
	return walk_control(walk, err) && create_extensions(walk, err) &&
	       compat_install(walk, err) && setup_cluster_rows(walk, err);
}

/* How many blocks the parameters ask for; 0: the scenario runs once, with all arms. */
static size_t count_blocks(const struct scenario *scenario, const struct pairs *params)
{
	enum quantity_kind kind;
	int64_t count = 0;

	for (size_t i = 0; scenario->cluster.blocks && i < params->count; i++)
		if (!strcmp(params->items[i].name, scenario->cluster.blocks) &&
		    !quantity_parse_integer(params->items[i].text, &count, &kind, NULL))
			count = 0;
	return count > 0 ? (size_t)count : 0;
}

static size_t count_steps(const struct scenario *scenario, const struct pairs *params)
{
	const struct scope scope = {.pairs = params};
	size_t blocks = count_blocks(scenario, params);

	return (blocks ? blocks * scenario->arms_count : 1) *
	       walk_count(scenario->steps, scenario->steps_count, &scope, blocks > 0);
}

static bool take_params(struct walk *walk, struct err *err)
{
	const struct run_request *request = walk->request;

	if (!run_params(request, walk->scenario, &walk->arena, &walk->params, err))
		return false;
	walk->params_scope = (struct scope){.pairs = &walk->params};
	walk->lets_scope = (struct scope){.outer = &walk->params_scope, .pairs = &walk->lets};
	walk->steps_total = count_steps(walk->scenario, &walk->params);
	return true;
}

/* The log's end says more than a lost connection. */
static void note_log(struct walk *walk)
{
	CLEANUP(buf_finish) struct buf tail;

	buf_init(&tail, 0);
	if (walk->cluster)
		cluster_log_tail(walk->cluster, 20, &tail);
	if (tail.len && !record_incident(walk->request->store, walk->run_id, walk->scenario->name,
	                                 0, "server log", tail.data, NULL))
		say(walk->run, "the server's log could not be stored");
}

static void drop_cluster(struct walk *walk, bool failed)
{
	char text[1400];

	groups_close(walk);
	sessions_close(walk);
	if (!walk->cluster || walk->shared)
		return;
	if (failed && !cluster_keep(walk->cluster)) {
		snprintf(text, sizeof(text),
		         "%s: its cluster is not kept: the disk could not hold another like it",
		         walk->scenario->name);
		say(walk->run, text);
	}
	if (walk->cluster->keep) {
		snprintf(text, sizeof(text),
		         "%s: its cluster is kept in %s (keylab clean removes it)",
		         walk->scenario->name, walk->cluster->dir);
		say(walk->run, text);
	}
	end_cluster(walk->run, walk->cluster, walk->scenario->name);
	walk->cluster = NULL;
}

/* Verdicts of all claims, from what is in the store. */
static bool derive(struct run *run, const struct scenario *scenario, struct err *err)
{
	for (size_t i = 0; i < scenario->claims_count; i++) {
		struct verdict verdict = {0};

		if (!verdict_record(run->request->store, run->run_id, scenario->name,
		                    scenario->claims[i].id, &verdict, err))
			return false;
		verdict_finish(&verdict);
	}
	return true;
}

static void tell_end(struct run *run, size_t index, uint64_t started_ns, const char *status,
                     const char *reason)
{
	const struct run_watcher *watcher = &run->request->watcher;
	const struct run_moment moment = {
	        .scenario_index = index,
	        .scenarios = run->request->scenarios_count,
	        .scenario = run->request->scenarios[index]->name,
	        .arm = "",
	        .step = "",
	        .run_steps = run->steps_total,
	        .ends_scenario = true,
	        .scenario_ns = clock_now_ns() - started_ns,
	        .status = status,
	        .reason = reason,
	};

	pthread_mutex_lock(&run->mutex);
	run->errors += !strcmp(status, "error");
	if (watcher->moment)
		watcher->moment(watcher->arg, &moment);
	pthread_mutex_unlock(&run->mutex);
}

static bool put_end(struct run *run, const struct scenario *scenario, const char *status,
                    const char *reason, bool derives, struct err *err)
{
	struct store *store = run->request->store;

	/* One transaction: one that is done has its verdicts, wherever we are killed. */
	if (!store_begin(store, err))
		return false;
	if (!record_scenario_state(store, run->run_id, scenario->name, status, reason, err) ||
	    (derives && !derive(run, scenario, err)) || !store_commit(store, err)) {
		store_rollback(store);
		return false;
	}
	return true;
}

static bool end_scenario(struct run *run, size_t index, uint64_t started_ns, const char *status,
                         const char *reason, struct err *err)
{
	const struct scenario *scenario = run->request->scenarios[index];
	struct err inner;

	if (put_end(run, scenario, status, reason, true, &inner)) {
		tell_end(run, index, started_ns, status, reason);
		return true;
	}
	if (inner.kind != ERR_INTERRUPTED) {
		*err = inner;
		return false;
	}
	/* Asked to stop while the verdicts were derived: what it measured stays, without them. */
	pthread_mutex_lock(&run->mutex);
	run->interrupted = true;
	pthread_mutex_unlock(&run->mutex);
	if (!put_end(run, scenario, "interrupted", inner.message, false, err))
		return false;
	tell_end(run, index, started_ns, "interrupted", inner.message);
	return true;
}

static enum walk_end walk_once(struct run *run, struct walk *walk, struct err *err)
{
	if (!take_cluster(run, walk, err))
		return WALK_FAILS;
	return walk_steps(walk, walk->scenario->steps, walk->scenario->steps_count,
	                  &walk->lets_scope, NULL, err);
}

/*
 * Complete blocks: each block runs every arm once, in an order drawn from the run's seed, each arm
 * on a fresh cluster from the same template. The last cluster is left to the caller.
 */
static enum walk_end walk_blocks(struct run *run, struct walk *walk, size_t blocks, struct err *err)
{
	const struct scenario *scenario = walk->scenario;
	struct prng prng = {prng_seed((uint64_t)run->request->seed, scenario->name)};
	enum walk_end end = WALK_GOES_ON;
	CLEANUP(free_p) size_t *order = calloc(scenario->arms_count, sizeof(*order));

	if (!order) {
		err_set(err, ERR_SYSTEM, "out of memory");
		return WALK_FAILS;
	}
	for (size_t block = 0; block < blocks && end == WALK_GOES_ON; block++) {
		prng_shuffle(&prng, order, scenario->arms_count);
		for (size_t i = 0; i < scenario->arms_count && end == WALK_GOES_ON; i++) {
			drop_cluster(walk, false);
			walk->sessions_count = 0;
			walk->lets.count = 0;
			walk->only_arm = &scenario->arms[order[i]];
			walk->block = (int64_t)block + 1;
			walk->position = (int64_t)i + 1;
			end = walk_once(run, walk, err);
		}
	}
	return end;
}

/*
 * Trouble of the store or of memory ends the run; trouble with this
 * scenario's server or steps ends the scenario.
 */
static bool run_scenario(struct run *run, size_t index, struct err *err)
{
	const struct scenario *scenario = run->request->scenarios[index];
	CLEANUP(free_p) struct walk *walk = calloc(1, sizeof(*walk));
	char reason[sizeof(walk->reason)];
	const char *status = "done";
	uint64_t started_ns = clock_now_ns();
	struct err inner = {0};

	if (!walk)
		return err_set(err, ERR_SYSTEM, "out of memory");
	walk->run = run;
	walk->request = run->request;
	walk->run_id = run->run_id;
	walk->scenario = scenario;
	walk->scenario_index = index;
	walk->origin_ns = clock_now_ns();
	arena_init(&walk->arena, 0);
	if (!record_scenario_state(run->request->store, run->run_id, scenario->name, "running", "",
	                           err))
		return false;
	bool ready = take_params(walk, &inner);
	size_t blocks = ready ? count_blocks(scenario, &walk->params) : 0;
	enum walk_end end = !ready   ? WALK_FAILS
	                    : blocks ? walk_blocks(run, walk, blocks, &inner)
	                             : walk_once(run, walk, &inner);
	if (end == WALK_ENDS) {
		status = walk->cannot ? "not_run" : "error";
		snprintf(reason, sizeof(reason), "%s", walk->reason);
	} else if (end == WALK_FAILS) {
		status = inner.kind == ERR_INTERRUPTED ? "interrupted" : "error";
		snprintf(reason, sizeof(reason), "%s", inner.message);
	} else {
		reason[0] = '\0';
	}
	if (!strcmp(status, "error"))
		note_log(walk);
	pthread_mutex_lock(&run->mutex);
	run->interrupted = run->interrupted || inner.kind == ERR_INTERRUPTED;
	run->machine_trouble =
	        run->machine_trouble || (end == WALK_FAILS && err_exit_code(inner.kind) == 3);
	run->server_ns += walk->server_ns;
	pthread_mutex_unlock(&run->mutex);
	drop_cluster(walk, !strcmp(status, "error"));
	arena_finish(&walk->arena);
	return end_scenario(run, index, started_ns, status, reason, err);
}

static bool next_scenario(struct run *run, size_t index, struct err *err)
{
	const struct scenario *scenario = run->request->scenarios[index];
	int have = run->request->server->version_num / 10000;
	char reason[256];

	if (scenario->cluster.version > have) {
		snprintf(reason, sizeof(reason),
		         "it needs PostgreSQL %d or later, and the server is %s",
		         scenario->cluster.version, run->request->server->version);
		return end_scenario(run, index, clock_now_ns(), "not_run", reason, err);
	}
	return run_scenario(run, index, err);
}

/* ---- who runs which scenario ---- */

/* A neighbour would show in its times. */
static bool wants_to_be_alone(const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->claims_count; i++)
		if (scenario->claims[i].type == METRIC_TIMING)
			return true;
	return false;
}

static bool may_start(const struct run *run, size_t index, bool main_thread)
{
	const struct scenario *scenario = run->request->scenarios[index];

	if (run->taken[index] || run->alone)
		return false;
	/* A shared cluster lives as long as the thread that started it. */
	if (scenario->cluster.shared && !main_thread)
		return false;
	return !wants_to_be_alone(scenario) || run->running == 0;
}

/*
 * Who comes first, where several may start; the smaller, and in the list's order among equals.
 * The main thread begins with what nobody else can run, the others with what takes long.
 */
static int rank(const struct run *run, size_t index, bool main_thread)
{
	const struct scenario *scenario = run->request->scenarios[index];

	if (run->request->jobs <= 1)
		return 0;
	if (main_thread && scenario->cluster.shared)
		return 0;
	return scenario->early ? 1 : 2;
}

/* The next scenario for a thread, waiting for neighbours to end where it must; false: none left. */
static bool take_scenario(struct run *run, bool main_thread, size_t *ret)
{
	bool found = false, left = true;

	*ret = 0;
	pthread_mutex_lock(&run->mutex);
	while (!found && left) {
		left = false;
		for (size_t i = 0; i < run->request->scenarios_count; i++) {
			bool shared = run->request->scenarios[i]->cluster.shared;

			left = left || (!run->taken[i] && (main_thread || !shared));
			if (!may_start(run, i, main_thread) ||
			    (found && rank(run, i, main_thread) >= rank(run, *ret, main_thread)))
				continue;
			found = true;
			*ret = i;
		}
		if (run->interrupted || run->err.kind != ERR_NONE)
			found = left = false;
		else if (!found && left)
			pthread_cond_wait(&run->ended, &run->mutex);
	}
	if (found) {
		run->taken[*ret] = true;
		run->alone = wants_to_be_alone(run->request->scenarios[*ret]);
		run->running++;
	}
	pthread_mutex_unlock(&run->mutex);
	return found;
}

static void work(struct run *run, bool main_thread)
{
	size_t index;

	while (take_scenario(run, main_thread, &index)) {
		struct err err;
		bool ok = next_scenario(run, index, &err);

		pthread_mutex_lock(&run->mutex);
		if (!ok && run->err.kind == ERR_NONE)
			run->err = err;
		run->alone = false;
		run->running--;
		pthread_cond_broadcast(&run->ended);
		pthread_mutex_unlock(&run->mutex);
	}
}

static void *helper_main(void *arg)
{
	work(arg, false);
	return NULL;
}

#define JOBS_MAX 16

/* Before a run is recorded: does every scenario take its parameters? */
static bool params_fit(const struct run_request *request, struct err *err)
{
	for (size_t i = 0; i < request->scenarios_count; i++) {
		CLEANUP(arena_finish) struct arena arena;
		struct pairs params;

		arena_init(&arena, 0);
		if (!run_params(request, request->scenarios[i], &arena, &params, err))
			return err_within(err, "%s", request->scenarios[i]->name);
	}
	return true;
}

/* The rows of all scenarios, and how many steps there are. */
static bool setup_scenarios(struct run *run, struct err *err)
{
	const struct run_request *request = run->request;

	for (size_t i = 0; i < request->scenarios_count; i++) {
		const struct scenario *scenario = request->scenarios[i];
		CLEANUP(arena_finish) struct arena arena;
		struct pairs params;

		arena_init(&arena, 0);
		if (!setup_scenario(request, run->run_id, i, err) ||
		    !run_params(request, scenario, &arena, &params, err))
			return false;
		run->steps_total += count_steps(scenario, &params);
	}
	return true;
}

static bool run_scenarios(struct run *run, struct err *err)
{
	pthread_t helpers[JOBS_MAX];
	size_t count = 0;

	while (count + 1 < run->request->jobs && count < JOBS_MAX &&
	       pthread_create(&helpers[count], NULL, helper_main, run) == 0)
		count++;
	work(run, true);
	for (size_t i = 0; i < count; i++)
		pthread_join(helpers[i], NULL);
	if (run->err.kind != ERR_NONE)
		*err = run->err;
	return run->err.kind == ERR_NONE;
}

/* Its row; from here on there is a run, which run_end ends. */
static bool run_begin(struct run *run, const struct run_request *request, struct err *err)
{
	const struct record_run row = {
	        .profile = profile_name(request->profile),
	        .seed = request->seed,
	        .argv = request->argv,
	        .version = request->version,
	        .commit = request->commit,
	};

	*run = (struct run){.request = request, .started_ns = clock_now_ns()};
	run->taken = calloc(request->scenarios_count + 1, sizeof(*run->taken));
	if (!run->taken)
		return err_set(err, ERR_SYSTEM, "out of memory");
	pthread_mutex_init(&run->mutex, NULL);
	pthread_cond_init(&run->ended, NULL);
	if (params_fit(request, err) && record_sweep(request->store, err) &&
	    record_run_begin(request->store, &row, &run->run_id, err))
		return true;
	free(run->taken);
	run->taken = NULL;
	return false;
}

static bool run_end(struct run *run, bool ok, struct run_result *ret, struct err *err)
{
	struct err inner;

	end_cluster(run, run->shared, "shared cluster");
	free(run->taken);
	run->taken = NULL;
	if (!record_run_end(run->request->store, run->run_id,
	                    run->interrupted ? "interrupted"
	                    : ok             ? "finished"
	                                     : "failed",
	                    clock_now_ns() - run->started_ns, run->server_ns, ok ? err : &inner))
		return false;
	*ret = (struct run_result){.run_id = run->run_id,
	                           .interrupted = run->interrupted,
	                           .errors = run->errors,
	                           .machine_trouble = run->machine_trouble};
	return ok;
}

bool run_all(const struct run_request *request, struct run_result *ret, struct err *err)
{
	struct run run;

	if (!run_begin(&run, request, err))
		return false;
	bool ok = environment_record(request, run.run_id, err) && setup_scenarios(&run, err) &&
	          run_scenarios(&run, err);
	return run_end(&run, ok, ret, err);
}

static bool take_turns(struct run *runs, size_t count, struct err *err)
{
	size_t scenarios = runs[0].request->scenarios_count;

	for (size_t r = 0; r < count; r++)
		if (!environment_record(runs[r].request, runs[r].run_id, err) ||
		    !setup_scenarios(&runs[r], err))
			return false;
	for (size_t i = 0; i < scenarios; i++) {
		for (size_t turn = 0; turn < count; turn++) {
			struct run *run = &runs[i % 2 ? count - 1 - turn : turn];

			if (!next_scenario(run, i, err))
				return false;
			if (!run->interrupted)
				continue;
			for (size_t r = 0; r < count; r++)
				runs[r].interrupted = true;
			return true;
		}
	}
	return true;
}

bool run_side_by_side(const struct run_request *requests, size_t count, struct run_result *rets,
                      struct err *err)
{
	CLEANUP(free_p) struct run *runs = calloc(count, sizeof(*runs));
	size_t begun = 0;
	struct err inner;

	if (!runs)
		return err_set(err, ERR_SYSTEM, "out of memory");
	while (begun < count && run_begin(&runs[begun], &requests[begun], err))
		begun++;
	bool ok = begun == count && take_turns(runs, count, err);
	for (size_t i = 0; i < begun; i++)
		if (!run_end(&runs[i], ok, &rets[i], ok ? err : &inner))
			ok = false;
	return ok;
}

/* ---- what the checker knows of meters and datasets ---- */

static bool knows_meter(const char *name, enum step_verb verb, const char **ret_needs,
                        int *ret_version)
{
	const struct meter *meter = meter_find(name);

	if (!meter || (meter->use == METER_OBJECT) != (verb == STEP_READ))
		return false;
	*ret_needs = meter->needs;
	*ret_version = meter->version;
	return true;
}

const struct scenario_vocabulary *run_vocabulary(void)
{
	static const char *names[32];
	static struct scenario_vocabulary vocabulary = {.meter = knows_meter, .meter_names = names};

	for (size_t i = 0; i < meters_count && i + 1 < COUNT_OF(names); i++)
		names[i] = meters[i].name;
	vocabulary.dataset_names = template_datasets();
	vocabulary.compat_names = compat_names();
	vocabulary.generator_names = mint_generator_names();
	vocabulary.worker_options = worker_options_of;
	vocabulary.worker_generators = worker_generators;
	return &vocabulary;
}
