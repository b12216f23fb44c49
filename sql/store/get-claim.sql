-- What a verdict is derived from, and the verdict as stored. Parameters: run_id, scenario, claim.
select c.sql, c.predicate, c.metric_type, c.published, c.published_value, c.in_scope, c.scope, c.verdict, c.reason,
	c.value, c.value_low, c.value_high, c.n, s.status, s.reason, r.seed
from claim c join scenario s using (run_id, scenario) join run r using (run_id)
where c.run_id = :run_id and c.scenario = :scenario and c.claim = :claim
