#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Trouble with servers, disks, clocks and neighbours: each ends in an outcome, or in exit 3 with cause and fix; the
# scenarios behind go on; what was measured is kept.
. "$2/harness/tests/lib.sh"

chmod 711 "$scratch"
export KEYLAB_HOME=$scratch/home
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || skip_all 'no PostgreSQL server'
mkdir "$scratch/trouble"

# scenario NAME PROBES STEPS: one whose claim counts the samples called here.
scenario() {
	cat >"$scratch/trouble/$1.yaml" <<-END
		scenario: $1
		document: trouble
		title: $1
		about: Of a test.
		steps:
		  - probe: first
		    sql: select 1 as here
	END
	printf '%s\n' "$3" | sed 's/^/  /' >>"$scratch/trouble/$1.yaml"
	cat >>"$scratch/trouble/$1.yaml" <<-END
		claims:
		  - id: $1-counts
		    says: All samples are there.
		    value: select count(*) from sample where metric = 'here'
		    type: exact
		    holds: "= $2"
		limits: [It measures nothing.]
	END
}

until_go='do $$ begin while (pg_stat_file('\''go'\'', true)).size is null loop perform pg_sleep(0.05); end loop; end $$'
scenario behind 1 ''
scenario busy 2 "- sql: $until_go
  deadline: 3min
- probe: second
  sql: select 1 as here"
scenario stops 2 "- sql: $until_go
  deadline: 3min
- restart: fast
  deadline: 2s
- probe: second
  sql: select 1 as here"

# doing WORD: a backend of ours that runs such a statement.
doing() {
	local process
	for process in $(find /proc -maxdepth 2 -path '/proc/[0-9]*' -name cwd -lname "$KEYLAB_HOME/clusters/*" -printf '%h\n' 2>/dev/null); do
		if tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q -e "$1"; then
			printf '%s\n' "${process#/proc/}"
			return
		fi
	done
}

# Some server of ours runs the statement that waits for the file.
waits() {
	[[ -n $(doing ' DO') ]]
}

# begin DB SCENARIO...: a run in the background, until its first sample is there; leaves pid, dir and server.
# With $loud=--verbose it tells what it does.
begin() {
	local db=$1 until=$((SECONDS + 300))
	shift
	"$keylab" run "${loud:---quiet}" --jobs 1 --db "$db" "${@/#/$scratch/trouble/}" >"$scratch/run.out" 2>"$scratch/run.err" </dev/null &
	pid=$!
	while { [[ $(sqlite3 "$db" 'select count(*) from sample' 2>/dev/null) != 1 ]] || ! waits; } &&
		kill -0 "$pid" 2>/dev/null && ((SECONDS < until)); do
		sleep 0.05
	done
	# A second one may be in the making, for the scenario behind.
	for dir in "$KEYLAB_HOME"/clusters/c-*; do
		grep -qs "^keylab $pid " "$dir/owner" || continue
		server=$(awk '$1 == "server" { print $2 }' "$dir/owner")
		[[ -z $server || -z $(backend "$server") ]] || break
	done
}

finish() {
	rc=0
	wait "$pid" || rc=$?
	out=$(<"$scratch/run.out") err=$(<"$scratch/run.err")
}

# backend PID: the one that runs our statement.
backend() {
	local process
	for process in $(cat /proc/[0-9]*/stat 2>/dev/null | awk -v server="$1" '$4 == server { print $1 }'); do
		! tr '\0' ' ' <"/proc/$process/cmdline" | grep -q ' DO' || printf '%s\n' "$process"
	done
}

# Somebody else's child may stay a zombie for a while.
gone() {
	[[ ! -d /proc/$1 ]] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"
}

verdicts() {
	sqlite3 "$1" "select group_concat(claim || ' ' || verdict, ', ') from (select * from claims order by claim)"
}

outcomes() {
	sqlite3 "$1" "select group_concat(outcome || ' ' || sqlstate, ', ') from step where outcome <> 'ok'"
}

# go DIR: the file that a scenario waits for.
go() {
	touch "$1/data/go"
	chmod 644 "$1/data/go"
}

# ---- servers

