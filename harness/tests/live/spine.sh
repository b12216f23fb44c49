#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# From a scenario file to a page, on a real server: samples, verdicts, verify, a tampered store, wrong stores, a server
# that does not start.
. "$2/harness/tests/lib.sh"

"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL 18' || { skip 'the spine' 'no PostgreSQL 18'; done_testing; exit 77; }

cd "$scratch" || exit 1
mkdir -p spine
cat >spine/small.yaml <<'YAML'
scenario: small
document: spine
title: A load of ordered and of random keys
about: A scenario for the tests, with one claim of each kind of verdict.
cluster: {version: 18, extensions: [pgstattuple, pg_walinspect]}
params:
  rows: {quick: 30k, chapter: 40k}
arms:
  uuidv4: {label: UUIDv4, default: gen_random_uuid()}
  uuidv7: {label: UUIDv7, default: uuidv7()}
steps:
  - each: arm
    do:
      - sql: create table t_${arm} (id uuid primary key default ${default}, n int)
      - checkpoint: true
      - measure: load
        sql: insert into t_${arm} (n) select g from generate_series(1, ${rows}) g
        meters: [statement, lsn, clock]
      - read: shape
        of: t_${arm}_pkey
        meters: [btree, size]
  - sql: insert into t_uuidv7 (id) select id from t_uuidv7 limit 1
    as: twice
    expect: {sqlstate: "23505", constraint: t_uuidv7_pkey}
  - prove: rows-there
    sql: select count(*) from t_uuidv4
claims:
  - id: rows-there
    says: All rows are there.
    type: exact
    holds: "= 30000"
    profiles: [quick]
    scope: the number is that of quick
  - id: meters-agree
    says: Two meters see the same WAL.
    value: |
      select 100.0 * abs(max(value) filter (where metric = 'wal_bytes')
        - sum(value) filter (where metric in ('record_bytes', 'fpi_bytes') and labels = '{}'))
        / max(value) filter (where metric = 'wal_bytes')
      from sample where step = 'load' and arm = 'uuidv7'
    unit: percent
    type: counter
    holds: "< 1"
  - id: all-differ
    says: A second row of one id is refused.
    value: select value from sample where step = 'twice' and metric = 'sqlstate'
    type: exact
    holds: "= 23505"
  - id: too-good
    says: A claim that is not true.
    value: select max(value) from sample where step = 'shape' and metric = 'leaf_density_percent'
    unit: percent
    type: counter
    holds: "> 99"
    expect: REFUTED
    because: it is there to be refuted
limits: [it is for the tests]
YAML

run "$keylab" run --profile quick --quiet --db a.db spine/small.yaml
is "$rc" 0 'a run whose verdicts are all expected ends with 0'
like "$out" '^4 claims: 3 hold, 1 refuted$' 'and counts them'
is "$(sqlite3 a.db "select group_concat(claim || ' ' || verdict, ', ') from claims")" \
	'rows-there HOLDS, meters-agree HOLDS, all-differ HOLDS, too-good REFUTED' 'the view has the verdicts'
is "$(sqlite3 a.db "select status || ' ' || profile || ' ' || (wall_s > 0) || ' ' || (server_s > 0) from runs")" \
	'finished quick 1 1' 'and the run'
