#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# What docs/scenarios.md says of steps. Every verb that asks the server something ends at its step's deadline and says
# who blocks it; a COPY to the client, which nobody reads, ends as an error; errors of a read are outcomes where they are
# allowed; a measure is of one statement; a record keeps its digits.
. "$2/harness/tests/lib.sh"

"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || { skip 'steps' 'no PostgreSQL'; done_testing; exit 77; }

mkdir "$scratch/steps" && cd "$scratch/steps" || exit 1

# ends NAME STEPS: runs these steps; they end by themselves, long before the timeout.
ends() {
	printf 'scenario: %s\ndocument: steps\ntitle: A step that does not end by itself\nabout: For the tests.\n' "$1" >"$1.yaml"
	printf 'cluster: {version: 15, extensions: [pgstattuple, pg_walinspect]}\nsteps:\n%s\n' "$2" >>"$1.yaml"
	cat >>"$1.yaml" <<-'YAML'
	claims:
	  - id: behind
	    says: The step behind ran.
	    value: select value from sample where step = 'behind'
	    type: exact
	    holds: "= 1"
	limits: [A test.]
	YAML
	run timeout 60 "$keylab" run -q --db "$1.db" "$1.yaml"
	# What stopped it, or nothing when the step behind ran.
	why=$(sqlite3 "$1.db" "select reason from scenario; select outcome || ' ' || sqlstate || ' ' || message from step where outcome not in ('ok', 'expected')")
}
behind='  - probe: behind
    sql: select 1 as done'
locked='  - sql: create table t (id int primary key)
  - session: other
    sql: begin; lock table t in access exclusive mode'

ends waits "$locked
  - wait: select exists (select from t)
    deadline: 1s
$behind"
is "$rc" 1 "wait behind a lock: $err"
like "$why" 'blocked 57014 still running at its deadline; .*AccessExclusiveLock' 'wait: with who holds what'

ends reads "  - sql: create table t (id int primary key)
  - session: other
    sql: begin; drop table t
  - read: shape
    of: t_pkey
    meters: [btree]
    deadline: 1s
$behind"
is "$rc" 1 "read behind a lock: $err"
like "$why" 'blocked 57014 still running at its deadline' 'read: at its deadline'

ends missing "  - read: shape
    of: nothing_there
    meters: [size]
    allow: errors
$behind"
is "$rc" 0 "read of what is not there, allowed: $out $err $why"
like "$why" 'error 42P01' 'read: and it is an outcome'

ends wrong "  - wait: select 1 / 0 = 1
$behind"
is "$rc" 1 'a condition that fails does not wait for its deadline'
like "$why" 'error 22012 division by zero' 'wait: with the error of the server'

ends copies "  - sql: copy (select repeat('x', 1000) from generate_series(1, 20000)) to stdout
    allow: errors
$behind"
is "$rc" 0 "copy to the client: the next step runs on the same connection: $out $err $why"
like "$why" 'error 0A000 COPY from or to the client is not possible here' 'copy: and says so'

ends copies_on "  - sql: copy (select pg_sleep(0.01) from generate_series(1, 100000)) to stdout
    deadline: 1s
$behind"
is "$rc" 1 "copy to the client, and on and on: $err"
like "$why" 'blocked 57014 still running at its deadline' 'copy: ends at its deadline'

ends starts "  - sql: alter system set shared_preload_libraries = 'not_there'
  - restart: fast
    deadline: 20s
$behind"
is "$rc" 1 "a server that does not start again: $err"
like "$why" 'not_there' 'restart: and what it said'

ends several "  - measure: two
    sql: select 1; select 2
    meters: [clock]
$behind"
is "$rc" 1 "a measure of two statements: $err"
like "$why" 'several.yaml:7:5: `measure` takes one statement and has 2' 'measure: and says where'

ends silent "  - measure: nothing
    sql: select count(*) from pg_class
    meters: [lsn]
$behind"
is "$rc" 0 "the lsn meter of a statement that writes nothing: $out $err $why"
is "$(sqlite3 silent.db "select group_concat(metric || '=' || value, ' ') from (select metric, value from samples where step = 'nothing' order by metric)")" \
	'fpi_bytes=0 lsn_bytes=0 record_bytes=0 record_count=0' 'lsn: it reads nothing'

ends digits "  - sql: |
      select lab.record('big_ids', 12345678901234567890);
      select lab.record('some_ratio', 0.25, '{\"k\": 1}');
      select lab.record('text_ids', '007'::text)
$behind"
is "$rc" 0 "records: $out $err $why"
is "$(sqlite3 digits.db "select metric || ' ' || typeof(value) || ' ' || value || ' ' || labels from samples where step <> 'behind' order by 1")" \
	'big_ids text 12345678901234567890 {}
some_ratio real 0.25 {"k":1}
text_ids text 007 {}' 'records: with digits, types and labels'

# Asked to stop while a verdict is derived: the run is interrupted, and what was measured stays.
sed -e 's/scenario: silent/scenario: slow/' -e '/meters: \[lsn\]/d' -e 's/measure: nothing/probe: nothing/' \
	-e "s/value: select value .*/value: with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500000) select count(*) from n/" \
	silent.yaml >slow.yaml
"$keylab" run -q --db slow.db slow.yaml >/dev/null 2>&1 &
pid=$!
deadline=$((SECONDS + 60))
until [[ $(sqlite3 slow.db "select count(*) from samples where step = 'behind'" 2>/dev/null) == 1 ]] || ((SECONDS > deadline)); do :; done
kill -TERM "$pid"
rc=0
wait "$pid" || rc=$?
# On a fast machine the verdict may be there first.
if ((rc == 0)); then
	is "$(sqlite3 slow.db "select status || ' ' || (select status from scenario) from runs")" 'finished done' 'a verdict that was there before the signal'
else
	is "$rc $(sqlite3 slow.db "select status || ' ' || (select status from scenario) || ' ' || (select verdict from claims) from runs")" \
		'130 interrupted interrupted NOT_RUN' 'a signal while a verdict is derived interrupts the run'
fi
run "$keylab" verify slow.db
is "$rc" 0 "and it verifies: $out"

run "$keylab" verify digits.db
is "$rc" 0 "what is sealed verifies: $out"
sqlite3 digits.db "update sample set value = 0.5 where metric = 'some_ratio'; update scenario set samples_sha256 = null"
run "$keylab" verify digits.db
is "$rc" 1 'a scenario that is done and has no seal does not'
like "$out" 'digits: the digest of its samples is gone' 'verify: and says so'
done_testing
