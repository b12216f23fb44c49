# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# The long check: both compilers, plain and with sanitizers, lint. Sourced by run.sh.

# name      compiler  sanitizer            suites (fuzz: its corpus; the minutes are ./run.sh fuzz)
check_table='
gcc         gcc       none                 unit golden live
clang       clang     none                 unit golden
gcc-asan    gcc       address,undefined    unit golden
clang-asan  clang     address,undefined    unit golden live fuzz
clang-tsan  clang     thread               unit race
'
# Tools that look at the sources and say yes or no.
check_tools=(cppcheck gcc-analyzer clang-tidy)

is_variant() {
	[[ $check_table == *$'\n'"$1 "* || " ${check_tools[*]} " == *" $1 "* ]]
}

# build_variant NAME [TARGET...]: builds a row of the table in $variant_folder (the targets alone, when there are some).
build_variant() {
	local name compiler sanitizer suites options
	read -r name compiler sanitizer suites < <(grep "^$1 " <<<"$check_table")
	shift
	variant_folder=$root/build-check-$name
	options=("-Db_sanitize=$sanitizer")
	# clang links sanitizers into the program alone; undefined symbols of a library are then no error.
	[[ $sanitizer == none ]] || options+=(-Db_lundef=false)
	[[ " $suites " != *' fuzz '* ]] || options+=(-Dc_args=-fsanitize=fuzzer-no-link)
	CC=$compiler configure "$variant_folder" "${options[@]}" && compile "$variant_folder" "$@"
}

# What a sanitizer has reported while the tests ran (harness/tests/sanitizer.c says where to): each is a failure,
# whatever the tests made of it. Adds to $failed.
count_reports() {
	local report
	for report in "$1"/san/*; do
		[[ -e $report ]] || continue
		printf '%s:\n' "$report"
		head -n 60 "$report"
		failed=$((failed + 1))
	done
}

# One row of the table: builds and tests it, adds to $total_*.
check_variant() {
	local name=$1 passed failed skipped
	shift
	if ! build_variant "$name"; then
		printf '%-12s does not build\n' "$name"
		total_failed=$((total_failed + 1))
		return
	fi
	rm -f "$variant_folder"/san/*
	# Under a sanitizer everything takes some times as long.
	run_suites "$variant_folder" --quiet --timeout-multiplier 5 -- "$@"
	count_reports "$variant_folder"
	printf '%-12s %d passed, %d failed, %d skipped\n' "$name" "$passed" "$failed" "$skipped"
	if ((passed == 0 && failed == 0)); then
		failed=1
	fi
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	total_skipped=$((total_skipped + skipped))
}

# A tool that says yes or no counts as one.
check_tool() {
	local name=$1
	shift
	if "$@"; then
		printf '%-12s passed\n' "$name"
		total_passed=$((total_passed + 1))
	else
		printf '%-12s failed\n' "$name"
		total_failed=$((total_failed + 1))
	fi
}

run_cppcheck() {
	local rooms
	mapfile -t rooms < <(find "$root/harness" -mindepth 1 -maxdepth 1 -type d -not -name tests)
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
		--template='{file}:{line}: {id}: {message}' --error-exitcode=1 \
		--suppressions-list="$root/harness/setup/cppcheck.txt" \
		-D_GNU_SOURCE -I "$root/harness" -j "$(nproc)" "${rooms[@]}"
}

# gcc's analyser, over what is shipped; -Werror makes a finding a failure. Neither it nor clang's sees that
# __attribute__((cleanup)) frees, so leaks are LeakSanitizer's and valgrind's to find.
run_gcc_analyzer() {
	local folder=$root/build-check-gcc-analyzer
	CC=gcc configure "$folder" \
		'-Dc_args=-fanalyzer -Wno-analyzer-malloc-leak -DKEYLAB_ANALYSED -Wno-unused-value' && compile "$folder" harness/cmd/keylab
}

# The analyser of clang. KEYLAB_TIDY=shallow follows fewer paths than deep, in a tenth of the time.
# A process for each file: in one with several files, clang 14 takes every va_list for uninitialised.
run_clang_tidy() {
	local mode=${KEYLAB_TIDY:-deep} word extra=()
	build_variant clang || return 1
	for word in -Xclang -analyzer-config -Xclang "mode=$mode"; do extra+=("--extra-arg=$word"); done
	find "$root/harness" -name '*.c' -not -path '*/tests/*' -print0 |
		xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$variant_folder" "${extra[@]}" \
			--checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-unix.Malloc' \
			--warnings-as-errors='*' 2>/dev/null
}

# check_all [VARIANT...]
check_all() {
	local name _ suites total_passed=0 total_failed=0 total_skipped=0 wanted=" $* "
	lock
	need_packages build test check
	need_server
	export_pinned
	unlock
	check_tool lint "$root/harness/lint.sh"
	while read -r name _ _ suites; do
		[[ -n $name ]] || continue
		[[ $wanted == '  ' || $wanted == *" $name "* ]] || continue
		# shellcheck disable=SC2086
		check_variant "$name" $suites
	done <<<"$check_table"
	for name in "${check_tools[@]}"; do
		[[ $wanted == '  ' || $wanted == *" $name "* ]] || continue
		check_tool "$name" "run_${name//-/_}"
	done
	print_counts "$total_passed" "$total_failed" "$total_skipped"
}
