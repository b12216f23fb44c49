-- Settings that differ from the server's default, each with the scenario whose cluster has it. The ones that all
-- clusters of the run share come with scenario ''. Where things lie on the disk is left out: it says nothing
-- about a number, and may name a person. Parameter :run_id.
-- Columns: scenario, name, value, unit.
with found as (
	select distinct c.scenario, s.name, s.value, s.unit
	from setting s join cluster c using (cluster_id)
	where c.run_id = :run_id and s.is_default = 0
		and s.name not in ('data_directory', 'config_file', 'hba_file', 'ident_file', 'external_pid_file',
			'unix_socket_directories', 'log_directory', 'log_filename', 'dynamic_library_path', 'stats_temp_directory',
			'listen_addresses', 'port', 'unix_socket_permissions', 'cluster_name', 'application_name')
), shared as (
	select name, value, unit
	from found
	group by name, value, unit
	having count(*) = (select count(distinct scenario) from cluster where run_id = :run_id)
)
select '' as scenario, name, value, unit from shared
union all
select scenario, name, value, unit from found where (name, value, unit) not in (select name, value, unit from shared)
order by scenario, name, value;
