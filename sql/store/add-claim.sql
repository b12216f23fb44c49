-- A claim, not derived yet. Parameters: its columns.
insert into claim (run_id, scenario, claim, position, sentence, source, published, published_value, unit, metric_type,
	predicate, sql, control, in_scope, scope, expected, because, reason)
values (:run_id, :scenario, :claim, :position, :sentence, :source, :published, :published_value, :unit, :metric_type,
	:predicate, :sql, :control, :in_scope, :scope, :expected, :because, :reason)
