-- Dataset `book`, first phase: accounts, users and projects with all their keys; the first of the stream's
-- draws. Runs side by side with 10-events.sql.
-- Parameters: none. Leaves: accounts, users, projects in schema public.

set timezone = 'UTC';

begin;

create table accounts (
	id bigint generated always as identity,
	name text not null,
	plan text not null,
	created_at timestamptz not null
);

create table users (
	id bigint generated always as identity,
	account_id bigint not null,
	email text not null,
	name text not null,
	created_at timestamptz not null
);

create table projects (
	id bigint generated always as identity,
	account_id bigint not null,
	owner_id bigint not null,
	name text not null,
	archived_at timestamptz,
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

insert into projects (account_id, owner_id, name, archived_at, created_at)
select 1 + (1 + 7 * g % 100000) % 1000, 1 + 7 * g % 100000, 'Project ' || g,
	case when random() < 0.2
		then timestamptz '2026-10-06' - random() * interval '100 days' end,
	timestamptz '2026-10-06' - random() * interval '800 days'
from generate_series(1, 20000) g;

alter table accounts add primary key (id);
alter table users add primary key (id), add unique (account_id, email);
alter table projects add primary key (id);

alter table users add foreign key (account_id) references accounts;
alter table projects
	add foreign key (account_id) references accounts,
	add foreign key (owner_id) references users;

commit;
