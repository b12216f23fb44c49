#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Each fuzz target for KEYLAB_FUZZ_S seconds (60), from the corpus in the tree. A build of its own, by clang with
# ASan and UBSan.
. "$2/harness/tests/lib.sh"

command -v clang >/dev/null || skip_all 'no clang'
seconds=${KEYLAB_FUZZ_S:-60}
build=$scratch/build
if ! CC=clang meson setup -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link \
	"$build" "$source_root" >"$scratch/log" 2>&1; then
	skip_all "clang cannot build it here: $(tail -n 1 "$scratch/log")"
fi
for target in "$source_root"/harness/tests/fuzz/fuzz_*.c; do
	name=$(basename "$target" .c)
	what=${name#fuzz_}
	if ! ninja -C "$build" "harness/tests/$name" >"$scratch/log" 2>&1; then
		fail "$name is built" "$(tail -n 5 "$scratch/log")"
		continue
	fi
	words=(-timeout=20 -print_final_stats=1 "-max_total_time=$seconds" "-artifact_prefix=$scratch/")
	[[ ! -f ${target%/*}/$what.dict ]] || words+=("-dict=${target%/*}/$what.dict")
	mkdir -p "$scratch/$what"
	run env ASAN_OPTIONS=detect_leaks=1 "$build/harness/tests/$name" "${words[@]}" "$scratch/$what" "${target%/*}/corpus/$what"
	units=$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$err")
	is "$rc" 0 "$name: $units inputs in $seconds s, no finding" || true
	[[ -z ${KEYLAB_FIGURES-} ]] || printf '%s\t%s inputs in %s s on %s, findings: %s\n' "$name" "$units" "$seconds" \
		"$(date -u +%F)" "$([[ $rc == 0 ]] && echo none || echo "exit $rc")" >>"$KEYLAB_FIGURES"
	((rc == 0)) || diag "$(tail -n 30 <<<"$err")"
done
done_testing
