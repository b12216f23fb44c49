-- Reading uuids, on servers that do not offer it yet too.

-- The version digit, whatever the variant.
create function lab.uuid_version(id uuid) returns int
language sql immutable strict parallel safe as $$
	select get_byte(uuid_send(id), 6) >> 4
$$;

-- Milliseconds since 1970 in a version 7 uuid (RFC 9562, section 5.7); null for any other version.
create function lab.uuid_ms(id uuid) returns bigint
language sql immutable strict parallel safe as $$
	select case when get_byte(uuid_send(id), 6) >> 4 = 7
		then ('x' || encode(substring(uuid_send(id) from 1 for 6), 'hex'))::bit(48)::bigint end
$$;

-- The uuid whose last 48 bits are `distance` further on (modulo 2^48): a guess beside a known one.
create function lab.uuid_beside(id uuid, distance bigint) returns uuid
language sql immutable strict parallel safe as $$
	select (left(id::text, 24) || lpad(to_hex(
		(('x' || right(id::text, 12))::bit(48)::bigint + distance) & 281474976710655), 12, '0'))::uuid
$$;
