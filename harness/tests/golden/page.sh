#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# What the evidence page promises, held over a page of full length: small, silent, the same bytes each time, and every
# card backed by a row of the store. Without a DB the claims of docs/evidence.sql, which have no samples and no charts;
# ./run.sh docs gives it the store of a chapter run.
#
#   page.sh KEYLAB SOURCE_ROOT [DB]
. "$2/harness/tests/lib.sh"

command -v sqlite3 >/dev/null || skip_all 'there is no sqlite3'
db=${3-}
if [[ -z $db ]]; then
	db=$scratch/evidence.db
	{
		cat "$source_root"/sql/store/migrate/*.sql "$source_root/docs/evidence.sql"
		printf 'pragma user_version = %d; pragma application_id = %d;\n' \
			"$(find "$source_root/sql/store/migrate" -name '*.sql' | wc -l)" "$((0x6b6c6162))"
	} | sqlite3 "$db" >/dev/null
fi
export KEYLAB_HOME=$scratch/home
mkdir "$KEYLAB_HOME"
chmod 755 "$KEYLAB_HOME"
page=$scratch/page.html

# --- the same bytes, with the charts drawn and with the charts kept

run "$keylab" report --db "$db" --out "$page"
is "$rc:$err" '0:' 'the page is rendered without a complaint'
run "$keylab" report --db "$db" --out "$scratch/again.html"
ok 'a second time it is the same, byte for byte' cmp "$page" "$scratch/again.html"
rm -rf "$KEYLAB_HOME/charts"
run "$keylab" report --db "$db" --out "$scratch/again.html"
ok 'and a third time with every chart drawn anew' cmp "$page" "$scratch/again.html"

# --- size and silence

ok 'it is not larger than 1.5 MB' test "$(wc -c <"$page")" -le $((3 << 19))
for what in '<script' '<iframe' '<img' ' style=' '<link' 'url(' '@import' ' src='; do
	is "$(grep -cF -- "$what" "$page")" 0 "it has no $what"
done
is "$(grep -ciE '<[a-z][^>]* on[a-z]+=' "$page")" 0 'it has no event attribute'
is "$(grep -c '<style>' "$page")" 1 'it has one style sheet'
is "$(grep -oE ' id="[^"]*"' "$page" | sort | uniq -d)" '' 'no id is there twice'
awk 'BEGIN { RS = "</svg>" } (at = index($0, "<svg")) && length(substr($0, at)) > 61440 { large++ } END { exit large > 0 }' "$page"
is "$?" 0 'no picture is larger than 60 kB'
is "$(grep -c 'Chart unavailable' "$page")" "$([[ -x $(command -v gnuplot) ]] && echo 0 || grep -c '<figure' "$page")" \
	'every chart is drawn'

# --- each card has its row, each place its query

# queries CLASS: the statements of that class, as they are pasted.
queries() {
	grep -oE "<code class=\"$1\">[^<]*" "$page" |
		sed -e 's/^[^>]*>//' -e "s/&#39;/'/g" -e 's/&quot;/"/g' -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&amp;/\&/g'
}
# counted CLASS: how many rows each of them has.
counted() {
	queries "$1" | sed -e 's/^/select count(*) from (/' -e 's/$/);/' | sqlite3 -readonly "$db" 2>&1
}
cards=$(grep -c '<article' "$page")
ok 'there are cards' test "$cards" -gt 0
is "$(queries row | sort -u | wc -l)" "$cards" 'each card names a row of its own'
is "$(counted row | sort -u)" 1 'and the store has it'
ok 'the page names a query for each place' test "$(queries rows | wc -l)" -ge 7
unlike "$(counted rows)" '[^0-9[:space:]]' 'and each of them runs'
run "$keylab" export --format md --db "$db"
is "$((cards + 2))" "$(wc -l <<<"$out")" 'there are as many cards as claims in scope'

# --- what was worked out from the samples comes out again

if [[ -n ${3-} ]]; then
	run "$keylab" verify "$db"
	is "$rc" 0 "every value and verdict follows from the samples: $out$err"
fi
done_testing
