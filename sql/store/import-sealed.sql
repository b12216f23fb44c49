-- Scenarios whose samples have a digest, or should have one. Columns: run_id, scenario, samples_sha256 ('': it is gone).
select run_id, scenario, coalesce(samples_sha256, '') from scenario
where samples_sha256 is not null or status = 'done'
order by 1, 2
