/* SPDX-License-Identifier: PostgreSQL */
/*
 * The gate against faults that are known to be there: a gate that stays green
 * on one of them would stay green on a real one.
 */
#include <stdio.h>
#include <string.h>

#include "evidence/gate.h"

#define CLAIMS 6

static struct fact_value integer(int64_t value, const char *text)
{
	return (struct fact_value){FACT_INTEGER, value, (double)value, text};
}

static struct fact_value real(double value, const char *text)
{
	return (struct fact_value){FACT_REAL, (int64_t)value, value, text};
}

static struct claim_fact claim(const char *name, const char *type, const char *unit,
                               const char *predicate, struct fact_value value)
{
	return (struct claim_fact){
	        .document = "self-test",
	        .scenario = "planted",
	        .name = name,
	        .sentence = name,
	        .source = "",
	        .published = "",
	        .unit = unit,
	        .predicate = predicate,
	        .sql = "",
	        .metric_type = type,
	        .published_value = {.text = ""},
	        .value = value,
	        .low = value,
	        .high = value,
	        .n = 1,
	        .in_scope = true,
	        .scope = "",
	        .because = "",
	        .reason = "",
	        .verdict = VERDICT_HOLDS,
	        .expected = VERDICT_HOLDS,
	        .path = "",
	};
}

enum { EXACT, WORDS, COUNTER, FALLING, EVENT, TIMING };

static void make_run(struct facts *facts, struct claim_fact claims[CLAIMS])
{
	claims[EXACT] = claim("exact", "exact", "rows", "= 1000", integer(1000, "1000"));
	claims[WORDS] = claim("words", "exact", "", "= 23505",
	                      (struct fact_value){FACT_TEXT, 0, 0, "23505"});
	claims[COUNTER] =
	        claim("counter", "counter", "bytes", "< 20 MB", integer(10000000, "10000000"));
	claims[FALLING] = claim("counter-down", "counter", "percent", "> 50", real(90.5, "90.5"));
	claims[EVENT] = claim("invariant", "event", "ids", "= 0", integer(0, "0"));
	claims[TIMING] = claim("timing", "timing", "ratio", "< 4", real(2, "2"));
	claims[TIMING].low = real(1.9, "1.9");
	claims[TIMING].high = real(2.1, "2.1");
	claims[TIMING].n = 10;
	*facts = (struct facts){
	        .run_id = 1,
	        .started_at = "2026-01-01T00:00:00Z",
	        .finished_at = "2026-01-01T00:01:00Z",
	        .status = "finished",
	        .profile = "quick",
	        .kind = "run",
	        .seed = "1",
	        .keylab_version = "",
	        .keylab_commit = "",
	        .version_num = 180000,
	        .one_version = true,
	        .version = "",
	        .server_sha256 = "",
	        .set_by_hand = "[]",
	        .fingerprint = "0123456789ab",
	        .claims = claims,
	        .claims_count = CLAIMS,
	};
}

/* ---- the faults ---- */

static void plant_exact(struct facts *facts)
{
	facts->claims[EXACT].value = integer(1001, "1001");
}

static void plant_words(struct facts *facts)
{
	facts->claims[WORDS].value.text = "40P01";
}

static void plant_counter(struct facts *facts)
{
	facts->claims[COUNTER].value = integer(10600000, "10600000");
}

static void plant_falling(struct facts *facts)
{
	facts->claims[FALLING].value = real(84, "84");
}

static void plant_event(struct facts *facts)
{
	facts->claims[EVENT].value = integer(1, "1");
	facts->claims[EVENT].verdict = VERDICT_REFUTED;
}

static void plant_timing(struct facts *facts)
{
	facts->claims[TIMING].value = real(2.7, "2.7");
	facts->claims[TIMING].low = real(2.6, "2.6");
	facts->claims[TIMING].high = real(2.8, "2.8");
}

static void plant_verdict(struct facts *facts)
{
	facts->claims[COUNTER].verdict = VERDICT_REFUTED;
}

static void plant_error(struct facts *facts)
{
	facts->claims[COUNTER].verdict = VERDICT_ERROR;
}

static void plant_type(struct facts *facts)
{
	facts->claims[COUNTER].metric_type = "timing";
}

static void plant_missing(struct facts *facts)
{
	facts->claims_count--;
}

static void plant_not_run(struct facts *facts)
{
	facts->claims[EXACT].value = (struct fact_value){.text = ""};
	facts->claims[EXACT].verdict = VERDICT_NOT_RUN;
}

static void plant_empty(struct facts *facts)
{
	facts->claims_count = 0;
}

/* These must stay green. */
static void plant_nothing(struct facts *facts)
{
	(void)facts;
}

static void plant_small(struct facts *facts)
{
	facts->claims[COUNTER].value = integer(10400000, "10400000");
	facts->claims[FALLING].value = real(87, "87");
}

static void plant_overlap(struct facts *facts)
{
	facts->claims[TIMING].value = real(2.7, "2.7");
	facts->claims[TIMING].low = real(2, "2");
	facts->claims[TIMING].high = real(3.4, "3.4");
}

static void plant_elsewhere(struct facts *facts)
{
	plant_timing(facts);
	memcpy(facts->fingerprint, "ba9876543210", sizeof(facts->fingerprint));
}

static void plant_better(struct facts *facts)
{
	facts->claims[COUNTER].value = integer(5000000, "5000000");
}

