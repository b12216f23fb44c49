-- The parameters' values. Parameter :run_id.
-- Columns: scenario, name, value, origin.
select scenario, name, value, origin
from param
where run_id = :run_id
order by scenario, name;
