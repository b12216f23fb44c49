#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Document id-service on a real server: twice in a row with every verdict as expected and nothing left behind, then
# a keylab killed with -9 among its workers: the store can be read, and after `clean` there is no process and no
# folder.
. "$2/harness/tests/lib.sh"

chmod 755 "$scratch"
export KEYLAB_HOME=$scratch/home KEYLAB_SCENARIOS=$source_root/scenarios
db=$scratch/runs.db

# Workers of this very program.
workers() {
	local line
	grep -slz '^/proc/self/exe$' /proc/[0-9]*/cmdline 2>/dev/null | while read -r line; do
		[[ $(readlink "${line%/cmdline}/exe" 2>/dev/null) != "$keylab" ]] || printf '%s ' "$line"
	done
}

# They, and what has the test's folder on its command line. The bracket keeps grep from finding itself.
left_behind() {
	workers
	grep -sl -- "[/]${scratch#/}" /proc/[0-9]*/cmdline 2>/dev/null | tr '\n' ' '
}

clusters() {
	find "$KEYLAB_HOME/clusters" -mindepth 1 -maxdepth 1 -type d | wc -l
}

# wait_until SECONDS CMD...
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < deadline)) || return 1
		read -r -t 0.05 _ < <(:) || true
	done
}

sql() {
	sqlite3 -readonly "$db" "$1"
}

run "$keylab" run --profile quick --quiet --db "$db" sequence
((rc != 3)) || skip_all "no server: $err"

for round in first second; do
	run "$keylab" run --profile quick --quiet --db "$db" id-service
	is "$rc" 0 "the $round run: every verdict is the expected one"
	((rc == 0)) || diag "$out" "$(sql "select claim, verdict, value, reason from claims where verdict <> expected")"
	is "$(left_behind)" '' "the $round run leaves no process"
	is "$(clusters)" 0 "the $round run leaves no cluster"
done
is "$(sql "select count(*) from (select sum(value * iif(metric = 'attempted', 1, -1)) as rest from samples
	where metric in ('attempted', 'issued', 'refused', 'cut_off') and json_extract(labels, '$.process') is not null
	group by step_id, labels having rest <> 0)")" 0 'attempted = issued + refused + cut off, of every worker'
is "$(sql "select min(value) || ' ' || max(value) from samples where step = 'A' and metric = 'exit_code'")" '137 137' \
	'the killed worker was killed'

run "$keylab" report --db "$db" --out "$scratch/page.html"
is "$rc" 0 'the page is rendered'
like "$(<"$scratch/page.html")" 'serves its memory, then errors <a href="#[^"]*segment-outage"' 'with the table of the schemes, whose cells link to claims'

# A keylab that dies among its workers.
has_workers() {
	[[ -n $(workers) ]]
}
"$keylab" run --profile quick --quiet --db "$db" --set trials=30 segment-outage >/dev/null 2>&1 &
victim=$!
ok 'workers run' wait_until 60 has_workers
kill -9 "$victim"
wait "$victim" 2>/dev/null
nothing_left() {
	[[ -z $(left_behind) ]]
}
ok 'killed with -9, it takes its workers and its server along' wait_until 30 nothing_left
is "$(sql 'pragma integrity_check')" ok 'the store can be read'
run "$keylab" clean
is "$rc" 0 'clean'
is "$(left_behind)" '' 'no process is left'
is "$(clusters)" 0 'no folder is left'
run "$keylab" run --profile quick --quiet --db "$db" sequence
is "$(sql "select count(*) from runs where status = 'interrupted'")" 1 'the next run marks the killed one as interrupted'

done_testing
