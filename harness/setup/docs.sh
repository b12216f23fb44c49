# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# The documents' figures, from a store. Sourced by run.sh; harness/tests/golden/docs.sh holds them to it.

# put_between FILE NAME: replaces what stands between the two comments of that name by standard input.
put_between() {
	local file=$1 name=$2 body
	body=$(mktemp)
	cat >"$body"
	awk -v name="$name" -v body="$body" '
		$0 == "<!-- " name ": made by ./run.sh docs -->" {
			print; while ((getline line < body) > 0) print line
			inside = 1; next
		}
		$0 == "<!-- end of " name " -->" {inside = 0}
		!inside {print}
	' "$file" >"$file.new"
	rm -f "$body"
	mv "$file.new" "$file"
}

# The claims with a published figure, out of the whole table.
published_rows() {
	awk -F ' \\| ' 'NR <= 2 || $4 != "–"'
}

# evidence DB RUN: what the documents' tables are made of, as SQL text for review. The samples stay in the store.
evidence() {
	sqlite3 "$1" <<SQL
.mode insert run
select run_id, started_us, finished_us, status, profile, seed, '[]', keylab_version, keylab_commit, 0, '', wall_ns, server_ns
	from run where run_id = $2;
.mode insert scenario
select run_id, scenario, document, position, title, source, about, limits, path, sha256, '', status, reason, samples_sha256,
	started_us, finished_us from scenario where run_id = $2 order by position;
.mode insert environment
select run_id, name, value from environment where run_id = $2 and name = 'cpus';
.mode insert cluster
select cluster_id, run_id, scenario, version_num, version, server_sha256, '', initdb_options, started_us
	from cluster where run_id = $2 order by cluster_id limit 1;
.mode insert claim
select run_id, scenario, claim, position, sentence, source, published, published_value, unit, metric_type, predicate, '',
	control, in_scope, scope, expected, because, verdict, reason, value, value_low, value_high, n
	from claim where run_id = $2 order by scenario, position;
SQL
}

# measured_on DB RUN: a sentence on where a run's figures come from.
measured_on() {
	sqlite3 "$1" "select printf('Measured on %s, %s, by keylab %s (commit %s), with %s processors, in %d minutes.',
			(select substr(version, 1, instr(version, ' on ') - 1) from cluster where run_id = r.run_id limit 1),
			date(started_us / 1000000, 'unixepoch'), keylab_version, keylab_commit,
			(select value from environment where run_id = r.run_id and name = 'cpus'), round(wall_ns / 6e10))
		from run r where run_id = $2"
}

# make_docs [DB]: README.md, docs/claims.md, docs/evidence.sql and docs/report.png from the newest finished run.
make_docs() {
	local db=${1:-$root/results/keylab.db} run table
	command -v sqlite3 >/dev/null || need_packages build test
	run=$(sqlite3 -readonly "$db" "select max(run_id) from run where status = 'finished' and profile = 'chapter'")
	[[ -n $run ]] || die_environment "$db holds no finished run at the profile chapter; ./run.sh makes one"
	table=$("$keylab" export --format md --db "$db" --run "$run") || return
	published_rows <<<"$table" | put_between "$root/README.md" claims
	put_between "$root/docs/claims.md" claims <<<"$table"
	measured_on "$db" "$run" | put_between "$root/README.md" run
	measured_on "$db" "$run" | put_between "$root/docs/claims.md" run
	evidence "$db" "$run" >"$root/docs/evidence.sql"
	"$keylab" report --db "$db" --run "$run" --out "$build/docs.html" >/dev/null
	# The page at its full length, charts and samples and all, keeps what every page promises.
	bash "$root/harness/tests/golden/page.sh" "$keylab" "$root" "$db" >"$build/page.tap" ||
		die_environment "the page breaks a promise: $(grep -m 1 '^not ok' "$build/page.tap")"
	node "$root/report/test/browser.mjs" --shots "$build/shots" "$build/docs.html" >/dev/null ||
		die_environment "the page has faults in the browser: ./run.sh test browser"
	cp "$build/shots/docs-light-top.png" "$root/docs/report.png"
	printf 'README.md, docs/claims.md, docs/evidence.sql and docs/report.png are those of run %s\n' "$run"
}
