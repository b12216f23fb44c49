-- A scenario of a run, not run yet. Parameters: its columns.
insert into scenario (run_id, scenario, document, position, title, source, about, limits, path, sha256, text)
values (:run_id, :scenario, :document, :position, :title, :source, :about, :limits, :path, :sha256, :text)
