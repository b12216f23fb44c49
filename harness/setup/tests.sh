# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# Running the tests and the benchmarks. Sourced by run.sh.

# meson's suites, and which of them need no server and no browser.
all_suites=(lint unit golden live browser)
quick_suites=(lint unit golden)

# run_suites FOLDER MESON-OPTIONS... -- SUITE...: runs them in a build folder, shows the logs of what failed, and
# leaves the counts in $passed, $failed and $skipped (points, where a test counts its own).
run_suites() {
	local folder=$1 options=() suites=() base rc=0
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	suites=("${@/#/--suite=}")
	# A log of its own for each invocation, so that two at a time do not mix; the logs of earlier ones go.
	for base in "$folder"/meson-logs/testlog-*.json; do
		base=${base%.json}
		[[ ! -e $base.json ]] || kill -0 "${base##*-}" 2>/dev/null || rm -f "$base".*
	done
	base=testlog-$$
	# A test's standard input is not ours, and a lock that is held here is not its business.
	meson test -C "$folder" --no-rebuild --print-errorlogs --logbase "$base" "${options[@]}" "${suites[@]}" \
		</dev/null || rc=$?
	read -r passed failed skipped < <(awk -f "$root/harness/tests/tally.awk" "$folder/meson-logs/$base.json")
	if ((rc != 0 && failed == 0)); then
		failed=1 # meson is unhappy although each line went well: never a pass
	fi
}

# The last line of every kind of test run. Nothing run is a failure.
print_counts() {
	local passed=$1 failed=$2 skipped=$3
	if ((skipped > 0)); then
		printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	else
		printf '%d passed, %d failed\n' "$passed" "$failed"
	fi
	((failed == 0 && passed > 0))
}

run_tests() {
	local suites=("${all_suites[@]}") passed failed skipped
	if [[ ${1-} == --quick ]]; then
		suites=("${quick_suites[@]}")
		shift
	fi
	if [[ ${1-} == -* ]]; then
		die_usage "test: unknown option '$1'; ./run.sh test [--quick] [SUITE...], suites: ${all_suites[*]} gate race long"
	fi
	(($# == 0)) || suites=("$@")

	case " ${suites[*]} " in
	*' browser '*) set_up test browser ;;
	*) set_up test ;;
	esac
	if [[ " ${suites[*]} " == *' live '* || " ${suites[*]} " == *' long '* || " ${suites[*]} " == *' race '* || " ${suites[*]} " == *' gate '* ]]; then
		need_server
	fi
	if [[ " ${suites[*]} " == *' browser '* && -f $root/report/test/package-lock.json ]]; then
		node_modules "$root/report/test" "the browser tests' packages" ||
			die_environment "the browser tests' packages could not be fetched; ./run.sh test --quick does without"
	fi
	export_pinned
	unlock
	run_suites "$build" -- "${suites[@]}"
	print_counts "$passed" "$failed" "$skipped"
}

# run_fuzz [SECONDS]
run_fuzz() {
	local log=$root/.cache/fuzz.log
	[[ ${1-60} =~ ^[0-9]+$ ]] || die_usage "fuzz: $1 is no number of seconds; ./run.sh fuzz [SECONDS]"
	lock
	need_packages build test
	unlock
	mkdir -p "$root/.cache"
	KEYLAB_FUZZ_S=${1-60} bash "$root/harness/tests/long/fuzz.sh" "$keylab" "$root" 2>&1 </dev/null | tee "$log" || true
	print_counts "$(grep '^ok ' "$log" | grep -vc '# SKIP')" "$(grep -c '^not ok ' "$log")" "$(grep -c '^ok .*# SKIP' "$log")"
}

run_bench() {
	local script rc=0
	set_up bench
	need_server
	export_pinned
	unlock
	(($# > 0)) || set -- "$root"/harness/tests/bench/*.sh
	for script; do
		[[ -f $script ]] || script=$root/harness/tests/bench/$script.sh
		[[ -f $script ]] || die_usage "bench: no such script: $1"
		bash "$script" "$keylab" "$root" || rc=1
	done
	return "$rc"
}