begin "$scratch/postmaster.db" busy.yaml behind.yaml
kill -KILL "$server"
finish
is "$(verdicts "$scratch/postmaster.db")" 'behind-counts HOLDS, busy-counts ERROR' \
	'kill -9 of the postmaster: that scenario is an error, the one behind it runs'
is "$rc" 1 'and the exit code says so'
is "$(sqlite3 "$scratch/postmaster.db" "select count(*) from samples where scenario = 'busy'")" 1 'what was measured is kept'
like "$(sqlite3 "$scratch/postmaster.db" "select reason from scenario where scenario = 'busy'")" 'busy.yaml:[0-9]+:[0-9]+: ' \
	'and it says where'
is "$(find /proc -maxdepth 2 -path '/proc/[0-9]*' -name cwd -lname "$dir*" 2>/dev/null)" '' 'no backend of it is left'

begin "$scratch/backend.db" busy.yaml behind.yaml
victim=$(backend "$server")
kill -KILL "${victim:-none}"
finish
is "$(verdicts "$scratch/backend.db")" 'behind-counts HOLDS, busy-counts ERROR' 'kill -9 of a backend: the same'
is "$rc" 1 'with its exit code'
is "$(outcomes "$scratch/backend.db")" 'cut off 08006' 'and the statement is an outcome with its SQLSTATE'

begin "$scratch/hangs.db" stops.yaml behind.yaml
kill -STOP "$server"
start=$SECONDS
go "$dir"
finish
is "$(verdicts "$scratch/hangs.db")" 'behind-counts HOLDS, stops-counts ERROR' 'a server that hangs when it should stop'
is "$rc" 1 'is an error in the exit code, too'
like "$(sqlite3 "$scratch/hangs.db" "select reason from scenario where scenario = 'stops'")" 'did not stop before the deadline and was killed' \
	'is killed at the deadline'
ok "within a minute ($((SECONDS - start)) s, of which 2 s are the deadline)" test $((SECONDS - start)) -lt 60
ok 'and is gone' test ! -d "/proc/$server"

# One whose backend no longer reads what a COPY sends it, and one that hangs as a whole.
scenario copies 2 "- sql: create table ids (id bigint)
- mint: many
  generator: bigint
  rows: 50M
  into: ids
  deadline: 2s
- probe: second
  sql: select 1 as here"
