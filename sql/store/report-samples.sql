-- The samples, summed up: one row for each step, metric, arm and meter's label. Parameter :run_id.
-- Columns: scenario, step, metric, unit, arm, label, n, lowest, highest, total.
select st.scenario, st.name, sa.metric, sa.unit, st.arm, coalesce(sa.labels ->> '$.rmgr', ''), count(*),
	min(sa.value), max(sa.value), case when typeof(min(sa.value)) <> 'text' then sum(sa.value) end
from sample sa join step st using (step_id)
where st.run_id = :run_id
group by st.scenario, st.name, sa.metric, sa.unit, st.arm, 6
order by st.scenario, min(st.step_id), sa.metric, st.arm, 6;
