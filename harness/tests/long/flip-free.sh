#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Runs in a row: no verdict flips, exact figures are the same, and how far counters spread.
#
#   flip-free.sh KEYLAB SOURCE_ROOT [RUNS [SCENARIO...]]
#
# RUNS is 3 unless given (KEYLAB_RUNS in the environment too), the profile quick unless KEYLAB_RUNS_PROFILE says chapter.
# With KEYLAB_RUNS_DB=FILE the runs go to that store, and those that it holds count: stopped, it goes on from there.
# With KEYLAB_RELIABILITY=FILE what was seen is written into that page (docs/reliability.md).
. "$2/harness/tests/lib.sh"
cd "$source_root" || exit 1

runs=${3:-${KEYLAB_RUNS:-3}}
profile=${KEYLAB_RUNS_PROFILE:-quick}
scenarios=("${@:4}")
((${#scenarios[@]} > 0)) || scenarios=(wal-checkpoints leaf-density natural-keys recent-rows wal-indexes uuid-order sequence)
db=${KEYLAB_RUNS_DB:-$scratch/runs.db}
place=runs-in-a-row
[[ $profile == quick ]] || place=runs-in-a-row-$profile

list=$(printf "'%s', " "${scenarios[@]}")
list=${list%, }
# ask SQL: over the runs that have them all, and their claims.
ask() {
	sqlite3 "$db" "create temp view ran as select * from runs r where status = 'finished' and profile = '$profile'
			and ${#scenarios[@]} = (select count(*) from scenario s where s.run_id = r.run_id and s.status = 'done' and s.scenario in ($list));
		create temp view claimed as select * from claims where in_scope = 1 and scenario in ($list) and run_id in (select run_id from ran);
		$1"
}
have=0
[[ ! -f $db ]] || have=$(ask 'select count(*) from ran')
for ((i = have + 1; i <= runs; i++)); do
	run "$keylab" run --profile "$profile" -q --db "$db" "${scenarios[@]}"
	[[ $rc != 3 || $i != 1 ]] || skip_all "no server: $err"
	is "$rc" 0 "run $i: $out"
done
count=$(ask 'select count(*) from ran')
is "$((count >= 2))" 1 'at least two finished runs'
flips=$(ask "select group_concat(name) from (select scenario || '/' || claim as name from claimed
	group by scenario, claim having count(distinct verdict) > 1)")
is "$flips" '' 'no verdict flips'
changed=$(ask "select group_concat(name) from (select scenario || '/' || claim as name from claimed
	where metric_type = 'exact' group by scenario, claim having count(distinct value) > 1)")
is "$changed" '' 'exact figures are the same in every run'
is "$(ask "select count(*) from claimed group by run_id" | sort -u | wc -l | tr -d ' ')" 1 'every run has the same claims'
run "$keylab" verify "$db"
is "$rc" 0 'every run verifies'

if [[ -n ${KEYLAB_RELIABILITY-} ]]; then
	{
		printf 'Written by `harness/tests/long/flip-free.sh`; not by hand. '
		printf '%s runs of the `%s` profile, %s to %s, on %s.\n\n' "$count" "$profile" \
			$(ask "select substr(min(started_at), 1, 16), substr(max(finished_at), 1, 16) from ran" | tr '|' ' ') \
			"$(ask "select min(version) from clusters" | cut -d' ' -f1,2)"
		printf -- '- claims in scope: %s; verdicts that flipped: %s\n' "$(ask 'select count(distinct scenario || claim) from claimed')" \
			"${flips:-none}"
		printf -- '- exact figures that differed: %s\n' "${changed:-none}"
		printf '\nCounters, by how far they spread (the highest over the lowest):\n\n'
		printf '| claim | lowest | highest | spread |\n| --- | ---: | ---: | ---: |\n'
		ask "select '| ' || scenario || '/' || claim || ' | ' || printf('%.5g', min(value)) || ' | ' || printf('%.5g', max(value)) || ' | '
			|| case when min(value) > 0 then printf('%.2f %%', 100.0 * (max(value) - min(value)) / min(value)) else '' end || ' |'
			from claimed where metric_type = 'counter' and typeof(value) <> 'text'
			group by scenario, claim order by case when min(value) > 0 then 1.0 * (max(value) - min(value)) / min(value) else 0 end desc, 1"
	} | bash "$source_root/harness/tests/figures.sh" "$KEYLAB_RELIABILITY" "$place"
fi
figure "flip-free, $profile" "$count runs of $(ask 'select count(distinct scenario || claim) from claimed') claims; verdicts that flipped: ${flips:-none}; exact figures that differed: ${changed:-none}"
done_testing
