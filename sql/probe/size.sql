-- How large a table or index is. $1: the relation. One row, a column a metric.
select pg_relation_size(r) as relation_bytes,
	pg_relation_size(r) / current_setting('block_size')::int as relation_pages,
	pg_total_relation_size(r) as total_bytes
from (select $1::text::regclass as r) as named
