#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# What a server says (an error, a value, a name, a notice) does nothing on a terminal while it runs, nor afterwards, and is
# kept as it was.
. "$2/harness/tests/lib.sh"
. "$2/harness/tests/terminal.sh"

export KEYLAB_HOME=$scratch/home
chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || skip_all 'no PostgreSQL server'
has_terminal 'on a terminal' || done_testing
db=$scratch/said.db
# Of what is hostile all but the bare byte, which no server would send as text; in SQL.
said="E'\\x1b]0;owned\\x07\\x1b[2J \\u009b2J \\r overwritten \\u202e'"

mkdir -p "$scratch/said"
# scenario NAME STEPS: with a claim on what was sampled as `words`.
scenario() {
	cat >"$scratch/said/$1.yaml" <<-END
		scenario: $1
		document: said
		title: What a server says
		about: Texts that would move a cursor.
		steps:
		$2
		claims:
		  - id: words
		    says: The words are others.
		    value: select value from sample where metric = 'words'
		    type: exact
		    holds: "= 'others'"
		limits: [It measures nothing.]
	END
}
scenario value "  - probe: said
    sql: select $said as words"
scenario error "  - sql: do \$do\$ begin raise exception '%', $said using detail = $said, hint = $said; end \$do\$"
scenario name "  - sql: do \$do\$ begin execute format('select * from %I', $said); end \$do\$"
scenario notice "  - sql: do \$do\$ begin raise notice '%', $said; raise warning '%', $said; end \$do\$
  - probe: said
    sql: select 'x' as words"

for name in value error name notice; do
	on_terminal "$scratch/terminal" "$keylab" run --db "$db" "$scratch/said/$name.yaml"
	clean "$scratch/terminal" "on a terminal: run, with a hostile $name"
	[[ $name == notice ]] || like "$(<"$scratch/terminal")" 'x1b' 'where it is shown for what it is'
	run "$keylab" run --quiet --db "$scratch/pipe.db" "$scratch/said/$name.yaml"
	cat "$scratch/.out" "$scratch/.err" >"$scratch/pipe"
	clean "$scratch/pipe" "in a pipe: run, with a hostile $name"
done
is "$(sqlite3 "$db" "select hex(value) from samples where metric = 'words' and scenario = 'value'")" \
	"$(printf '\e]0;owned\a\e[2J \xc2\x9b2J \r overwritten \xe2\x80\xae' | od -An -tx1 | tr -d ' \n' | tr a-f A-F)" 'the sample is what the server said'
ok 'the error too' test "$(sqlite3 "$db" "select count(*) from steps where instr(message, char(27) || '[2J') > 0")" -ge 2
for words in "verify $db" "report --db $db --out $scratch/page.html" "compare --db $db 1 2" "gate --db $db --dir $scratch/none" \
	"export --db $db --run 1 --format tap" "export --db $db --run 2 --format md" "export --db $db --run 1 --format csv"; do
	# shellcheck disable=SC2086
	on_terminal "$scratch/terminal" "$keylab" $words
	clean "$scratch/terminal" "on a terminal: ${words%% *}"
done
done_testing
