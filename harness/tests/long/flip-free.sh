#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Runs of the quick profile in a row: no verdict flips, exact figures are the same, and how far counters spread.
#
#   flip-free.sh KEYLAB SOURCE_ROOT [RUNS [SCENARIO...]]
#
# RUNS is 3 unless given (KEYLAB_RUNS in the environment too). With KEYLAB_RELIABILITY=FILE what was seen is written there as a page:
# docs/reliability.md comes from it. With KEYLAB_RELIABILITY_DB=FILE the runs of that store are judged instead of new ones.
. "$2/harness/tests/lib.sh"
cd "$source_root" || exit 1

runs=${3:-${KEYLAB_RUNS:-3}}
scenarios=("${@:4}")
((${#scenarios[@]} > 0)) || scenarios=(wal-checkpoints leaf-density natural-keys recent-rows wal-indexes uuid-order sequence)
db=${KEYLAB_RELIABILITY_DB:-$scratch/runs.db}

if [[ -z ${KEYLAB_RELIABILITY_DB-} ]]; then
	for ((i = 1; i <= runs; i++)); do
		run "$keylab" run --profile quick -q --db "$db" "${scenarios[@]}"
		[[ $rc != 3 || $i != 1 ]] || skip_all "no server: $err"
		is "$rc" 0 "run $i: $out"
	done
fi
ask() {
	sqlite3 "$db" "$1"
}
count=$(ask "select count(*) from runs where status = 'finished'")
is "$((count >= 2))" 1 'at least two finished runs'
flips=$(ask "select group_concat(name) from (select scenario || '/' || claim as name from claims where in_scope = 1
	group by scenario, claim having count(distinct verdict) > 1)")
is "$flips" '' 'no verdict flips'
changed=$(ask "select group_concat(name) from (select scenario || '/' || claim as name from claims
	where in_scope = 1 and metric_type = 'exact' group by scenario, claim having count(distinct value) > 1)")
is "$changed" '' 'exact figures are the same in every run'
is "$(ask "select count(*) from claims where in_scope = 1 group by run_id" | sort -u | wc -l | tr -d ' ')" 1 'every run has the same claims'
run "$keylab" verify "$db"
is "$rc" 0 'every run verifies'

if [[ -n ${KEYLAB_RELIABILITY-} ]]; then
	{
		printf 'Written by `harness/tests/long/flip-free.sh`; not by hand. '
		printf '%s runs of the `quick` profile, %s to %s, on %s.\n\n' "$count" \
			$(ask "select substr(min(started_at), 1, 16), substr(max(finished_at), 1, 16) from runs" | tr '|' ' ') \
			"$(ask "select min(version) from clusters" | cut -d' ' -f1,2)"
		printf -- '- claims in scope: %s; verdicts that flipped: %s\n' "$(ask 'select count(distinct scenario || claim) from claims where in_scope = 1')" \
			"${flips:-none}"
		printf -- '- exact figures that differed: %s\n' "${changed:-none}"
		printf '\nCounters, by how far they spread (the highest over the lowest):\n\n'
		printf '| claim | lowest | highest | spread |\n| --- | ---: | ---: | ---: |\n'
		ask "select '| ' || scenario || '/' || claim || ' | ' || printf('%.5g', min(value)) || ' | ' || printf('%.5g', max(value)) || ' | '
			|| case when min(value) > 0 then printf('%.2f %%', 100.0 * (max(value) - min(value)) / min(value)) else '' end || ' |'
			from claims where in_scope = 1 and metric_type = 'counter' and typeof(value) <> 'text'
			group by scenario, claim order by case when min(value) > 0 then 1.0 * (max(value) - min(value)) / min(value) else 0 end desc, 1"
	} | bash "$source_root/harness/tests/figures.sh" "$KEYLAB_RELIABILITY" runs-in-a-row
fi
done_testing
