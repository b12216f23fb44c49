#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The bundle of keylab report: tar unpacks it, sha256sum agrees with it, and what is in it is what it was made of.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
db=$scratch/fixture.db
fixture_store "$db" || { fail 'the fixture'; done_testing; }
# Names that would leave the folder, and two that are longer than a tar header and alike in what fits.
long=$(printf 'x%.0s' {1..140})
sqlite3 "$db" "
	insert into scenario (run_id, scenario, document, position, title, about, limits, path, sha256, text) values
		(2, '../../etc/passwd', '/root', 90, 't', 'a', '[]', 'p', 's', 'climbs'),
		(2, '${long}1', 'd', 91, 't', 'a', '[]', 'p', 's', 'long 1'), (2, '${long}2', 'd', 92, 't', 'a', '[]', 'p', 's', 'long 2'),
		(2, 'empty', 'd', 93, 't', 'a', '[]', 'p', 's', '');
	update run set argv = '[\"run\"]' || char(10) || 'rm -r x' where run_id = 2"
export KEYLAB_HOME=$scratch/home
mkdir "$KEYLAB_HOME"
chmod 755 "$KEYLAB_HOME"

run "$keylab" report --db "$db" --run 2 --bundle "$scratch/one.tar"
is "$rc:$out:$err" "0:$scratch/one.tar:" 'the bundle is written, and named'
run "$keylab" report --db "$db" --run 2 --bundle "$scratch/two.tar"
ok 'a second one has the same bytes' cmp "$scratch/one.tar" "$scratch/two.tar"
is "$(find "$scratch" -name '*.part')" '' 'nothing is left half written'

# --- tar reads it

names=$(tar -tf "$scratch/one.tar" 2>&1)
ok 'tar lists it' tar -tf "$scratch/one.tar"
is "$(LC_ALL=C sort -u <<<"$names")" "$names" 'the names are sorted, and each is there once'
unlike "$(sed 's|^keylab-run-2/||' <<<"$names" | tr '\n' ' ')" '\.\.|[^A-Za-z0-9_./ -]|^/| /|/-*\.' \
	'each lies plainly below the folder of the run'
tar -xf "$scratch/one.tar" -C "$scratch"
cd "$scratch/keylab-run-2" || exit 1
is "$(find . -type f -printf '%TY-%Tm-%Td %TH:%TM\n' | sort -u)" \
	"$(TZ='' sqlite3 "$db" "select strftime('%Y-%m-%d %H:%M', finished_us / 1000000, 'unixepoch', 'localtime') from run where run_id = 2")" \
	'all of the time at which the run ended'

# --- the sums

ok 'sha256sum accepts it' sha256sum --check --strict --quiet SHA256SUMS
is "$(cut -c67- SHA256SUMS)" "$(find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort)" 'every file has its sum'
cp command.txt saved
echo >>command.txt
run sha256sum --check --quiet SHA256SUMS
is "$rc" 1 'a changed file is found'
mv saved command.txt

# --- what is in it

