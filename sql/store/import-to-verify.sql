-- Imported claims. Columns: run_id, scenario, claim.
select run_id, scenario, claim from claim where run_id in (select new from temp.run_map) order by 1, 2, 3
