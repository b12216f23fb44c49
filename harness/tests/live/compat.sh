#!/usr/bin/env bash
# SPDX-License-Identifier: PostgreSQL
# Functions that an older server lacks: there, right, and good for a plan that would like to be parallel.
. "$2/harness/tests/lib.sh"

cd "$source_root" || exit 1
major=$("$keylab" doctor 2>&1 | grep -oE 'PostgreSQL 1[567]\.[0-9]+' | head -n 1 | grep -oE '1[567]' | head -n 1)
[[ -n $major ]] || skip_all 'no server older than 18'
mkdir -p "$scratch/scenarios/tests"
cat >"$scratch/scenarios/tests/compat.yaml" <<'END'
scenario: compat
document: tests
title: Ids of version 7 on an older server
about: Made one by one, with a shifted clock, and by a scan of many pages.
cluster:
  version: 15
  compat: [uuidv7]
steps:
  - sql: |
      create table source as select g as n from generate_series(1, 50000) g;
      analyze source;
      set min_parallel_table_scan_size = 0;
      set parallel_setup_cost = 0;
      set parallel_tuple_cost = 0;
      create table made as select n, uuidv7(interval '1 hour') as id from source
  - probe: made
    sql: |
      select count(*) filter (where substr(id::text, 15, 1) = '7' and substr(id::text, 20, 1) in ('8', '9', 'a', 'b')) as version_count,
        count(distinct id) as id_count,
        max(abs(extract(epoch from clock_timestamp() + interval '1 hour')
          - ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)) as distance_s
      from made
  - probe: four
    sql: select substr(uuidv4()::text, 15, 1)::int as version
claims:
  - {id: four, says: And uuidv4() gives version 4., value: select value from sample where metric = 'version', type: exact, holds: "= 4"}
  - {id: versions, says: All are of version 7., value: select value from sample where metric = 'version_count', type: exact, holds: "= 50000"}
  - {id: distinct, says: All differ., value: select value from sample where metric = 'id_count', type: exact, holds: "= 50000"}
  - {id: time, says: They carry the shifted time., value: select value from sample where metric = 'distance_s', unit: s, type: counter, holds: "< 300"}
limits:
  - None but these ids.
END
run "$keylab" run --pg "$major" --profile quick -q --db "$scratch/compat.db" "$scratch/scenarios/tests/compat.yaml"
is "$rc" 0 "compat on PostgreSQL $major: $out $err"
is "$(sqlite3 "$scratch/compat.db" "select group_concat(verdict) from claims")" HOLDS,HOLDS,HOLDS,HOLDS 'all hold'
done_testing
