/* SPDX-License-Identifier: PostgreSQL */
/* Reading runs, scenarios and claims from the store. */
#include "report/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary.h"
#include "sql.h"

/* Text of all the rows shown; samples are not among them. */
#define MODEL_MAX_BYTES ((size_t)48 << 20)

static const struct {
	const char *word, *mark, *class, *clause, *clauses;
} verdicts[VERDICT_KIND_COUNT] = {
        [VERDICT_ERROR] = {"ERROR", "!", "error", "ends in an error", "end in an error"},
        [VERDICT_REFUTED] = {"REFUTED", "\u2716", "refuted", "is refuted", "are refuted"},
        [VERDICT_NOT_RUN] = {"NOT RUN", "\u2013", "not-run", "did not run", "did not run"},
        [VERDICT_INCONCLUSIVE] = {"INCONCLUSIVE", "\u25cc", "inconclusive", "is inconclusive",
                                  "are inconclusive"},
        [VERDICT_HOLDS] = {"HOLDS", "\u2714", "holds", "holds", "hold"},
};

const enum verdict_kind report_verdict_order[VERDICT_KIND_COUNT] = {VERDICT_ERROR, VERDICT_REFUTED,
                                                                    VERDICT_NOT_RUN,
                                                                    VERDICT_INCONCLUSIVE,
                                                                    VERDICT_HOLDS};

const char *report_verdict_word(enum verdict_kind verdict)
{
	return verdicts[verdict].word;
}

const char *report_verdict_mark(enum verdict_kind verdict)
{
	return verdicts[verdict].mark;
}

const char *report_verdict_class(enum verdict_kind verdict)
{
	return verdicts[verdict].class;
}

const char *report_verdict_clause(enum verdict_kind verdict, bool plural)
{
	return plural ? verdicts[verdict].clauses : verdicts[verdict].clause;
}

/* ---- loading ---- */

struct loader {
	struct store *store;
	struct model *model;
	struct run_row *run;
	const char *document; /* "" for all */
	struct summaries summaries;
};

static const char *keep(struct loader *loader, struct query *query, int column)
{
	return arena_strdup(&loader->model->arena, query_get_text(query, column));
}

static struct scenario_row *find_scenario(const struct run_row *run, const char *name)
{
	for (size_t i = 0; i < run->scenarios_count; i++)
		if (!strcmp(run->scenarios[i].name, name))
			return &run->scenarios[i];
	return NULL;
}

/* Room for one more at the end of an array that doubles; NULL when out of memory. */
static void *append(struct loader *loader, void *array, size_t *count, size_t size)
{
	void **items = array;

	if (*count == 0 || (*count >= 8 && (*count & (*count - 1)) == 0)) {
		void *grown = arena_grow(&loader->model->arena, *items, *count,
		                         *count ? *count * 2 : 8, size);

		if (!grown)
			return NULL;
		*items = grown;
	}
	return (char *)*items + (*count)++ * size;
}

/* scenario: the one that the row's first column names; NULL when that is empty, or no scenario. */
typedef bool row_fn(struct loader *loader, struct scenario_row *scenario, struct query *query);

struct part {
	const char *sql;
	row_fn *take;
	bool by_scenario; /* rows of scenarios that are not shown are passed over */
	bool by_document; /* the SQL has :document */
};

static bool take_row(struct loader *loader, const struct part *part, struct query *query)
{
	struct scenario_row *scenario = NULL;

	if (part->by_scenario) {
		scenario = find_scenario(loader->run, query_get_text(query, 0));
		if (!scenario && *query_get_text(query, 0))
			return true;
	}
	return part->take(loader, scenario, query) && !loader->model->arena.failed;
}

static bool each_row(struct loader *loader, const struct part *part, struct err *err)
{
	struct query query = {0};
	bool row = false, ok;

	if (!query_prepare(loader->store, part->sql, &query, err))
		return false;
	query_int(&query, ":run_id", loader->run->id);
	if (part->by_document)
		query_text(&query, ":document", loader->document);
	while ((ok = query_step(&query, &row, err)) && row)
		if (!take_row(loader, part, &query)) {
			ok = err_set(err, ERR_SYSTEM, "the report needs more than %d MB of memory",
			             (int)(MODEL_MAX_BYTES >> 20));
			break;
		}
	query_finish(&query);
	return ok;
}

