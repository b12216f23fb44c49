-- Findings that reach keylab from within SQL, even out of a transaction that is rolled back later: each is
-- sent at once as a message of severity INFO, which goes to the client whatever client_min_messages says.
--
--   message   lab.prove or lab.record
--   detail    one JSON object
--             lab.prove:  {"claim": text, "holds": true | false | null, "detail": text | null}
--             lab.record: {"metric": text, "value": number | text | true | false | null, "labels": object}
--
-- Nothing else is put into either field. A number is written with all its digits: it may have more of them
-- than a double holds. NaN and infinity, which JSON does not know, come as texts.

-- claim: the claim's id. holds: whether it does; false is a finding, not an error, and null is no finding.
-- detail: what was seen, for the report.
create function lab.prove(claim text, holds boolean, detail text default null) returns void
language plpgsql as $$
begin
	raise info using
		message = 'lab.prove',
		detail = jsonb_build_object('claim', claim, 'holds', holds, 'detail', detail)::text;
end
$$;

-- metric: its name, with the unit at its end. value: of any type. labels: what tells it from its kin.
create function lab.record(metric text, value anyelement, labels jsonb default '{}') returns void
language plpgsql as $$
begin
	raise info using
		message = 'lab.record',
		detail = jsonb_build_object('metric', metric, 'value', value, 'labels', labels)::text;
end
$$;

-- The same for a text; a literal in quotes comes here.
create function lab.record(metric text, value text, labels jsonb default '{}') returns void
language plpgsql as $$
begin
	raise info using
		message = 'lab.record',
		detail = jsonb_build_object('metric', metric, 'value', value, 'labels', labels)::text;
end
$$;
