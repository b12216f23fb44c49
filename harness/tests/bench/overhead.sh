#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (b) wal-checkpoints at the profile quick, run by keylab with all its meters and its store, against the same
# statements sent by psql to an equal cluster. Both include making the cluster and stopping it.
. "$2/harness/tests/bench/lib.sh"

rounds=${KEYLAB_BENCH_ROUNDS:-5}
scenario=wal-checkpoints

# The statements, from the plan itself: what is repeated stands at the end of this scenario, as one group.
"$keylab" plan --json --profile quick "$scenario" >"$scratch/plan.json"
sqlite3 -readonly :memory: "
	create temp table step as
		select key as place, value ->> '\$.verb' as verb, value ->> '\$.sql' as sql, value ->> '\$.times' as times
		from json_each(readfile('$scratch/plan.json'), '\$.steps') where verb in ('sql', 'measure', 'checkpoint');
	select case when (select max(place) from step where times = 1) < (select min(place) from step where times > 1)
		and (select count(distinct times) from step where times > 1) = 1 then 'ok' else 'not as expected' end;
" >"$scratch/shape"
[[ $(<"$scratch/shape") == ok ]] || { echo "the plan of $scenario has another shape now" >&2; exit 1; }
sqlite3 :memory: "
	with recursive step as materialized (
		select key as place, value ->> '\$.verb' as verb, value ->> '\$.sql' as sql, value ->> '\$.times' as times
		from json_each(readfile('$scratch/plan.json'), '\$.steps')
		where verb in ('sql', 'measure', 'checkpoint')),
	round (n) as (select 1 union all select n + 1 from round where n < (select max(times) from step))
	select case verb when 'checkpoint' then 'checkpoint' else rtrim(sql, char(10) || ' ;') end || ';'
	from step join round on n <= times
	order by times > 1, n, place;
" >"$scratch/statements.sql"

by_keylab() {
	local begun
	rm -f "$scratch/bench.db"*
	begun=$(now_us)
	"$keylab" run --profile quick --db "$scratch/bench.db" -q "$scenario" >"$scratch/out" 2>&1 ||
		(($? <= 2)) || { cat "$scratch/out" >&2; return 1; }
	echo $(($(now_us) - begun))
}

by_psql() {
	local begun
	begun=$(now_us)
	"$keylab" cluster psql -Xq -v ON_ERROR_STOP=1 -f "$scratch/statements.sql" >"$scratch/out" 2>&1 ||
		{ cat "$scratch/out" >&2; return 1; }
	echo $(($(now_us) - begun))
}

by_psql >/dev/null # the template, and warm files, are there for both
for ((i = 0; i < rounds; i++)); do
	by_keylab >>"$scratch/keylab"
	by_psql >>"$scratch/psql"
done

keylab_us=$(median <"$scratch/keylab")
psql_us=$(median <"$scratch/psql")
ratio=$(awk -v a="$keylab_us" -v b="$psql_us" 'BEGIN { printf "%.3f", a / b }')
printf 'overhead: %s by keylab takes %s times what psql takes for the same %d statements (goal 1.03: %s)\n' \
	"$scenario" "$ratio" "$(grep -c ';$' "$scratch/statements.sql")" "$(against_goal "$ratio" '<' 1.03)"
printf '  keylab %.0f ms (%s), psql %.0f ms (%s), medians of %d, in turn\n' \
	"$(awk -v t="$keylab_us" 'BEGIN { print t / 1000 }')" "$(range <"$scratch/keylab")" \
	"$(awk -v t="$psql_us" 'BEGIN { print t / 1000 }')" "$(range <"$scratch/psql")" "$rounds"
