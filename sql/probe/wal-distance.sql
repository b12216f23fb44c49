-- How far two WAL positions are apart. $1: from, $2: to. Column: bytes.
select pg_wal_lsn_diff($2::pg_lsn, $1::pg_lsn)::bigint as lsn_bytes
