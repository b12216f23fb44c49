-- The claims of a run in its order. Parameter :run_id.
-- Columns: document, scenario, claim, sentence, source, published, published_value, unit, metric_type, predicate, sql,
-- control, in_scope, scope, expected, because, verdict, reason, value, value_low, value_high, n, path of the scenario,
-- what the scenario took (ns), its sha256.
select s.document, c.scenario, c.claim, c.sentence, c.source, c.published, c.published_value, c.unit, c.metric_type,
	c.predicate, c.sql, c.control, c.in_scope, c.scope, c.expected, c.because, c.verdict, c.reason, c.value, c.value_low,
	c.value_high, c.n, s.path, coalesce((s.finished_us - s.started_us) * 1000, 0), s.sha256
from claim c join scenario s using (run_id, scenario)
where c.run_id = :run_id
order by s.position, c.scenario, c.position, c.claim
