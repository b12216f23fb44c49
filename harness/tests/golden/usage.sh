#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# The command line: what is wrong in it is said in one line that names the word, exit 64, before anything else happens.
. "$2/harness/tests/lib.sh"

cd "$scratch" || exit 1
export KEYLAB_HOME=$scratch/home

# wrong PATTERN WORD...: keylab with these words ends with 64 and one line that says so.
wrong() {
	local pattern=$1 lines
	shift
	run "$keylab" "$@"
	lines=$(grep -c '' "$scratch/.err")
	is "$rc:$lines:$out" '64:1:' "$*: exit 64, one line"
	like "$err" "$pattern" "$*: which says what is wrong"
}

# --- options of every command

run "$keylab" help
commands=$(sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p' <<<"$out")
is "$(wc -w <<<"$commands")" 18 'help lists the commands'
for command in $commands; do
	wrong "^keylab $command: there is no option \"--nonsense\" \(keylab help $command shows" "$command" --nonsense=5
	wrong "^keylab $command: there is no option \"-Z\"" "$command" -Z
	wrong "^keylab $command: there is no option \"--hel\"; --help is written in full" "$command" --hel
	wrong "^keylab $command: --help takes no value" "$command" --help=5
	wanted=$("$keylab" help "$command")
	for option in --help -h; do
		run "$keylab" "$command" "$option"
		is "$rc:$out$err" "0:$wanted" "$command $option: its help"
	done
done
run "$keylab" run wal-checkpoints --profile quick --help
is "$rc:$out" "0:$("$keylab" help run)" 'help behind words and options'
run env PATH=/nowhere "$keylab" run --help
is "$rc" 0 'help needs nothing'
wrong 'keylab: there is no command "nonsense"' help nonsense
wrong 'keylab help: "run" was not expected' help list run

# --- names in full, values where one belongs

wrong '^keylab run: there is no option "--all"; --allow-inconclusive is written in full' run -q --all
wrong '^keylab run: there is no option "--pg-b"; --pg-bin is written in full' run --pg-b=/nowhere
wrong '^keylab run: there is no option "--s" ' run --s 4
wrong '^keylab run: there is no option "--prof"; --profile is written in full' run --prof
wrong '^keylab run: --db needs a value behind it' run --db
wrong '^keylab run: -j needs a value behind it' run -j
wrong '^keylab run: --quiet takes no value' run --quiet=5
wrong '^keylab run: there is no option "-Z"' run --quiet -qZv
wrong '^keylab run: there is no option "-Z"' run one --quiet two -Zq
wrong '^keylab run: there is no option "--wrong"' run one --quiet two --wrong
wrong '^keylab run: there is no option "--no.x1bsense"' run $'--no\esense'
run "$keylab" run --dry-run -- --quiet
like "$rc:$err" '^64:.*no scenario or document "--quiet"' 'behind -- a word is a word'
run "$keylab" run -qnj 2 --profile=quick sequence
is "$rc:$out" '0:id-service/sequence' 'letters in one word, and a value behind ='

# --- words where none belongs

for command in clean doctor report 'export --format tap' gate\ --self-test 'baseline --accept 1 --reason x' \
	'predict --rows 1 --insert-rate 1/s' 'verify some.db'; do
	# shellcheck disable=SC2086
	wrong "^keylab ${command%% *}: \"extra\" was not expected" $command extra
done
ok 'and nothing was done' test ! -e "$KEYLAB_HOME"
wrong '^keylab aa: name the scenarios' aa --profile quick

# --- parameters: each scenario takes those that it has, in a plan as in a run

run "$keylab" plan --profile quick --set rows=5 sequence wal-checkpoints
is "$rc" 0 "plan --set: one that some of the scenarios have $err"
like "$out" 'generate_series\(1, 5\)' 'plan --set: it is in the steps'
for command in plan run; do
	run "$keylab" $command --set rows=5 --set nonsense=1 sequence wal-checkpoints
	is "$rc" 64 "$command --set: one that none of them has"
	like "$err" 'none of these scenarios has a parameter "nonsense"' "$command --set: and it is named"
	run "$keylab" $command --set nonsense=1 wal-checkpoints
	like "$rc:$err" '^64:.*wal-checkpoints has no such parameter; its parameters are rows' "$command --set: or what there is"
	run "$keylab" $command --set rows wal-checkpoints
	like "$rc:$err" '^64:.*--set rows: write NAME=VALUE' "$command --set: without a value"
done

# --- a scenario that is named twice

file=$source_root/scenarios/id-service/sequence.yaml
mkdir -p again/id-service
cp "$file" again/id-service/
ln -s "$file" linked.yaml
run "$keylab" run --dry-run sequence "$file" "$source_root/./scenarios/id-service/sequence.yaml" linked.yaml
is "$rc:$out" '0:id-service/sequence' 'the same file by several names is one scenario'
for command in run 'run --dry-run' check list plan; do
	# shellcheck disable=SC2086
	run "$keylab" $command sequence again/id-service/sequence.yaml
	is "$rc" 64 "$command: two files of one name"
	like "$out$err" 'again/id-service/sequence.yaml:[0-9]+:[0-9]+: .*/scenarios/id-service/sequence.yaml has a scenario "sequence" too' \
		"$command: and both are named"
done
ok 'before anything is recorded' test ! -e results
echo 'scenario: [' >wrong.yaml
run "$keylab" check wrong.yaml ./wrong.yaml
is "$rc:$err" '64:0 of 1 scenarios are well-formed' 'a wrong file too counts once'
run "$keylab" check absent.yaml absent.yaml
is "$rc" 3 'a file that is not there'

done_testing
