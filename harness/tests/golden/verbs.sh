#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# What run.sh does with its words, with stand-ins for what it sets up and for keylab: help comes before any server, and
# keylab is told how people call it.
. "$2/harness/tests/lib.sh"

tree=$scratch/tree
mkdir -p "$tree/harness/setup" "$tree/build/harness/cmd"
cp "$source_root/run.sh" "$tree/"
cp "$source_root"/harness/setup/*.sh "$tree/harness/setup/"
# The last part that is loaded: what costs time or needs the network only says so.
cat >>"$tree/harness/setup/reliability.sh" <<'END'
for part in build_keylab need_server run_suites check_all run_bench run_fuzz run_reliability make_docs; do
	eval "$part() { printf '%s ' $part >>\"\$root/calls\"; }"
done
for part in need_packages fetch_server; do
	eval "$part() { printf '%s,' $part \"\$@\" | sed 's/,\$/ /' >>\"\$root/calls\"; }"
done
END
cat >"$tree/build/harness/cmd/keylab" <<'END'
#!/bin/sh
printf '%s' "${KEYLAB_COMMAND-nobody}: $*"
END
chmod +x "$tree/build/harness/cmd/keylab"

# sh WORD...: run.sh with them; leaves what it set up in $calls.
sh() {
	rm -f "$tree/calls"
	cd "$tree" || exit 1
	run ./run.sh "$@"
	calls=$(cat "$tree/calls" 2>/dev/null)
	cd "$scratch" || exit 1
}

sh help
is "$rc:$calls" '0:need_packages,build build_keylab ' 'help: no server'
for verb in test check lint bench fuzz reliability docs fetch help; do
	like "$out" $'\n'"  \./run\.sh $verb " "help: $verb is there"
done
like "$out" './run.sh: help$' 'help: and then what keylab says'
for verb in $(sed -n '/^case \${1-} in/,/^esac/s/^\([a-z]*\)[ |)].*/\1/p' "$source_root/run.sh" | grep -v '^case$'); do
	like "$out" "  \./run\.sh $verb " "help: no verb is missing: $verb"
	sh help "$verb"
	like "$rc:$out" "^0:  \./run\.sh $verb .*" "help $verb"
	there=$out
	sh "$verb" --help
	is "$rc:$out" "0:$there" "$verb --help"
	[[ $verb == check ]] || is "$calls" '' "$verb --help: needs nothing"
	sh help
done
sh check --help
like "$out" 'run.sh check \[VARIANT.*run.sh check NAME.*run.sh: help check$' 'check --help: both of them'
for words in 'run --help' 'run sequence -h' 'cluster --dataset --help' 'doctor --help'; do
	# shellcheck disable=SC2086
	sh $words
	is "$rc:$out:$calls" "0:./run.sh: help ${words%% *}:need_packages,build build_keylab " "$words: no server"
done
sh cluster psql --help
is "$out:$calls" './run.sh: cluster psql --help:need_packages,build,use build_keylab need_server ' 'cluster PROGRAM --help is the program'"'"'s'
sh run --pg 17 sequence
is "$out:$calls" './run.sh: run --pg 17 sequence:need_packages,build build_keylab need_server ' 'run: with a server'
sh
is "$rc:$calls" '0:need_packages,build,use build_keylab need_server ' 'a bare run.sh: also what people look at the results with'
for command in sqlite3 psql; do
	ok "which is $command" grep -q "^use  *command:$command " "$source_root/harness/setup/packages.sh"
done
sh check some.yaml
is "$out:$calls" './run.sh: check some.yaml:need_packages,build build_keylab ' 'check FILE is keylab'"'"'s'
sh check gcc
is "$out:$calls" ':check_all ' 'check VARIANT is the long one'
run "$tree/run.sh" list
is "$out" "$tree/run.sh: list" 'called by a path: hints have that path'
cd "$tree" || exit 1
run bash run.sh list
is "$out" './run.sh: list' 'called by the shell'

# --- keylab's side

cd "$scratch" || exit 1
run env KEYLAB_COMMAND=./run.sh "$keylab" run nonsense
like "$err" 'there is no scenario or document "nonsense" in .*; ./run.sh list shows them' 'a hint of cmd/'
run env KEYLAB_COMMAND=./run.sh "$keylab" verify absent.db
like "$err" 'absent.db does not exist; ./run.sh run makes it' 'of another room'
run env KEYLAB_COMMAND=./run.sh "$keylab" run --nonsense
like "$err" '^keylab run: .*\(./run.sh help run shows' 'of the command line; the head of the message stays'
run env KEYLAB_COMMAND=./run.sh "$keylab" verify '/keylab run/keylab x'
like "$err" '^keylab: /keylab run/keylab x does not exist' 'a path stays'
run env KEYLAB_COMMAND= "$keylab" verify absent.db
like "$err" 'keylab run makes it' 'without KEYLAB_COMMAND it is keylab'
done_testing
