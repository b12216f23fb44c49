#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (b) wal-checkpoints at the profile quick, run by keylab, against the same statements sent by psql to an equal cluster:
# first those that keylab sends, the meters' among them, which leaves what keylab itself takes; then the scenario's
# alone, which adds what its two meters of WAL take. All sides include making the cluster and stopping it.
. "$2/harness/tests/bench/lib.sh"

rounds=${KEYLAB_BENCH_ROUNDS:-5}
scenario=wal-checkpoints
probes=$source_root/sql/probe

# The statements, from the plan itself: what is repeated stands at the end of this scenario, as one group.
"$keylab" plan --json --profile quick "$scenario" >"$scratch/plan.json"
ask_plan() {
	sqlite3 -readonly :memory: "
		create temp table step as
			select key as place, value ->> '\$.verb' as verb, value ->> '\$.sql' as sql, value ->> '\$.times' as times,
				value ->> '\$.meters' as meters
			from json_each(readfile('$scratch/plan.json'), '\$.steps') where verb in ('sql', 'measure', 'checkpoint');
		$1"
}
[[ $(ask_plan "
	select (select max(place) from step where times = 1) < (select min(place) from step where times > 1)
		and (select count(distinct times) from step where times > 1) = 1
		and (select group_concat(distinct meters) from step where verb = 'measure') = '[\"statement\",\"lsn\"]'") == 1 ]] ||
	{ echo "the plan of $scenario has another shape now" >&2; exit 1; }

# A meter's query for psql: its parameters are the two positions, in variables.
probe() {
	sed -e "s/\$1/:'from_position'/g" -e "s/\$2/:'to_position'/g" "$probes/$1.sql"
}
# The insert position, kept in a variable.
position() {
	printf '%s as %s \\gset\n' "$(grep -v '^--' "$probes/insert-position.sql")" "$1"
}
{
	position from_position
	echo '@'
	position to_position
	printf "%s;\n%s;\n%s;\n" "$(probe wal-flushed | sed "s/:'from_position'/:'to_position'/")" "$(probe wal-distance)" "$(probe wal-range)"
} >"$scratch/meters"

# statements BEFORE WRAP AFTER: texts around each measured statement.
statements() {
	ask_plan "
		with recursive round (n) as (select 1 union all select n + 1 from round where n < (select max(times) from step))
		select case verb when 'checkpoint' then 'checkpoint;'
			when 'measure' then '$1' || '$2' || rtrim(sql, char(10) || ' ;') || ';' || '$3'
			else rtrim(sql, char(10) || ' ;') || ';' end
		from step join round on n <= times
		order by times > 1, n, place"
}
quoted() {
	sed "s/'/''/g"
}
statements "$(sed '/^@$/,$d' "$scratch/meters" | quoted)
" 'explain (analyze, wal, buffers, timing off, format json) ' "
$(sed '1,/^@$/d' "$scratch/meters" | quoted)" >"$scratch/all.sql"
statements '' '' '' >"$scratch/plain.sql"

# by_keylab OPTION...
by_keylab() {
	local begun
	rm -f "$scratch/bench.db"*
	begun=$(now_us)
	"$keylab" run "$@" --profile quick --db "$scratch/bench.db" -q "$scenario" >"$scratch/out" 2>&1 ||
		(($? <= 2)) || { cat "$scratch/out" >&2; return 1; }
	echo $(($(now_us) - begun))
}

# by_psql FILE
by_psql() {
	local begun
	begun=$(now_us)
	# shellcheck disable=SC2016
	"$keylab" cluster --pg-bin "$pg_bin" psql -Xq -v ON_ERROR_STOP=1 -c 'create extension pg_walinspect' -f "$1" >"$scratch/out" 2>&1 ||
		{ cat "$scratch/out" >&2; return 1; }
	echo $(($(now_us) - begun))
}

by_keylab >/dev/null
pg_bin=$(sqlite3 -readonly "$scratch/bench.db" 'select bin_dir from cluster') # the server that the scenario took
by_psql "$scratch/all.sql" >/dev/null # the template, and warm files, are there for all
for ((i = 0; i < rounds; i++)); do
	by_keylab --pg-bin "$pg_bin" >>"$scratch/keylab"
	by_psql "$scratch/all.sql" >>"$scratch/all"
	by_psql "$scratch/plain.sql" >>"$scratch/plain"
done

median_of() {
	median <"$scratch/$1"
}
ratio=$(awk -v a="$(median_of keylab)" -v b="$(median_of all)" 'BEGIN { printf "%.3f", a / b }')
printf 'overhead: %s by keylab takes %s times what psql takes for the same statements (goal 1.03: %s)\n' \
	"$scenario" "$ratio" "$(against_goal "$ratio" '<' 1.03)"
awk -v a="$(median_of all)" -v b="$(median_of plain)" -v n="$(grep -c '^explain' "$scratch/all.sql")" 'BEGIN {
	printf "  measuring %d statements by two meters takes psql %.3f times what the statements alone take\n", n, a / b }'
for side in keylab all plain; do
	printf '  %s %.0f ms (%s)\n' "$side" "$(awk -v t="$(median_of "$side")" 'BEGIN { print t / 1000 }')" "$(range <"$scratch/$side")"
done
printf '  medians of %d, in turn; all: with the meters'\'' statements, plain: without\n' "$rounds"
