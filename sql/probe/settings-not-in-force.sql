-- Settings of the files that could not be put in force. Columns: name, why.
select coalesce(f.name, '?'), coalesce(f.error, 'it needs a restart')
from pg_file_settings f
where f.error is not null
union
select s.name, 'it needs a restart' from pg_settings s where s.pending_restart
