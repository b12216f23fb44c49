-- Tells the server to read its files again. Column: when it last did before that.
select t.before from (select pg_conf_load_time()::text as before) as t where pg_reload_conf()
