#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# The gate on a store: green on the run it comes from, red on a doctored baseline and on a worse run.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

db=$scratch/fixture.db
fixture_store "$db" || { fail 'the fixture'; done_testing; }
# A run that is as it should be: every claim measured and as expected, nothing set by hand.
sqlite3 "$db" "
	update param set origin = 'profile';
	update claim set expected = verdict where run_id = 2;
	delete from cluster where version_num / 10000 <> 18;
	insert into cluster (run_id, scenario, version_num, version, server_sha256, bin_dir, initdb_options, started_us)
		select 2, 'wal-checkpoints', 180004, 'PostgreSQL 18.4', 'x', '/usr', '[]', 0
		where not exists (select 1 from cluster where run_id = 2);
	insert into claim (run_id, scenario, claim, position, sentence, metric_type, predicate, sql, unit, verdict, value, value_low, value_high, n)
		values (2, 'wal-checkpoints', 'slower', 90, 'Random keys take longer.', 'timing', '> 1', 'select 1', 'ratio', 'HOLDS', 2.0, 1.9, 2.1, 10)"

run "$keylab" baseline --accept 2 --db "$db" --dir "$scratch/b"
is "$rc" 64 'baseline: not without a reason'
run "$keylab" baseline --accept 2 --reason $'\x9b' --db "$db" --dir "$scratch/b"
is "$rc:$(ls "$scratch/b" 2>/dev/null)" 64: 'baseline: nor with one that no baseline could hold'
like "$err" 'reason is not UTF-8' 'baseline: and says so'
run "$keylab" baseline --reason 'because' --db "$db" --dir "$scratch/b"
is "$rc" 64 'baseline: not without a run'
run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b"
is "$rc" 2 'gate: no baseline is missing evidence'
like "$err" 'keylab baseline --accept 2' 'gate: and says how to make one'

