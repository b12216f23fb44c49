-- The clusters, one row for each kind of server. Parameter :run_id.
-- Columns: version, version_num, server_sha256, initdb_options, clusters.
select version, version_num, server_sha256, initdb_options, count(*)
from cluster
where run_id = :run_id
group by version, version_num, server_sha256, initdb_options
order by version_num, version, server_sha256, initdb_options;
