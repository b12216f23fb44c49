# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
#
# For test scripts: points in TAP, as meson reads them. A script sources this, makes its points and ends
# with done_testing:
#
#	. "$2/harness/tests/lib.sh"      # called as: SCRIPT KEYLAB SOURCE_ROOT
#	run "$keylab" check no-such-file.yaml
#	is "$rc" 3 'a file that is not there: exit 3'
#	like "$err" 'no-such-file.yaml' 'and the message names it'
#	done_testing
#
# $keylab and $source_root are the arguments; $scratch is an empty folder that goes away at the end (and
# stays, with its path printed, when a point failed). Any script runs alone: bash SCRIPT build/harness/cmd/keylab .

set -u
unset KEYLAB_COMMAND KEYLAB_SCENARIOS # messages are looked at as keylab alone makes them
keylab=$(realpath "${1:?the keylab program}")
source_root=$(realpath "${2:?the folder of the sources}")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/keylab-test.XXXXXX")

tap_count=0
tap_failed=0
tap_done=
rc=0 out='' err=''

# To standard error, where meson shows it when the script fails.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /' >&2
}

pass() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$1"
}

# fail DESCRIPTION [DETAIL...]
fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$1"
	diag "failed: $1"
	shift
	(($# == 0)) || diag "$@"
}

# may_skip WORDS: in CI a skip is a failure (KEYLAB_MUST_RUN), but for the words that KEYLAB_MAY_SKIP has on a line.
may_skip() {
	[[ -z ${KEYLAB_MUST_RUN-} || $'\n'${KEYLAB_MAY_SKIP-}$'\n' == *$'\n'"$1"$'\n'* ]]
}

# skip DESCRIPTION REASON
skip() {
	if ! may_skip "$1"; then
		fail "$1" "skipped, where KEYLAB_MUST_RUN is set: $2"
		return
	fi
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# ok DESCRIPTION CMD...: the command succeeds.
ok() {
	local what=$1 output
	shift
	if output=$("$@" 2>&1); then
		pass "$what"
	else
		fail "$what" "failed: $*"$'\n'"$output"
	fi
}

# is GOT WANTED DESCRIPTION
is() {
	if [[ $1 == "$2" ]]; then
		pass "$3"
	else
		fail "$3" "got:    $1"$'\n'"wanted: $2"
	fi
}

# like GOT EXTENDED-REGEX DESCRIPTION
like() {
	if [[ $1 =~ $2 ]]; then
		pass "$3"
	else
		fail "$3" "got:          $1"$'\n'"wanted match: $2"
	fi
}

unlike() {
	if [[ $1 =~ $2 ]]; then
		fail "$3" "got:            $1"$'\n'"must not match: $2"
	else
		pass "$3"
	fi
}

# run CMD...: leaves the exit code in $rc, the output in $out, the messages in $err.
run() {
	rc=0
	"$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || rc=$?
	out=$(<"$scratch/.out")
	# shellcheck disable=SC2034
	err=$(<"$scratch/.err")
}

# same_file GOT WANTED DESCRIPTION: the same bytes. With UPDATE=1 in the environment WANTED is rewritten instead.
same_file() {
	local difference
	if [[ -n ${UPDATE-} ]]; then
		cp "$1" "$2"
	fi
	if difference=$(diff -u "$2" "$1" 2>&1 | head -n 40) && cmp -s "$1" "$2"; then
		pass "$3"
	else
		fail "$3" "$difference"
	fi
}

# figure NAME TEXT: a line of docs/reliability.md, when ./run.sh reliability runs the script.
figure() {
	[[ -z ${KEYLAB_FIGURES-} ]] || printf '%s\t%s\n' "$1" "$2" >>"$KEYLAB_FIGURES"
}

# The whole script makes no sense here: no server, no tool. KEYLAB_MAY_SKIP knows it by the script's name.
skip_all() {
	local name
	name=$(basename "$0" .sh)
	if ! may_skip "$name"; then
		fail "$name runs" "skipped, where KEYLAB_MUST_RUN is set: $*"
		done_testing
	fi
	printf '1..0 # SKIP %s\n' "$*"
	tap_done=yes
	exit 0
}

done_testing() {
	printf '1..%d\n' "$tap_count"
	tap_done=yes
	((tap_failed == 0 && tap_count > 0))
	exit
}

tap_end() {
	# A script that ended before its last point is a failure, whatever its points said.
	if [[ -z $tap_done ]]; then
		fail 'the script came to its end'
		printf '1..%d\n' "$tap_count"
	fi
	if ((tap_failed > 0)); then
		diag "left for a look: $scratch"
	else
		rm -rf "$scratch"
	fi
}
trap tap_end EXIT
