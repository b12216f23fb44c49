/* SPDX-License-Identifier: PostgreSQL */
/* The rows of a scenario and of its cluster, before the first step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/walk.h"
#include "sql.h"
#include "store/verdict.h"

static void json_list(const struct texts *texts, struct buf *ret)
{
	buf_add_char(ret, '[');
	for (size_t i = 0; i < texts->count; i++) {
		buf_add(ret, i ? "," : "");
		buf_add_json(ret, texts->items[i]);
	}
	buf_add_char(ret, ']');
}

static void json_object(const struct pairs *pairs, struct buf *ret)
{
	buf_add_char(ret, '{');
	for (size_t i = 0; i < pairs->count; i++) {
		buf_add(ret, i ? "," : "");
		buf_add_json(ret, pairs->items[i].name);
		buf_add_char(ret, ':');
		buf_add_json(ret, pairs->items[i].text);
	}
	buf_add_char(ret, '}');
}

static bool add_scenario(const struct run_request *request, int64_t run_id, size_t index,
                         struct err *err)
{
	const struct scenario *scenario = request->scenarios[index];
	CLEANUP(buf_finish) struct buf limits;

	buf_init(&limits, 0);
	json_list(&scenario->limits, &limits);
	if (!buf_ok(&limits, err))
		return false;
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),
	        B_TEXT(":scenario", scenario->name),
	        B_TEXT(":document", scenario->document),
	        B_INT(":position", index + 1),
	        B_TEXT(":title", scenario->title),
	        B_TEXT(":source", scenario->source),
	        B_TEXT(":about", scenario->about),
	        B_TEXT(":limits", limits.data),
	        B_TEXT(":path", scenario->path),
	        B_TEXT(":sha256", scenario->sha256),
	        B_TEXT(":text", scenario->text),
	};
	return store_exec(request->store, sql_store_add_scenario, binds, COUNT_OF(binds), err);
}

static bool add_params(const struct run_request *request, int64_t run_id,
                       const struct scenario *scenario, const struct pairs *params, struct err *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *name = params->items[i].name;
		bool set = false;

		for (size_t j = 0; j < request->overrides_count; j++)
			set = set || (!strncmp(request->overrides[j], name, strlen(name)) &&
			              request->overrides[j][strlen(name)] == '=');
		const struct bind binds[] = {
		        B_INT(":run_id", run_id),
		        B_TEXT(":scenario", scenario->name),
		        B_TEXT(":name", name),
		        B_TEXT(":value", params->items[i].text),
		        B_TEXT(":origin", set ? "set" : "profile"),
		};
		if (!store_exec(request->store, sql_store_add_param, binds, COUNT_OF(binds), err))
			return false;
	}
	return true;
}

static bool add_arms(const struct run_request *request, int64_t run_id,
                     const struct scenario *scenario, struct err *err)
{
	for (size_t i = 0; i < scenario->arms_count; i++) {
		const struct arm *arm = &scenario->arms[i];
		CLEANUP(buf_finish) struct buf texts;

		buf_init(&texts, 0);
		json_object(&arm->texts, &texts);
		if (!buf_ok(&texts, err))
			return false;
		const struct bind binds[] = {
		        B_INT(":run_id", run_id),     B_TEXT(":scenario", scenario->name),
		        B_TEXT(":arm", arm->name),    B_INT(":position", i + 1),
		        B_TEXT(":label", arm->label), B_TEXT(":texts", texts.data),
		};
		if (!store_exec(request->store, sql_store_add_arm, binds, COUNT_OF(binds), err))
			return false;
	}
	return true;
}

static bool add_claim(const struct run_request *request, int64_t run_id,
                      const struct scenario *scenario, size_t index, const struct scope *scope,
                      struct err *err)
{
	const struct claim *claim = &scenario->claims[index];
	bool in_scope = claim->profiles[request->profile];
	CLEANUP(buf_finish) struct buf says;
	CLEANUP(buf_finish) struct buf value;
	CLEANUP(buf_finish) struct buf sql;

	buf_init(&says, 0);
	buf_init(&value, 0);
	buf_init(&sql, 0);
	if (!subst_expand(claim->says, scope, &says, err) ||
	    !subst_expand(claim->value, scope, &value, err))
		return err_within(err, "%s:%d:%d: claim %s", claim->place.file, claim->place.line,
		                  claim->place.column, claim->id);
	verdict_statement(run_id, scenario->name, value.data, &sql);
	if (!buf_ok(&says, err) || !buf_ok(&value, err) || !buf_ok(&sql, err))
		return false;
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),
	        B_TEXT(":scenario", scenario->name),
	        B_TEXT(":claim", claim->id),
	        B_INT(":position", index + 1),
	        B_TEXT(":sentence", says.data),
	        B_TEXT(":source", claim->source),
	        B_TEXT(":published", claim->published),
	        claim->has_published_value ? B_REAL(":published_value", claim->published_value)
	                                   : B_NULL(":published_value"),
	        B_TEXT(":unit", claim->unit),
	        B_TEXT(":metric_type", metric_type_name(claim->type)),
	        B_TEXT(":predicate", claim->holds),
	        B_TEXT(":sql", sql.data),
	        B_INT(":control", claim->control),
	        B_INT(":in_scope", in_scope),
	        B_TEXT(":scope", in_scope ? "" : claim->scope),
	        /* Out of scope, nothing is run and nothing is missing. */
	        B_TEXT(":expected", in_scope ? claim->expect : "NOT_RUN"),
	        B_TEXT(":because", claim->because),
	        B_TEXT(":reason",
	               in_scope ? "the scenario did not run" : "out of scope at this profile"),
	};
	return store_exec(request->store, sql_store_add_claim, binds, COUNT_OF(binds), err);
}

