-- An arm. Parameters: its columns.
insert into arm (run_id, scenario, arm, position, label, texts)
values (:run_id, :scenario, :arm, :position, :label, :texts)
