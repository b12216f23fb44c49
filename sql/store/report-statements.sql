-- The statements that made samples or proofs: the first of each place, name and arm. Parameter :run_id.
-- Columns: scenario, verb, name, arm, sql, times, position, first (the step's id).
select scenario, verb, name, arm, sql, count(*), position, min(step_id) as first
from step
where run_id = :run_id and name <> '' and sql <> ''
group by scenario, verb, name, arm, position
order by scenario, first;
