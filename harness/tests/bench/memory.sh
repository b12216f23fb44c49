#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (c) keylab's own peak memory, without its children: the high-water mark that the kernel keeps for the
# process (VmHWM), read until the process is gone. It only grows, so what is missed is what the last
# milliseconds add.
. "$2/harness/tests/bench/lib.sh"

# peak_kib CMD...
peak_kib() {
	local pid peak=0 line
	"$@" >"$scratch/out" 2>&1 </dev/null &
	pid=$!
	while line=$(grep -s '^VmHWM:' "/proc/$pid/status"); do
		line=${line//[!0-9]/}
		((line <= peak)) || peak=$line
	done
	wait "$pid" || (($? <= 2)) || { cat "$scratch/out" >&2; return 1; }
	echo "$peak"
}

run=$(peak_kib "$keylab" run --profile quick --db "$scratch/bench.db" -q wal-checkpoints leaf-density text-or-uuid)
report=$(peak_kib "$keylab" report --db "$scratch/bench.db" --out "$scratch/report.html")
for kind in run report; do
	mib=$(awk -v k="${!kind}" 'BEGIN { printf "%.1f", k / 1024 }')
	printf 'peak memory of keylab %s: %s MB (goal under 32: %s)\n' "$kind" "$mib" "$(against_goal "$mib" '<' 32)"
done
