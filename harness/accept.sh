#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# The quick profile as it is now becomes the baseline of keylab's own gate (tests/gate/own.sh):
#
#   harness/accept.sh "why the values changed" [STORE]
#
# STORE holds runs in a row (tests/long/flip-free.sh): the tolerances of counters come from it.
# Nothing is accepted when a verdict is not the expected one. Tolerances and their reasons stay; review the diff.
set -eu
(($# == 1 || $# == 2)) || { echo 'usage: harness/accept.sh REASON [STORE]' >&2; exit 64; }
spread=()
(($# == 1)) || spread=(--spread "$(realpath "$2")")
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
./run.sh run --profile quick -q --db "$scratch/run.db"
./run.sh baseline --accept 1 --reason "$1" --db "$scratch/run.db" "${spread[@]}"
git --no-pager diff --stat -- results/baselines
