-- The samples of a run, in the order in which they were taken, for summing up as they pass by: grouping them here
-- would sort them all, which takes four times as long for a million. Parameter :run_id.
-- Columns: scenario, step, arm, metric, label (the part of a meter's figure), unit, value.
select st.scenario, st.name, st.arm, sa.metric,
	case when sa.labels = '{}' then '' else coalesce(sa.labels ->> '$.rmgr', '') end, sa.unit, sa.value
from step st join sample sa using (step_id)
where st.run_id = :run_id
order by st.scenario, st.step_id;
