#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Hostile text in scenario files, stores and arguments does nothing on a terminal: no escape sequence arrives there.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"

escape=$'\e'
# An escape sequence, its one-character form in UTF-8 and as a bare byte, a bell, a carriage return, an override.
hostile=$'\e]0;owned\a\e[2J \xc2\x9b2J \x9b2J \r overwritten \xe2\x80\xae'

# clean FILE WHAT: nothing in it moves a cursor. A terminal itself ends lines with \r\n.
clean() {
	if sed 's/\r$//' "$1" | LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|(?<![\xc0-\xff\x80-\xbf])[\x80-\xbf]'; then
		fail "$2" "$(cat -v "$1" | head -n 20)"
	else
		pass "$2"
	fi
}

# on_terminal FILE CMD...: what CMD writes to a terminal, both streams.
on_terminal() {
	local file=$1 words
	shift
	words=$(printf '%q ' "$@")
	SHELL=/bin/bash script -qec "$words" /dev/null </dev/null >"$file" 2>&1
}

printf 'the check sees: %s\n' "$hostile" >"$scratch/dirty"
like "$( (clean "$scratch/dirty" x) 2>/dev/null)" '^not ok' 'the check of this test sees what it should'

mkdir -p "$scratch/hostile"
cat >"$scratch/hostile/escape.yaml" <<END
scenario: escape
document: hostile
title: "\\e[31mred \\a"
about: "\\e[2J"
"\\e]0;owned\\a": 1
steps:
  - sql: "select '\\e[5m' \${\\e[7m}"
    as: "\\e[1m"
claims: []
limits: ["\\e[0m"]
END

run "$keylab" check "$scratch/hostile/escape.yaml"
is "$rc" 64 'a scenario file with escape sequences is wrong'
run "$keylab" plan "$scratch/hostile/escape.yaml"
clean "$scratch/.err" 'plan: its messages in a pipe'
run "$keylab" "$hostile"
clean "$scratch/.err" 'a word of the command line comes back harmless'
like "$err" 'x1b\]0;owned' 'and can still be read'
run "$keylab" verify "$scratch/$hostile.db"
clean "$scratch/.err" "a file's name too"
run "$keylab" run --set "$hostile=1" "$scratch/hostile/escape.yaml"
clean "$scratch/.err" 'run: its messages'

db=$scratch/fixture.db
fixture_store "$db" || { fail 'the fixture'; done_testing; }
sqlite3 "$db" "update claim set sentence = sentence || char(27) || '[2J', reason = char(27) || '[31m', verdict = 'HOLDS',
	predicate = predicate || char(155), sql = 'select nonsense' || char(27) || '[5m'"
if ! command -v script >/dev/null; then
	skip 'on a terminal' 'script(1) is not here'
elif ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	skip 'on a terminal' 'no terminal can be made here'
else
	for words in "check $scratch/hostile/escape.yaml" "verify $db" "compare --db $db 1 2" "export --db $db --format tap" \
		"export --db $db --format csv" "list"; do
		# shellcheck disable=SC2086
		on_terminal "$scratch/terminal" "$keylab" $words
		clean "$scratch/terminal" "on a terminal: ${words%% *}"
	done
	on_terminal "$scratch/terminal" "$keylab" export --db "$db" --format csv
	like "$(<"$scratch/terminal")" '\\x1b\[2J' 'where it is shown for what it is'
fi
run "$keylab" export --db "$db" --format csv
like "$out" "${escape}\[2J" 'into a file or a pipe an export goes byte by byte'
done_testing
