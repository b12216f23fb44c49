-- Columns of a table that are stored. Parameter :table. Columns: name, is it the table's integer primary key (1 or 0)?
select name, pk = 1 and upper(type) = 'INTEGER' and (select count(*) from pragma_table_info(:table) where pk > 0) = 1
	and not exists (select 1 from pragma_foreign_key_list(:table) f where f."from" = c.name)
from pragma_table_info(:table) c
order by cid
