-- Marks what such a run was at. Parameter: run_id.
update scenario set status = 'interrupted', reason = 'the run was interrupted'
where run_id = :run_id and status = 'running'
