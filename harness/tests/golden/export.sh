#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Every export is read by a program that people use for it, and says what the store says, hostile texts included.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

db=$scratch/fixture.db
fixture_store "$db" || { fail 'the fixture'; done_testing; }
# Claims whose texts break formats: what XML forbids, what ends a CDATA section, what ends lines and fields.
sqlite3 "$db" "
	update claim set sentence = 'ends ]]> here, bell ' || char(7) || ', escape ' || char(27) || '[31m, two' || char(13, 10)
		|| 'lines, \"quotes\", 50% # off \\ & <b>, ::error::, U+FFFE ' || char(65534),
		reason = 'because ]]> ' || char(1) || char(10) || '...' || char(10) || 'ok 99 - not a point'
	where (run_id, scenario, claim) = (select run_id, scenario, claim from claim where run_id = 2 and verdict <> 'HOLDS' limit 1);
	update claim set sentence = cast(x'62616420ff20627974c3' as text)
	where (run_id, scenario, claim) = (select run_id, scenario, claim from claim where run_id = 2 and verdict = 'HOLDS' limit 1)"
claims=$(sqlite3 "$db" "select count(*) from claims where run_id = 2")

count() { # count SQL-CONDITION
	sqlite3 "$db" "select count(*) from claims where run_id = 2 and $1"
}
bad_sql="in_scope = 1 and verdict <> expected and verdict <> 'NOT_RUN'"

# --- TAP: prove reads it

run "$keylab" export --db "$db" --run 2 --format tap --out "$scratch/run.tap"
is "$rc$out$err" 0 'tap: written'
run prove --verbose --exec cat "$scratch/run.tap"
is "$rc" 1 'tap: prove sees the failures'
like "$out" "Failed $(count "$bad_sql")/$claims subtests" 'tap: as many failures as the store has'
unlike "$out$err" 'Parse errors|out of sequence|Bad plan' 'tap: prove has nothing to say against the format'
sed -n '/^  ---/,/^  \.\.\./p' "$scratch/run.tap" | LC_ALL=C grep -qF 'ends ]]> here, bell \u0007'
is "$?" 0 'tap: control characters and ]]> arrive in the diagnostics'
run "$keylab" export --db "$db" --run 2 --format tap --allow-inconclusive --out "$scratch/allowed.tap"
run prove --exec cat "$scratch/allowed.tap"
like "$out" "Failed $(count "$bad_sql and verdict <> 'INCONCLUSIVE'")/$claims subtests" 'tap: allowed ones do not fail'

run "$keylab" export --db "$db" --run 2 --format tap14
is "$(head -n 1 <<<"$out")" 'TAP version 14' 'tap14: says so'
is "$(sed 1d <<<"$out" | cksum)" "$(sed 1d "$scratch/run.tap" | cksum)" 'tap14: and is the same points'

# --- JUnit: the schema

"$keylab" export --db "$db" --run 2 --format junit --out "$scratch/run.xml"
run xmllint --noout --schema "$source_root/harness/tests/golden/junit.xsd" "$scratch/run.xml"
is "$rc" 0 "junit: it is what the schema says: ${err##*$'\n'}"
xpath() {
	xmllint --xpath "$1" "$scratch/run.xml"
}
is "$(xpath 'count(//testcase)')" "$claims" 'junit: a case a claim'
is "$(xpath 'string(/testsuites/@failures)')" "$(count "$bad_sql and verdict <> 'ERROR'")" 'junit: failures'
is "$(xpath 'string(/testsuites/@errors)')" "$(count "$bad_sql and verdict = 'ERROR'")" 'junit: errors'
is "$(xpath 'count(//failure) + count(//error)')" "$(count "$bad_sql")" 'junit: and elements to them'
like "$(xpath 'string(//testcase/*[contains(., "ends ")])')" 'ends \]\]> here, bell \\x07, escape \\x1b\[31m' \
	'junit: what XML forbids is spelled out'
sed 's/tests="[0-9]*"/tests="many"/' "$scratch/run.xml" >"$scratch/broken.xml"
run xmllint --noout --schema "$source_root/harness/tests/golden/junit.xsd" "$scratch/broken.xml"
is "$((rc != 0))" 1 'junit: the schema refuses what is wrong'

# --- CSV: SQLite imports it

"$keylab" export --db "$db" --run 2 --format csv --out "$scratch/run.csv"
csv() {
	sqlite3 -cmd ".import --csv $scratch/run.csv csv" -cmd "attach '$db' as store" :memory: "$1"
}
is "$(csv 'select count(*), min(format_version) from csv')" "$claims|1" 'csv: a line a claim'
is "$(csv "select count(*) from csv c join store.claims s on s.run_id = 2 and s.scenario = c.scenario and s.claim = c.claim
	where c.verdict = s.verdict and c.predicate = s.predicate and c.published = s.published
	and (c.sentence = s.sentence or c.sentence like 'bad %') and coalesce(c.value = s.value or abs(c.value - s.value) <= 1e-14 * abs(s.value), s.value is null)")" \
	"$claims" 'csv: and each says what the store says, control characters included'

# --- JSON

"$keylab" export --db "$db" --run 2 --format json --out "$scratch/run.json"
json() {
	sqlite3 :memory: "with j as (select cast(readfile('$scratch/run.json') as text) as j) select $1 from j"
}
is "$(json 'json_valid(j)')" 1 'json: valid'
is "$(json "j ->> '$.schema', j ->> '$.version', json_array_length(j, '$.claims'), j ->> '$.run.run_id'")" \
	"keylab.claims|1|$claims|2" 'json: schema, version, all claims'
