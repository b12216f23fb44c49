-- Dataset `book`: the tables, empty, with what is free as long as they are. The foreign keys of events are among it:
-- its rows come with triggers off, and 20-check.sql looks every one up.
-- Parameters: none. Leaves: accounts, users, projects, events in schema public; the views event_draws and event_rows,
-- which give the events from number dataset.first to dataset.last (settings of the session).
--
-- setting: wal_level = minimal
-- setting: max_wal_senders = 0
-- setting: fsync = off
-- setting: full_page_writes = off
-- setting: autovacuum = off
-- setting: shared_buffers = 2GB
-- setting: max_wal_size = 4GB
-- setting: min_wal_size = 32MB
-- setting: checkpoint_timeout = 1h
--
-- shared_buffers: a table below a quarter of it is read through it and stays; a larger one goes through a
-- small ring of buffers, and each of the scans to come would fetch it anew.
-- min_wal_size: what is kept of the log is copied with every cluster.

create table accounts (
	id bigint generated always as identity primary key,
	name text not null,
	plan text not null,
	created_at timestamptz not null
);

create table users (
	id bigint generated always as identity primary key,
	account_id bigint not null,
	email text not null,
	name text not null,
	created_at timestamptz not null
);

create table projects (
	id bigint generated always as identity primary key,
	account_id bigint not null,
	owner_id bigint not null,
	name text not null,
	archived_at timestamptz,
	created_at timestamptz not null
);

create table events (
	id bigint generated always as identity,
	account_id bigint not null references accounts,
	project_id bigint not null references projects,
	user_id bigint references users,
	kind text not null,
	payload jsonb not null,
	created_at timestamptz not null
);

-- Five draws a row, in this order. A subquery that is volatile and returns a set is never merged into the query
-- around it: it is evaluated once a row, and its columns from left to right.
create view event_draws as
select generate_series(current_setting('dataset.first')::int, current_setting('dataset.last')::int) as g,
	1 + floor(random() * 20000)::bigint as project_id,
	1 + floor(random() * 8)::int as kind,
	floor(random() * 4)::int * 25000 + floor(random() * 5000)::int * 5
		+ floor(random() * 5)::int as payload;

-- An event's account and owner follow from its project's number, so that nothing has to be looked up. All
-- 4 x 5,000 x 5 payloads are made once, as one array; a row copies its own out of it.
create view event_rows as
select d.g::bigint as id,
	1 + (1 + 7 * d.project_id % 100000) % 1000 as account_id,
	d.project_id,
	1 + 7 * d.project_id % 100000 as user_id,
	(array['deploy', 'deploy', 'build', 'build', 'build', 'comment', 'alert', 'login'])[d.kind] as kind,
	payloads.list -> d.payload as payload,
	timestamptz '2025-10-06 00:00+00' + d.g * interval '15.768 s' as created_at
from (
	select jsonb_agg(
		jsonb_build_object('status', status, 'duration_ms', duration_ms, 'region', region)
		order by s, duration_ms, r
	) as list
	from unnest(array['ok', 'ok', 'ok', 'failed']) with ordinality as statuses(status, s),
		generate_series(0, 4999) as durations(duration_ms),
		unnest(array['iad', 'sfo', 'ams', 'fra', 'syd']) with ordinality as regions(region, r)
) payloads
cross join event_draws d;
