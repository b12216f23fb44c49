-- How many ids a counter has given out, guessed from some of them.

-- m + m/k - 1, of k ids whose largest is m; null for none.
create function lab.estimate(ids bigint[]) returns numeric
language sql immutable strict parallel safe as $$
	select max(id) + max(id)::numeric / count(id) - 1 from unnest(ids) id
$$;
