#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# keylab aa: its exit code says whether anything was measured, and why not.
. "$2/harness/tests/lib.sh"

"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || skip_all 'no PostgreSQL server'
cd "$scratch" || exit 1
chmod 711 "$scratch"
export KEYLAB_HOME=$scratch/home

# scenario NAME CLUSTER STEP BLOCKS
scenario() {
	mkdir -p noise
	cat >"noise/$1.yaml" <<-END
		scenario: $1
		document: noise
		title: $1
		about: Of a test.
		cluster: {$2}
		arms:
		  a: {label: A, rows: "1000"}
		  b: {label: B, rows: "2000"}
		steps:
		  - repeat: $4
		    do:
		      - each: arm
		        do:
		          - measure: load
		            sql: $3
		            meters: [clock]
		claims:
		  - id: $1-slower
		    says: More rows take longer.
		    value: |
		      select a.value as numerator, b.value as denominator from sample a join sample b using (step, metric, rep)
		      where step = 'load' and metric = 'elapsed_ns' and a.arm = 'b' and b.arm = 'a'
		    type: timing
		    unit: ratio
		    holds: "> 0"
		limits: [It measures nothing.]
	END
}
scenario few '' 'select count(*) from generate_series(1, ${rows})' 1
scenario many '' 'select count(*) from generate_series(1, ${rows})' 8
scenario waits '' 'select pg_sleep(600)' 8
scenario broken 'settings: {shared_buffers: 900TB}' 'select 1' 8

run "$keylab" aa --quiet --db aa.db noise/many.yaml
is "$rc" 0 "measured: exit 0 $err"
like "$out" '^many/many-slower: .*is noise' 'and the least effect'
run "$keylab" aa --quiet --db aa.db noise/few.yaml
is "$rc:$out" '2:no timing claim has an interval; six blocks are needed' 'one block: exit 2'
run "$keylab" aa --quiet --db aa.db noise/broken.yaml
is "$rc:$out" '3:no timing claim has an interval: 1 scenarios ended as an error' 'a server that does not start: exit 3'

"$keylab" aa --quiet --db waits.db noise/waits.yaml >"$scratch/waits.out" 2>"$scratch/waits.err" </dev/null &
pid=$!
until=$((SECONDS + 120))
while [[ $(sqlite3 waits.db 'select count(*) from cluster' 2>/dev/null) != 1 ]] && kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do
	sleep 0.05
done
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
is "$rc:$(<"$scratch/waits.out")" '130:no timing claim has an interval: the run was interrupted' 'interrupted: exit 130'
"$keylab" clean --db waits.db >/dev/null
done_testing
