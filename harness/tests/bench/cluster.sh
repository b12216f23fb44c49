#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# (a) A cluster from keylab's cached template, from the start of keylab to the first answer, against initdb
# and a start with the same binaries, options and settings, to the first answer.
. "$2/harness/tests/bench/lib.sh"

rounds=20

# What keylab makes, and with what: looked up in a cluster of its own (this makes the template, too).
# shellcheck disable=SC2016
"$keylab" cluster bash -c '
	data=$(psql -XqAtc "show data_directory")
	dirname "$(readlink "/proc/$(head -n 1 "$data/postmaster.pid")/exe")"
	stat -c "%u:%g" "$data"
' >"$scratch/facts"
{
	read -r pg_bin
	read -r owner
} <"$scratch/facts"

# The server does not run as root.
as_owner=()
if (($(id -u) == 0)); then
	as_owner=(setpriv "--reuid=${owner%:*}" "--regid=${owner#*:}" --clear-groups)
fi

from_template() {
	local begun ended
	begun=$(now_us)
	# shellcheck disable=SC2016
	ended=$("$keylab" cluster bash -c 'psql -XqAtc "select 1" >/dev/null && echo "${EPOCHREALTIME/./}"')
	echo $((ended - begun))
}

from_initdb() {
	local dir=$scratch/plain begun server
	mkdir "$dir"
	chown "$owner" "$dir"
	begun=$(now_us)
	"${as_owner[@]}" "$pg_bin/initdb" -D "$dir/data" -U keylab --encoding=UTF8 --locale=C --auth=trust \
		--data-checksums >"$scratch/initdb.log" 2>&1
	"${as_owner[@]}" "$pg_bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= \
		-c dynamic_shared_memory_type=mmap >"$scratch/server.log" 2>&1 &
	server=$!
	until psql -XqAt -h "$dir" -U keylab -d postgres -c 'select 1' >/dev/null 2>&1; do
		kill -0 "$server" 2>/dev/null || { cat "$scratch/server.log" >&2; exit 1; }
	done
	echo $(($(now_us) - begun))
	kill -INT "$server"
	wait "$server" || true
	rm -rf "$dir"
}

for ((i = 0; i < rounds; i++)); do
	from_template >>"$scratch/template"
	from_initdb >>"$scratch/initdb"
done

template=$(median <"$scratch/template")
initdb=$(median <"$scratch/initdb")
ratio=$(awk -v a="$initdb" -v b="$template" 'BEGIN { printf "%.1f", a / b }')
printf 'cluster ready: %s times as fast from the template as by initdb and start (goal 4: %s)\n' \
	"$ratio" "$(against_goal "$ratio" '>' 4)"
printf '  template %.1f ms (%s), initdb and start %.1f ms (%s), medians of %d, in turn\n' \
	"$(awk -v t="$template" 'BEGIN { print t / 1000 }')" "$(range <"$scratch/template")" \
	"$(awk -v t="$initdb" 'BEGIN { print t / 1000 }')" "$(range <"$scratch/initdb")" "$rounds"
