-- All WAL records between two positions, by resource manager. $1: from, $2: to. Needs pg_walinspect.
-- Columns: the manager ('' for the sum), and a metric each.
select coalesce("resource_manager/record_type", '') as rmgr,
	sum(count)::bigint as record_count,
	sum(record_size)::bigint as record_bytes,
	sum(fpi_size)::bigint as fpi_bytes
-- An empty range has no record to begin with, which pg_walinspect refuses: then it is not asked.
from (select $1::pg_lsn as begins, $2::pg_lsn as ends where $1::pg_lsn < $2::pg_lsn) range,
	lateral pg_get_wal_stats(begins, ends)
where count > 0
group by grouping sets ((), ("resource_manager/record_type"))
order by rmgr