run "$keylab" baseline --accept 2 --reason 'The first one.' --db "$db" --dir "$scratch/b"
is "$rc" 0 "baseline: accepted $err"
file=$(echo "$scratch"/b/18/*-any.json)
timings=$(ls "$scratch"/b/18/*.json | grep -v any)
like "$timings" '/chapter-[0-9a-f]{12}\.json$' 'baseline: timings in a file of the machine'
is "$(jq -r '.accepted[0].reason' "$file")" 'The first one.' 'baseline: the reason stands in it'
is "$(jq -c '.metrics | keys' "$file")" "$(jq -c '.metrics | keys_unsorted' "$file")" 'baseline: keys sorted'
is "$(jq '.metrics | length' "$file")" "$(grep -c '^"[^"]*/' "$file")" 'baseline: a line a metric'
cp "$file" "$scratch/kept.json"
"$keylab" baseline --accept 2 --reason 'Again.' --db "$db" --dir "$scratch/b" >/dev/null
is "$(diff "$scratch/kept.json" "$file" | grep -c '^[<>] "')" 0 'baseline: the same run changes no metric'
cp "$db" "$scratch/later.db"
sqlite3 "$scratch/later.db" "update run set started_us = started_us + 86400000000 where run_id = 2"
"$keylab" baseline --accept 2 --reason 'A later run.' --db "$scratch/later.db" --dir "$scratch/b" >/dev/null
is "$(diff "$scratch/kept.json" "$file" | grep -c '^[<>] "')" 0 'baseline: nor does a later one with the same values'
cp "$scratch/kept.json" "$file"

run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b"
is "$rc" 0 "gate: green on the same run: $out"
like "$out" 'same' 'gate: counts what it compared'

# --- a doctored baseline turns red, with the claim, both numbers and the rerun command

doctored() { # doctored JQ-PROGRAM EXIT PATTERN DESCRIPTION
	jq "$1" "$scratch/kept.json" >"$scratch/doctored.json"
	run "$keylab" gate --run 2 --db "$db" --baseline "$scratch/doctored.json"
	is "$rc" "$2" "doctored: $4"
	like "$out$err" "$3" "doctored: $4: and says so"
}
exact=$(jq -r '[.metrics | to_entries[] | select(.value.type == "exact" and (.value.value | type) == "number")][0].key' "$file")
counter=$(jq -r '[.metrics | to_entries[] | select(.value.type == "counter" and .value.value != null and .value.unit == "bytes")][0].key' "$file")
value=$(jq -r --arg k "$exact" '.metrics[$k].value' "$file")
doctored ".metrics[\"$exact\"].value += 1" 1 "regressed $exact: was $((value + 1)).* is $value" 'an exact figure'
scenario=${exact#*/}
like "$out" "rerun: keylab run --profile chapter --seed 42 --db $db ${scenario%%/*}" 'doctored: the rerun command'
doctored ".metrics[\"$counter\"].value *= 0.9 | .metrics[\"$counter\"].direction = \"up\"" 1 \
	"regressed $counter: was .* is .*\+[0-9.]+ % \(allowed: \+5 %" 'a counter'
doctored ".metrics[\"$counter\"].value *= 1.1 | .metrics[\"$counter\"].direction = \"up\"" 0 \
	"improved $counter.*keylab baseline --accept 2" 'a counter that is better'
doctored ".metrics[\"$counter\"].value *= 1.01" 0 ' same' 'a counter within its tolerance'
by_predicate=".metrics[\"$counter\"].value *= 3 | .metrics[\"$counter\"].rel_tol = null"
doctored "$by_predicate | .metrics[\"$counter\"].why = \"Chance.\"" 0 ' same' 'a counter by its predicate: any value that satisfies it'
doctored "$by_predicate" 64 "$counter: why is a text, and rel_tol null needs one" 'a counter by its predicate: but somebody must say why'
doctored "$by_predicate | .metrics[\"$counter\"].why = \"Chance.\" | .metrics[\"$counter\"].verdict = \"INCONCLUSIVE\"" 0 'improved' \
	'a counter by its predicate: a verdict that turned'
doctored ".metrics[\"$exact\"].rel_tol = null | .metrics[\"$exact\"].why = \"x\"" 64 'rel_tol null is for counters' 'an exact figure has no chance'
doctored '.metrics["keys/wal-checkpoints/gone"] = .metrics["'"$exact"'"]' 2 'missing keys/wal-checkpoints/gone: was' 'a missing metric'
elsewhere='.metrics["keys/elsewhere/a"] = .metrics["'"$exact"'"] | .metrics["keys/elsewhere/b"] = .metrics["'"$exact"'"]'
doctored "$elsewhere" 2 $'(^|\n)missing keys/elsewhere: not in the run, 2 metrics\n' 'a scenario that did not run'
is "$(grep -c elsewhere <<<"$out")" 1 'doctored: a scenario that did not run: in one line'
narrower=$(sed -n 's/^gate only what ran: keylab //p' <<<"$out")
like "$narrower" "^gate --run 2 --db $db --baseline $scratch/doctored.json [^ ]" 'doctored: and how to compare the others'
# shellcheck disable=SC2086
run "$keylab" $narrower
is "$rc" 0 'doctored: which is green'
run "$keylab" gate --run 2 --db "$db" --baseline "$scratch/doctored.json" --json
is "$rc:$(jq -c '[.lines[] | select(.scenario == "elsewhere") | .claim]' <<<"$out")" '2:["a","b"]' 'doctored: json keeps every metric'
doctored "del(.metrics[\"$exact\"])" 0 "new $exact: is" 'a new metric is reported'
doctored '.metrics = {}' 64 'there are none' 'no metrics'
doctored 'del(.profile)' 64 '"profile" is missing' 'a malformed file'
doctored '.pg_major = 17' 64 'is of PostgreSQL 17' 'another major version'
head -c 500 "$scratch/kept.json" >"$scratch/cut.json"
run "$keylab" gate --run 2 --db "$db" --baseline "$scratch/cut.json"
is "$rc" 64 'a file that is cut off'
like "$err" 'cut\.json:[0-9]+: ' 'and the message has the line'

# --- timings: only the whole interval beyond the tolerance fails, and only on the machine of the baseline

slower() { # slower VALUE LOW HIGH
	sqlite3 "$db" "update claim set value = $1, value_low = $2, value_high = $3 where claim = 'slower';
		update claim set predicate = '< 9' where claim = 'slower'"
	run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b"
}
sqlite3 "$db" "update claim set predicate = '< 9' where claim = 'slower'"
rm -r "$scratch/b"
"$keylab" baseline --accept 2 --reason 'Slower is worse.' --db "$db" --dir "$scratch/b" >/dev/null
slower 2.6 2.0 3.2
is "$rc" 0 'timing: an interval that overlaps'
like "$out" 'warning keys/wal-checkpoints/slower: the noise of this machine is not known.*keylab aa wal-checkpoints' \
	'timing: nobody has measured the noise, and it says so'
slower 2.6 2.5 2.7
is "$rc" 1 'timing: an interval beyond'
like "$out" 'regressed keys/wal-checkpoints/slower: was 2 ratio, is 2.6 ratio: \+30 % \(allowed: \+10 %\)' 'timing: with both numbers'
sqlite3 "$db" "update environment set value = 'another' where name = 'cpu'"
run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b"
is "$rc" 0 'timing: another machine has no baseline of its own'
run "$keylab" gate --run 2 --db "$db" --baseline "$timings"
is "$rc" 0 'timing: and that of this one only warns'
like "$out" 'warning .*another machine' 'timing: and says why'

# --- the noise of identical arms is the least tolerance of a timing

cp "$db" "$scratch/aa.db"
sqlite3 "$scratch/aa.db" "delete from run where run_id = 1;
	update claim set value = 1.02, value_low = 0.8, value_high = 1.1 where claim = 'slower'"
run "$keylab" baseline --accept 2 --reason x --db "$db" --dir "$scratch/n" --aa "$scratch/aa.db"
is "$rc" 64 'aa: a run of another kind is no noise'
sqlite3 "$scratch/aa.db" "insert into environment values (2, 'arms', 'all as the first')"
run "$keylab" baseline --accept 2 --reason x --db "$db" --dir "$scratch/n" --aa "$scratch/aa.db"
is "$rc" 0 "aa: accepted $err"
is "$(jq -c '.metrics["keys/wal-checkpoints/slower"].rel_tol' "$scratch"/n/18/chapter-[0-9a-f]*[0-9a-f].json)" 0.25 'aa: 1/0.8 is 25 % off'
noisy=$(ls "$scratch"/n/18/chapter-[0-9a-f]*[0-9a-f].json | grep -v any)
is "$(jq -c '.metrics["keys/wal-checkpoints/slower"].noise' "$noisy")" 0.25 'aa: and the noise stands beside it'
run "$keylab" gate --run 2 --db "$db" --baseline "$noisy"
is "$rc" 0 "aa: a tolerance of the noise: $out $err"
unlike "$out" 'noise' 'aa: and nothing to warn of'
sed 's/"rel_tol": 0.25/"rel_tol": 0.2/' "$noisy" >"$scratch/tight.json"
run "$keylab" gate --run 2 --db "$db" --baseline "$scratch/tight.json"
is "$rc" 64 'aa: a tolerance below the noise is refused'
like "$err" 'slower: rel_tol 0.2 is below the noise, 0.25' 'aa: with both numbers'
"$keylab" baseline --accept 2 --reason y --db "$db" --dir "$scratch/n" >/dev/null
is "$(jq -c '.metrics["keys/wal-checkpoints/slower"] | [.noise, .rel_tol]' "$noisy")" '[0.25,0.25]' 'aa: a later acceptance keeps both'
run "$keylab" gate --run 2 --db "$scratch/aa.db" --dir "$scratch/b"
is "$rc" 64 'aa: and no run to be gated'

# --- how far runs in a row lay apart is what a counter's tolerance comes from

metric=".metrics[\"$counter\"]"
was=$(jq "$metric.value" "$scratch/b/18/chapter-any.json")
cp "$db" "$scratch/row.db"
in_a_row() { # in_a_row FACTOR: run 2, and run 1 as the same one with another value of the counter
	sqlite3 "$scratch/row.db" "delete from claim where run_id = 1; delete from scenario where run_id = 1;
		update run set status = 'finished', profile = 'chapter' where run_id = 1;
		delete from environment where run_id = 1 and name = 'arms'; delete from cluster where run_id = 1;
		insert into cluster select null, 1, scenario, version_num, version, server_sha256, bin_dir, initdb_options, started_us
			from cluster where run_id = 2;
		create temp table s as select * from scenario where run_id = 2; update s set run_id = 1; insert into scenario select * from s;
		create temp table c as select * from claim where run_id = 2; update c set run_id = 1;
		update c set value = value * $1, verdict = 'HOLDS' where metric_type = 'counter'; insert into claim select * from c"
}
# accepted FILTER: of the counter, after an acceptance with these runs
accepted() {
	rm -rf "$scratch/r"
	run "$keylab" baseline --accept 2 --reason x --db "$db" --dir "$scratch/r" --spread "$scratch/row.db"
	jq -c "$metric | $1" "$scratch/r/18/chapter-any.json"
}
in_a_row 1.1
is "$(accepted '[(.noise * 1000 | round), (.rel_tol * 1000 | round)]')" '[100,200]' "spread: twice what two runs lay apart: $err"
run "$keylab" gate --run 2 --db "$db" --dir "$scratch/r"
is "$rc" 0 "spread: and the gate reads it: $out $err"
sed 's/"rel_tol": 0.2[0-9]*/"rel_tol": 0.05/; s/"abs_floor": [0-9.]*/"abs_floor": 0/' "$scratch/r/18/chapter-any.json" >"$scratch/tight.json"
run "$keylab" gate --run 2 --db "$db" --baseline "$scratch/tight.json"
is "$rc" 64 'spread: a tolerance below it is refused'
like "$err" 'rel_tol 0.05 is below the noise, 0.1: runs in a row differ' 'spread: with both numbers'
in_a_row 1
is "$(accepted '[.noise, .rel_tol]')" '[0,0.01]' 'spread: what never moved may move by one percent'
in_a_row 3
is "$(accepted '[.noise, .rel_tol, (.why | contains("In 2 runs in a row"))]')" '[null,null,true]' 'spread: what moves by half of it is chance, and says so'
sqlite3 "$scratch/row.db" "update scenario set sha256 = 'x' where run_id = 1"
accepted . >/dev/null 2>&1
is "$rc" 64 'spread: another text of the scenario does not count'
like "$err" 'row\.db: no counter of run 2 was measured twice there' 'spread: and the message says what counts'
is "$(jq -c "$metric | [.value, .rel_tol]" "$scratch/b/18/chapter-any.json")" "[$was,0.05]" 'spread: without it, the default'

# --- a run's number is a number, for every command that takes one

for number in x 2x 0 -1 99999999999999999999; do
	for command in gate verify predict report 'export --format tap' 'baseline --reason x'; do
		option=--run
		[[ $command != baseline* ]] || option=--accept
		read -ra words <<<"$command"
		run "$keylab" "${words[@]}" "$option" "$number" --db "$db"
		is "$rc" 64 "a run's number: ${words[0]} $number"
	done
	run "$keylab" compare 2 "$number" --db "$db"
	is "$rc" 64 "a run's number: compare $number"
done

# --- an empty run, one set by hand, filters, the self-test

cp "$db" "$scratch/empty.db"
sqlite3 "$scratch/empty.db" 'delete from claim where run_id = 2'
run "$keylab" gate --run 2 --db "$scratch/empty.db" --dir "$scratch/b"
is "$rc" 2 'an empty run fails'
run "$keylab" baseline --accept 2 --reason x --db "$scratch/empty.db" --dir "$scratch/c"
is "$((rc != 0))" 1 'and is no baseline'
run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b" no-such-scenario
is "$rc" 2 'nothing compared is not green'
run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b" --json
is "$(jq -r '.schema' <<<"$out")" keylab.gate 'json: an object'
sqlite3 "$db" "update param set origin = 'set'"
run "$keylab" gate --run 2 --db "$db" --dir "$scratch/b"
is "$rc" 64 'a run with --set is not compared'
run "$keylab" gate --self-test
is "$rc" 0 'self-test: every planted fault is red'
unlike "$out" 'BLIND' 'self-test: none is blind'
done_testing
