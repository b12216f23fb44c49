-- Where a run took place. Parameter :run_id. Columns: name, value.
select name, value from environment where run_id = :run_id order by name
