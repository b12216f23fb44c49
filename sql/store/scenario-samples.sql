-- Every sample of a scenario with its step, as a line of text for the digest. Parameters: run_id, scenario.
select sa.sample_id || '|' || quote(st.verb) || quote(st.name) || quote(st.arm) || st.rep || quote(st.labels)
	|| quote(st.sql) || quote(st.outcome) || quote(st.sqlstate)
	|| '|' || quote(sa.metric) || quote(sa.unit) || quote(sa.metric_type) || quote(sa.value) || quote(sa.rep) || quote(sa.labels)
from step st join sample sa using (step_id)
where st.run_id = :run_id and st.scenario = :scenario
order by sa.sample_id
