#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Two builds side by side, arms in blocks, and the gate over what came out. The two builds are the same server, so that one
# is enough for the test.
. "$2/harness/tests/lib.sh"
cd "$source_root" || exit 1

bin=$("$keylab" doctor 2>&1 | grep -oE '/[^ ]*/bin' | while read -r dir; do [[ -x $dir/initdb && -x $dir/postgres ]] && { echo "$dir"; break; }; done)
[[ -n $bin ]] || skip_all 'no PostgreSQL server programs'
db=$scratch/builds.db

run "$keylab" run --pg-bin "new=$bin" --pg-bin "old=$bin" --profile quick --set blocks=2 --set rows=2k --set more=500 --seed 9 \
	--db "$db" scenarios/ours/insert-time.yaml
is "$rc" 0 "two builds: every claim holds ${err##*$'\n'}"
is "$(sqlite3 "$db" 'select group_concat(status) from runs')" finished,finished 'two builds: a run each'
is "$(sqlite3 "$db" "select group_concat(value) from (select value from environment where name = 'build' order by run_id)")" new,old \
	'two builds: each knows its name'
like "$out" 'build: new \| old' 'two builds: compared, what differs first'
like "$out" 'insert-time/insert-time-rows, rows +0 HOLDS +0 \(same\)' 'two builds: then the claims'
run "$keylab" verify "$db"
is "$rc" 0 'two builds: verified'

# --- blocks

is "$(sqlite3 "$db" "select count(*) from clusters where run_id = 1")" 6 'blocks: a fresh cluster for each arm of each block'
order() {
	sqlite3 "$db" "select group_concat(arm) from (select arm from samples where run_id = $1 and step = 'cold' and metric = 'elapsed_ns'
		order by rep, cast(labels ->> '\$.position' as int))"
}
is "$(order 1)" "$(order 2)" 'blocks: the same seed, the same order'
is "$(sqlite3 "$db" "select count(*) from (select rep, count(distinct arm) as arms from samples where run_id = 1 and step = 'cold'
	and metric = 'elapsed_ns' group by rep) where arms = 3")" 2 'blocks: each has every arm once'
unlike "$(order 1)" '^(bigint,uuidv4,uuidv7,?)+$' 'blocks: not in the written order'

# --- a ratio of medians over blocks, derived from the stored samples

sqlite3 "$db" "update claim set metric_type = 'timing', predicate = '> 0', in_scope = 1, expected = 'HOLDS',
	unit = 'ratio', sql = replace(sql, 'select value - 2000 - 2 * 500 from sample where step = ''loaded'' and metric = ''row_count''',
	'select a.value as numerator, b.value as denominator from sample a join sample b using (step, metric, rep)
	where step = ''cold'' and metric = ''elapsed_ns'' and a.arm = ''uuidv4'' and b.arm = ''bigint''') where claim = 'insert-time-rows'"
run "$keylab" verify "$db"
like "$out" 'derived INCONCLUSIVE [0-9.]+' 'ratio: two blocks are insufficient'

# --- faults

run "$keylab" run --pg-bin "a=$bin" --pg-bin "a=$bin" --db "$db" natural-keys
is "$rc" 64 'two servers of one name: usage'
run "$keylab" run --pg 9 --db "$db" natural-keys
is "$rc" 64 'a version that is too old: usage'
run "$keylab" run --pg 77 --db "$db" natural-keys
is "$rc" 3 'a version that is not here: the environment'
like "$err" './run.sh fetch 77' 'and how to get it'
done_testing
