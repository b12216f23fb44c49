#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The one way in. Sets up what is missing (packages, the pinned PostgreSQL, the build), then one of these, which
# ./run.sh help prints:
#
#   ./run.sh                            every scenario at the published scale, and the report
#   ./run.sh test [--quick] [SUITE...]  the tests (--quick: without a server and a browser)
#   ./run.sh check [VARIANT...]         gcc and clang, sanitizers, lint: minutes
#   ./run.sh check NAME|FILE...         the mistakes in scenarios: keylab check
#   ./run.sh lint                       the lint alone
#   ./run.sh bench [NAME...]            what keylab itself costs, as ratios
#   ./run.sh fuzz [SECONDS]             each fuzz target for that long (60), two at a time
#   ./run.sh reliability [NAME...]      the long tests; their figures go to docs/reliability.md
#   ./run.sh docs [DB]                  the figures of README.md and docs/, from the newest chapter run in a store
#   ./run.sh fetch 15 16 17             the other pinned PostgreSQL versions
#   ./run.sh help [VERB]                this and the commands of keylab, or what one of them says of itself
#   ./run.sh COMMAND ...                a command of keylab
#
# The parts are in harness/setup/. Exit code 3: the environment lacks something, and the message says what.
set -euo pipefail

root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
build=$root/build
keylab=$build/harness/cmd/keylab

for part in common packages servers build tests check docs reliability; do
	# shellcheck source=/dev/null
	. "$root/harness/setup/$part.sh"
done

# keylab's hints say how to go on: by run.sh, as it was called here. Not for tests, which know keylab alone.
export_command() {
	KEYLAB_COMMAND=$(printf '%q' "$0")
	[[ $0 == */* ]] || KEYLAB_COMMAND=./$KEYLAB_COMMAND
	export KEYLAB_COMMAND
}

# set_up [GROUP...]: what every verb needs, packages and a build. Only one run.sh of a checkout sets up at a time.
set_up() {
	lock
	need_packages build "$@"
	build_keylab
}

main_job() {
	local db=$root/results/keylab.db report=$root/results/report.html rc=0

	set_up use
	need_server
	unlock
	export_command
	cd "$root"
	"$keylab" run --profile chapter --db "$db" || rc=$?
	# 0, 1 and 2 are verdicts, and verdicts have a page; anything else is trouble that keylab has named.
	if ((rc <= 2)); then
		"$keylab" report --db "$db" --out "$report" >/dev/null || return
		printf 'report: %s\n' "$report"
		printf 'next: ./run.sh verify %s\n' "${db#"$root/"}"
	fi
	return "$rc"
}

# Verbs that start a server; the others work from files alone.
wants_server() {
	case $1 in
	run | aa | cluster) return 0 ;;
	*) return 1 ;;
	esac
}

# own_verbs [VERB]: the lines of the heading above, or those of one verb; false when there are none.
own_verbs() {
	sed -n "s,^#   \\(\\./run\\.sh${1:+ $1 }.*\\),  \\1,p" "$root/run.sh" | grep .
}

# show_help [VERB]: of what run.sh does itself it needs nothing, of keylab's commands the build and no server.
show_help() {
	local verb=${1-}
	if [[ -z $verb ]]; then
		printf 'run.sh sets up what is missing, and then:\n\n'
		own_verbs
		printf '\n'
	elif [[ $verb =~ ^[a-z]+$ ]] && own_verbs "$verb"; then
		[[ $verb == check ]] || return 0
		printf '\n'
	fi
	set_up
	unlock
	export_command
	"$keylab" help "$@"
}

# asks_for_help VERB [WORD...]: by --help or -h; what stands behind the program of a cluster is the program's.
asks_for_help() {
	local verb=${1-} word
	for word in "${@:2}"; do
		case $word in
		--help | -h) return 0 ;;
		--) return 1 ;;
		-*) ;;
		*) [[ $verb != cluster ]] || return 1 ;;
		esac
	done
	return 1
}

if asks_for_help "$@"; then
	show_help "$1"
	exit
fi

case ${1-} in
'')
	main_job
	;;
help | --help | -h)
	shift
	show_help "$@"
	;;
test)
	shift
	run_tests "$@"
	;;
bench)
	shift
	run_bench "$@"
	;;
docs)
	shift
	set_up test browser
	node_modules "$root/report/test" "the browser tests' packages"
	unlock
	make_docs "$@"
	;;
fuzz)
	shift
	run_fuzz "$@"
	;;
reliability)
	shift
	run_reliability "$@"
	;;
lint)
	exec "$root/harness/lint.sh"
	;;
fetch)
	shift
	lock
	(($# > 0)) || set -- "$pinned_default"
	for major; do
		fetch_server "$major"
	done
	;;
check)
	if (($# == 1)) || is_variant "$2"; then
		check_all "${@:2}"
	else
		set_up
		unlock
		export_command
		exec "$keylab" "$@"
	fi
	;;
*)
	if [[ $1 == cluster ]]; then
		set_up use # psql, for most
	else
		set_up
	fi
	if wants_server "$1"; then
		need_server "$@"
	elif [[ $1 == doctor ]]; then
		(fetch_server "$pinned_default") || true # the doctor still has something to say
	fi
	export_pinned
	unlock
	export_command
	exec "$keylab" "$@"
	;;
esac
