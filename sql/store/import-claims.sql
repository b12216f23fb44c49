-- The new number in the claims' statements. Parameter :head, what stands before the number.
update claim
set sql = :head || run_id || substr(sql, length(:head) + 1
	+ length((select old from temp.run_map where new = run_id)))
where run_id in (select new from temp.run_map)
	and substr(sql, 1, length(:head || (select old from temp.run_map where new = run_id) || ' and '))
		= :head || (select old from temp.run_map where new = run_id) || ' and '
