-- Which claims a chart shows. Parameter :run_id.
-- Columns: scenario, chart, claim.
select c.scenario, c.chart, j.value
from chart c, json_each(case when json_valid(c.claims) then c.claims else '[]' end) j
where c.run_id = :run_id
order by c.scenario, c.chart, j.key;
