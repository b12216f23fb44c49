-- Plans and counters of one statement. EXPLAIN counts for the statement that it wraps: what the function
-- around it does, and the planning, is not in these figures. The statement is carried out, unless it says
-- otherwise. Triggers, and so the checks of foreign keys, run after the plan's last node and are not
-- counted in it either.

-- The whole plan: an object with "Plan", "Execution Time" and so on.
create function lab.plan(sql text) returns jsonb
language plpgsql as $$
declare
	plan json;
begin
	execute 'explain (analyze, buffers, wal, format json) ' || sql into plan;
	return plan::jsonb -> 0;
end
$$;

-- The plan's node types, parents before children, first child first. Plans only, runs nothing.
create function lab.nodes(sql text) returns text[]
language plpgsql as $$
declare
	plan json;
begin
	execute 'explain (format json) ' || sql into plan;
	return (
		with recursive node (path, body) as (
			select array[1::bigint], plan::jsonb -> 0 -> 'Plan'
			union all
			select path || n, child
			from node, jsonb_array_elements(body -> 'Plans') with ordinality as children(child, n)
		)
		select array_agg(body ->> 'Node Type' order by path) from node
	);
end
$$;

-- Pages looked at in shared buffers: found there or read into it. A page that is looked at twice counts twice.
create function lab.buffers(sql text) returns bigint
language sql as $$
	select (plan #>> '{Plan,Shared Hit Blocks}')::bigint + (plan #>> '{Plan,Shared Read Blocks}')::bigint
	from lab.plan(sql) plan
$$;

-- The same in a second run: without what a session's first use of a table or index adds.
create function lab.warm_buffers(sql text) returns bigint
language plpgsql as $$
begin
	perform lab.plan(sql);
	return lab.buffers(sql);
end
$$;

-- Bytes of WAL that the statement itself wrote, full-page images among them.
create function lab.wal_bytes(sql text) returns bigint
language sql as $$
	select (lab.plan(sql) #>> '{Plan,WAL Bytes}')::bigint
$$;
