-- Dataset `book`, first phase: the events. Runs side by side with 10-people.sql, which makes those after number
-- 1,100,000; the division is such that both take as long.
-- Parameters: none. Leaves: the rows of events, in the order of id, without an index.

set timezone = 'UTC';
set jit = off;

select setseed(0.42);

-- The stream's first draws belong to the other tables: accounts, users, projects, as in reference.sql.
select count(a) + count(b) from (select random() as a, random() as b from generate_series(1, 1000)) s;
select count(a) from (select random() as a from generate_series(1, 100000)) s;
select count(a) + count(b) from (
	select case when random() < 0.2 then random() end as a, random() as b
	from generate_series(1, 20000)
) s;

set session_replication_role = replica;
set dataset.first = 1;
set dataset.last = 1100000;

-- A table that is truncated in the same transaction writes no WAL under wal_level = minimal.
begin;
truncate events;
insert into events overriding system value select * from event_rows;

-- The others, as soon as their connection has committed them; the server's own deadline is for when it failed.
-- The catalog itself is asked: to_regclass would remember that there was no such table.
set statement_timeout = '10min';
do $$
begin
	while not exists (select from pg_class where relname = 'later_events') loop
		perform pg_sleep(0.01);
	end loop;
end
$$;
set synchronize_seqscans = off;
insert into events overriding system value select * from later_events;
drop table later_events;
commit;

drop view event_rows, event_draws;
select setval('events_id_seq', 2000000);
