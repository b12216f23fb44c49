-- What the newest run of the scenario scale-law that ended measured, a row a measured insert. Parameter :run_id (null: the newest).
-- Columns: run_id, profile, version, arm, table_rows, apart (rows since the checkpoint), leaf_pages, index_bytes, images,
-- wal_bytes, image_bytes; a figure that was not measured is null.
select s.run_id, r.profile, coalesce((select c.version_num from clusters c where c.run_id = s.run_id and c.scenario = 'scale-law'), 0),
	s.arm,
	max(s.value) filter (where s.metric = 'table_rows'), s.labels ->> '$.apart',
	max(s.value) filter (where s.metric = 'leaf_pages'), max(s.value) filter (where s.metric = 'index_bytes'),
	max(s.value) filter (where s.metric = 'wal_fpi'), max(s.value) filter (where s.metric = 'wal_bytes'),
	max(s.value) filter (where s.metric = 'fpi_bytes')
from samples s join runs r using (run_id)
where s.scenario = 'scale-law' and s.step in ('before', 'rows', 'insert') and s.labels ->> '$.rmgr' is null
	and s.run_id = (select max(run_id) from scenario
		where scenario = 'scale-law' and status = 'done' and (:run_id is null or run_id = :run_id))
group by s.arm, s.rep, s.labels ->> '$.apart'
order by s.arm, s.rep, s.labels ->> '$.apart'
