-- Imported scenarios whose samples have a digest. Columns: run_id, scenario, samples_sha256.
select run_id, scenario, samples_sha256
from scenario
where samples_sha256 is not null and run_id in (select new from temp.run_map)
order by 1, 2