static bool take_run(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	(void)scenario;
	struct run_row *run = loader->run;

	run->started_at = keep(loader, query, 0);
	run->status = keep(loader, query, 2);
	run->profile = keep(loader, query, 3);
	run->seed = keep(loader, query, 4);
	run->argv = keep(loader, query, 5);
	run->version = keep(loader, query, 6);
	run->commit = keep(loader, query, 7);
	run->wall_ns = query_get_int(query, 8);
	run->server_ns = query_get_int(query, 9);
	run->finished_at = keep(loader, query, 10);
	return true;
}

static bool take_named(struct loader *loader, struct named_list *list, struct query *query,
                       int first, int columns)
{
	struct named *named = append(loader, &list->items, &list->count, sizeof(*named));

	if (!named)
		return false;
	named->name = keep(loader, query, first);
	named->value = columns > 1 ? keep(loader, query, first + 1) : "";
	named->extra = columns > 2 ? keep(loader, query, first + 2) : "";
	return true;
}

static bool take_environment(struct loader *loader, struct scenario_row *scenario,
                             struct query *query)
{
	(void)scenario;
	return take_named(loader, &loader->run->environment, query, 0, 2);
}

static bool take_scenario(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	(void)scenario;
	struct run_row *run = loader->run;
	struct scenario_row *s = append(loader, &run->scenarios, &run->scenarios_count, sizeof(*s));

	if (!s)
		return false;
	*s = (struct scenario_row){0};
	s->name = keep(loader, query, 0);
	s->document = keep(loader, query, 1);
	s->title = keep(loader, query, 2);
	s->source = keep(loader, query, 3);
	s->about = keep(loader, query, 4);
	s->path = keep(loader, query, 5);
	s->sha256 = keep(loader, query, 6);
	s->status = keep(loader, query, 7);
	s->reason = keep(loader, query, 8);
	s->samples_sha256 = keep(loader, query, 9);
	return true;
}

static bool take_limit(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	return take_named(loader, &scenario->limits, query, 1, 1);
}

static bool take_param(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	return take_named(loader, &scenario->params, query, 1, 3);
}

static bool take_arm(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	return take_named(loader, &scenario->arms, query, 1, 2);
}

static bool take_setting(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	return take_named(loader, scenario ? &scenario->settings : &loader->run->settings, query, 1,
	                  3);
}

static bool take_cluster(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	(void)scenario;
	struct run_row *run = loader->run;
	struct cluster_row *c = append(loader, &run->clusters, &run->clusters_count, sizeof(*c));

	if (!c)
		return false;
	c->version = keep(loader, query, 0);
	c->version_num = query_get_int(query, 1);
	c->server_sha256 = keep(loader, query, 2);
	c->initdb_options = keep(loader, query, 3);
	c->clusters = query_get_int(query, 4);
	return true;
}

static struct value value_of(struct loader *loader, struct query *query, int column)
{
	if (query_is_null(query, column))
		return (struct value){.kind = VALUE_NONE, .text = ""};
	if (query_is_number(query, column))
		return (struct value){.kind = VALUE_NUMBER,
		                      .number = query_get_real(query, column),
		                      .text = keep(loader, query, column)};
	return (struct value){.kind = VALUE_TEXT, .text = keep(loader, query, column)};
}

static bool take_claim(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	struct run_row *run = loader->run;
	struct claim *c = append(loader, &run->claims, &run->claims_count, sizeof(*c));

	if (!c)
		return false;
	*c = (struct claim){.anchor = ""};
	c->scenario = scenario;
	c->name = keep(loader, query, 1);
	c->sentence = keep(loader, query, 2);
	c->source = keep(loader, query, 3);
	c->published = keep(loader, query, 4);
	c->published_value = value_of(loader, query, 5);
	c->unit = keep(loader, query, 6);
	c->metric_type = keep(loader, query, 7);
	c->predicate = keep(loader, query, 8);
	c->sql = keep(loader, query, 9);
	c->control = query_get_int(query, 10) != 0;
	c->in_scope = query_get_int(query, 11) != 0;
	c->scope = keep(loader, query, 12);
	c->expected = verdict_stored(query_get_text(query, 13));
	c->because = keep(loader, query, 14);
	c->verdict = verdict_stored(query_get_text(query, 15));
	c->reason = keep(loader, query, 16);
	c->value = value_of(loader, query, 17);
	c->low = value_of(loader, query, 18);
	c->high = value_of(loader, query, 19);
	c->n = query_get_int(query, 20);
	return true;
}

