-- One run. Parameter :run_id.
-- Columns: started_at, started_us, status, profile, seed (text), argv, keylab_version, keylab_commit, wall_ns,
-- server_ns, finished_at.
select strftime('%Y-%m-%d %H:%M:%S', started_us / 1000000, 'unixepoch'), started_us, status, profile,
	cast(seed as text), argv, keylab_version, keylab_commit, coalesce(wall_ns, 0), server_ns,
	coalesce(strftime('%Y-%m-%d %H:%M:%S', finished_us / 1000000, 'unixepoch'), '')
from run
where run_id = :run_id;
