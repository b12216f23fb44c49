-- Runs that say they still run. Columns: run_id, pid, pid_started.
select run_id, pid, pid_started from run where status = 'running'