static bool take_chart(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	struct chart_row *c =
	        append(loader, &scenario->charts, &scenario->charts_count, sizeof(*c));

	if (!c)
		return false;
	*c = (struct chart_row){.x_log = query_get_int(query, 7) != 0,
	                        .y_log = query_get_int(query, 10) != 0};
	c->name = keep(loader, query, 1);
	c->kind = keep(loader, query, 2);
	c->title = keep(loader, query, 3);
	c->data = keep(loader, query, 4);
	c->x_label = keep(loader, query, 5);
	c->x_unit = keep(loader, query, 6);
	c->y_label = keep(loader, query, 8);
	c->y_unit = keep(loader, query, 9);
	return true;
}

static bool take_chart_claim(struct loader *loader, struct scenario_row *scenario,
                             struct query *query)
{
	for (size_t i = 0; i < scenario->charts_count; i++) {
		struct chart_row *chart = &scenario->charts[i];

		if (strcmp(chart->name, query_get_text(query, 1)) != 0)
			continue;
		const char **name =
		        append(loader, &chart->claims, &chart->claims_count, sizeof(*name));
		if (!name)
			return false;
		*name = keep(loader, query, 2);
	}
	return true;
}

static bool take_statement(struct loader *loader, struct scenario_row *scenario,
                           struct query *query)
{
	struct statement *s =
	        append(loader, &scenario->statements, &scenario->statements_count, sizeof(*s));

	if (!s)
		return false;
	s->verb = keep(loader, query, 1);
	s->name = keep(loader, query, 2);
	s->arm = keep(loader, query, 3);
	s->sql = keep(loader, query, 4);
	s->times = query_get_int(query, 5);
	s->position = keep(loader, query, 6);
	return true;
}

static bool take_sample(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	summaries_add(&loader->summaries, scenario, query);
	return !loader->summaries.failed;
}

static bool take_incident(struct loader *loader, struct scenario_row *scenario, struct query *query)
{
	struct incident *i = scenario ? append(loader, &scenario->incidents,
	                                       &scenario->incidents_count, sizeof(*i))
	                              : append(loader, &loader->run->incidents,
	                                       &loader->run->incidents_count, sizeof(*i));
	if (!i)
		return false;
	i->at = keep(loader, query, 1);
	i->kind = keep(loader, query, 2);
	i->text = keep(loader, query, 3);
	i->position = keep(loader, query, 4);
	return true;
}

/* ---- what follows from the rows ---- */

/* Letters, digits and hyphens of a name; a fragment that needs no escaping anywhere. */
static const char *slug(struct arena *arena, const char *prefix, const char *name)
{
	char *text = arena_printf(arena, "%s-%s", prefix, *name ? name : "x");

	for (char *at = text; at && *at; at++)
		if (!isalnum((unsigned char)*at) || (unsigned char)*at >= 0x80)
			*at = '-';
	return text;
}

static bool anchor_taken(const struct run_row *run, const char *anchor, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (!strcmp(run->claims[i].anchor, anchor))
			return true;
	return false;
}

static bool set_anchors(struct model *model, struct run_row *run)
{
	for (size_t i = 0; i < run->claims_count; i++) {
		const char *anchor = slug(&model->arena, "claim", run->claims[i].name);
		const char *plain = anchor;

		for (int again = 2; anchor && anchor_taken(run, anchor, i); again++)
			anchor = arena_printf(&model->arena, "%s-%d", plain, again);
		run->claims[i].anchor = anchor;
		if (!anchor)
			return false;
	}
	for (size_t i = 0; i < run->scenarios_count; i++)
		run->scenarios[i].anchor = arena_printf(&model->arena, "scenario-%zu", i + 1);
	return !model->arena.failed;
}

/* What sql_mentions looks through, many times over; statements are ten times as long. */
static const char *literals_of(struct arena *arena, const char *sql)
{
	char *found = arena_strdup(arena, sql), *to = found;

	for (const char *at = sql; found && (at = strchr(at, '\'')); at++) {
		const char *end = strchr(at + 1, '\'');

		if (!end)
			break;
		memcpy(to, at, (size_t)(end - at) + 1);
		to += end - at + 1;
		at = end;
	}
	if (found)
		*to = '\0';
	return found;
}

static bool link_claims(struct loader *loader)
{
	struct run_row *run = loader->run;

	for (size_t i = 0; i < run->claims_count; i++) {
		struct claim *claim = &run->claims[i];
		struct scenario_row *scenario = claim->scenario;
		struct claim **slot =
		        append(loader, &scenario->claims, &scenario->claims_count, sizeof(*slot));

		if (!slot)
			return false;
		*slot = claim;
		claim->has_figure =
		        predicate_published(claim->published,
		                            claim->published_value.kind == VALUE_NUMBER,
		                            claim->published_value.number, &claim->figure);
		claim->literals = literals_of(&loader->model->arena, claim->sql);
		if (!claim->literals)
			return false;
		claim->parsed = predicate_parse(claim->predicate, &claim->predicate_terms, NULL);
		if (!claim->in_scope)
			continue;
		run->in_scope++;
		run->counted[claim->verdict]++;
		run->unexpected += claim->verdict != claim->expected;
	}
	return set_anchors(loader->model, run);
}

