#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# What keylab is started in changes nothing: libpq's variables, ignored signals, a folder that others use, a neighbour that
# prepares something, somebody who looks at a kept cluster, server programs with rights of their own.
. "$2/harness/tests/lib.sh"

export KEYLAB_HOME=$scratch/home
chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || skip_all 'no PostgreSQL server'
cd "$scratch" || exit 1
mkdir around

# scenario NAME SQL
scenario() {
	cat >"around/$1.yaml" <<-END
		scenario: $1
		document: around
		title: $1
		about: Of a test.
		steps:
		  - probe: asked
		    sql: $2
		claims:
		  - id: $1-says
		    says: The server's own value is in force.
		    value: select value from sample where step = 'asked'
		    type: exact
		    holds: = 4096
		limits: [It measures nothing.]
	END
}
scenario plain "select setting as work_mem from pg_settings where name = 'work_mem'"
scenario broken "select 1 / 0 as work_mem"

# wait_until WORDS...: at most two minutes.
wait_until() {
	local until=$((SECONDS + 120))
	until "$@" || ((SECONDS > until)); do sleep 0.05; done
}

# ---- the environment

run env PGHOSTADDR=127.0.0.1 PGPORT=1 PGOPTIONS='-c work_mem=64kB' PGSERVICE=nowhere PGSSLMODE=require \
	"$keylab" run --quiet --db plain.db around/plain.yaml
is "$rc" 0 "libpq's variables do not reach our sessions" || diag "$err"

# shellcheck disable=SC2016
run perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$keylab" cluster sh -c 'exit 7'
is "$rc" 7 'one who ignores the ends of children may start it'

# ---- folders

mkdir wide
chmod 1777 wide
run env KEYLAB_HOME="$scratch/wide" "$keylab" run --quiet --db wide.db around/plain.yaml
is "$rc" 3 'a folder that others write to'
like "$err" 'others may write to .*/wide; name a folder in KEYLAB_HOME' 'is refused, with the fix'
is "$(stat -c %a wide)" 1777 'and left as it is'
mkdir -m 755 mine
run env KEYLAB_HOME="$scratch/mine" "$keylab" cluster true
is "$rc $(stat -c %a mine)" '0 755' 'one of our own is taken, and left as it is'

# ---- who looks at a kept cluster

run "$keylab" run --db broken.db around/broken.yaml
kept=$(sed -n 's/.*its cluster is kept in \([^ ]*\).*/\1/p' <<<"$err")
is "$rc$([[ -d $kept/data ]] && echo kept)" 1kept 'a failed cluster is kept'
is "$(ipcs -m -p | awk -v pid="$(awk '$1 == "server" { print $2 }' "$kept/owner")" '$3 == pid')" '' 'but not its shared memory'
(cd "$kept/data" && exec sleep 600) &
looker=$!
run "$keylab" run --quiet --db plain.db around/plain.yaml
is "$rc" 0 'a run meanwhile'
ok 'does not touch who works in there' kill -0 "$looker"
kill "$looker"
wait "$looker" 2>/dev/null

# ---- neighbours

mkfifo hold
"$keylab" cluster <hold >conninfo 2>/dev/null &
pid=$!
exec {gate}>hold
wait_until test -s conninfo
run "$keylab" clean --all
is "$rc" 3 'clean --all while somebody has a cluster'
like "$err" 'belong to runs that go on' 'says why not'
ok 'and leaves the templates' test -n "$(find home/templates -mindepth 1 ! -name lock -print -quit)"
exec {gate}>&-
wait "$pid"
run "$keylab" clean --all
is "$rc $(ls home/templates)" '0 lock' 'clean --all afterwards'

exec {lock}<>home/templates/lock
flock "$lock"
"$keylab" run --quiet --db waits.db around/plain.yaml {lock}>&- >/dev/null 2>waits.err &
pid=$!
holds_lock() { [[ -n $(find "/proc/$pid/fd" -lname '*/templates/lock' 2>/dev/null) ]]; }
wait_until holds_lock
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
is "$rc" 130 'who waits for a neighbour to prepare something can be interrupted' || diag "$(<waits.err)"
is "$(sqlite3 waits.db 'select status from run')" interrupted 'and the run says so'
exec {lock}>&-

# ---- server programs that are copied

if ((EUID == 0)); then
	mkdir -p pg/closed/bin pg/closed/share
	chmod 700 pg/closed
	printf '#!/bin/sh\necho "postgres (PostgreSQL) 18.4"\n' >pg/closed/bin/postgres
	cp pg/closed/bin/postgres pg/closed/bin/initdb
	cp /bin/sh pg/closed/bin/other
	chmod 755 pg/closed/bin/postgres pg/closed/bin/initdb
	chmod 6755 pg/closed/bin/other
	run "$keylab" run --quiet --pg-bin pg/closed/bin --db copied.db around/plain.yaml
	is "$(find home/servers -name other -printf '%m')" 755 'a copied program runs with the rights of who runs it'
else
	skip 'a copied program runs with the rights of who runs it' 'only root copies them'
fi
done_testing
