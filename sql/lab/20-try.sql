-- What the server answers to a statement, as a row instead of an error.

-- sqlstate: 00000 when it went well. message, constraint_name: of the error, null when there is none.
-- rows: that the statement returned or changed, 0 after an error.
create type lab.outcome as (sqlstate text, message text, constraint_name text, rows bigint);

-- Runs `sql` in a subtransaction, which an error rolls back. A deferred constraint speaks at the end of the
-- outer transaction only: add `set constraints all immediate` to the text to hear it here.
create function lab.try(sql text) returns lab.outcome
language plpgsql as $$
declare
	result lab.outcome;
begin
	execute sql;
	get diagnostics result.rows = row_count;
	result.sqlstate := '00000';
	return result;
exception when others then
	get stacked diagnostics
		result.sqlstate = returned_sqlstate,
		result.message = message_text,
		result.constraint_name = constraint_name;
	result.constraint_name := nullif(result.constraint_name, '');
	result.rows := 0;
	return result;
end
$$;
