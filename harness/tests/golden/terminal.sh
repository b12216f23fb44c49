#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Hostile text in scenario files, stores and arguments does nothing on a terminal: no escape sequence arrives there.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/fixture.sh"
. "$2/harness/tests/terminal.sh"

escape=$'\e'
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

# For the gate: a run that is as it should be, its baseline, and a baseline that is hostile, too.
gated=$scratch/gated.db
fixture_store "$gated" || { fail 'the fixture'; done_testing; }
sqlite3 "$gated" "
	update param set origin = 'profile';
	update claim set expected = verdict where run_id = 2;
	delete from cluster where version_num / 10000 <> 18;
	update claim set value = char(27) || '[2J' || char(155), reason = char(27) || '[31m', unit = char(27) || '[7m'
		where run_id = 2 and metric_type = 'exact' and typeof(value) = 'text'"
run "$keylab" baseline --accept 2 --reason $'because \e]0;owned\a\e[2J \xc2\x9b2J \r' --db "$gated" --dir "$scratch/b"
clean "$scratch/.err" 'baseline: its messages'
is "$rc" 0 "a baseline is accepted $err"
baseline=$(echo "$scratch"/b/18/*-any.json)
jq '.metrics |= with_entries(.value.why = "\u001b[2J" | if (.value.value | type) == "number" then .value.value += 7 else .value.value = "\u001b[2J\u009b" end) |
	.metrics["keys/gone/\u001b[2J\u009b"] = .metrics[.metrics | keys[0]]' "$baseline" >"$scratch/doctored.json"
jq '.version = "\u001b[2J"' "$baseline" >"$scratch/malformed.json"

if has_terminal 'on a terminal'; then
	for words in "check $scratch/hostile/escape.yaml" "verify $db" "compare --db $db 1 2" "export --db $db --format tap" \
		"export --db $db --format csv" "list" "gate --run 2 --db $gated --baseline $scratch/doctored.json" \
		"gate --run 2 --db $gated --baseline $scratch/doctored.json --json" "gate --run 2 --db $gated --baseline $scratch/malformed.json" \
		"gate --run 2 --db $gated --dir $scratch/none" "report --db $db --out $scratch/page.html" "report --run 99 --db $db"; do
		# shellcheck disable=SC2086
		on_terminal "$scratch/terminal" "$keylab" $words
		clean "$scratch/terminal" "on a terminal: ${words%% *}"
	done
	on_terminal "$scratch/terminal" "$keylab" gate --run 2 --db "$gated" --baseline "$scratch/doctored.json"
	like "$(<"$scratch/terminal")" 'regressed .*x1b\[2J' 'the gate has shown what it says'
	on_terminal "$scratch/terminal" "$keylab" report --db "$db" --out "$scratch/$hostile.html"
	clean "$scratch/terminal" 'on a terminal: report, of a page of that name'
	on_terminal "$scratch/terminal" "$keylab" export --db "$db" --format csv
	like "$(<"$scratch/terminal")" '\\x1b\[2J' 'where it is shown for what it is'
fi
run "$keylab" export --db "$db" --format csv
like "$out" "${escape}\[2J" 'into a file or a pipe an export goes byte by byte'
done_testing
