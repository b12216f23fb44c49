-- The scenarios' texts as they were run. Parameter :run_id. Columns: document, scenario, text.
select document, scenario, text
from scenario
where run_id = :run_id
order by document, scenario;
