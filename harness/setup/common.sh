# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# Messages, the lock and running quietly with a log. Sourced by run.sh, which sets $root.

setup_log=$root/.cache/setup.log

say() {
	printf 'run.sh: %s\n' "$*" >&2
}

# Something that the machine lacks: exit 3, as keylab does.
die_environment() {
	say "$@"
	exit 3
}

die_usage() {
	say "$@"
	exit 64
}

# run.sh itself is what is locked: it is always there and can be opened by whoever may run it.
lock() {
	command -v flock >/dev/null || return 0
	exec 9<"$root/run.sh"
	if ! flock -n 9; then
		say "another run.sh sets up this checkout; waiting for it"
		flock 9
	fi
}

unlock() {
	exec 9<&-
}

# logged WHAT CMD...: runs CMD with its output in the log; when it fails the log's end is shown.
logged() {
	local what=$1 start
	shift
	mkdir -p "$root/.cache"
	# Another user may have made the log.
	[[ ! -e $setup_log || -w $setup_log ]] || setup_log=$root/.cache/setup-$(id -u).log
	say "$what"
	printf '== %s\n' "$*" >>"$setup_log"
	start=$(wc -l <"$setup_log")
	if "$@" >>"$setup_log" 2>&1 </dev/null; then
		return 0
	fi
	tail -n "+$((start + 1))" "$setup_log" | tail -n 25 | sed 's/^/    /' >&2
	say "failed: $what (all of it is in $setup_log)"
	return 1
}
