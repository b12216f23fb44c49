-- Type ids: a uuid's 128 bits behind two zero bits as 26 characters of Crockford's base32 in lower case
-- (0123456789abcdefghjkmnpqrstvwxyz, five bits each, the highest first), to stand behind a prefix and an
-- underscore. Texts compare as their uuids do in every collation that sorts digits before letters.

-- The 26 characters, without a prefix.
create function lab.typeid_encode(id uuid) returns text
language plpgsql immutable strict parallel safe as $$
declare
	abc constant bytea := '0123456789abcdefghjkmnpqrstvwxyz';
	b constant bytea := uuid_send(id);
begin
	return encode(
		substring(abc, 1 + (get_byte(b, 0) >> 5), 1)
		|| substring(abc, 1 + (get_byte(b, 0) & 31), 1)
		|| substring(abc, 1 + (get_byte(b, 1) >> 3), 1)
		|| substring(abc, 1 + (((get_byte(b, 1) & 7) << 2) | (get_byte(b, 2) >> 6)), 1)
		|| substring(abc, 1 + ((get_byte(b, 2) >> 1) & 31), 1)
		|| substring(abc, 1 + (((get_byte(b, 2) & 1) << 4) | (get_byte(b, 3) >> 4)), 1)
		|| substring(abc, 1 + (((get_byte(b, 3) & 15) << 1) | (get_byte(b, 4) >> 7)), 1)
		|| substring(abc, 1 + ((get_byte(b, 4) >> 2) & 31), 1)
		|| substring(abc, 1 + (((get_byte(b, 4) & 3) << 3) | (get_byte(b, 5) >> 5)), 1)
		|| substring(abc, 1 + (get_byte(b, 5) & 31), 1)
		|| substring(abc, 1 + (get_byte(b, 6) >> 3), 1)
		|| substring(abc, 1 + (((get_byte(b, 6) & 7) << 2) | (get_byte(b, 7) >> 6)), 1)
		|| substring(abc, 1 + ((get_byte(b, 7) >> 1) & 31), 1)
		|| substring(abc, 1 + (((get_byte(b, 7) & 1) << 4) | (get_byte(b, 8) >> 4)), 1)
		|| substring(abc, 1 + (((get_byte(b, 8) & 15) << 1) | (get_byte(b, 9) >> 7)), 1)
		|| substring(abc, 1 + ((get_byte(b, 9) >> 2) & 31), 1)
		|| substring(abc, 1 + (((get_byte(b, 9) & 3) << 3) | (get_byte(b, 10) >> 5)), 1)
		|| substring(abc, 1 + (get_byte(b, 10) & 31), 1)
		|| substring(abc, 1 + (get_byte(b, 11) >> 3), 1)
		|| substring(abc, 1 + (((get_byte(b, 11) & 7) << 2) | (get_byte(b, 12) >> 6)), 1)
		|| substring(abc, 1 + ((get_byte(b, 12) >> 1) & 31), 1)
		|| substring(abc, 1 + (((get_byte(b, 12) & 1) << 4) | (get_byte(b, 13) >> 4)), 1)
		|| substring(abc, 1 + (((get_byte(b, 13) & 15) << 1) | (get_byte(b, 14) >> 7)), 1)
		|| substring(abc, 1 + ((get_byte(b, 14) >> 2) & 31), 1)
		|| substring(abc, 1 + (((get_byte(b, 14) & 3) << 3) | (get_byte(b, 15) >> 5)), 1)
		|| substring(abc, 1 + (get_byte(b, 15) & 31), 1),
		'escape');
end
$$;

-- The uuid of 26 such characters; null for anything else: another length, upper case, a first character
-- above 7 (which would need 131 bits), a prefix that was not taken off.
create function lab.typeid_decode(suffix text) returns uuid
language plpgsql immutable strict parallel safe as $$
declare
	-- The value of each character from '0' to 'z'; those that cannot occur are 0.
	v constant bytea := '\x0001020304050607080900000000000000000000000000000000000000000000000000000000'
		'00000000000000000000000a0b0c0d0e0f101100121300141500161718191a001b1c1d1e1f';
	t bytea;
begin
	if suffix !~ '^[0-7][0123456789abcdefghjkmnpqrstvwxyz]{25}$' then
		return null;
	end if;
	t := suffix::bytea;
	return lpad(to_hex(
			(get_byte(v, get_byte(t, 0) - 48)::bigint << 61)
			| (get_byte(v, get_byte(t, 1) - 48)::bigint << 56)
			| (get_byte(v, get_byte(t, 2) - 48)::bigint << 51)
			| (get_byte(v, get_byte(t, 3) - 48)::bigint << 46)
			| (get_byte(v, get_byte(t, 4) - 48)::bigint << 41)
			| (get_byte(v, get_byte(t, 5) - 48)::bigint << 36)
			| (get_byte(v, get_byte(t, 6) - 48)::bigint << 31)
			| (get_byte(v, get_byte(t, 7) - 48)::bigint << 26)
			| (get_byte(v, get_byte(t, 8) - 48)::bigint << 21)
			| (get_byte(v, get_byte(t, 9) - 48)::bigint << 16)
			| (get_byte(v, get_byte(t, 10) - 48)::bigint << 11)
			| (get_byte(v, get_byte(t, 11) - 48)::bigint << 6)
			| (get_byte(v, get_byte(t, 12) - 48)::bigint << 1)
			| (get_byte(v, get_byte(t, 13) - 48)::bigint >> 4)), 16, '0')
		|| lpad(to_hex(
			(get_byte(v, get_byte(t, 13) - 48)::bigint << 60)
			| (get_byte(v, get_byte(t, 14) - 48)::bigint << 55)
			| (get_byte(v, get_byte(t, 15) - 48)::bigint << 50)
			| (get_byte(v, get_byte(t, 16) - 48)::bigint << 45)
			| (get_byte(v, get_byte(t, 17) - 48)::bigint << 40)
			| (get_byte(v, get_byte(t, 18) - 48)::bigint << 35)
			| (get_byte(v, get_byte(t, 19) - 48)::bigint << 30)
			| (get_byte(v, get_byte(t, 20) - 48)::bigint << 25)
			| (get_byte(v, get_byte(t, 21) - 48)::bigint << 20)
			| (get_byte(v, get_byte(t, 22) - 48)::bigint << 15)
			| (get_byte(v, get_byte(t, 23) - 48)::bigint << 10)
			| (get_byte(v, get_byte(t, 24) - 48)::bigint << 5)
			| get_byte(v, get_byte(t, 25) - 48)::bigint), 16, '0');
end
$$;
