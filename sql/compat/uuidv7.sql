-- uuidv7() and uuidv7(shift interval), and uuidv4() which came with them, for servers before PostgreSQL 18, in the
-- schema that is first in the search path.
-- Parameters: shift, what is added to the clock. Returns a uuid of version 7 (RFC 9562, section 5.7): 48 bits of
-- milliseconds, then 12 bits that divide the millisecond (section 6.2, method 3), then 62 random bits.
-- On a server that has uuidv7() nothing is made, and pg_catalog's is what everybody gets. Unlike that one, this keeps no
-- last value: two ids of the same microsecond are in no order.
do $compat$
begin
	if to_regprocedure('pg_catalog.uuidv7()') is not null then
		return;
	end if;
	create or replace function uuidv7(shift interval default interval '0') returns uuid
	-- Not parallel safe: a volatile function in SQL counts commands, which a parallel plan does not allow.
	language sql volatile as $body$
		-- Thirteen of gen_random_uuid()'s hexadecimal digits make way: the time's twelve and the version's one, then three.
		select (lpad(to_hex(t.us / 1000), 12, '0') || '7'
			|| lpad(to_hex(t.us % 1000 * 4096 / 1000), 3, '0')
			|| substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid
		from (select floor(extract(epoch from clock_timestamp() + shift) * 1000000)::bigint as us) t
	$body$;
	create or replace function uuidv4() returns uuid
	language sql volatile as $body$
		select gen_random_uuid()
	$body$;
end
$compat$;
