#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# A store in a folder that takes no new file, as on a read-only disk, is read like any other.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

folder="$scratch/a #100% folder?"
mkdir "$folder"
fixture_store "$folder/kept.db" || { fail 'the fixture'; done_testing; exit; }
sqlite3 "$folder/kept.db" 'pragma journal_mode = wal' >/dev/null # as keylab leaves it
before=$(sha256sum <"$folder/kept.db")
chmod 555 "$folder"
mkdir -m 777 "$scratch/out"
# Root may write everywhere.
as=()
if (($(id -u) == 0)); then
	command -v setpriv >/dev/null || { skip 'a frozen store' 'root, and no setpriv'; done_testing; exit; }
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 755 "$scratch"
	cp "$keylab" "$scratch/keylab"
	keylab=$scratch/keylab
fi
for mode in 444 644; do
	chmod "$mode" "$folder/kept.db"
	for command in verify 'export --format tap --db' "report --no-charts --out $scratch/out/page.html --db" 'compare 1 2 --db'; do
		read -ra words <<<"$command"
		run "${as[@]}" "$keylab" "${words[@]}" "$folder/kept.db"
		is "$((rc <= 2))" 1 "mode $mode: ${words[0]}: $rc $err"
		unlike "$err" 'readonly|cannot|unable' "mode $mode: ${words[0]}: and without a complaint"
	done
done
is "$(ls "$folder")" kept.db 'nothing stands beside it'
is "$(sha256sum <"$folder/kept.db")" "$before" 'and it is as it was'
chmod 755 "$folder"
done_testing
