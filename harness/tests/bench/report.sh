#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (d) the evidence page: with every chart drawn, with every chart kept from before, and its peak memory over a store
# with a million samples. The first two are the median of five over the store of a quick run.
. "$2/harness/tests/bench/lib.sh"

export KEYLAB_HOME=$scratch/home
mkdir "$KEYLAB_HOME"
chmod 755 "$KEYLAB_HOME"

render_us() {
	local from
	from=$(now_us)
	"$keylab" report --db "$1" --out "$scratch/report.html" >/dev/null
	echo $(($(now_us) - from))
}

"$keylab" run --profile quick --db "$scratch/bench.db" -q wal-checkpoints leaf-density text-or-uuid >/dev/null || (($? <= 2))
for _ in 1 2 3 4 5; do
	rm -rf "$KEYLAB_HOME/charts"
	render_us "$scratch/bench.db" >>"$scratch/drawn"
	render_us "$scratch/bench.db" >>"$scratch/kept"
done
for kind in drawn kept; do
	ms=$(median <"$scratch/$kind" | awk '{ printf "%.0f", $1 / 1000 }')
	goal=1000
	[[ $kind == drawn ]] || goal=150
	printf 'the page with its charts %s: %s ms (goal under %s: %s)\n' "$kind" "$ms" "$goal" "$(against_goal "$ms" '<' $goal)"
done

if ! command -v sqlite3 >/dev/null; then
	echo 'the page of a million samples: not measured, sqlite3 is not installed'
	exit 0
fi
# The samples of the first run's steps, over and over.
sqlite3 "$scratch/bench.db" "
	with recursive times(i) as (select 1 union all select i + 1 from times where i * (select count(*) from sample) < 1000000)
	insert into sample (step_id, metric, unit, metric_type, value, labels)
	select step_id, metric, unit, metric_type, value, labels from sample, times"
count=$(sqlite3 "$scratch/bench.db" 'select count(*) from sample')
"$keylab" report --db "$scratch/bench.db" --out "$scratch/report.html" >/dev/null 2>&1 &
pid=$! peak=0
while line=$(grep -s '^VmHWM:' "/proc/$pid/status"); do
	line=${line//[!0-9]/}
	((line <= peak)) || peak=$line
done
wait "$pid"
mib=$(awk -v k="$peak" 'BEGIN { printf "%.1f", k / 1024 }')
printf 'peak memory of the page of %s samples: %s MB (goal under 64: %s)\n' "$count" "$mib" "$(against_goal "$mib" '<' 64)"
