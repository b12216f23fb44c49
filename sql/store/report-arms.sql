-- The arms and what the report calls them. Parameter :run_id.
-- Columns: scenario, arm, label.
select scenario, arm, label
from arm
where run_id = :run_id
order by scenario, position, arm;
