-- When a run ended, or else began, in seconds since 1970. Parameter :run_id. Columns: at_s.
select coalesce(finished_us, started_us) / 1000000
from run
where run_id = :run_id;
