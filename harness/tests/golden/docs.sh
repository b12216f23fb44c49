#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The figures in the documents are those of a store: the tables are made again from docs/evidence.sql, which must be of
# the scenarios as they are now. When this fails: ./run.sh and then ./run.sh docs.
. "$2/harness/tests/lib.sh"
. "$source_root/harness/setup/docs.sh"

command -v sqlite3 >/dev/null || { skip 'documents' 'there is no sqlite3'; done_testing; exit; }

db=$scratch/evidence.db
{
	cat "$source_root"/sql/store/migrate/*.sql "$source_root/docs/evidence.sql"
	printf 'pragma user_version = %d; pragma application_id = %d;\n' \
		"$(find "$source_root/sql/store/migrate" -name '*.sql' | wc -l)" "$((0x6b6c6162))"
} | sqlite3 "$db" >/dev/null 2>"$scratch/errors"
is "$(cat "$scratch/errors")" '' 'docs/evidence.sql can be read'

# block FILE NAME: what stands between the comments of that name.
block() {
	awk -v name="$2" '$0 ~ "^<!-- " name ": " {inside = 1; next} $0 ~ "^<!-- end of " name {inside = 0} inside' "$1"
}

run "$keylab" export --format md --db "$db"
is "$rc" 0 'the table can be made from it'
is "$(block "$source_root/docs/claims.md" claims)" "$(printf '%s' "$out")" 'docs/claims.md is that table'
is "$(block "$source_root/README.md" claims)" "$(published_rows <<<"$out")" 'the table in README.md is its published part'
is "$(cd "$source_root" && for page in README.md docs/claims.md; do block "$page" run; done)" \
	"$(for page in 1 2; do measured_on "$db" "$(sqlite3 "$db" 'select max(run_id) from run')"; done)" 'both say where it was measured'

# HOME is everybody's.
is "$(sed -n 's/^| `\([A-Z_]*\)` |.*/\1/p' "$source_root/docs/servers.md" | sort | tr '\n' ' ')" \
	"$(grep -hoE 'getenv\("[A-Z_]+"\)' "$source_root"/harness/cmd/*.c | cut -d '"' -f 2 | grep -vx HOME | sort -u | tr '\n' ' ')" \
	'docs/servers.md lists the variables that keylab reads'

run "$keylab" list --json
is "$(sqlite3 "$db" "select scenario || ' ' || sha256 from scenario order by 1")" \
	"$(sed -n 's/.*"scenario":"\([^"]*\)".*"sha256":"\([^"]*\)".*/\1 \2/p' <<<"$out" | sort)" \
	'the scenarios are those that were run'
done_testing
