-- A run ends. Parameters: run_id, when, how, and how long it took.
update run set finished_us = :finished_us, status = :status, wall_ns = :wall_ns, server_ns = :server_ns
where run_id = :run_id
