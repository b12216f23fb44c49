-- What a verdict is derived from, and the verdict as stored. Parameters: run_id, scenario, claim.
select sql, predicate, metric_type, published, published_value, in_scope, scope, verdict, reason, value, value_low,
	value_high, n
from claim where run_id = :run_id and scenario = :scenario and claim = :claim
