-- The shape of a B-tree. $1: the index. One row, a column a metric. Needs pgstattuple.
select i.avg_leaf_density as leaf_density_percent,
	i.leaf_fragmentation as leaf_fragmentation_percent,
	i.leaf_pages, i.internal_pages, i.empty_pages, i.deleted_pages,
	i.index_size as index_bytes, i.tree_level
from pgstatindex($1::text::regclass) i
