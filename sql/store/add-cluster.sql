-- A cluster that was started. Parameters: its columns.
insert into cluster (run_id, scenario, version_num, version, server_sha256, bin_dir, initdb_options, started_us)
values (:run_id, :scenario, :version_num, :version, :server_sha256, :bin_dir, :initdb_options, :started_us)
