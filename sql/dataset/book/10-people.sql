-- Dataset `book`, first phase: accounts, users and projects with all their keys; then the events from number 1,100,001
-- on, in a table of their own. Runs side by side with 10-events.sql.
-- Parameters: none. Leaves: accounts, users, projects complete; later_events.

set timezone = 'UTC';
set jit = off;

select setseed(0.42);

begin;

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

alter table users
	add unique (account_id, email),
	add foreign key (account_id) references accounts;
alter table projects
	add foreign key (account_id) references accounts,
	add foreign key (owner_id) references users;

commit;

-- The draws of the events before. (A set in the select list would be asked, and its neighbours drawn, once more.)
select count(a + b + c + d + e) from (
	select random() as a, random() as b, random() as c, random() as d, random() as e
	from generate_series(1, 1100) x, generate_series(1, 1000) y
) s;

set dataset.first = 1100001;
set dataset.last = 2000000;

-- create table as: it writes a row in half the time of an insert.
create table later_events as select * from event_rows;
