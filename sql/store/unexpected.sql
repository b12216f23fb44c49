-- Claims of a run that are not as expected, worst first. Parameter: run_id.
-- Columns: verdict, scenario, claim, expected, value, predicate, reason.
select verdict, scenario, claim, expected, coalesce(value, '') || case when value is null then '' else rtrim(' ' || unit) end,
	predicate, reason
from claim
where run_id = :run_id and in_scope = 1 and verdict <> expected
order by case verdict when 'ERROR' then 1 when 'REFUTED' then 2 when 'HOLDS' then 3 when 'INCONCLUSIVE' then 4 else 5 end,
	scenario, position
