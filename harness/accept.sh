#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# The quick profile as it is now becomes the baseline of keylab's own gate (tests/gate/own.sh):
#
#   harness/accept.sh "why the values changed"
#
# Nothing is accepted when a verdict is not the expected one. Tolerances and their reasons stay; review the diff.
set -eu
(($# == 1)) || { echo 'usage: harness/accept.sh REASON' >&2; exit 64; }
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
./run.sh run --profile quick --all -q --db "$scratch/run.db"
./run.sh baseline --accept 1 --reason "$1" --db "$scratch/run.db"
git --no-pager diff --stat -- results/baselines
