-- Block-wise uuids after the extension sequential_uuids, under the extension's own names and parameters:
--   uuid_sequence_nextval(sequence, block_size, block_count) and uuid_time_nextval(interval_length, interval_count).
-- The first bytes are the number of a block (as many bytes as the number of blocks needs), the rest is random, and the
-- whole is stamped as version 4. The block is (nextval - 1) / block_size or unix seconds / interval_length, wrapped.
-- A server that has the extension gets it, and its functions are what the plain names mean; ours are in the schema
-- `compat` on every server, so that the two can be compared.
create schema if not exists compat;

-- Bytes that hold the numbers of so many blocks. Parameters: block_count. Returns their number.
create or replace function compat.block_bytes(block_count int) returns int
language sql immutable strict parallel safe as $body$
	select case when block_count <= 256 then 1 when block_count <= 65536 then 2 when block_count <= 16777216 then 3
		else 4 end
$body$;

-- Parameters: block, its number; block_count. Returns the uuid.
create or replace function compat.block_uuid(block bigint, block_count int) returns uuid
language sql volatile strict parallel safe as $body$
	select (lpad(to_hex(block % block_count), 2 * compat.block_bytes(block_count), '0')
		|| substr(replace(gen_random_uuid()::text, '-', ''), 2 * compat.block_bytes(block_count) + 1))::uuid
$body$;

create or replace function compat.uuid_sequence_nextval(
	sequence regclass, block_size int default 65536, block_count int default 65536) returns uuid
language plpgsql volatile strict parallel unsafe as $body$
begin
	if block_size < 1 or block_count < 1 then
		raise invalid_parameter_value using message = 'block size and number of blocks must be positive';
	end if;
	return compat.block_uuid((nextval(sequence) - 1) / block_size, block_count);
end
$body$;

create or replace function compat.uuid_time_nextval(interval_length int default 60, interval_count int default 65536)
returns uuid language plpgsql volatile strict parallel safe as $body$
begin
	if interval_length < 1 or interval_count < 1 then
		raise invalid_parameter_value using message = 'length and number of intervals must be positive';
	end if;
	return compat.block_uuid(floor(extract(epoch from clock_timestamp()))::bigint / interval_length, interval_count);
end
$body$;

do $compat$
begin
	if exists (select from pg_available_extensions where name = 'sequential_uuids') then
		create extension if not exists sequential_uuids;
		return;
	end if;
	create or replace function uuid_sequence_nextval(
		sequence regclass, block_size int default 65536, block_count int default 65536) returns uuid
	language sql volatile strict parallel unsafe as
		$body$ select compat.uuid_sequence_nextval(sequence, block_size, block_count) $body$;
	create or replace function uuid_time_nextval(interval_length int default 60, interval_count int default 65536)
	returns uuid language sql volatile strict parallel safe as
		$body$ select compat.uuid_time_nextval(interval_length, interval_count) $body$;
end
$compat$;
