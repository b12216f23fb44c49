-- The scenarios of a run (or of all). Columns: run_id, scenario, status, samples_sha256.
select run_id, scenario, status, coalesce(samples_sha256, '')
from scenario where :run_id is null or run_id = :run_id
order by run_id, position
