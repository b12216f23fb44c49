-- Every table, parents first: a migration creates a table after those it refers to. Columns: name.
select name from main.sqlite_schema where type = 'table' and name not like 'sqlite_%' order by rowid