is "$(sqlite3 "$db" "select count(*) from claims s, json_each(cast(readfile('$scratch/run.json') as text), '\$.claims') j
	where s.run_id = 2 and s.scenario = j.value ->> '\$.scenario' and s.claim = j.value ->> '\$.claim'
	and s.verdict = j.value ->> '\$.verdict' and s.reason = j.value ->> '\$.reason' and s.sql = j.value ->> '\$.sql'
	and (s.sentence = j.value ->> '\$.sentence' or s.sentence like 'bad %') and s.value is (j.value ->> '\$.value')")" \
	"$claims" 'json: and each says what the store says, control characters included'
is "$(iconv -f UTF-8 -t UTF-8 "$scratch/run.json" >/dev/null 2>&1; echo $?)" 0 'json: what is no UTF-8 is marked as such'

# --- GitHub: unescaped as its runner does, and within its limits

"$keylab" export --db "$db" --run 2 --format github --out "$scratch/run.github"
is "$(grep -cvE '^::(error|warning|notice) [^:]*::' "$scratch/run.github")" 0 'github: every line is a command'
is "$(wc -l <"$scratch/run.github" | tr -d ' ')" "$(count "in_scope = 1 and verdict <> expected")" 'github: a line a claim that is not as expected'
LC_ALL=C grep -qF 'ends ]]> here, bell \x07' "$scratch/run.github" && grep -qF 'two%0D%0Alines' "$scratch/run.github" &&
	grep -qF '50%25 # off' "$scratch/run.github"
is "$?" 0 'github: line ends and % are escaped'
cp "$db" "$scratch/many.db"
sqlite3 "$scratch/many.db" "
	insert into claim (run_id, scenario, claim, position, sentence, metric_type, predicate, sql, verdict, expected)
	select 2, (select scenario from scenario where run_id = 2 limit 1), 'many-' || value, 100 + value, 's', 'exact', '= 1',
		'select 1', case when value % 2 then 'REFUTED' else 'INCONCLUSIVE' end, 'HOLDS' from generate_series(1, 60)"
"$keylab" export --db "$scratch/many.db" --run 2 --format github --out "$scratch/many.github"
is "$(grep -c '^::error ' "$scratch/many.github") $(grep -c '^::warning ' "$scratch/many.github")" '10 10' 'github: ten of a kind'
like "$(LC_ALL=C grep -a '^::error' "$scratch/many.github" | tail -n 1)" 'and [0-9]+ more' 'github: the tenth counts the rest'
like "$(head -n 1 "$scratch/many.github")" 'title=ERROR ' 'github: the worst first'

# --- case lines

"$keylab" export --db "$db" --run 2 --format case --out "$scratch/run.case"
is "$(LC_ALL=C grep -acE '^CASE [^ ]+ (PASS|FAIL|SKIP|ERROR) verdict=[A-Z_]+( [a-z]+=("([^"\\]|\\.)*"|[^" ]+))*$' "$scratch/run.case")" \
	"$claims" 'case: a line a claim, each of name, word and pairs'
is "$(LC_ALL=C grep -acE '^CASE [^ ]+ (FAIL|ERROR) ' "$scratch/run.case")" "$(count "$bad_sql")" 'case: FAIL and ERROR as the store has them'
like "$(cat "$scratch/run.case")" 'reason="because \]\]> \\u0001\\n' 'case: control characters are escapes'

# --- Markdown

run "$keylab" export --db "$db" --run 2 --format md
is "$(grep -c '^|' <<<"$out")" "$(($(count 'in_scope = 1') + 2))" 'md: a row a claim'
is "$(grep '^|' <<<"$out" | sed 's/\\|//g' | awk -F'|' '{ print NF }' | sort -u)" 8 'md: every row has as many cells'

# --- the same bytes each time; faults

"$keylab" export --db "$db" --run 2 --format junit | cmp -s - "$scratch/run.xml"
is "$?" 0 'the same store gives the same bytes'
sqlite3 "$scratch/many.db" 'delete from claim where run_id = 2'
for format in tap junit case github; do
	"$keylab" export --db "$scratch/many.db" --run 2 --format $format >"$scratch/empty.$format"
done
run prove --exec cat "$scratch/empty.tap"
is "$((rc != 0))" 1 'an empty run fails: tap'
is "$(xmllint --xpath 'string(/testsuites/@errors)' "$scratch/empty.xml" 2>/dev/null || xmllint --xpath 'string(/testsuites/@errors)' "$scratch/empty.junit")" 1 'an empty run fails: junit'
like "$(<"$scratch/empty.case")$(<"$scratch/empty.github")" 'ERROR .*::error ' 'an empty run fails: case, github'
run "$keylab" export --db "$db"
is "$rc" 64 'no format: usage'
like "$err" 'tap, tap14, junit, csv, json, md, github, case' 'and the message lists them'
run "$keylab" export --db "$db" --format xml
is "$rc" 64 'an unknown format: usage'
run "$keylab" export --db "$db" --format tap --run 99
is "$rc" 64 'an unknown run: usage'
like "$err" 'holds no run 99' 'and the message says so'
done_testing
