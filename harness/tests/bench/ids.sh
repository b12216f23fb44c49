#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Ids: (a) keylab's own UUIDv7 on one core against the server's uuidv7() and libuuid's generators; (b) ids a second of
# a segment allocator in 4 processes of 4 threads against nextval() by as many connections; (c) the same ids
# written to a table. The server's cost is that of `select max(uuidv7())` less that of `select max(id)` over as many
# rows that are there already.
. "$2/harness/tests/bench/lib.sh"

rounds=${KEYLAB_BENCH_ROUNDS:-5}
program=$(dirname "$keylab")/../tests/bench_ids
[[ -x $program ]] || { echo 'bench: the tests are not built (bench_ids)' >&2; exit 1; }

# The server, in one session: both statements in turn, in milliseconds a million ids.
{
	echo "create temp table plain as select uuidv7() as id from generate_series(1, 1000000);"
	echo 'select max(id::text) from plain limit 0;'
	for ((i = 0; i < rounds; i++)); do
		echo 'explain (analyze, timing off, summary on) select count(uuidv7()) from plain;'
		echo 'explain (analyze, timing off, summary on) select count(id) from plain;'
	done
} >"$scratch/server.sql"
"$keylab" cluster psql -XqAt -v ON_ERROR_STOP=1 -f "$scratch/server.sql" >"$scratch/server" 2>"$scratch/err" ||
	{ cat "$scratch/err" >&2; exit 1; }
awk '/Execution Time/ { n++; if (n % 2) with = $3; else print with - $3 }' "$scratch/server" >"$scratch/server-ms"

for ((i = 0; i < rounds; i++)); do
	"$program" 2000000 >>"$scratch/own"
	"$keylab" run --profile quick --quiet --db "$scratch/rates.db" \
		"$source_root/harness/tests/bench/id-bench/id-rates.yaml" >"$scratch/out" 2>&1 || { cat "$scratch/out" >&2; exit 1; }
done

# Nanoseconds an id: a million ids in so many milliseconds.
server_ns=$(median <"$scratch/server-ms")
own_ns() {
	awk -v name="$1" '$1 == name { print $2 }' "$scratch/own" | median
}
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", a / b }'
}
own=$(own_ns uuidv7)
printf 'ids: own UUIDv7 is %s times as fast as the server'\''s uuidv7() (goal 10: %s)\n' "$(ratio "$server_ns" "$own")" \
	"$(against_goal "$(ratio "$server_ns" "$own")" '>' 10)"
printf '  %.1f ns an id on one core (UUIDv4 %.1f), the server %.1f ns, medians of %d\n' "$own" "$(own_ns uuidv4)" \
	"$server_ns" "$rounds"
for name in libuuid-random libuuid-time; do
	if grep -q "^$name " "$scratch/own"; then
		printf '  %s: %.1f ns an id, %s times ours\n' "$name" "$(own_ns "$name")" "$(ratio "$(own_ns "$name")" "$own")"
	fi
done

# Ids a second of a group: from its first id to its last; with `written`, the writes lie in between.
rates() {
	sqlite3 -readonly "$scratch/rates.db" "
		select cast(sum(value) filter (where metric = 'serving_ids') * 1e9
			/ (max(value) filter (where metric = 'serving_to_ns') - min(value) filter (where metric = 'serving_from_ns')) as int)
		from samples where step = '$1' group by run_id"
}
segment=$(rates segment | median)
sequence=$(rates sequence | median)
printf 'ids: a segment allocator gives %s times the ids of nextval(), 4 processes of 4 threads each\n' "$(ratio "$segment" "$sequence")"
printf '  %.0f ids/s against %.0f; written in batches of 1,000 under a primary key: %.0f ids/s\n' "$segment" "$sequence" \
	"$(rates written | median)"