static bool is_select(const char *text)
{
	return !strncasecmp(text, "select", 6) || !strncasecmp(text, "with", 4);
}

/* A text with its names replaced; a SELECT gets the `sample` table in front. */
static bool chart_text(const char *text, int64_t run_id, const struct scenario *scenario,
                       const struct scope *scope, struct buf *ret, struct err *err)
{
	CLEANUP(buf_finish) struct buf plain;

	buf_init(&plain, 0);
	if (!subst_expand(text, scope, &plain, err) || !buf_ok(&plain, err))
		return false;
	const char *at = plain.data + strspn(plain.data, " \t\r\n");
	if (is_select(at))
		verdict_statement(run_id, scenario->name, at, ret);
	else
		buf_add(ret, at);
	return buf_ok(ret, err);
}

static bool add_chart(const struct run_request *request, int64_t run_id,
                      const struct scenario *scenario, size_t index, const struct scope *scope,
                      struct err *err)
{
	const struct chart *chart = &scenario->charts[index];
	CLEANUP(buf_finish) struct buf title;
	CLEANUP(buf_finish) struct buf data;
	CLEANUP(buf_finish) struct buf claims;

	buf_init(&title, 0);
	buf_init(&data, 0);
	buf_init(&claims, 0);
	json_list(&chart->claims, &claims);
	if (!chart_text(chart->title, run_id, scenario, scope, &title, err) ||
	    !chart_text(chart->data, run_id, scenario, scope, &data, err) || !buf_ok(&claims, err))
		return err_within(err, "%s:%d:%d: chart %s", chart->place.file, chart->place.line,
		                  chart->place.column, chart->id);
	const struct bind binds[] = {
	        B_INT(":run_id", run_id),           B_TEXT(":scenario", scenario->name),
	        B_TEXT(":chart", chart->id),        B_INT(":position", index + 1),
	        B_TEXT(":kind", chart->kind),       B_TEXT(":title", title.data),
	        B_TEXT(":data", data.data),         B_TEXT(":x_label", chart->x.label),
	        B_TEXT(":x_unit", chart->x.unit),   B_INT(":x_log", chart->x.log),
	        B_TEXT(":y_label", chart->y.label), B_TEXT(":y_unit", chart->y.unit),
	        B_INT(":y_log", chart->y.log),      B_TEXT(":claims", claims.data),
	};
	return store_exec(request->store, sql_store_add_chart, binds, COUNT_OF(binds), err);
}

static bool has_param(const struct scenario *scenario, const char *override)
{
	size_t len = strcspn(override, "=");

	for (size_t i = 0; i < scenario->params_count; i++)
		if (strlen(scenario->params[i].name) == len &&
		    !strncmp(scenario->params[i].name, override, len))
			return true;
	return false;
}

