-- Imported claims whose statement does not speak of their run. Columns: how many.
select count(*)
from claim
where run_id in (select new from temp.run_map) and instr(sql, 'run_id = ' || run_id || ' and ') = 0
