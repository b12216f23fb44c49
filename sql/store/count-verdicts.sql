-- Verdicts of a run. Parameter: run_id. Columns: verdict, in_scope, as expected?, count.
select verdict, in_scope, verdict = expected as as_expected, count(*)
from claim where run_id = :run_id
group by 1, 2, 3
