-- The run that is meant unless another one is named: the newest finished one, or else the newest.
-- Columns: run_id.
select run_id
from run
order by status = 'finished' desc, started_us desc, run_id desc
limit 1;
