-- Every setting in force. Columns: name, value, unit, source, is it the default (1 or 0)?
select name, coalesce(setting, ''), coalesce(unit, ''), source, (source = 'default' or setting is not distinct from boot_val)::int
from pg_settings order by name
