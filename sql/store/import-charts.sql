-- The new number in the charts' statements. Parameter :head, what stands before the number.
update chart
set data = :head || run_id || substr(data, length(:head) + 1
	+ length((select old from temp.run_map where new = run_id)))
where run_id in (select new from temp.run_map)
	and substr(data, 1, length(:head || (select old from temp.run_map where new = run_id) || ' and '))
		= :head || (select old from temp.run_map where new = run_id) || ' and '
