-- The charts of a run. Parameters :run_id, :document ('' for every document).
-- Columns: scenario, chart, kind, title, data, x_label, x_unit, x_log, y_label, y_unit, y_log.
select c.scenario, c.chart, c.kind, c.title, c.data, c.x_label, c.x_unit, c.x_log, c.y_label, c.y_unit, c.y_log
from chart c join scenario s using (run_id, scenario)
where c.run_id = :run_id and (:document = '' or s.document = :document)
order by s.position, c.scenario, c.position, c.chart;
