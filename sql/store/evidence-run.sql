-- A run as exports and the gate speak of it. Parameter :run_id.
-- Columns: started_at, finished_at, status, profile, kind (run, or aa: all arms were the first one), seed (text), keylab_version, keylab_commit, wall_ns, version_num
-- (the lowest of its clusters; 0 without any), how many version_nums, version, server_sha256, values set by hand (JSON array).
select strftime('%Y-%m-%dT%H:%M:%SZ', r.started_us / 1000000, 'unixepoch'),
	coalesce(strftime('%Y-%m-%dT%H:%M:%SZ', r.finished_us / 1000000, 'unixepoch'), ''),
	r.status, r.profile,
	case when exists (select 1 from environment e where e.run_id = r.run_id and e.name = 'arms') then 'aa' else 'run' end, cast(r.seed as text), r.keylab_version, r.keylab_commit, coalesce(r.wall_ns, 0),
	coalesce(min(c.version_num), 0), count(distinct c.version_num), coalesce(min(c.version), ''),
	coalesce(min(c.server_sha256), ''),
	(select json_group_array(p.scenario || ': ' || p.name || '=' || p.value) from param p
		where p.run_id = r.run_id and p.origin = 'set')
from run r left join cluster c using (run_id)
where r.run_id = :run_id
group by r.run_id
