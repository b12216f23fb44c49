#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Stores that meet: new numbers, the same verdicts, nothing twice. Runs side by side.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

# A store whose verdicts follow from its samples: two runs of one scenario with a claim of each type.
made_store() { # made_store FILE PID VALUE
	local run
	fixture_store "$1" || return
	sqlite3 "$1" "pragma foreign_keys = on; delete from run; update sqlite_sequence set seq = 0" 2>/dev/null ||
		sqlite3 "$1" 'pragma foreign_keys = on; delete from run'
	for run in 1 2; do
		sqlite3 "$1" "
			insert into run (run_id, started_us, finished_us, status, profile, seed, argv, keylab_version, pid, pid_started)
				values ($run, 1000000 * $run, 2000000 * $run, 'finished', 'quick', 1, '[]', 'x', $2, 'b');
			insert into environment values ($run, 'cpu', 'A'), ($run, 'memory', 'M');
			insert into scenario (run_id, scenario, document, position, title, about, limits, path, sha256, text, status, started_us, finished_us)
				values ($run, 'one', 'doc', 1, 't', 'a', '[]', 'one.yaml', 's', 'x', 'done', 0, 1);
			insert into cluster (cluster_id, run_id, scenario, version_num, version, server_sha256, bin_dir, initdb_options, started_us)
				values ($run, $run, 'one', 180004, 'PostgreSQL 18.4', 's', 'd', '[]', 0);
			insert into setting values ($run, 'fsync', 'on', '', 'default', 1), ($run, 'work_mem', '$2', 'kB', 'configuration file', 0);
			insert into step (step_id, run_id, scenario, cluster_id, verb, name, position, started_us, duration_ns, outcome)
				values ($run, $run, 'one', $run, 'probe', 'p', 'one.yaml:1:1', 0, 0, 'ok');
			insert into sample (sample_id, step_id, metric, unit, metric_type, value) values
				(2 * $run, $run, 'row_count', 'count', 'exact', $3), (2 * $run + 1, $run, 'wal_bytes', 'bytes', 'counter', 10 * $3);
			insert into claim (run_id, scenario, claim, position, sentence, metric_type, predicate, sql, verdict, value, value_low, value_high, n, unit)
				select $run, 'one', column1, 1, 's', column2, column4, 'with sample as (select arm, step, rep, metric, unit, value, labels, at' || char(10, 9)
					|| 'from samples where run_id = $run and scenario = ''one'')' || char(10) || 'select * from (' || char(10)
					|| 'select value from sample where metric = ''' || column3 || '''' || char(10) || ')',
					'HOLDS', column5, column5, column5, 1, 'rows'
				from (values ('rows', 'exact', 'row_count', '> 0', $3), ('wal', 'counter', 'wal_bytes', '> 0', 10 * $3));
			insert into chart (run_id, scenario, chart, position, kind, title, data, x_label, y_label)
				select $run, 'one', 'c', 1, 'dots', 'a title', sql, 'x', 'y' from claim where run_id = $run and claim = 'rows'
			" || return
		# As keylab seals a scenario of few samples.
		sqlite3 "$1" "update scenario set samples_sha256 = '$({
			printf '.parameter set :run_id %d\n.parameter set :scenario one\n' "$run"
			cat "$source_root/sql/store/scenario-samples.sql"
			echo ';'
		} | sqlite3 "$1" | sha256sum | cut -d' ' -f1)' where run_id = $run"
	done
}
ok 'a store' made_store "$scratch/a.db" 10 100
ok 'another' made_store "$scratch/b.db" 20 103
run "$keylab" verify "$scratch/a.db"
like "$out" '4 verdicts derived again .*all the same' 'it is consistent'
before=$(sha256sum <"$scratch/b.db")

run "$keylab" import "$scratch/b.db" --db "$scratch/a.db"
is "$rc" 0 "import: $err"
like "$out" '2 runs imported, numbered from 3' 'import: new numbers'
is "$(sha256sum <"$scratch/b.db")" "$before" 'import: the other file is as it was'
is "$(sqlite3 "$scratch/a.db" 'select group_concat(run_id) from runs')" 1,2,3,4 'import: all runs'
is "$(sqlite3 "$scratch/a.db" "select count(*) from claim where instr(sql, 'run_id = ' || run_id || ' and') = 0")" 0 'import: statements speak of their own run'
is "$(sqlite3 "$scratch/a.db" "select count(*) from chart where instr(data, 'run_id = ' || run_id || ' and') = 0")" 0 'import: those of charts too'
is "$(sqlite3 "$scratch/a.db" "select group_concat(value) from samples where metric = 'row_count'")" 100,100,103,103 'import: samples'
is "$(sqlite3 "$scratch/a.db" 'pragma foreign_key_check; pragma integrity_check')" ok 'import: the file is sound'
run "$keylab" verify "$scratch/a.db"
like "$out" '8 verdicts derived again .*all the same' 'import: verify derives the same verdicts'
run "$keylab" import "$scratch/b.db" --db "$scratch/a.db"
is "$rc" 64 'import: not twice'
like "$err" 'none of its 2 runs is new here' 'import: and says so'
is "$(sqlite3 "$scratch/a.db" 'select count(*) from runs')" 4 'import: nothing came'
run "$keylab" import "$scratch/a.db" --db "$scratch/a.db"
is "$rc" 64 'import: not itself'
run "$keylab" import "$scratch/a.db" --db "$scratch/new.db"
is "$rc" 0 'import: into a new file'
is "$(find "$scratch" -name '*.import-*' | wc -l | tr -d ' ')" 0 'import: leaves no copy behind'

# --- what has been tampered with does not come over

cp "$scratch/b.db" "$scratch/changed.db"
for seal in samples_sha256 null; do
	sqlite3 "$scratch/changed.db" "update sample set value = 999 where metric = 'row_count'; update scenario set samples_sha256 = $seal"
	run "$keylab" import "$scratch/changed.db" --db "$scratch/new2.db"
	is "$rc" 64 "import: samples that were changed, digest $seal"
	like "$err" 'run 1 one: its samples are not those that were recorded' 'import: and named'
done
cp "$scratch/b.db" "$scratch/bad.db"
sqlite3 "$scratch/bad.db" "update claim set value = 999 where claim = 'rows'"
run "$keylab" import "$scratch/bad.db" --db "$scratch/new2.db"
is "$rc" 64 'import: a value that its samples do not give is refused'
like "$err" 'stored HOLDS 999, derived HOLDS 103' 'import: and named'
is "$(sqlite3 "$scratch/new2.db" 'select count(*) from runs')" 0 'import: and nothing of it comes'
printf 'no store' >"$scratch/text.db"
run "$keylab" import "$scratch/text.db" --db "$scratch/a.db"
is "$rc" 64 'import: another kind of file'

# --- compare

run "$keylab" compare 1 3 --db "$scratch/a.db"
is "$rc" 0 'compare: two runs'
like "$out" $'^What differs between the runs:\nwork_mem: 10kB \| 20kB\n' 'compare: first the settings that differ'
like "$out" 'claim +run 1 \(base\) +run 3' 'compare: runs by columns'
like "$out" 'one/rows, rows +100 HOLDS +103 \(\+3\)' 'compare: exact figures by their difference'
like "$out" 'one/wal, rows +1000 HOLDS +1030 \(x1.03\)' 'compare: others by their ratio'
sqlite3 "$scratch/a.db" "update claim set metric_type = 'timing' where claim = 'wal'"
run "$keylab" compare 1 3 --db "$scratch/a.db"
like "$out" 'one/wal, rows .*x1.03' 'compare: timings of one machine'
sqlite3 "$scratch/a.db" "update environment set value = 'B' where run_id = 3 and name = 'cpu'"
run "$keylab" compare 1 3 --db "$scratch/a.db"
like "$out" 'one/wal, rows .*not comparable' 'compare: timings of two are not comparable'
like "$out" 'cpu: A \| B' 'compare: and the machines are named'
run "$keylab" compare 1 2 3 4 --json --db "$scratch/a.db"
is "$(jq -r '.schema, (.claims | length), (.claims[0].runs | length), .claims[0].runs[2].difference' <<<"$out" | paste -sd ' ')" \
	'keylab.compare 2 4 3' 'compare: json'
# Two timings over six blocks, all on one side: p is 2/64 each, and twice that as one of two.
ratios="select column1 as numerator, 10.0 as denominator from (values (12), (13), (11), (15), (14), (12))"
sqlite3 "$scratch/a.db" "update claim set metric_type = 'timing', sql = '$ratios' where run_id = 1"
run "$keylab" compare 1 3 --db "$scratch/a.db"
like "$out" 'Sign-flip p of the timings \(secondary\), and adjusted by Holm' 'compare: secondary p-values stand together'
like "$out" 'one/rows +p = 0\.031, 0\.062 adjusted +-' 'compare: and are adjusted for that'
run "$keylab" compare 1 3 --json --db "$scratch/a.db"
is "$(jq -c '.claims[0].runs[0] | [.sign_flip_p, .holm_p]' <<<"$out")" '[0.03125,0.0625]' 'compare: also in json'
sqlite3 "$scratch/a.db" "update claim set metric_type = 'exact' where run_id = 1 and claim = 'rows'"
run "$keylab" compare 1 3 --db "$scratch/a.db"
like "$out" 'one/wal +p = 0\.031, 0\.031 adjusted' 'compare: one alone is not'
run "$keylab" report --run 1 --db "$scratch/a.db" --out "$scratch/one.html"
unlike "$(cat "$scratch/one.html")" 'adjusted' 'report: nor is it on the page'
sqlite3 "$scratch/a.db" "update claim set metric_type = 'timing' where run_id = 1"
run "$keylab" report --run 1 --db "$scratch/a.db" --out "$scratch/two.html"
like "$(cat "$scratch/two.html")" 'adjusted \(Holm\) for the 2 timings of this run, p = 0.062' 'report: two are'
sqlite3 "$scratch/a.db" "update claim set verdict = 'NOT_RUN', value = null, value_low = null, value_high = null, reason = 'it needs another server' where run_id = 3;
	insert into claim (run_id, scenario, claim, position, sentence, metric_type, predicate, sql, verdict, value, n, unit)
		select run_id, scenario, 'words', 3, 's', 'exact', '= x', 'select 1', 'HOLDS', 'some text', 1, '' from claim where claim = 'rows' and run_id in (1, 2)"
run "$keylab" compare 1 3 --db "$scratch/a.db"
like "$out" 'one/wal, rows +1000 [A-Z]+ +NOT_RUN' 'compare: what did not run'
like "$out" $'\nrun 3, NOT_RUN, it needs another server: one\n' 'compare: and why'
run "$keylab" report --run 1,3 --db "$scratch/a.db" --out "$scratch/both.html"
like "$(cat "$scratch/both.html")" 'Not run in run 3, it needs another server: one\.' 'report: and on the page'
run "$keylab" compare 1 2 --db "$scratch/a.db"
like "$out" 'one/words +some text HOLDS +some text \(same\)' 'compare: the same text'
run "$keylab" compare 1 --db "$scratch/a.db"
is "$rc" 64 'compare: one run is none'
run "$keylab" compare 1 99 --db "$scratch/a.db"
is "$rc" 64 'compare: an unknown run'
done_testing
