-- What was derived for a claim. Parameters: run_id, scenario, claim and the derived columns.
update claim set verdict = :verdict, reason = :reason, value = :value, value_low = :value_low,
	value_high = :value_high, n = :n
where run_id = :run_id and scenario = :scenario and claim = :claim
