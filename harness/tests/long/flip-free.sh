#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Runs in a row: no structural verdict flips, exact figures are the same, and how far counters spread.
#
#   flip-free.sh KEYLAB SOURCE_ROOT [RUNS [SCENARIO...]]
#
# RUNS is 20 unless given (KEYLAB_RUNS in the environment too), the profile quick unless KEYLAB_RUNS_PROFILE says chapter;
# without a SCENARIO it is all of them. Structural is every claim but those of the type timing.
# With KEYLAB_RUNS_DB=FILE the runs go to that store, and what it holds of the same scenario files counts, each scenario
# by itself: stopped, it goes on from there.
# With KEYLAB_RELIABILITY=FILE what was seen is written into that page (docs/reliability.md).
. "$2/harness/tests/lib.sh"
cd "$source_root" || exit 1

runs=${3:-${KEYLAB_RUNS:-20}}
profile=${KEYLAB_RUNS_PROFILE:-quick}
db=${KEYLAB_RUNS_DB:-$scratch/runs.db}
place=runs-in-a-row
[[ $profile == quick ]] || place=runs-in-a-row-$profile
"$keylab" list --json "${@:4}" >"$scratch/list.json" || exit 3

# The arms of a block take turns in an order that each run draws: where a sample stood in it is not compared.
# ask SQL: over the scenarios that ran to their end, as their files are now, and their structural claims.
ask() {
	sqlite3 -cmd "create temp view ran as select r.run_id, s.scenario, r.started_at, s.started_us, s.finished_us
		from runs r join scenario s using (run_id)
		where r.profile = '$profile' and s.status = 'done' and (s.scenario, s.sha256) in (
			select value ->> '\$.scenario', value ->> '\$.sha256' from json_each(readfile('$scratch/list.json'), '\$.scenarios'));
		create temp view claimed as select c.*, c.scenario || '/' || c.claim as name
		from claims c join ran using (run_id, scenario) where c.in_scope = 1 and c.metric_type <> 'timing';
		create temp view exact as select p.scenario || '/' || p.step || '/' || p.metric as name, p.scenario, p.run_id,
			json_group_array(json_array(p.arm, p.rep, p.place, p.value)) as value
		from (select *, json_remove(labels, '\$.position') as place from samples join ran using (run_id, scenario)
			where metric_type = 'exact' order by arm, rep, place, sample_id) p
		group by p.scenario, p.run_id, p.step, p.metric;" "$db" "$1" || echo 'the question failed'
}
# How often the scenario that ran least often has run.
least() {
	ask "select min((select count(*) from ran where scenario = value ->> '\$.scenario'))
		from json_each(readfile('$scratch/list.json'), '\$.scenarios')"
}

for ((i = 1; i <= runs; i++)); do
	left=$(jq -r '.scenarios[].scenario' "$scratch/list.json")
	[[ ! -f $db ]] || left=$(ask "select value ->> '\$.scenario' from json_each(readfile('$scratch/list.json'), '\$.scenarios')
		where (select count(*) from ran where scenario = value ->> '\$.scenario') < $i")
	[[ -n $left ]] || continue
	mapfile -t left <<<"$left"
	run "$keylab" run --profile "$profile" -q --db "$db" "${left[@]}"
	[[ $rc != 3 || $i != 1 ]] || skip_all "no server: $err"
	is "$(ask "select count(*) from ran where run_id = (select max(run_id) from runs)")" "${#left[@]}" "run $i: every scenario ends: $err"
	is "$(ask "select group_concat(name || ' is ' || verdict) from claimed
		where run_id = (select max(run_id) from runs) and verdict <> expected")" '' "run $i: every structural verdict is the expected one"
done
count=$(least)
is "$((count >= runs && count >= 2))" 1 "$runs runs of each scenario, and at least two"
# One that ended in trouble counts, also when the runs went on without it.
is "$(ask "select group_concat(s.scenario || ' is ' || s.status) from scenario s join run r using (run_id) where r.profile = '$profile'
	and s.status not in ('done', 'not_run', 'interrupted') and (s.scenario, s.sha256) in (
		select value ->> '\$.scenario', value ->> '\$.sha256' from json_each(readfile('$scratch/list.json'), '\$.scenarios'))")" \
	'' 'no scenario ended otherwise'
flips=$(ask "select group_concat(name, ', ') from (select name from claimed group by name having count(distinct coalesce(verdict, '')) > 1)")
is "$flips" '' 'no verdict flips'
changed=$(ask "select group_concat(name, ', ') from (
	select name from claimed where metric_type = 'exact' group by name having count(distinct coalesce(value, '')) > 1
	union all select name from exact group by name having count(distinct value) > 1)")
is "$changed" '' 'exact figures, of claims and of samples, are the same in every run'
is "$(ask 'select count(*) from (select scenario from (select scenario, run_id, count(*) as claims from claimed group by scenario, run_id)
	group by scenario having min(claims) <> max(claims))')" 0 'every run has the same claims'
run "$keylab" verify "$db"
is "$rc" 0 'every run verifies'

claims=$(ask 'select count(distinct name) from claimed')
read -r began ended < <(ask "select strftime('%Y-%m-%dT%H:%M', min(started_us) / 1e6, 'unixepoch'),
	strftime('%Y-%m-%dT%H:%M', max(finished_us) / 1e6, 'unixepoch') from ran" | tr '|' ' ')
commits=$(ask 'select group_concat(distinct keylab_commit) from run where run_id in (select run_id from ran)')
scenarios=$(jq '.scenarios | length' "$scratch/list.json")
if [[ -n ${KEYLAB_RELIABILITY-} ]]; then
	spread="with spread as (select name, min(value) as lowest, max(value) as highest,
			case when min(value) > 0 then 1.0 * (max(value) - min(value)) / min(value) else 0 end as part
		from claimed where metric_type = 'counter' and typeof(value) <> 'text' group by name)"
	{
		printf 'Written by `harness/tests/long/flip-free.sh`; not by hand. '
		printf '%s runs of %s scenarios, profile `%s`, %s to %s, on %s.\n\n' "$count" "$scenarios" "$profile" \
			$began $ended "$(ask "select min(version) from clusters" | cut -d' ' -f1,2), keylab $commits"
		printf -- '- structural claims: %s; verdicts that flipped: %s\n' "$claims" "${flips:-none}"
		printf -- '- exact claims: %s, exact metrics of samples: %s; that differed: %s\n' \
			"$(ask "select count(distinct name) from claimed where metric_type = 'exact'")" \
			"$(ask 'select count(distinct name) from exact')" "${changed:-none}"
		printf -- '- counters: %s; the same in every run: %s\n' "$(ask "$spread select count(*) from spread")" \
			"$(ask "$spread select count(*) from spread where lowest = highest")"
		printf '\nThe counters that moved, by how far they spread (the highest over the lowest):\n\n'
		printf '| claim | lowest | highest | spread |\n| --- | ---: | ---: | ---: |\n'
		ask "$spread select '| ' || name || ' | ' || printf('%.5g', lowest) || ' | ' || printf('%.5g', highest) || ' | '
			|| case when lowest > 0 then printf('%.2f %%', 100.0 * part) else '' end || ' |'
			from spread where lowest < highest order by part desc, 1"
	} | bash "$source_root/harness/tests/figures.sh" "$KEYLAB_RELIABILITY" "$place"
fi
figure "flip-free, $profile" "$count runs, $began to $ended, keylab $commits, of $claims structural claims of $scenarios scenarios; verdicts that flipped: ${flips:-none}; exact figures that differed: ${changed:-none}"
done_testing
