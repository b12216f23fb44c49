#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (d) Dataset `book`: built anew by keylab, from the start of keylab to a cluster that answers, against reference.sql,
# the plain statements with every key in place, in a cluster of the server's own settings. Then the same from the
# cache, from the start of keylab to the first answer.
. "$2/harness/tests/bench/lib.sh"

builds=${KEYLAB_BENCH_ROUNDS:-3}
hand_overs=10
goal_build_ms=8000 goal_hand_over_ms=1000

# An empty home each time, which a server that is not root's may enter; initdb is in the build's time.
export KEYLAB_HOME=$scratch/home

# ready ARGS...: microseconds from the start of keylab to the first answer.
ready() {
	local begun ended
	begun=$(now_us)
	# shellcheck disable=SC2016
	ended=$("$keylab" cluster "$@" bash -c 'psql -XqAtc "select 1" >/dev/null && echo "${EPOCHREALTIME/./}"' 2>"$scratch/err") ||
		{ cat "$scratch/err" >&2; return 1; }
	echo $((ended - begun))
}

by_reference() {
	local begun ended
	begun=$(now_us)
	# shellcheck disable=SC2016
	ended=$("$keylab" cluster bash -c 'psql -Xq -v ON_ERROR_STOP=1 -f "$1" >/dev/null && echo "${EPOCHREALTIME/./}"' - \
		"$source_root/sql/dataset/book/reference.sql" 2>"$scratch/err") || { cat "$scratch/err" >&2; return 1; }
	echo $((ended - begun))
}

for ((i = 0; i < builds; i++)); do
	rm -rf "$KEYLAB_HOME"
	ready --dataset book >>"$scratch/build"
	by_reference >>"$scratch/reference"
done
for ((i = 0; i < hand_overs; i++)); do
	ready --dataset book >>"$scratch/hand-over"
done

build=$(median <"$scratch/build")
reference=$(median <"$scratch/reference")
hand_over=$(median <"$scratch/hand-over")
ms() {
	awk -v t="$1" 'BEGIN { printf "%.0f", t / 1000 }'
}
printf 'dataset book: built %s times as fast as by the plain statements, handed over %s times as fast as built\n' \
	"$(awk -v a="$reference" -v b="$build" 'BEGIN { printf "%.1f", a / b }')" \
	"$(awk -v a="$build" -v b="$hand_over" 'BEGIN { printf "%.1f", a / b }')"
printf '  built %s ms (%s; goal on two idle cores %d: %s), plain %s ms (%s), medians of %d, in turn\n' \
	"$(ms "$build")" "$(range <"$scratch/build")" "$goal_build_ms" \
	"$(against_goal "$(ms "$build")" '<' "$goal_build_ms")" "$(ms "$reference")" "$(range <"$scratch/reference")" "$builds"
printf '  handed over %s ms (%s; goal %d: %s), median of %d\n' "$(ms "$hand_over")" "$(range <"$scratch/hand-over")" \
	"$goal_hand_over_ms" "$(against_goal "$(ms "$hand_over")" '<' "$goal_hand_over_ms")" "$hand_overs"
