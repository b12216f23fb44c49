#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
#
# Runner and workers under ThreadSanitizer (the variant clang-tsan of ./run.sh check): scenarios side by side, sessions in
# the background, blocks of servers that take turns, worker processes with several threads. A race ends the process
# that has it, with exit code 99 (harness/tests/sanitizer.c).
. "$2/harness/tests/lib.sh"

nm "$keylab" 2>/dev/null | grep -q ' __tsan_init$' || skip_all 'not built with ThreadSanitizer (./run.sh check clang-tsan is)'
export KEYLAB_HOME=$scratch/home
chmod 711 "$scratch"
"$keylab" doctor 2>/dev/null | grep -q '^ok *PostgreSQL 1[89]' || skip_all 'PostgreSQL 18 is not here'
db=$scratch/race.db
scenarios=(sequences sequence segment-allocator snowflake-lease segment-outage leaf-density recent-rows)

run env TSAN_OPTIONS=log_path=stderr "$keylab" run --quiet --profile quick --jobs 2 --db "$db" "${scenarios[@]}"
like "$rc" '^[012]$' 'a quick run of two jobs comes to verdicts'
unlike "$err" 'ThreadSanitizer' 'and has no race'
done_scenarios=$(sqlite3 "$db" "select count(*) from scenario where status = 'done'")
is "$done_scenarios" "${#scenarios[@]}" "all scenarios came to their end: $(sqlite3 "$db" "select scenario || ' ' || reason from scenario where status <> 'done'")"
crashed=$(sqlite3 "$db" "select count(*) from samples where metric = 'exit_code' and value = 99")
is "$crashed" 0 'no worker ended with a race'
workers=$(sqlite3 "$db" "select count(*) from samples where metric = 'exit_code'")
ok "worker processes were among it: $workers" test "$workers" -gt 2
figure race "$done_scenarios scenarios with --jobs 2 and $workers worker processes under TSan, races: $(grep -c 'WARNING: ThreadSanitizer' <<<"$err")"
done_testing
