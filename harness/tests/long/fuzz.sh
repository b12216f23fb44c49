#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Each fuzz target for KEYLAB_FUZZ_S seconds (60), two at a time, from the corpus in the tree. Built by clang with
# ASan and UBSan. A finding is left in the scratch folder, for `fuzz_… FILE` to show again. With KEYLAB_FUZZ_KEEP=1 what
# reached something new is added to the corpus in the tree (the files named by a hash), as few files as will do.
. "$2/harness/tests/lib.sh"

root=$source_root
for part in common build check; do . "$root/harness/setup/$part.sh"; done
command -v clang >/dev/null || skip_all 'no clang'
seconds=${KEYLAB_FUZZ_S:-60}
targets=("$source_root"/harness/tests/fuzz/fuzz_*.c)
targets=("${targets[@]##*/fuzz_}")
targets=("${targets[@]%.c}")
lock
build_variant clang-asan "${targets[@]/#/harness/tests/fuzz_}" || { fail 'the targets are built'; done_testing; }
unlock

# one TARGET: leaves its exit code and its messages.
one() {
	local fuzz=$source_root/harness/tests/fuzz fast=1 words=(-timeout=20 -print_final_stats=1 "-max_total_time=$seconds")
	[[ ! -f $fuzz/$1.dict ]] || words+=("-dict=$fuzz/$1.dict")
	mkdir -p "$scratch/$1"
	rc=0
	# Leaks with their whole stack (which is slow), so that libfyaml's own can be told from ours.
	[[ $1 != scenario ]] || fast=0
	ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=$fast LSAN_OPTIONS="suppressions=$fuzz/leaks.txt:print_suppressions=0" UBSAN_OPTIONS=halt_on_error=1 "$variant_folder/harness/tests/fuzz_$1" "${words[@]}" \
		"-artifact_prefix=$scratch/$1-" "$scratch/$1" "$fuzz/corpus/$1" >"$scratch/$1.log" 2>&1 </dev/null || rc=$?
	printf '%s\n' "$rc" >"$scratch/$1.rc"
}

for target in "${targets[@]}"; do
	while (($(jobs -rp | wc -l) >= 2)); do wait -n; done
	one "$target" &
done
wait
for target in "${targets[@]}"; do
	rc=$(<"$scratch/$target.rc")
	inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$target.log")
	text="$(printf "%'d" "${inputs:-0}") inputs in $seconds s, findings: $([[ $rc == 0 ]] && echo none || echo "exit $rc")"
	# One that has run nothing has found nothing.
	if [[ $rc == 0 && ${inputs:-0} -gt 0 ]]; then
		pass "fuzz $target: $text"
	else
		fail "fuzz $target: $text" "$(tail -n 30 "$scratch/$target.log")"
	fi
	figure "fuzz $target" "$text"
	[[ -z ${KEYLAB_FUZZ_KEEP-} ]] ||
		ok "fuzz $target: the corpus is brought up to date" "$variant_folder/harness/tests/fuzz_$target" -set_cover_merge=1 \
			-timeout=20 "$source_root/harness/tests/fuzz/corpus/$target" "$scratch/$target"
done
done_testing
