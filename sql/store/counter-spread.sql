-- How far one counter claim's value lies apart in the runs of a store, over runs of one scenario file, profile and
-- PostgreSQL major version, as they are written (no --set, no identical arms) and to their end.
-- Parameters :scenario, :claim, :sha256 of the scenario, :profile, :major. Columns: how many runs, lowest, highest.
select count(*), min(c.value), max(c.value)
from claim c join scenario s using (run_id, scenario) join run r using (run_id)
where c.scenario = :scenario and c.claim = :claim and c.in_scope = 1 and typeof(c.value) in ('integer', 'real')
	and s.sha256 = :sha256 and s.status = 'done' and r.profile = :profile
	and :major = (select min(version_num) / 10000 from cluster where cluster.run_id = c.run_id)
	and :major = (select max(version_num) / 10000 from cluster where cluster.run_id = c.run_id)
	and not exists (select 1 from param where param.run_id = c.run_id and param.scenario = c.scenario and origin = 'set')
	and not exists (select 1 from environment where environment.run_id = c.run_id and name = 'arms')
