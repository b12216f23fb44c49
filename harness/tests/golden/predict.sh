#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# `keylab predict` on a store with a scale-law run whose figures obey the formula: 200 rows a leaf, images of 5,000 bytes,
# 100 bytes a row beside them.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

db=$scratch/predict.db
fixture_store "$db" || { fail 'the fixture'; done_testing; }

run "$keylab" predict --db "$db" --rows 1e9 --insert-rate 5000/s
is "$rc$out" 64 'a store without scale-law: nothing on stdout'
like "$err" 'holds no run of the scenario scale-law that ended; measure first: keylab run scale-law' 'and how to get one'

# add_point ARM SIZE ROWS APART IMAGES
add_point() {
	sqlite3 "$db" "
		insert into step (run_id, scenario, verb, name, arm, rep, labels, position, started_us, duration_ns, outcome)
			values (2, 'scale-law', 'measure', 'insert', '$1', $2, '{\"apart\":$4}', 'x:1:1', 0, 1, 'ok');
		insert into sample (step_id, metric, unit, metric_type, value, labels)
			select (select max(step_id) from step), metric, 'count', 'counter', value, '{\"apart\":$4}' from (
				select 'table_rows' as metric, $3 as value union all select 'leaf_pages', $3 / 200
				union all select 'index_bytes', $3 / 200 * 8192 union all select 'wal_fpi', $5
				union all select 'fpi_bytes', $5 * 5000 union all select 'wal_bytes', $4 * 100 + $5 * 5000)"
}
sqlite3 "$db" "insert into scenario (run_id, scenario, document, position, title, about, limits, path, sha256, text, status)
	values (2, 'scale-law', 'ours', 99, 't', 'a', '[]', 'p', 'x', 't', 'done')"
add_point uuidv4 1 1000000 10000 4323 # 5000 (1 - exp(-2))
add_point uuidv4 2 2000000 10000 6321 # 10000 (1 - exp(-1))
add_point uuidv7 1 1000000 10000 4
add_point uuidv7 2 2000000 10000 4
add_point half 1 1000000 10000 2000

run "$keylab" predict --db "$db" --rows 8M --insert-rate 1000/s --checkpoint 10s --keys uuidv4,uuidv7 --json
is "$rc$err" 0 'a prediction'
# 40000 (1 - exp(-1/4)) = 8848 images for 10,000 rows
# get NUMBER PATH: of that prediction, rounded
get() {
	sqlite3 :memory: "select cast(round(json_extract(cast(readfile('$scratch/.out') as text), '\$.predictions[$1].$2')) as int)"
}
# 40000 (1 - exp(-1/4)) = 8848 images for 10,000 rows
is "$(get 0 random) $(get 0 images_per_s.value) $(get 0 wal_bytes_per_row.value)" '1 885 4524' 'random keys: by the formula'
is "$(get 1 random) $(get 1 wal_bytes_per_row.value) $(get 1 cache_bytes.value)" '0 102 32768' 'ordered keys: the same at every size'
is "$(get 0 extrapolated.rows) $(get 0 extrapolated.rows_per_checkpoint)" '1 0' 'and it says what is extrapolated'

run "$keylab" predict --db "$db" --rows 1.5M --insert-rate 60k/min --checkpoint 10s --keys uuidv4
is "$rc" 0 'within what was measured'
unlike "$out" 'extrapolated' 'nothing is called extrapolated'
like "$out" 'measured: 2 inserts into 1,000,000 to 2,000,000 rows, 10,000 to 10,000 rows a checkpoint' 'the range is told'
run "$keylab" predict --db "$db" --rows 1e9 --insert-rate 5000/s --keys uuidv4
like "$out" 'extrapolated: the table is 500 times the largest measured, the rows between checkpoints are 150 times the most' \
	'beyond that it is'
like "$out" 'more than max_wal_size has by default' 'and the volume of WAL is remarked on'

run "$keylab" predict --db "$db" --rows 1e9 --insert-rate 5000/s --keys ulid
like "$rc:$out:$err" '^64::.*keys of kind "ulid" were not measured' 'a key that was not measured'
run "$keylab" predict --db "$db" --rows 1e9 --insert-rate 5000/s --keys half
like "$rc:$err" '^64:.*half logs 0.46 times the images of keys at random' 'a key that the model does not know'
for wrong in '--rows 0' '--rows many' '--insert-rate 5/parsec' '--checkpoint 5' '--checkpoint 0s' '--keys ,' '--run x' 'more'; do
	# shellcheck disable=SC2086
	run "$keylab" predict --db "$db" --rows 1M --insert-rate 1/s $wrong
	is "$rc$out" 64 "refused: $wrong"
done
run "$keylab" predict --db "$db" --rows 1M
like "$rc:$err" '^64:.*--insert-rate is needed' 'the rate is needed'
run "$keylab" predict --db "$scratch/none.db" --rows 1M --insert-rate 1/s
like "$rc:$err" '^[0-9]+:.*none.db' 'a store that is not there'

done_testing
