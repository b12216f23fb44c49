-- A fact about where the run takes place. Parameters: run_id, name, value.
insert or replace into environment (run_id, name, value) values (:run_id, :name, :value)
