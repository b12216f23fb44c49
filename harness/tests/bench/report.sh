#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (d) the evidence page: with every chart drawn, with every chart kept from before, and its peak memory over a store
# with a million samples. The first two are the median of five over the newest chapter run in results/keylab.db, or where
# there is none over a quick run of every scenario, which has as many claims and charts. Besides the time on the clock,
# which is what a reader waits and what the goals are about, the time on a processor, which other work does not lengthen.
. "$2/harness/tests/bench/lib.sh"

export KEYLAB_HOME=$scratch/home
mkdir "$KEYLAB_HOME"
chmod 755 "$KEYLAB_HOME"

# Clock and processor time of a page, in microseconds.
render_us() {
	local from TIMEFORMAT='%U %S'
	from=$(now_us)
	{ time "$keylab" report --db "$1" --out "$scratch/report.html" >/dev/null; } 2>"$scratch/cpu"
	awk -v clock=$(($(now_us) - from)) '{ printf "%d %d\n", clock, ($1 + $2) * 1000000 }' "$scratch/cpu"
}

db=$source_root/results/keylab.db
profile=chapter
if [[ $("$keylab" export --format json --db "$db" 2>/dev/null | head -n 3) != *'"profile":"chapter"'* ]]; then
	db=$scratch/bench.db
	profile=quick
	"$keylab" run --profile quick --db "$db" -q >/dev/null || (($? <= 2))
fi
for _ in 1 2 3 4 5; do
	rm -rf "$KEYLAB_HOME/charts"
	render_us "$db" >>"$scratch/drawn"
	render_us "$db" >>"$scratch/kept"
done
printf 'the page of a %s run: %s claims, %s charts, %s kB\n' "$profile" "$(grep -c '<article' "$scratch/report.html")" \
	"$(grep -c '<figure' "$scratch/report.html")" "$(($(wc -c <"$scratch/report.html") / 1024))"
for kind in drawn kept; do
	ms=$(cut -d ' ' -f 1 "$scratch/$kind" | median | awk '{ printf "%.0f", $1 / 1000 }')
	cpu=$(cut -d ' ' -f 2 "$scratch/$kind" | median | awk '{ printf "%.0f", $1 / 1000 }')
	goal=1000
	[[ $kind == drawn ]] || goal=150
	printf 'the page with its charts %s: %s ms, %s ms of a processor (goal under %s: %s)\n' \
		"$kind" "$ms" "$cpu" "$goal" "$(against_goal "$ms" '<' $goal)"
done

if ! command -v sqlite3 >/dev/null; then
	echo 'the page of a million samples: not measured, sqlite3 is not installed'
	exit 0
fi
# A few scenarios' samples over and over (not all: some charts join samples, and pairs of copies are no use to anyone).
"$keylab" run --profile quick --db "$scratch/million.db" -q wal-checkpoints leaf-density text-or-uuid >/dev/null || (($? <= 2))
sqlite3 "$scratch/million.db" "
	with recursive times(i) as (select 1 union all select i + 1 from times where i * (select count(*) from sample) < 1000000)
	insert into sample (step_id, metric, unit, metric_type, value, labels)
	select step_id, metric, unit, metric_type, value, labels from sample, times"
count=$(sqlite3 "$scratch/million.db" 'select count(*) from sample')
"$keylab" report --db "$scratch/million.db" --out "$scratch/report.html" >/dev/null 2>&1 &
pid=$! peak=0
while line=$(grep -s '^VmHWM:' "/proc/$pid/status"); do
	line=${line//[!0-9]/}
	((line <= peak)) || peak=$line
done
wait "$pid"
mib=$(awk -v k="$peak" 'BEGIN { printf "%.1f", k / 1024 }')
printf 'peak memory of the page of %s samples: %s MB (goal under 64: %s)\n' "$count" "$mib" "$(against_goal "$mib" '<' 64)"
