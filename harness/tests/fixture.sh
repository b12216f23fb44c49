# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# Stores without a server. Sourced by tests behind lib.sh.

# fixture_store FILE: the store of the report's tests (two runs, every verdict, texts that try to be markup).
fixture_store() {
	local migration
	rm -f "$1"
	for migration in "$source_root"/sql/store/migrate/*.sql; do
		sqlite3 "$1" <"$migration" || return
	done
	sqlite3 "$1" "pragma application_id = $((0x6b6c6162)); pragma user_version = $((10#$(basename "$migration" | cut -c1-4)))" &&
		sqlite3 "$1" <"$source_root/harness/tests/golden/report/fixture.sql"
}
