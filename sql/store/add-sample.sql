-- A sample of a step. Parameters: its columns.
insert into sample (step_id, metric, unit, metric_type, value, rep, labels)
values (:step_id, :metric, :unit, :metric_type, :value, :rep, :labels)
