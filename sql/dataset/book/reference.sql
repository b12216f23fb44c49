-- Dataset `book`, written the plain way: one session, one stream of random numbers, every key in place
-- before the first row, so that every foreign key is checked row by row. It is not used to build the
-- dataset: it says what the numbered files must come to, and is their opponent in the benchmark.
-- Parameters: none. Leaves: accounts, users, projects, events in schema public.

set timezone = 'UTC';

create table accounts (
	id bigint generated always as identity primary key,
	name text not null,
	plan text not null,
	created_at timestamptz not null
);

create table users (
	id bigint generated always as identity primary key,
	account_id bigint not null references accounts,
	email text not null,
	name text not null,
	created_at timestamptz not null,
	unique (account_id, email)
);

create table projects (
	id bigint generated always as identity primary key,
	account_id bigint not null references accounts,
	owner_id bigint not null references users,
	name text not null,
	archived_at timestamptz,
	created_at timestamptz not null
);

create table events (
	id bigint generated always as identity primary key,
	account_id bigint not null references accounts,
	project_id bigint not null references projects,
	user_id bigint references users,
	kind text not null,
	payload jsonb not null,
	created_at timestamptz not null
);

select setseed(0.42);

insert into accounts (name, plan, created_at)
select 'Account ' || g,
	(array['free', 'free', 'free', 'team', 'team', 'enterprise'])[1 + floor(random() * 6)::int],
	timestamptz '2026-10-06' - random() * interval '1000 days'
from generate_series(1, 1000) g;

insert into users (account_id, email, name, created_at)
select 1 + g % 1000, 'user' || g || '@example.com', 'User ' || g,
	timestamptz '2026-10-06' - random() * interval '900 days'
from generate_series(1, 100000) g;

with drawn as materialized (
	select g, 1 + 7 * g % 100000 as owner_id,
		case when random() < 0.2
			then timestamptz '2026-10-06' - random() * interval '100 days' end as archived_at,
		timestamptz '2026-10-06' - random() * interval '800 days' as created_at
	from generate_series(1, 20000) g
)
insert into projects (account_id, owner_id, name, archived_at, created_at)
select u.account_id, u.id, 'Project ' || d.g, d.archived_at, d.created_at
from drawn d
join users u on u.id = d.owner_id
order by d.g;

with drawn as materialized (
	select g, 1 + floor(random() * 20000)::bigint as project_id,
		(array['deploy', 'deploy', 'build', 'build', 'build', 'comment', 'alert', 'login'])
			[1 + floor(random() * 8)::int] as kind,
		jsonb_build_object(
			'status', (array['ok', 'ok', 'ok', 'failed'])[1 + floor(random() * 4)::int],
			'duration_ms', floor(random() * 5000)::int,
			'region', (array['iad', 'sfo', 'ams', 'fra', 'syd'])[1 + floor(random() * 5)::int]
		) as payload
	from generate_series(1, 2000000) g
)
insert into events (account_id, project_id, user_id, kind, payload, created_at)
select p.account_id, p.id, p.owner_id, d.kind, d.payload,
	timestamptz '2026-10-06' - interval '365 days' + d.g * (interval '365 days' / 2000000)
from drawn d
join projects p on p.id = d.project_id
order by d.g;

vacuum (analyze) accounts, users, projects, events;
