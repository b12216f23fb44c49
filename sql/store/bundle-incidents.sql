-- What went wrong or was said on the way, server logs included, in its order. Parameter :run_id.
-- Columns, named in the file's first line: at, scenario, kind, text.
select strftime('%Y-%m-%dT%H:%M:%fZ', at_us / 1e6, 'unixepoch') as at, scenario, kind, text
from incident
where run_id = :run_id
order by at_us, incident_id;
