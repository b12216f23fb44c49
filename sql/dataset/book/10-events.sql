-- Dataset `book`, first phase: the two million events. Runs side by side with 10-people.sql: an event's
-- account and owner follow from its project's number, so that nothing has to be looked up.
-- Parameters: none. Leaves: events in schema public, its rows in the order of id, without keys.
--
-- setting: wal_level = minimal
-- setting: max_wal_senders = 0
-- setting: fsync = off
-- setting: full_page_writes = off
-- setting: autovacuum = off
-- setting: shared_buffers = 2GB
-- setting: max_wal_size = 4GB
-- setting: checkpoint_timeout = 1h
--
-- shared_buffers: a table below a quarter of it is read through it and stays; a larger one goes through a
-- small ring of buffers, and each of the six scans to come would fetch it anew.
-- create table as: it writes a row in half the time of an insert.

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

-- All 4 x 5,000 x 5 payloads are made once, as one array; a row copies its own out of it. The subquery `d`
-- is never merged into the outer query, since it is volatile and returns a set: it is evaluated once a
-- row, and its columns from left to right, which is the order of the draws.
create table events as
select d.g::bigint as id,
	1 + (1 + 7 * d.project_id % 100000) % 1000 as account_id,
	d.project_id,
	1 + 7 * d.project_id % 100000 as user_id,
	(array['deploy', 'deploy', 'build', 'build', 'build', 'comment', 'alert', 'login'])[d.kind] as kind,
	payloads.list -> d.payload as payload,
	timestamptz '2025-10-06' + d.g * interval '15.768 s' as created_at
from (
	select jsonb_agg(
		jsonb_build_object('status', status, 'duration_ms', duration_ms, 'region', region)
		order by s, duration_ms, r
	) as list
	from unnest(array['ok', 'ok', 'ok', 'failed']) with ordinality as statuses(status, s),
		generate_series(0, 4999) as durations(duration_ms),
		unnest(array['iad', 'sfo', 'ams', 'fra', 'syd']) with ordinality as regions(region, r)
) payloads
cross join lateral (
	select generate_series(1, 2000000) as g,
		1 + floor(random() * 20000)::bigint as project_id,
		1 + floor(random() * 8)::int as kind,
		floor(random() * 4)::int * 25000 + floor(random() * 5000)::int * 5
			+ floor(random() * 5)::int as payload
) d;