/* Adjusted for all timings of the run, also where the page shows one document of it. */
static bool load_secondaries(struct loader *loader, struct err *err)
{
	struct secondaries list = {0};
	struct run_row *run = loader->run;

	if (!secondaries_load(loader->store, run->id, &list, err))
		return false;
	run->secondaries = list.count;
	for (size_t i = 0; i < run->claims_count; i++) {
		struct claim *claim = &run->claims[i];
		const struct secondary *found =
		        secondaries_find(&list, claim->scenario->name, claim->name);

		claim->has_p = found != NULL;
		claim->p = found ? found->p : 0;
		claim->adjusted_p = found ? found->adjusted : 0;
	}
	secondaries_finish(&list);
	return true;
}

static bool load_run(struct loader *loader, struct err *err)
{
	static const struct part parts[] = {
	        {sql_store_report_run, take_run, false, false},
	        {sql_store_report_scenarios, take_scenario, false, true},
	        {sql_store_report_environment, take_environment, false, false},
	        {sql_store_report_limits, take_limit, true, false},
	        {sql_store_report_params, take_param, true, false},
	        {sql_store_report_arms, take_arm, true, false},
	        {sql_store_report_clusters, take_cluster, false, false},
	        {sql_store_report_settings, take_setting, true, false},
	        {sql_store_report_claims, take_claim, true, true},
	        {sql_store_report_charts, take_chart, true, true},
	        {sql_store_report_chart_claims, take_chart_claim, true, false},
	        {sql_store_report_statements, take_statement, true, false},
	        {sql_store_report_samples, take_sample, true, false},
	        {sql_store_report_incidents, take_incident, true, false},
	};

	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (!each_row(loader, &parts[i], err))
			return false;
		if (!loader->run->status)
			return err_set(err, ERR_USAGE, "%s has no run %lld", loader->store->path,
			               (long long)loader->run->id);
	}
	/* A run to compare with may lack it: its column stays empty. */
	if (*loader->document && loader->run == loader->model->runs &&
	    loader->run->scenarios_count == 0)
		return err_set(err, ERR_USAGE, "run %lld has no document \"%s\"",
		               (long long)loader->run->id, loader->document);
	if (!summaries_hand_over(&loader->summaries) || !link_claims(loader))
		return err_set(err, ERR_SYSTEM, "out of memory");
	return load_secondaries(loader, err);
}

bool model_load(struct store *store, const int64_t *runs, size_t runs_count, const char *document,
                struct model *ret, struct err *err)
{
	struct model model = {.runs_count = runs ? runs_count : 1};
	struct loader loader = {.store = store,
	                        .model = &model,
	                        .document = document ? document : ""};
	int64_t newest = 0;

	arena_init(&model.arena, MODEL_MAX_BYTES);
	if (!runs && !store_newest_run(store, &newest, err))
		return false;
	model.runs = arena_alloc(&model.arena, model.runs_count * sizeof(*model.runs));
	if (!model.runs)
		return err_set(err, ERR_SYSTEM, "out of memory");
	for (size_t i = 0; i < model.runs_count; i++) {
		loader.run = &model.runs[i];
		loader.run->id = runs ? runs[i] : newest;
		summaries_init(&loader.summaries, &model.arena);
		bool ok = load_run(&loader, err);
		summaries_finish(&loader.summaries);
		if (!ok) {
			arena_finish(&model.arena);
			return false;
		}
	}
	*ret = model;
	return true;
}

void model_finish(struct model *model)
{
	arena_finish(&model->arena);
}

const struct claim *run_find_claim(const struct run_row *run, const char *scenario,
                                   const char *claim)
{
	for (size_t i = 0; i < run->claims_count; i++)
		if (!strcmp(run->claims[i].name, claim) &&
		    !strcmp(run->claims[i].scenario->name, scenario))
			return &run->claims[i];
	return NULL;
}

const char *named_find(const struct named_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, name))
			return list->items[i].value;
	return "";
}

bool sql_mentions(const char *sql, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = sql; len && (at = strstr(at, name)); at++)
		if (at > sql && at[-1] == '\'' && at[len] == '\'')
			return true;
	return false;
}
