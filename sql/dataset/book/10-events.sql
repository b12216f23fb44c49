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

-- The others, as soon as their connection has committed them, or an error once it has ended without.
-- The catalog itself is asked: to_regclass would remember that there was no such table. What pg_stat_activity showed is
-- remembered too, until it is cleared; asked first, or the table could come between the two.
set statement_timeout = '10min';
do $$
declare
	others bigint;
begin
	loop
		perform pg_stat_clear_snapshot();
		select count(*) into others from pg_stat_activity a
		where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid();
		exit when exists (select from pg_class where relname = 'later_events');
		if others = 0 then
			raise exception 'the connection that makes later_events has ended without it';
		end if;
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
