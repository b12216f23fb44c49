-- A server setting in force. Parameters: its columns.
insert or replace into setting (cluster_id, name, value, unit, source, is_default)
values (:cluster_id, :name, :value, :unit, :source, :is_default)