is "$(sqlite3 a.db "select count(distinct metric) from samples where step = 'load'")" 14 'every figure of the meters is a sample'
is "$(sqlite3 a.db "select group_concat(value, ' ') from (select value from settings
	where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses') order by name)")" \
	'on on  on' 'durability is on and stored, and there is no TCP port'
is "$(sqlite3 a.db "$(sqlite3 a.db "select sql from claims where claim = 'all-differ'")")" 23505 \
	'a stored claim runs in any SQLite shell'

run "$keylab" verify a.db
is "$rc" 0 'verify derives the same'
cp a.db b.db
sqlite3 b.db "update sample set value = value + 1 where metric = 'wal_bytes' and step_id = (select max(step_id) from sample where metric = 'wal_bytes')"
run "$keylab" verify b.db
is "$rc" 1 'verify sees a changed sample'
like "$out" 'its samples are not those that were recorded' 'and says whose'
cp a.db c.db
sqlite3 c.db "update claim set verdict = 'HOLDS' where claim = 'too-good'"
run "$keylab" verify c.db
is "$rc" 1 'verify sees a changed verdict'
like "$out" 'too-good: stored HOLDS 8[0-9.]*, derived REFUTED' 'and says both'

run "$keylab" report --db a.db --out page.html
is "$rc" 0 'a page is made'
run "$keylab" report --db a.db --out page2.html
ok 'twice the same' cmp page.html page2.html
run env PATH=/nowhere "$keylab" report --db a.db --out plain.html
is "$rc" 0 'without gnuplot as well'

run "$keylab" run --profile chapter --quiet --db a.db spine/small.yaml
is "$rc" 0 'another profile: a claim is out of scope'
is "$(sqlite3 a.db "select verdict || in_scope from claims where run_id = 2 and claim = 'rows-there'")" NOT_RUN0 'neither run nor missing'

run "$keylab" run --profile quick --quiet --set rows=1k --db a.db spine/small.yaml
is "$rc" 1 'a parameter changed by hand refutes'
run "$keylab" run --set rows=1e99 --db new.db spine/small.yaml
is "$rc" 64 'a number that is none: exit 64'
like "$err" 'rows=1e99' 'and it is named'
is "$(sqlite3 new.db 'select count(*) from runs')" 0 'and no run was recorded'

printf 'hello\n' >text.db
run "$keylab" run --db text.db spine/small.yaml
is "$rc" 64 'a file that is no database: exit 64'
is "$(cat text.db)" hello 'and it is left alone'
sqlite3 foreign.db 'create table t (a)'
run "$keylab" run --db foreign.db spine/small.yaml
is "$rc" 64 "another program's database: exit 64"
cp a.db newer.db
sqlite3 newer.db 'pragma user_version = 99'
run "$keylab" report --db newer.db --out newer.html
is "$rc" 64 'a newer store: exit 64'
like "$err" 'made by a newer keylab' 'and it says so'
run "$keylab" report --db absent.db
is "$rc" 64 'no store: exit 64'

run "$keylab" run --pg-bin /nowhere --db new.db spine/small.yaml
is "$rc" 3 'no server programs there: exit 3'
run env PATH=/bin KEYLAB_PINNED= PG_CONFIG=/nowhere "$keylab" run --db new.db spine/small.yaml
is "$rc" 3 'a pg_config that is not there: exit 3'

sed -e 's/^scenario: small/scenario: broken/' -e 's/^cluster: {/cluster: {settings: {shared_buffers: 900TB}, /' \
	spine/small.yaml >spine/broken.yaml
run "$keylab" run --profile quick --db broken.db spine/broken.yaml
is "$rc" 3 'a server that does not start: exit 3'
like "$err" 'invalid value for parameter "shared_buffers"' "and the end of its log is shown"
run "$keylab" clean --db broken.db
is "$rc" 0 'clean removes what was kept'

sed -e 's/^scenario: small/scenario: failing/' -e 's/create table t_/creat table t_/' spine/small.yaml >spine/failing.yaml
run "$keylab" run --profile quick --quiet --db both.db spine/failing.yaml spine/small.yaml
is "$rc" 1 'a scenario that fails in the server'
is "$(sqlite3 both.db "select group_concat(status, ' ') from (select status from scenario order by position)")" 'error done' \
	'ends as an error, and the next one runs'
like "$(sqlite3 both.db "select reason from scenario where scenario = 'failing'")" 'failing.yaml:[0-9]+:[0-9]+: SQLSTATE 42601' \
	'with place and SQLSTATE'
"$keylab" clean --db both.db >/dev/null

# Side by side or one after the other: the counters are the same.
sed 's/^scenario: small/scenario: second/' spine/small.yaml >spine/second.yaml
run "$keylab" run --profile quick --quiet --jobs 1 --db jobs.db spine/small.yaml spine/second.yaml
run "$keylab" run --profile quick --quiet --jobs 2 --db jobs.db spine/small.yaml spine/second.yaml
is "$(sqlite3 jobs.db "select count(*) from (
		select scenario, arm, step, metric, value from samples
		where run_id = 1 and arm = 'uuidv7' and metric in ('wal_records', 'wal_fpi', 'wal_bytes', 'leaf_pages', 'relation_bytes')
		except
		select scenario, arm, step, metric, value from samples where run_id = 2)")" 0 \
	'scenarios side by side have the same counters as one after the other'

# One that takes long does not wait for its turn.
sed -e 's/^scenario: small/scenario: long/' -e 's/^cluster:/early: true\ncluster:/' spine/small.yaml >spine/long.yaml
run "$keylab" run --profile quick --quiet --jobs 2 --db early.db spine/small.yaml spine/second.yaml spine/long.yaml
like "$(sqlite3 early.db "select count(*) from scenario
	where started_us < (select started_us from scenario where scenario = 'long')")" '^[01]$' 'an early scenario is among the first two'
done_testing
