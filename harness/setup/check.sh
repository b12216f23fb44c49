# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# The long check: both compilers, plain and with sanitizers, lint. Sourced by run.sh.

# name      compiler  sanitizer            suites
check_table='
gcc         gcc       none                 unit golden live
clang       clang     none                 unit golden
gcc-asan    gcc       address,undefined    unit golden
clang-asan  clang     address,undefined    unit golden live fuzz
clang-tsan  clang     thread               unit
'

is_variant() {
	[[ $check_table == *$'\n'"$1 "* ]]
}

# One row of the table: builds and tests it, adds to $total_*.
check_variant() {
	local name=$1 compiler=$2 sanitizer=$3 folder=$root/build-check-$1 passed failed skipped options
	shift 3
	options=("-Db_sanitize=$sanitizer")
	# clang links sanitizers into the program alone; undefined symbols of a library are then no error.
	[[ $sanitizer == none ]] || options+=(-Db_lundef=false)
	[[ " $* " != *' fuzz '* ]] || options+=(-Dc_args=-fsanitize=fuzzer-no-link)
	if ! CC=$compiler configure "$folder" "${options[@]}" || ! compile "$folder"; then
		printf '%-11s does not build\n' "$name"
		total_failed=$((total_failed + 1))
		return
	fi
	# Under a sanitizer everything takes some times as long.
	export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:strict_string_checks=1
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
	run_suites "$folder" --quiet --timeout-multiplier 5 -- "$@"
	printf '%-11s %d passed, %d failed, %d skipped\n' "$name" "$passed" "$failed" "$skipped"
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
		printf '%-11s passed\n' "$name"
		total_passed=$((total_passed + 1))
	else
		printf '%-11s failed\n' "$name"
		total_failed=$((total_failed + 1))
	fi
}

run_cppcheck() {
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppressions-list="$root/harness/setup/cppcheck.txt" --error-exitcode=1 \
		-D_GNU_SOURCE -I "$root/harness" -j "$(nproc)" "$root/harness"
}

run_clang_tidy() {
	local sources
	mapfile -t sources < <(cd "$root" && find harness -name '*.c' -not -path '*/tests/*' | sort)
	(cd "$root" && printf '%s\0' "${sources[@]}" |
		xargs -0 -n 4 -P "$(nproc)" clang-tidy --quiet -p build-check-clang 2>/dev/null)
}

# check_all [VARIANT...]
check_all() {
	local name compiler sanitizer suites total_passed=0 total_failed=0 total_skipped=0 wanted=" $* "
	lock
	need_packages build test check
	need_server
	export_pinned
	unlock
	check_tool lint "$root/harness/lint.sh"
	while read -r name compiler sanitizer suites; do
		[[ -n $name ]] || continue
		[[ $wanted == '  ' || $wanted == *" $name "* ]] || continue
		# shellcheck disable=SC2086
		check_variant "$name" "$compiler" "$sanitizer" $suites
	done <<<"$check_table"
	if [[ $wanted == '  ' ]]; then
		if command -v cppcheck >/dev/null; then
			check_tool cppcheck run_cppcheck
		fi
		if command -v clang-tidy >/dev/null; then
			check_tool clang-tidy run_clang_tidy
		fi
	fi
	print_counts "$total_passed" "$total_failed" "$total_skipped"
}
