-- The claims of a run (or, with run_id null, of all) in order. Columns: run_id, scenario, claim, status and reason of the scenario.
select c.run_id, c.scenario, c.claim, s.status, s.reason
from claim c join scenario s using (run_id, scenario)
where :run_id is null or c.run_id = :run_id
order by c.run_id, s.position, c.position
