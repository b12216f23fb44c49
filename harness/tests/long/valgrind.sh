#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# A quick run under valgrind, then what reads its store: no error, no leak.
. "$2/harness/tests/lib.sh"

command -v valgrind >/dev/null || skip_all 'no valgrind'
! ldd "$keylab" | grep -q -e asan -e tsan || skip_all 'built with a sanitizer'
export KEYLAB_HOME=$scratch/home
chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL 1[89]' || skip_all 'PostgreSQL 18 is not here'
db=$scratch/valgrind.db
errors=0 commands=0

# under DESCRIPTION WANTED-RC WORDS...
under() {
	local what=$1 wanted=$2 found
	shift 2
	run valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
		--error-exitcode=99 --log-file="$scratch/%p.log" "$keylab" "$@"
	like "$rc" "$wanted" "$what under valgrind" || true
	# System calls that valgrind does not know are answered with ENOSYS, and named.
	found=$(cat "$scratch"/*.log 2>/dev/null | grep -v -e 'WARNING: unhandled' -e 'You may be able to write' -e 'README_MISSING' \
		-e 'Nevertheless we consider' -e 'it at http' || true)
	is "$found" '' "$what: no error, no leak"
	[[ -z $found ]] || errors=$((errors + 1))
	commands=$((commands + 1))
	rm -f "$scratch"/*.log
}

scenarios=(sequences natural-keys)
under 'a quick run' '^[012]$' run --quiet --profile quick --db "$db" "${scenarios[@]}"
under 'a quick run of two jobs' '^[012]$' run --quiet --profile quick --jobs 2 --set rows=1k --db "$db" leaf-density recent-rows
under 'verify' '^0$' verify "$db"
under 'report' '^0$' report --db "$db" --out "$scratch/page.html"
under 'export' '^[012]$' export --format junit --db "$db"
under 'list' '^0$' list
under 'clean' '^0$' clean --db "$db"
figure valgrind "$(valgrind --version): two quick runs of ${#scenarios[@]} scenarios each, verify, report, export, list, clean; with errors or leaks: $errors of $commands commands"
done_testing