bool run_params(const struct run_request *request, const struct scenario *scenario,
                struct arena *arena, struct pairs *ret, struct err *err)
{
	CLEANUP(free_p)
	const char **own = calloc(request->overrides_count + 1, sizeof(*own));
	size_t count = 0;

	if (!own)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; i < request->overrides_count; i++)
		if (has_param(scenario, request->overrides[i]))
			own[count++] = request->overrides[i];
	return scenario_params(scenario, request->profile, own, count, arena, ret, err);
}

static bool add_rows(const struct run_request *request, int64_t run_id, size_t index,
                     struct err *err)
{
	const struct scenario *scenario = request->scenarios[index];
	CLEANUP(arena_finish) struct arena arena;
	struct pairs params;
	const struct scope scope = {.pairs = &params};

	arena_init(&arena, 0);
	if (!run_params(request, scenario, &arena, &params, err) ||
	    !add_scenario(request, run_id, index, err) ||
	    !add_params(request, run_id, scenario, &params, err) ||
	    !add_arms(request, run_id, scenario, err))
		return false;
	for (size_t i = 0; i < scenario->claims_count; i++)
		if (!add_claim(request, run_id, scenario, i, &scope, err))
			return false;
	for (size_t i = 0; i < scenario->charts_count; i++)
		if (!add_chart(request, run_id, scenario, i, &scope, err))
			return false;
	return true;
}

bool setup_scenario(const struct run_request *request, int64_t run_id, size_t index,
                    struct err *err)
{
	if (!store_begin(request->store, err))
		return false;
	if (add_rows(request, run_id, index, err) && store_commit(request->store, err))
		return true;
	store_rollback(request->store);
	return err_within(err, "scenario %s", request->scenarios[index]->name);
}

static bool add_settings(struct walk *walk, const PGresult *result, struct err *err)
{
	for (int row = 0; row < PQntuples(result); row++) {
		const struct bind binds[] = {
		        B_INT(":cluster_id", walk->cluster_id),
		        B_TEXT(":name", PQgetvalue(result, row, 0)),
		        B_TEXT(":value", PQgetvalue(result, row, 1)),
		        B_TEXT(":unit", PQgetvalue(result, row, 2)),
		        B_TEXT(":source", PQgetvalue(result, row, 3)),
		        B_INT(":is_default", PQgetvalue(result, row, 4)[0] == '1'),
		};
		if (!store_exec(walk->request->store, sql_store_add_setting, binds, COUNT_OF(binds),
		                err))
			return false;
	}
	return true;
}

static bool add_cluster(struct walk *walk, const PGresult *version, const PGresult *settings,
                        struct err *err)
{
	const struct server *server = walk->cluster->server;
	static const char options[] = "["
#define X(option) "\"" option "\","
	        CLUSTER_INITDB_OPTIONS(X)
#undef X
	                "\"--username=" CLUSTER_USER "\"]";

	const struct bind binds[] = {
	        B_INT(":run_id", walk->run_id),
	        B_TEXT(":scenario", walk->scenario->name),
	        B_INT(":version_num", server->version_num),
	        B_TEXT(":version", PQgetvalue(version, 0, 0)),
	        B_TEXT(":server_sha256", server->sha256),
	        B_TEXT(":bin_dir", server->found_in),
	        B_TEXT(":initdb_options", options),
	        B_INT(":started_us", clock_wall_us()),
	};
	if (!store_exec(walk->request->store, sql_store_add_cluster, binds, COUNT_OF(binds), err))
		return false;
	walk->cluster_id = store_last_id(walk->request->store);
	return add_settings(walk, settings, err);
}

bool setup_cluster_rows(struct walk *walk, struct err *err)
{
	CLEANUP(result_clear_p) PGresult *version = NULL, *settings = NULL;

	/* The server is asked first: others wait for the store. */
	if (!conn_query(walk->control, sql_probe_version, NULL, 0, &version, err) ||
	    !conn_query(walk->control, sql_probe_settings, NULL, 0, &settings, err) ||
	    !store_begin(walk->request->store, err))
		return false;
	if (add_cluster(walk, version, settings, err) && store_commit(walk->request->store, err))
		return true;
	store_rollback(walk->request->store);
	return false;
}
