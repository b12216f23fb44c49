-- What went wrong or was said on the way. Parameter :run_id.
-- Columns: scenario, at, kind, text, position.
select i.scenario, strftime('%H:%M:%S', i.at_us / 1000000, 'unixepoch'), i.kind, i.text, coalesce(st.position, '')
from incident i left join step st on st.step_id = i.step_id
where i.run_id = :run_id
union all
select scenario, strftime('%H:%M:%S', started_us / 1000000, 'unixepoch'), outcome || ' in ' || verb,
	trim(sqlstate || ' ' || message), position
from step
where run_id = :run_id and outcome in ('error', 'blocked', 'cut off')
order by 1, 2, 3, 4;
