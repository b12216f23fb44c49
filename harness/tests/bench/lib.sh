# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
#
# For the benchmarks: clocks, medians and the lines they print. Two things are always measured in turn in one
# run, so that a machine that gets slower slows both; a ratio is that of the medians. A script is called as
# SCRIPT KEYLAB SOURCE_ROOT.

set -euo pipefail
keylab=$(realpath "${1:?the keylab program}")
source_root=$(realpath "${2:?the folder of the sources}")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/keylab-bench.XXXXXX")
chmod 755 "$scratch"

# Sub-second figures need a decimal point, whatever the locale.
export LC_ALL=C

bench_end() {
	local rc=$?
	if ((rc == 0)); then
		rm -rf "$scratch"
	else
		printf 'bench: %s failed; left for a look: %s\n' "$(basename "$0")" "$scratch" >&2
	fi
}
trap bench_end EXIT

# Microseconds of the wall clock; only differences are used.
now_us() {
	printf '%s\n' "${EPOCHREALTIME/./}"
}

# Numbers, one a line, on stdin.
median() {
	sort -n | awk '{ v[NR] = $1 } END { if (!NR) exit 1; print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

range() {
	sort -n | awk 'NR == 1 { a = $1 } { b = $1 } END { printf "%.1f to %.1f", a / 1000, b / 1000 }'
}

# verdict VALUE < | > GOAL: says whether the goal is met. The goal is a wish, not a gate: timings are noisy.
against_goal() {
	awk -v v="$1" -v g="$3" -v op="$2" 'BEGIN { print ((op == "<" ? v <= g : v >= g) ? "met" : "NOT met") }'
}
