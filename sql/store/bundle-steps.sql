-- What was done, in its order. Parameter :run_id.
-- Columns, named in the file's first line: at, scenario, verb, step, session, arm, rep, seconds, outcome, sqlstate,
-- message, position.
select strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') as at, scenario, verb, name as step, session, arm,
	rep, duration_ns / 1e9 as seconds, outcome, sqlstate, message, position
from step
where run_id = :run_id
order by step_id;