for whole in '' yes; do
	db=$scratch/copies$whole.db start=$SECONDS
	"$keylab" run --quiet --jobs 1 --db "$db" "$scratch/trouble/copies.yaml" "$scratch/trouble/behind.yaml" \
		>"$scratch/run.out" 2>"$scratch/run.err" </dev/null &
	pid=$!
	while victim=$(doing ' COPY') && [[ -z $victim ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
	server=$(awk '$1 == "PPid:" { print $2 }' "/proc/$victim/status")
	kill -STOP ${whole:+"$server"} "$victim"
	finish
	is "$(verdicts "$db")" 'behind-counts HOLDS, copies-counts ERROR' "a ${whole:+whole server, its }backend that hangs in a COPY"
	is "$rc" 1 'is an error in the exit code, too'
	is "$(outcomes "$db")" 'blocked 57014' 'is blocked at its deadline'
	ok "which holds ($((SECONDS - start)) s, of which 2 s are the deadline)" test $((SECONDS - start)) -lt 90
	ok 'and is gone' gone "$victim"
done

# What a server makes of its own data folder: a pipe that nobody ever writes to, where keylab reads.
pipe="- sql: copy (select 1) to program 'rm postmaster.pid && mkfifo postmaster.pid'"
scenario pipe 1 "$pipe"
scenario pipe-restart 1 "$pipe
- restart: kill
  deadline: 2s"
scenario pipe-busy 2 "$pipe
- sql: $until_go
  deadline: 3min
- probe: second
  sql: select 1 as here"
for name in pipe pipe-restart; do
	run timeout -k 5 60 "$keylab" run --quiet --jobs 1 --db "$scratch/$name.db" "$scratch/trouble/$name.yaml" "$scratch/trouble/behind.yaml"
	is "$(verdicts "$scratch/$name.db")" "behind-counts HOLDS, $name-counts $([[ $name == pipe ]] && echo HOLDS || echo ERROR)" \
		"a pipe as postmaster.pid ($name): nothing waits for it"
done
begin "$scratch/pipe-busy.db" pipe-busy.yaml
kill -KILL "$pid"
finish
run timeout -k 5 60 "$keylab" run --quiet --db "$scratch/pipe-next.db" "$scratch/trouble/behind.yaml"
is "$rc" 0 "nor does the next start, which removes such a folder" || diag "$err"
ok 'and it is removed' test ! -e "$dir"
is "$(ipcs -m -p | awk -v pid="$server" '$3 == pid')" '' 'with the shared memory that its file no longer names'

# What the errors above have kept for a look goes, so that what is left is seen.
run "$keylab" clean
is "$rc$(ls "$KEYLAB_HOME/clusters")" 0lock 'clean removes what was kept'

# Folders in folders, more of them than files may be open.
scenario deep 1 "- sql: copy (select 1) to program 'mkdir -p \$(printf d/%.0s \$(seq 1500))'"
run sh -c 'ulimit -n 1024; exec timeout -k 5 60 "$@"' sh "$keylab" run --quiet --db "$scratch/deep.db" \
	"$scratch/trouble/deep.yaml" "$scratch/trouble/behind.yaml"
is "$rc" 0 'a chain of 1500 folders in the data folder' || diag "$err"
is "$(ls "$KEYLAB_HOME/clusters")" lock 'is removed' || rm -rf "$KEYLAB_HOME"/clusters/c-*

# What cannot be removed: it is said, with a way out, and is in nobody's way.
if ((EUID == 0)); then
	loud=--verbose
	begin "$scratch/mounted.db" busy.yaml
	loud=
	mkdir "$dir/data/mounted"
	if mount -t tmpfs tmpfs "$dir/data/mounted" 2>/dev/null; then
		go "$dir"
		finish
		is "$rc" 0 'a data folder that cannot be removed'
		like "$err" "busy: nothing of $dir is needed .*by hand: rm -rf $dir.*mounted: Device or resource busy" \
			'is told, with cause and fix'
		# Another dead one, which the reaper must still come to.
		mkdir "$KEYLAB_HOME/clusters/c-aaaaaaaaaaaa" "$KEYLAB_HOME/clusters/c-zzzzzzzzzzzz"
		run timeout -k 5 60 "$keylab" run --quiet --db "$scratch/mounted.db" "$scratch/trouble/behind.yaml"
		is "$rc" 0 'the next start goes on past it' || diag "$err"
		like "$err" "left behind by an earlier run: .*by hand: rm -rf $dir" 'and says so'
		is "$(ls "$KEYLAB_HOME/clusters")" "${dir##*/}"$'\nlock' 'and removes what there is besides'
		run "$keylab" clean
		is "$rc" 3 'who wants it removed is told'
		like "$err" "by hand: rm -rf $dir.*mounted: Device or resource busy" 'with cause and fix'
		umount "$dir/data/mounted"
		run "$keylab" clean
		is "$rc$(ls "$KEYLAB_HOME/clusters")" 0lock 'and when it can be, it is'
	else
		go "$dir"
		finish
		skip 'a data folder that cannot be removed' 'nothing can be mounted'
	fi
else
	skip 'a data folder that cannot be removed' 'it needs root'
fi

# A dataset is made by two connections, of which one waits for the other in the end.
"$keylab" cluster --dataset book true >"$scratch/run.out" 2>"$scratch/run.err" </dev/null &
pid=$!
while victim=$(doing ' CREATE TABLE AS') && [[ -z $victim ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
kill -TERM "$victim"
start=$SECONDS
finish
is "$rc" 3 'a dataset of which one connection ends: exit 3'
like "$err" 'dataset book: sql/dataset/book/10-people.sql: (57P01|08006)' 'with the cause'
ok "and without a wait ($((SECONDS - start)) s)" test $((SECONDS - start)) -lt 200

# ---- where and when

run env -u LC_ALL -u LC_CTYPE LANG=xx_YY.UTF-9 LC_MESSAGES=xx "$keylab" run --quiet --db "$scratch/locale.db" "$scratch/trouble/behind.yaml"
is "$rc" 0 'a locale that does not exist'
run env -i PATH=/usr/bin:/bin KEYLAB_HOME="$KEYLAB_HOME" KEYLAB_PINNED="${KEYLAB_PINNED-}" \
	"$keylab" run --quiet --db "$scratch/locale.db" "$scratch/trouble/behind.yaml"
is "$rc" 0 'an empty environment'
is "$(sqlite3 "$scratch/locale.db" "select distinct value from settings where name = 'dynamic_shared_memory_type'")" mmap \
	'servers do without /dev/shm'

# shellcheck disable=SC2016
if [[ -d /usr/lib/locale ]] && unshare -m mount -t tmpfs tmpfs /usr/lib/locale 2>/dev/null; then
	run unshare -m sh -c 'mount -t tmpfs tmpfs /usr/lib/locale && [ -z "$(ls /usr/lib/locale)" ] && exec "$@"' sh \
		env KEYLAB_HOME="$scratch/no-locales" "$keylab" run --quiet --db "$scratch/locale.db" "$scratch/trouble/behind.yaml"
	is "$rc" 0 'no locale at all, from initdb on' || diag "$err"
else
	skip 'no locale at all' 'mounting needs root'
fi

if unshare -n true 2>/dev/null; then
	run unshare -n "$keylab" run --quiet --db "$scratch/locale.db" "$scratch/trouble/behind.yaml"
	is "$rc" 0 'no network interface, not even loopback'
else
	skip 'no network interface' 'it needs root'
fi

cat >"$scratch/jumps.c" <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* A wall clock that jumps to and fro, and by an hour or more between any two looks at it. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int calls;
	int code = (int)syscall(SYS_clock_gettime, clock, ret);
	if (clock == CLOCK_REALTIME)
	{
		int call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);

		ret->tv_sec += 3600 * (call + (call % 2 ? 1 : -1));
	}
	return code;
}
END
if cc -shared -fPIC -o "$scratch/jumps.so" "$scratch/jumps.c" 2>/dev/null && ! ldd "$keylab" | grep -q asan; then
	start=${EPOCHREALTIME/./}
	run env LD_PRELOAD="$scratch/jumps.so" "$keylab" run --quiet --db "$scratch/clock.db" "$scratch/trouble/behind.yaml"
	is "$rc" 0 'a wall clock that jumps by hours'
	is "$(sqlite3 "$scratch/clock.db" "select count(*) from run where abs(finished_us - started_us) > 3e9")" 1 \
		'as the times of the run show'
	is "$(sqlite3 "$scratch/clock.db" "select count(*) from step where duration_ns not between 0 and
		$(((${EPOCHREALTIME/./} - start) * 1000))")" 0 'does not show in a duration'
	ok 'nor does anything wait for it' test $((${EPOCHREALTIME/./} - start)) -lt 600000000
else
	skip 'a wall clock that jumps' 'no cc, or a sanitizer that wants to be first'
fi

# ---- neighbours: one home, one store, and no template yet

export KEYLAB_HOME=$scratch/both
for number in 1 2; do
	"$keylab" run --quiet --db "$scratch/both.db" "$scratch/trouble/behind.yaml" >"$scratch/both.$number" 2>&1 </dev/null &
	pids[number]=$!
done
codes=''
for number in 1 2; do
	rc=0
	wait "${pids[number]}" || rc=$?
	codes+="$rc "
done
is "$codes" '0 0 ' "two keylabs at once, one new store, one new home: $(cat "$scratch"/both.[12] | grep keylab: || true)"
is "$(sqlite3 "$scratch/both.db" "select count(*) from claims where verdict = 'HOLDS'")" 2 'both runs are in it'
run "$keylab" verify "$scratch/both.db"
is "$rc" 0 'and verify'
export KEYLAB_HOME=$scratch/home

# ---- disks

# small SIZE FOLDER: a file system of that size there, in this script's own view of the tree.
small() {
	mkdir -p "$2" && mount -t tmpfs -o "size=$1,mode=755" tmpfs "$2" 2>/dev/null
}

if ((EUID == 0)) && small 24m "$scratch/disk"; then
	run env KEYLAB_HOME="$scratch/disk/home" "$keylab" run --quiet --db "$scratch/disk.db" "$scratch/trouble/behind.yaml"
	is "$rc" 3 'no room for a cluster: exit 3'
	like "$err$(sqlite3 "$scratch/disk.db" 'select reason from scenario')" 'No space left on device' 'with the cause'
	like "$err$(sqlite3 "$scratch/disk.db" 'select reason from scenario')" 'KEYLAB_HOME' 'and the fix'
	umount "$scratch/disk"

	small 220m "$scratch/disk"
	scenario fills 2 "- sql: create table filler as select repeat(md5(g::text), 30) from generate_series(1, 4000000) g
  deadline: 3min
- probe: second
  sql: select 1 as here"
	run env KEYLAB_HOME="$scratch/disk/home" "$keylab" run --jobs 1 --db "$scratch/fills.db" \
		"$scratch/trouble/fills.yaml" "$scratch/trouble/behind.yaml"
	is "$rc" 1 'a data directory that fills up'
	like "$(outcomes "$scratch/fills.db")" '^(error 53100|cut off 08006)$' 'is an outcome of the statement'
	is "$(sqlite3 "$scratch/fills.db" "select count(*) from samples where scenario = 'fills'")" 1 \
		'and what was measured before is kept'
	like "$err" 'fills: its cluster is not kept: the disk' 'but not its cluster, with its log all over the disk'
	is "$(verdicts "$scratch/fills.db")" 'behind-counts HOLDS, fills-counts ERROR' 'so that the others go on'

	# Without WAL what was written is given back when the statement fails.
	scenario fills-unlogged 2 "- sql: create unlogged table filler as select repeat(md5(g::text), 30) from generate_series(1, 4000000) g
  deadline: 3min
- probe: second
  sql: select 1 as here"
	run env KEYLAB_HOME="$scratch/disk/home" "$keylab" run --quiet --jobs 1 --db "$scratch/unlogged.db" \
		"$scratch/trouble/fills-unlogged.yaml" "$scratch/trouble/behind.yaml"
	is "$rc $(outcomes "$scratch/unlogged.db")" '1 error 53100' 'one that fills up without WAL'
	is "$(verdicts "$scratch/unlogged.db")" 'behind-counts HOLDS, fills-unlogged-counts ERROR' 'is in nobody'\''s way'
	umount "$scratch/disk"

	small 600k "$scratch/store"
	scenario many 1 "- repeat: 20000
  as: round
  do:
    - probe: again
      sql: select repeat('x', 200) as there"
	run "$keylab" run --quiet --db "$scratch/store/keylab.db" "$scratch/trouble/many.yaml"
	is "$rc" 3 'a store without room: exit 3'
	like "$err" 'keylab.db: .*(full|disk).*--db' 'with cause and fix'
	is "$(sqlite3 "$scratch/store/keylab.db" 'pragma integrity_check')" ok 'the store is whole'
	ok 'and holds what was measured before' test "$(sqlite3 "$scratch/store/keylab.db" 'select count(*) from samples')" -gt 10
	umount "$scratch/store"

	small 4m "$scratch/results"
	mount -o remount,ro "$scratch/results"
	run "$keylab" run --quiet --db "$scratch/results/keylab.db" "$scratch/trouble/behind.yaml"
	is "$rc" 3 'a results folder that is read-only: exit 3'
	like "$err" 'results/keylab.db.*--db' 'with cause and fix'
	umount "$scratch/results"

	if mount -t tmpfs -o size=64m tmpfs "$scratch/disk" 2>/dev/null && umount "$scratch/disk"; then
		run unshare -m sh -c 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"' sh \
			"$keylab" run --quiet --db "$scratch/shm.db" "$scratch/trouble/behind.yaml"
		is "$rc" 0 'a /dev/shm of 64 MB'
		scenario parallel 2 "- sql: |
    create table wide as select g as id, md5(g::text) as text from generate_series(1, 200000) g;
    set max_parallel_workers_per_gather = 2;
    set parallel_setup_cost = 0;
    set parallel_tuple_cost = 0;
    select count(distinct text) from wide group by id % 7
- probe: second
  sql: select 1 as here"
		run unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$@"' sh \
			"$keylab" run --quiet --db "$scratch/shm.db" "$scratch/trouble/parallel.yaml"
		is "$rc" 0 'a /dev/shm of 1 MB, with parallel queries'
	fi
else
	skip 'full disks, read-only folders, a small /dev/shm' 'mounting needs root'
fi
run "$keylab" clean
done_testing
