-- Something a reader should know. Parameters: its columns.
insert into incident (run_id, scenario, step_id, at_us, kind, text)
values (:run_id, :scenario, :step_id, :at_us, :kind, :text)
