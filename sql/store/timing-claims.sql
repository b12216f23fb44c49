-- The timing claims of a run that are in scope. Parameter :run_id. Columns: scenario, claim.
select c.scenario, c.claim
from claim c
where c.run_id = :run_id and c.in_scope and c.metric_type = 'timing'
order by c.scenario, c.position
