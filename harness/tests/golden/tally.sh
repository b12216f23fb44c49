#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# The counts that ./run.sh test ends with, from meson logs of every kind of end that a test can have.
. "$2/harness/tests/lib.sh"

# log_line RESULT STDOUT: a line as meson writes it.
log_line() {
	printf '{"name": "t", "stdout": "%s", "result": "%s", "starttime": 1.5, "duration": 0.1, "returncode": 0, "command": ["t"]}\n' "$2" "$1"
}

tally() {
	awk -f "$source_root/harness/tests/tally.awk"
}

is "$(log_line OK '' | tally)" '1 0 0' 'a plain pass'
is "$(log_line FAIL 'said \"result\": \"OK\"' | tally)" '0 1 0' 'a plain failure that prints of a pass'
is "$(log_line SKIP '' | tally)" '0 0 1' 'a plain skip'
is "$(log_line TIMEOUT '' | tally)" '0 1 0' 'a timeout'
is "$(log_line OK '1..3\nok 1 - a\nok 2 - b # SKIP no\nok 3\n' | tally)" '2 0 1' 'points, one of them skipped'
is "$(log_line FAIL 'ok 1 - a\nnot ok 2 - b\n# why\n1..2\n' | tally)" '1 1 0' 'a failed point, the plan at the end'
is "$(log_line ERROR '1..3\nok 1 - a\n' | tally)" '1 1 0' 'a crash in the middle is a failure'
is "$(log_line TIMEOUT '1..1\nok 1 - a\n' | tally)" '1 1 0' 'a timeout after the last point, too'
is "$(log_line SKIP '1..0 # SKIP no server\n' | tally)" '0 0 1' 'a script that skips itself'
is "$( (log_line OK '' && log_line FAIL '' && log_line OK '1..1\nok 1\n') | tally)" '2 1 0' 'several tests'
is "$(: | tally)" '0 0 0' 'nothing at all'

# ---- where everything must run, a skip is a failure, but for those with a name

printf '. "$2/harness/tests/lib.sh"\npass a\nskip "b c" "no moon"\ndone_testing\n' >"$scratch/half.sh"
printf '. "$2/harness/tests/lib.sh"\nskip_all "no moon"\n' >"$scratch/none.sh"
printf '#!/bin/sh\nexit 77\n' >"$scratch/code.sh"
printf '#!/bin/sh\nprintf "1..2\\nok 1 - a\\nnot ok 2 # SKIP b\\n"\n' >"$scratch/point.sh"
chmod +x "$scratch"/{code,point}.sh
# skips SCRIPT NAME=VALUE...: its exit code and its points.
skips() {
	local script=$1 words=(bash "$scratch/$1.sh")
	shift
	[[ $script != code && $script != point ]] || words=(bash "$source_root/harness/tests/run-program.sh" "$scratch/$script.sh")
	run env -u KEYLAB_MUST_RUN -u KEYLAB_MAY_SKIP "$@" "${words[@]}" "$keylab" "$source_root"
	printf '%d %s' "$rc" "$(grep -E '^(not )?ok|SKIP' <<<"$out" | sed 's/ - .*//; s/# SKIP.*/SKIP/' | paste -sd ,)"
}
is "$(skips half)" '0 ok 1,ok 2' 'a point that is skipped by hand'
is "$(skips half KEYLAB_MUST_RUN=1)" '1 ok 1,not ok 2' 'and where it must run'
is "$(skips half KEYLAB_MUST_RUN=1 KEYLAB_MAY_SKIP=$'a\nb c')" '0 ok 1,ok 2' 'or is named'
is "$(skips half KEYLAB_MUST_RUN=1 KEYLAB_MAY_SKIP='b c d')" '1 ok 1,not ok 2' 'or another is named'
is "$(skips none)" '0 1..0 SKIP' 'a script that is skipped by hand'
is "$(skips none KEYLAB_MUST_RUN=1)" '1 not ok 1' 'and where it must run'
is "$(skips none KEYLAB_MUST_RUN=1 KEYLAB_MAY_SKIP=none)" '0 1..0 SKIP' 'or is named'
is "$(skips code)" '0 1..0 SKIP' 'a program that is skipped by hand'
is "$(skips code KEYLAB_MUST_RUN=1)" '1 not ok 1' 'and where it must run'
is "$(skips point)" '0 ok 1,ok 2 SKIP' 'a point of a program that is skipped by hand'
like "$(skips point KEYLAB_MUST_RUN=1)" ' ok 1,not ok 2$' 'and where it must run'

# ---- what a sanitizer has reported counts beside that

. "$source_root/harness/setup/check.sh"
mkdir -p "$scratch/variant/san"
failed=0
out=$(count_reports "$scratch/variant")
count_reports "$scratch/variant" >/dev/null
is "$failed:$out" '0:' 'no report'
printf 'heap-buffer-overflow\n' >"$scratch/variant/san/report.7"
printf 'data race\n' >"$scratch/variant/san/report.8"
out=$(count_reports "$scratch/variant")
count_reports "$scratch/variant" >/dev/null
is "$failed" 2 'two reports are two failures'
like "$out" 'report.7:.heap-buffer-overflow.*report.8:.data race' 'and are shown'

done_testing
