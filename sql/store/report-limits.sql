-- The sentences that say what a scenario does not show. Parameter :run_id.
-- Columns: scenario, sentence.
select s.scenario, j.value
from scenario s, json_each(case when json_valid(s.limits) then s.limits else json_array(s.limits) end) j
where s.run_id = :run_id
order by s.position, s.scenario, j.key;
