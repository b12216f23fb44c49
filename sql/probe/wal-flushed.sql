-- Is the WAL up to $1 on disk, where pg_walinspect can read it? Column: a boolean.
select pg_current_wal_flush_lsn() >= $1::pg_lsn
