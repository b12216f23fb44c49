-- What the run found on its machine, without what names a person or a host. Parameter :run_id.
-- Columns: name, value.
select name, value
from environment
where run_id = :run_id
	and name not in ('host', 'hostname', 'host_name', 'user', 'username', 'user_name', 'home')
order by name;