static const struct plant {
	const char *what;
	void (*plant)(struct facts *facts);
	int code; /* that the gate must give */
} plants[] = {
        {"the same run", plant_nothing, 0},
        {"a counter within its tolerance", plant_small, 0},
        {"a timing whose interval overlaps", plant_overlap, 0},
        {"a slower timing on another machine (a warning)", plant_elsewhere, 0},
        {"a counter that became better", plant_better, 0},
        {"an exact figure off by one", plant_exact, 1},
        {"another word", plant_words, 1},
        {"a counter 6 % up", plant_counter, 1},
        {"a counter 7 % down where down is worse", plant_falling, 1},
        {"one violation of an invariant", plant_event, 1},
        {"a timing 35 % slower", plant_timing, 1},
        {"a verdict that turned at the same value", plant_verdict, 1},
        {"a claim that ended in an error", plant_error, 1},
        {"a claim whose type changed", plant_type, 1},
        {"a claim that is gone", plant_missing, 2},
        {"a claim that did not run", plant_not_run, 2},
        {"an empty run", plant_empty, 2},
};

/* Faults of the file itself: the first `find` becomes `put`. */
static const struct damage {
	const char *what, *find, *put;
	bool timings; /* of the file of timings */
} damages[] = {
        {"a file that is cut off", "\"profile\"", NULL, false},
        {"a value in quotes where a number was typed wrong", "\"rel_tol\": 0.05",
         "\"rel_tol\": \"0.05\"", false},
        {"no tolerance, and nobody said why", "\"rel_tol\": 0.05", "\"rel_tol\": null", false},
        {"a tolerance of 500 %", "\"rel_tol\": 0.05", "\"rel_tol\": 5.0", false},
        {"a key that nobody reads", "\"abs_floor\"", "\"abs_flor\"", false},
        {"an unknown type", "\"type\": \"exact\"", "\"type\": \"exakt\"", false},
        {"an unknown direction", "\"direction\": \"up\"", "\"direction\": \"upp\"", false},
        {"another format's version", "\"version\": 1", "\"version\": 99", false},
        {"a metric twice", "\"self-test/planted/counter\":", "\"self-test/planted/exact\":", false},
        {"no metrics", "\"metrics\": {", "\"metrics\": {}, \"x\": {", false},
        {"no reason", "\"reason\": \"self-test\"", "\"reason\": \"\"", false},
        {"a timing's tolerance below the noise", "\"noise\": null", "\"noise\": 0.3", true},
};

static bool baseline_of(const struct facts *facts, bool timings, struct buf *text,
                        struct baseline *ret, struct err *err)
{
	struct baseline made;

	if (!baseline_accept(NULL, facts, timings, "self-test", NULL, &made, err))
		return false;
	bool ok = baseline_print(&made, text, err) &&
	          baseline_parse("self-test", text->data, ret, err);
	baseline_finish(&made);
	return ok;
}

static bool try_plant(const struct plant *plant, const struct baseline *const baselines[2],
                      int *ret_code, struct err *err)
{
	static const struct gate_filter all;
	struct claim_fact claims[CLAIMS];
	struct facts facts;
	struct gate gate;

	make_run(&facts, claims);
	plant->plant(&facts);
	gate_init(&gate);
	bool ok = gate_compare(&gate, baselines[0], &facts, &all, err) &&
	          gate_compare(&gate, baselines[1], &facts, &all, err) &&
	          gate_add_new(&gate, baselines, 2, &facts, &all, err);
	*ret_code = gate_exit_code(&gate);
	gate_finish(&gate);
	return ok;
}

static void say(struct buf *ret, bool *all_well, bool well, const char *what, const char *colour)
{
	buf_printf(ret, "%s  %-5s  %s\n", well ? "ok   " : "BLIND", colour, what);
	*all_well = *all_well && well;
}

static bool try_damages(const char *any, const char *timings, struct buf *ret, bool *all_well,
                        struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(damages); i++) {
		const char *text = damages[i].timings ? timings : any;
		const char *at = strstr(text, damages[i].find);
		struct baseline read;
		CLEANUP(buf_finish) struct buf broken;

		buf_init(&broken, 0);
		if (!at)
			return err_set(err, ERR_INTERNAL, "the self-test cannot plant %s",
			               damages[i].what);
		buf_add_len(&broken, text, (size_t)(at - text));
		if (damages[i].put)
			buf_printf(&broken, "%s%s", damages[i].put, at + strlen(damages[i].find));
		if (!buf_ok(&broken, err))
			return false;
		bool red = !baseline_parse("self-test", broken.data, &read, NULL);
		if (!red)
			baseline_finish(&read);
		say(ret, all_well, red, damages[i].what, red ? "red" : "green");
	}
	return true;
}

bool gate_self_test(struct buf *ret, bool *ret_ok, struct err *err)
{
	struct claim_fact claims[CLAIMS];
	struct facts facts;
	CLEANUP(baseline_finish) struct baseline any = {0};
	CLEANUP(baseline_finish) struct baseline timings = {0};
	CLEANUP(buf_finish) struct buf any_text;
	CLEANUP(buf_finish) struct buf timings_text;
	bool all_well = true;

	buf_init(&any_text, 0);
	buf_init(&timings_text, 0);
	make_run(&facts, claims);
	if (!baseline_of(&facts, false, &any_text, &any, err) ||
	    !baseline_of(&facts, true, &timings_text, &timings, err))
		return false;
	const struct baseline *const baselines[2] = {&any, &timings};
	for (size_t i = 0; i < COUNT_OF(plants); i++) {
		int code;

		if (!try_plant(&plants[i], baselines, &code, err))
			return false;
		say(ret, &all_well, code == plants[i].code, plants[i].what, code ? "red" : "green");
	}
	if (!try_damages(any_text.data, timings_text.data, ret, &all_well, err))
		return false;
	*ret_ok = all_well;
	return buf_ok(ret, err);
}
