-- Which runs of the attached store come over, and their new numbers. A run is known by when, where and as what it started.
insert into temp.run_map (old, new)
select run_id, (select coalesce(max(run_id), 0) from main.run) + row_number() over (order by run_id)
from other.run o
where status <> 'running'
	and not exists (
		select 1 from main.run m
		where m.started_us = o.started_us and m.seed = o.seed and m.pid = o.pid and m.pid_started = o.pid_started
			and m.argv = o.argv)
