#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Stores that somebody else made: SQL of a claim that does not end, or would fill the memory, is an error of that claim;
# a store whose views say something else than keylab's is refused by everything that reads it.
. "$2/harness/tests/lib.sh"
. "$source_root/harness/tests/fixture.sh"
db=$scratch/hostile.db

fixture_store "$db" || fail 'the fixture'
claim=$(sqlite3 "$db" "select claim from claim join scenario using (run_id, scenario)
	where run_id = 2 and status = 'done' and verdict = 'HOLDS' and in_scope = 1 order by 1 limit 1")
like "$claim" . 'a claim that holds'

# hostile SQL: its claim's SQL is that, and it is verified.
hostile() {
	sqlite3 "$db" "update claim set sql = '$(sed "s/'/''/g" <<<"$1")' where run_id = 2 and claim = '$claim'"
	run timeout 100 "$keylab" verify --run 2 "$db"
}

hostile 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'
is "$rc" 1 'SQL without an end: verify comes to one'
like "$out$err" "$claim.*derived ERROR.*had not ended after 20 million steps.*give what is recursive in it an end" \
	'and says which claim, why, and what helps'
hostile 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n'
like "$out$err" "$claim.*more than 1000000 values" 'values without an end'
hostile 'select length(zeroblob(500000000) || zeroblob(500000000))'
like "$out$err" "$claim.*too big" 'a value of a gigabyte'
hostile "select 1 where printf('%.*c', 100000, 'a') like printf('%.*c', 300, '%') || 'b'"
like "$out$err" "$claim.*pattern too complex" 'a pattern that takes for ever'
hostile "select load_extension('/nowhere')"
like "$out$err" "$claim.*derived ERROR.*(not authorized|only a SELECT)" 'a library'
hostile "select * from (select 1) join pragma_database_list"
like "$out$err" "$claim.*derived ERROR" 'a pragma'
run timeout 100 "$keylab" report --db "$db" --out "$scratch/page.html"
is "$rc" 0 'the page is made, whatever the SQL is'

# ---- charts: their queries are read like claims, and no text of theirs is gnuplot's to run

page=$scratch/page.html
chart() {
	fixture_store "$db" || fail 'the fixture'
	(cd "$scratch" && sqlite3 "$db" "$1")
	run timeout 100 env -C "$scratch" "$keylab" report --db "$db" --out "$page"
}
chart "update chart set data = 'with recursive n(i) as (select 1 union all select i + 1 from n)
	select 1 as series, 1 as x, count(*) as y, 1 as lane, 2 as start, 3 as stop, 4 as row, 5 as col, 6 as cell from n'
	where run_id = 2 and chart = (select min(chart) from chart where run_id = 2)"
is "$rc" 0 'a chart whose query does not end'
ok 'is told on the page' grep -q 'had not ended after 20 million steps' "$page"
chart "update chart set title = 'with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n'
	where run_id = 2 and chart = (select min(chart) from chart where run_id = 2)"
is "$rc" 0 'a title whose query does not end'
ok 'is told on the page' grep -q 'had not ended after 20 million steps' "$page"
chart "update chart set data = 'attach database ''planted'' as other', title = 'select writefile(''planted'', ''x'')'"
is "$rc$(ls "$scratch"/planted* 2>/dev/null)" 0 'a query that makes a file makes none'
words="'; system(''touch planted''); \`touch planted\`; set output ''planted''
!touch planted"
chart "update arm set label = '${words//\'/\'\'}';
	update chart set x_label = '${words//\'/\'\'}', y_label = '\"; system(\"touch planted\"); \"', x_unit = '@planted', y_unit = '${words//\'/\'\'}'"
is "$rc$(ls "$scratch"/planted* 2>/dev/null)" 0 'words that gnuplot would run are not run'
ok 'but stand on the page' grep -q 'touch planted' "$page"

for change in 'create trigger t after insert on run begin delete from sample; end' 'drop view claims; create view claims as select 1 as run_id' \
	'drop view samples; create view samples as with recursive n(i) as (select 1 union all select i + 1 from n) select i as run_id from n'; do
	fixture_store "$db" || fail 'the fixture'
	sqlite3 "$db" "$change"
	for words in "verify $db" "report --db $db --out $scratch/page.html" "export --format md --db $db"; do
		# shellcheck disable=SC2086
		run timeout 100 "$keylab" $words
		like "$rc$err" '^(3|64).*(its view (claims|samples) is not the one that keylab makes|has a trigger).*--db' "${change%%;*}: ${words%% *} refuses it"
	done
done
fixture_store "$db" || fail 'the fixture'
sqlite3 "$db" 'create view mine as select count(*) from claims'
run "$keylab" export --format md --db "$db" --run 2
is "$rc" 0 'a view besides is none of its business'

# ---- damaged files: a page of random bytes, of zeros or of another place, the same ones each time

fixture_store "$scratch/whole.db" || fail 'the fixture'
page_size=$(sqlite3 "$scratch/whole.db" 'pragma page_size')
pages=$(sqlite3 "$scratch/whole.db" 'pragma page_count')
# The numbers are drawn before the pipe: its parts are subshells, which have others each time.
RANDOM=18 wrong='' refused=0
for ((i = 0; i < 16; i++)); do
	cp "$scratch/whole.db" "$db"
	rm -f "$db"-*
	place=$((RANDOM % pages)) other=$((RANDOM % pages)) bytes=''
	for ((j = 0; j < page_size; j++)); do
		printf -v byte '\\x%x' $((RANDOM % 256))
		bytes+=$byte
	done
	case $((i % 4)) in
	0) dd if="$scratch/whole.db" bs="$page_size" skip="$other" count=1 status=none ;;
	1) head -c "$page_size" /dev/zero ;;
	*) printf '%b' "$bytes" ;;
	esac | dd of="$db" bs="$page_size" seek="$place" conv=notrunc status=none
	for words in "verify $db" "report --db $db --out $scratch/page.html" "export --format json --db $db"; do
		# shellcheck disable=SC2086
		run timeout 100 "$keylab" $words
		[[ $rc =~ ^(0|1|2|3|64)$ && ($rc != 64 || $err == *keylab*) ]] || wrong+="damage $i: $words: exit $rc: $err"$'\n'
		[[ $rc != 64 && $rc != 3 ]] || refused=$((refused + 1))
	done
done
is "$wrong" '' "of 16 damaged stores each is read or refused with a reason"
ok "$refused times refused" test "$refused" -gt 0
done_testing