run "$keylab" report --db "$db" --run 2 --out "$scratch/page.html"
ok 'the page is the page' cmp report.html "$scratch/page.html"
is "$(sqlite3 keylab.db .dump | cksum)" "$(sqlite3 "$db" .dump | cksum)" 'the store has every row of the store'
run "$keylab" report --db keylab.db --run 2 --out "$scratch/again.html"
ok 'and gives the same page' cmp report.html "$scratch/again.html"
is "$(wc -l <logs/steps.tsv)" "$(($(sqlite3 "$db" 'select count(*) from step where run_id = 2') + 1))" 'a line a step, and a head'
is "$(wc -l <logs/incidents.tsv)" "$(($(sqlite3 "$db" 'select count(*) from incident where run_id = 2') + 1))" 'a line an incident'
is "$(cat scenarios/*climbs* scenarios/*passwd* 2>/dev/null)" climbs 'a scenario whose name climbs lies with the others'
is "$(for file in scenarios/d.xxx*; do cat "$file"; echo; done | sort | xargs)" 'long 1 long 2' 'two long names are two files'
is "$(cat scenarios/d.empty.yaml; echo $?)" 0 'an empty text is an empty file'
is "$(grep -c '^rm' command.txt)" 0 'the command is one line, whatever is in it'
charts=$(sqlite3 "$db" "select count(*) from chart where run_id = 2 and kind <> 'table'")
ok 'the charts have their data' test "$(find charts -name '*.tsv' | wc -l)" -ge "$charts"
draw_all() {
	local script drawn=0
	for script in charts/*.gp; do
		[[ $(gnuplot -d "$script" 2>&1) == *'</svg>'* ]] || fail "gnuplot draws $script" "$(gnuplot -d "$script" 2>&1 | head -n 3)"
		drawn=$((drawn + 1))
	done
	ok 'gnuplot draws every script' test "$drawn" -gt 0
}
if command -v gnuplot >/dev/null; then
	draw_all
else
	skip 'gnuplot draws every script' 'gnuplot is not here'
fi
run "$keylab" report --db "$db" --run 2 --no-charts --bundle "$scratch/bare.tar"
is "$(tar -tf "$scratch/bare.tar")" "$names" 'without gnuplot the scripts are there all the same'

# --- words that gnuplot would run, or trip over

# Short ones: a long label is cut before it has come to its point.
words=("'; system('touch planted'); '" '"; system("touch planted"); "' '`touch planted`' "'; set output 'planted'; '"
	$'"\n!touch planted\n"' "' ends with \\" '@GPVAL_TERM \140touch planted\140' "''50 % %d \\n \\\"x")

# spread TABLE COLUMNS ORDER: each row of run 2 gets one of the words, in all these columns.
spread() {
	local keys key column i=0 sets
	mapfile -t keys < <(sqlite3 "$db" "select scenario || '/' || $1 from $1 where run_id = 2 order by $3")
	for key in "${keys[@]}"; do
		sets=$(for column in $2; do printf "%s = '%s', " "$column" "${words[i % ${#words[@]}]//\'/\'\'}"; done)
		sqlite3 "$db" "update $1 set ${sets%, } where run_id = 2 and scenario || '/' || $1 = '${key//\'/\'\'}'"
		i=$((i + 1))
	done
}

draw_words() {
	local script picture text drawn=0 wrong=''
	mkdir words drawn
	tar -xf words.tar -C words
	cd drawn || exit 1
	for script in ../words/*/charts/*.gp; do
		picture=$(basename "$script").svg
		gnuplot -d "$script" >"$picture" 2>"$scratch/.err" || wrong+="$script: exit $?"$'\n'
		[[ $(<"$picture") == *'</svg>' && ! -s $scratch/.err ]] || wrong+="$script: $(head -n 4 "$scratch/.err")"$'\n'
		drawn=$((drawn + 1))
	done
	is "$wrong" '' 'gnuplot draws every script, and has nothing to say'
	ok "all $drawn" test "$drawn" -ge "${#words[@]}"
	for text in "${words[@]}"; do
		ok "it is drawn as it is: ${text//$'\n'/ }" grep -qF -- "${text//$'\n'/ }" ./*.svg
	done
	cd ..
	is "$(find . -name '*planted*')" '' 'nothing of it is run'
}

cd "$scratch" || exit 1
spread arm label 'scenario, position'
# Those whose query gives nothing come last.
spread chart 'title x_label y_label y_unit' "chart in ('broken', 'empty'), scenario, position"
run "$keylab" report --db "$db" --run 2 --bundle "$scratch/words.tar"
is "$rc:$err" 0: 'a bundle with such words'
if command -v gnuplot >/dev/null; then
	draw_words
else
	skip 'such words are drawn' 'gnuplot is not here'
fi

# --- what it refuses

run "$keylab" report --db "$db" --bundle "$scratch/x.tar" --out "$scratch/x.html"
is "$rc" 64 'a bundle and a page: one at a time'
run "$keylab" report --db "$db" --bundle "$scratch/no/such/folder/x.tar"
is "$rc" 3 'a folder that is not there'
like "$err" 'no/such/folder' 'and the message names it'
done_testing
