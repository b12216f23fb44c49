#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Quick runs under valgrind, worker processes too, then what reads their store: no error, no leak.
. "$2/harness/tests/lib.sh"

command -v valgrind >/dev/null || skip_all 'no valgrind'
! ldd "$keylab" | grep -q -e asan -e tsan || skip_all 'built with a sanitizer'
export KEYLAB_HOME=$scratch/home
chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL 1[89]' || skip_all 'PostgreSQL 18 is not here'
db=$scratch/valgrind.db
errors=0 commands=0 workers=0

# keylab starts its workers as /proc/self/exe, which is valgrind's own program here.
cat >"$scratch/self.c" <<'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int execve(const char *path, char *const argv[], char *const envp[])
{
	return (int)syscall(SYS_execve, strcmp(path, "/proc/self/exe") ? path : PROGRAM, argv, envp);
}
END
cc -shared -fPIC "-DPROGRAM=\"$keylab\"" -o "$scratch/self.so" "$scratch/self.c" || fail 'the way to workers'

# under DESCRIPTION WANTED-RC WORDS...
under() {
	local what=$1 wanted=$2 found
	shift 2
	# Of the children only keylab's own are followed.
	run env "LD_PRELOAD=$scratch/self.so" valgrind --vgdb=no --trace-children=yes \
		--trace-children-skip='*/postgres,*/initdb,/usr/*,/bin/*' \
		--leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
		--error-exitcode=99 --log-file="$scratch/%p.log" "$keylab" "$@"
	like "$rc" "$wanted" "$what under valgrind" || true
	# An error has a stack, whatever became of the process; what has none is about valgrind itself.
	found=$(grep -lE '^==[0-9]+== +(at|by) 0x' "$scratch"/*.log 2>/dev/null | xargs -r cat)
	workers=$((workers + $(cat "$scratch"/*.log | grep -cE "Command: $keylab worker [0-9]")))
	is "$found" '' "$what: no error, no leak"
	[[ -z $found ]] || errors=$((errors + 1))
	commands=$((commands + 1))
	rm -f "$scratch"/*.log
}

under 'a quick run' '^[012]$' run --quiet --profile quick --db "$db" sequences natural-keys
under 'a quick run of two jobs' '^[012]$' run --quiet --profile quick --jobs 2 --set rows=1k --db "$db" leaf-density recent-rows
under 'a quick run with workers' '^[012]$' run --quiet --profile quick --set trials=1 --db "$db" segment-allocator
is "$(sqlite3 "$db" "select status from scenario where scenario = 'segment-allocator'")" done 'which come to their end'
ok "$workers worker processes were under valgrind" test "$workers" -ge 4
under 'verify' '^0$' verify "$db"
under 'report' '^0$' report --db "$db" --out "$scratch/page.html"
under 'export' '^[012]$' export --format junit --db "$db"
under 'list' '^0$' list
under 'clean' '^0$' clean --db "$db"
figure valgrind "$(valgrind --version): three quick runs of 5 scenarios and $workers worker processes, verify, report, export, list, clean; with errors or leaks: $errors of $commands commands"
done_testing
