-- The scenarios of a run, in its order. Parameters :run_id, :document ('' for every document).
-- Columns: scenario, document, title, source, about, path, sha256, status, reason, samples_sha256.
select scenario, document, title, source, about, path, sha256, status, reason, coalesce(samples_sha256, '')
from scenario
where run_id = :run_id and (:document = '' or document = :document)
order by position, scenario;
