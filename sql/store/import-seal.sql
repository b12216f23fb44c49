-- The digest of a scenario's samples under their new numbers. Parameters: run_id, scenario, samples_sha256.
update scenario set samples_sha256 = :samples_sha256 where run_id = :run_id and scenario = :scenario
