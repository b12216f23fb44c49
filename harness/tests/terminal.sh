# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# What reaches a terminal. Sourced by tests behind lib.sh.

# An escape sequence, its one-character form in UTF-8 and as a bare byte, a bell, a carriage return, an override.
hostile=$'\e]0;owned\a\e[2J \xc2\x9b2J \x9b2J \r overwritten \xe2\x80\xae'

# clean FILE WHAT: nothing in it moves a cursor. A terminal itself ends lines with \r\n; keylab's progress goes back to
# the line's begin and erases it.
clean() {
	if sed 's/\r$//; s/\r\x1b\[K//g' "$1" | LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|(?<![\xc0-\xff\x80-\xbf])[\x80-\xbf]'; then
		fail "$2" "$(cat -v "$1" | head -n 20)"
	else
		pass "$2"
	fi
}

# on_terminal FILE CMD...: what CMD writes to a terminal, both streams.
on_terminal() {
	local file=$1 words
	shift
	words=$(printf '%q ' "$@")
	SHELL=/bin/bash script -qec "$words" /dev/null </dev/null >"$file" 2>&1
}

# Is there one? Else the point of that name is skipped.
has_terminal() {
	if ! command -v script >/dev/null; then
		skip "$1" 'script(1) is not here'
	elif ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
		skip "$1" 'no terminal can be made here'
	else
		return 0
	fi
	return 1
}

printf 'the check sees: %s\n' "$hostile" >"$scratch/dirty"
like "$( (clean "$scratch/dirty" x) 2>/dev/null)" '^not ok' 'the check of this test sees what it should'
