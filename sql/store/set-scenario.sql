-- A scenario's state. Parameters: run_id, scenario, status, reason, and when it started or finished (null: as it is).
update scenario
set status = :status, reason = :reason,
	started_us = coalesce(:started_us, started_us), finished_us = coalesce(:finished_us, finished_us),
	samples_sha256 = coalesce(:samples_sha256, samples_sha256)
where run_id = :run_id and scenario = :scenario
