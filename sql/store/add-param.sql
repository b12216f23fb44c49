-- A parameter as the scenario ran with it. Parameters: its columns.
insert into param (run_id, scenario, name, value, origin) values (:run_id, :scenario, :name, :value, :origin)
