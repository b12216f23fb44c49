-- A chart's definition. Parameters: its columns.
insert into chart (run_id, scenario, chart, position, kind, title, data, x_label, x_unit, x_log, y_label, y_unit, y_log,
	claims)
values (:run_id, :scenario, :chart, :position, :kind, :title, :data, :x_label, :x_unit, :x_log, :y_label, :y_unit, :y_log,
	:claims)
