-- Dataset `book`, second phase, side by side with 20-events.sql: is it the one that was published, and does each event
-- point at rows that are there? An event with its project's account and owner does, since the project's own foreign
-- keys were validated. The build fails unless every ok is true. Can be run by hand at any time.
-- Parameters: none. Columns: name; expected; found; ok. One row a check.
-- The estimator of the total, from k ids of which m is the largest, is m + m/k - 1.

with
seen as materialized (
	select id from events where account_id = 42
),
five as (
	select id from seen order by md5(id::text) limit 5
),
week as (
	select min(id) filter (where created_at >= timestamptz '2026-09-08 00:00+00')
		- min(id) filter (where created_at >= timestamptz '2026-09-01 00:00+00') as ids,
		count(*) filter (where created_at >= timestamptz '2026-09-01 00:00+00'
			and created_at < timestamptz '2026-09-08 00:00+00') as events
	from events
),
checks (name, expected, found) as (
	select 'accounts', '1000', count(*)::text from accounts
	union all
	select 'users', '100000', count(*)::text from users
	union all
	select 'projects', '20000', count(*)::text from projects
	union all
	select 'events', '2000000', count(*)::text from events
	union all
	select 'five ids of account 42', '183289, 377266, 464367, 1188068, 1632355',
		string_agg(id::text, ', ' order by id) from five
	union all
	select 'estimate from the five', '1958825', round(max(id) + max(id)::numeric / count(*) - 1)::text
	from five
	union all
	select 'events of account 42', '2084', count(*)::text from seen
	union all
	select 'ids of one week', '38356', ids::text from week
	union all
	select 'events of that week', '38356', events::text from week
	union all
	select 'events not of their project''s account or owner', '0', count(*)::text
	from events e
	left join projects p on p.id = e.project_id
	where (e.account_id, e.user_id) is distinct from (p.account_id, p.owner_id) or p.id is null
	union all
	select 'foreign keys, all validated', '6', count(*) filter (where convalidated)::text
	from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
	union all
	select 'next ids', '1001, 100001, 20001, 2000001',
		concat_ws(', ', (select last_value + 1 from accounts_id_seq),
			(select last_value + 1 from users_id_seq), (select last_value + 1 from projects_id_seq),
			(select last_value + 1 from events_id_seq))
)
select name, expected, found, found is not distinct from expected as ok
from checks;
