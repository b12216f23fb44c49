-- A step that was done. Parameters: its columns.
insert into step (run_id, scenario, cluster_id, verb, name, session, arm, rep, labels, position, sql, started_us,
	duration_ns, outcome, sqlstate, message)
values (:run_id, :scenario, :cluster_id, :verb, :name, :session, :arm, :rep, :labels, :position, :sql, :started_us,
	:duration_ns, :outcome, :sqlstate, :message)
