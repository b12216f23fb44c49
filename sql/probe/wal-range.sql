-- All WAL records between two positions, by resource manager. $1: from, $2: to. Needs pg_walinspect.
-- Columns: the manager ('' for the sum), and a metric each.
select coalesce("resource_manager/record_type", '') as rmgr,
	sum(count)::bigint as record_count,
	sum(record_size)::bigint as record_bytes,
	sum(fpi_size)::bigint as fpi_bytes
from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)
where count > 0
group by grouping sets ((), ("resource_manager/record_type"))
order by rmgr
