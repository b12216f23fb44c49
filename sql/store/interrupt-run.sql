-- Marks a run whose process is gone. Parameter: run_id.
update run set status = 'interrupted' where run_id = :run_id and status = 'running'
