-- Where the next WAL record goes. Column: the insert position, which is ahead of the write position.
select pg_current_wal_insert_lsn()
