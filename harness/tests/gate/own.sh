#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# keylab gates itself: every structural claim of the quick profile against the committed baseline
# (harness/accept.sh makes that). KEYLAB_GATE names scenarios when it is to be fewer.
. "$2/harness/tests/lib.sh"
cd "$source_root" || exit 1

read -ra scenarios <<<"${KEYLAB_GATE-}"
db=$scratch/gate.db
run "$keylab" gate --self-test
is "$rc" 0 'each planted fault is red'
run "$keylab" run --profile quick -q --db "$db" "${scenarios[@]}"
[[ $rc != 3 ]] || skip_all "no server: $err"
is "$rc" 0 "the run: $out"
major=$(sqlite3 "$db" 'select min(version_num) / 10000 from clusters')
if [[ ! -f results/baselines/$major/quick-any.json ]]; then
	skip 'the gate' "no baseline of PostgreSQL $major"
else
	run "$keylab" gate --db "$db" --dir results/baselines "${scenarios[@]}"
	is "$rc" 0 "the gate: $out$err"
	# The same run against a baseline that says something else.
	jq '.metrics |= with_entries(if .value.type == "exact" and (.value.value | type) == "number" then .value.value += 1 else . end)' \
		"results/baselines/$major/quick-any.json" >"$scratch/doctored.json"
	run "$keylab" gate --db "$db" --baseline "$scratch/doctored.json" "${scenarios[@]}"
	is "$rc" 1 'a doctored baseline is red'
	like "$out" 'regressed [^ ]+: was .*, is .*rerun: keylab run --profile quick' 'with claim, both numbers and the rerun command'
fi
done_testing
