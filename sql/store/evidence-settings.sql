-- Server settings of a run, each with every value that a cluster of it had, and parameters of its scenarios. What only says
-- where files lie, or how large a computed figure came out, is left out. Parameter :run_id.
-- Columns: name, values (joined by " / "), is it set somewhere to other than the default (1 or 0)?
select name, group_concat(value, ' / '), max(is_set)
from (
	select s.name, s.value || case when s.unit glob '[0-9]*' then ' x ' else '' end || s.unit as value, max(1 - s.is_default) as is_set
	from setting s join cluster c using (cluster_id)
	where c.run_id = :run_id
		and s.name not in ('data_directory', 'config_file', 'hba_file', 'ident_file', 'external_pid_file', 'port', 'cluster_name',
			'unix_socket_directories', 'listen_addresses', 'stats_temp_directory', 'log_directory', 'log_filename',
			'server_version', 'server_version_num', 'shared_memory_size', 'shared_memory_size_in_huge_pages')
	group by 1, 2
	order by 1, 2)
group by name
union all
select 'parameter ' || scenario || '.' || name, value, 1 from param where run_id = :run_id
order by 1
