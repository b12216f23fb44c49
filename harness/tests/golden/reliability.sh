#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# ./run.sh reliability: what a test says becomes its rows of the page, in the place of its old ones; a failure shows there.
. "$2/harness/tests/lib.sh"
set -o pipefail

# A tree with three tests and a page.
root=$scratch/tree build=$scratch/tree/build
mkdir -p "$root/harness/tests/long" "$root/harness/tests/golden" "$root/docs"
cp "$source_root/harness/tests/figures.sh" "$root/harness/tests/"
page=$root/docs/reliability.md
printf 'Before.\n\n<!-- figures: begin -->\n\nNone yet.\n\n<!-- figures: end -->\n\nBehind.\n' >"$page"
printf 'printf "ok 1\\nok 2\\n1..2\\n"; printf "many a\\t3 of 3\\nmany b\\t4 of $KEYLAB_KILLS\\n" >"$KEYLAB_FIGURES"\n' >"$root/harness/tests/long/many.sh"
printf 'printf "ok 1\\nnot ok 2\\n1..2\\n"; exit 1\n' >"$root/harness/tests/golden/bad.sh"
printf 'printf "ok 1\\n"; exit 7\n' >"$root/harness/tests/golden/early.sh"
printf 'printf "ok 1\\nok 2 - b # SKIP no moon\\n1..2\\n"\n' >"$root/harness/tests/golden/half.sh"
printf 'printf "1..0 # SKIP no moon\\n"\n' >"$root/harness/tests/golden/none.sh"
for part in common reliability; do . "$source_root/harness/setup/$part.sh"; done

# row WHAT: its figures, who made them, and the rest without what changes.
row() {
	grep "^| $1 |" "$page" | sed -E 's/[0-9-]{10} [0-9:]{5} UTC, [0-9]+ s/WHEN/; s/[0-9]+ CPUs, load [0-9.]+ to [0-9.]+, commit [^ ]+/MACHINE/'
}

passed=0 failed=0 skipped=0
KEYLAB_KILLS=4 one_reliability many >/dev/null
is "$passed $failed" '2 0' 'a test that passes'
is "$(row 'many a')" '| many a | 3 of 3 | `KEYLAB_KILLS=4 ./run.sh reliability many` | WHEN | MACHINE |' 'its first row'
is "$(row 'many b')" '| many b | 4 of 4 | `KEYLAB_KILLS=4 ./run.sh reliability many` | WHEN | MACHINE |' 'its second row'
one_reliability bad >/dev/null
is "$passed $failed" '3 1' 'a test that fails'
is "$(row bad)" '| bad | 1 of 2; **of its 2 points 1 failed** | `./run.sh reliability bad` | WHEN | MACHINE |' 'says so in its row'
one_reliability early >/dev/null
is "$passed $failed" '4 2' 'one that ends early has failed'
one_reliability half >/dev/null
is "$passed $failed $skipped" '5 2 1' 'what is skipped has not passed'
is "$(row half)" '| half | 1 of 1; 1 skipped | `./run.sh reliability half` | WHEN | MACHINE |' 'and its row says so'
one_reliability none >/dev/null 2>"$scratch/said"
is "$passed $failed" '5 3' 'a test that does not run has failed'
like "$(<"$scratch/said")" 'none has not run: .*no moon' 'which is said'
sed -i 's/many b.*MANY//; s/many b/many c/' "$root/harness/tests/long/many.sh"
KEYLAB_KILLS=5 one_reliability many >/dev/null
is "$(grep '^| [a-z]' "$page" | cut -d ' ' -f 2,3)" $'what |\nmany a\nmany c\nbad |\nearly |\nhalf |' 'run again: in the place of its old rows'
is "$(sed -n '1p;$p' "$page")" $'Before.\nBehind.' 'the rest of the page is as it was'
rc=0
(reliability_script nobody) 2>/dev/null || rc=$?
is "$rc" 64 'a test that there is not'
done_testing
