#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# keylab cluster PROGRAM: the program has the terminal, its keys and our signals, and the cluster goes when it ends.
. "$2/harness/tests/lib.sh"

"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL' || skip_all 'no PostgreSQL server'
cd "$scratch" || exit 1
chmod 711 "$scratch"
export KEYLAB_HOME=$scratch/home

# wait_for FILE PID
wait_for() {
	local until=$((SECONDS + 120))
	while [[ ! -e $1 ]] && kill -0 "$2" 2>/dev/null && ((SECONDS < until)); do sleep 0.05; done
}

# left: the clusters that are there
left() {
	find "$KEYLAB_HOME/clusters" -maxdepth 1 -name 'c-*' -printf '%f '
}

run "$keylab" cluster sh -c 'exit 7'
is "$rc" 7 "the program's exit code is ours"
run "$keylab" cluster sh -c 'kill -KILL $$'
is "$rc" 137 'also when a signal ends it'
run "$keylab" cluster no-such-program
is "$rc" 3 'a program that is not there: exit 3'
like "$err" 'no program no-such-program; install it, or write its path' 'with cause and fix'

# --- a signal for keylab alone

"$keylab" cluster sh -c 'touch started; exec sleep 600' >out 2>&1 </dev/null &
pid=$!
wait_for started "$pid"
kill -TERM "$pid"
rc=0
wait "$pid" || rc=$?
is "$rc" 143 'SIGTERM is handed on to the program'
is "$(left)" '' 'and the cluster is removed'

# --- a terminal

# on_terminal CMD...: with what is on standard input typed there.
on_terminal() {
	SHELL=/bin/bash timeout 120 script -qec "$(printf '%q ' "$@")" /dev/null 2>&1
}

if ! command -v script >/dev/null || ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	skip 'a program on a terminal' 'no terminal can be made here'
	done_testing
fi
rc=0
out=$(printf 'hello\n' | on_terminal "$keylab" cluster sh -c 'read -r line && echo "read $line"') || rc=$?
is "$rc" 0 'a program reads from the terminal'
like "$out" 'read hello' 'what is typed there'

# Ctrl-C twice and Ctrl-\ once, which end keylab anywhere else.
mkfifo keys
# shellcheck disable=SC2016
on_terminal "$keylab" cluster bash -c 'trap "echo INT >>caught" INT; trap "echo QUIT >>caught" QUIT
	touch ready; until [[ -e go ]]; do sleep 0.05; done; echo over' <keys >terminal &
pid=$!
exec {typed}>keys
wait_for ready "$pid"
for key in '\003' '\003' '\034'; do
	caught=$(wc -l 2>/dev/null <caught)
	printf '%b' "$key" >&"$typed"
	until=$((SECONDS + 30))
	while [[ $(wc -l 2>/dev/null <caught) == "$caught" ]] && ((SECONDS < until)); do sleep 0.15; done
done
touch go
exec {typed}>&-
rc=0
wait "$pid" || rc=$?
is "$rc:$(tr '\n' ' ' <caught)" '0:INT INT QUIT ' "Ctrl-C and Ctrl-\\ are the program's alone"
like "$(<terminal)" 'over' 'which goes on'
is "$(left)" '' 'and the cluster is removed'
done_testing
