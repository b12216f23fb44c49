#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# race/race.sh with a build of its own by clang with ThreadSanitizer.
root=$2
for part in common build check; do . "$root/harness/setup/$part.sh"; done
command -v clang >/dev/null || { printf '1..0 # SKIP no clang\n'; exit 0; }
lock
build_variant clang-tsan harness/cmd/keylab || { printf '1..1\nnot ok 1 - it is built\n'; exit 1; }
unlock
exec bash "$root/harness/tests/race/race.sh" "$variant_folder/harness/cmd/keylab" "$root"
