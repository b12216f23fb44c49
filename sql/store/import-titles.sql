-- The new number in the charts' titles, where they are statements. Parameter :head, what stands before the number.
update chart
set title = :head || run_id || substr(title, length(:head) + 1
	+ length((select old from temp.run_map where new = run_id)))
where run_id in (select new from temp.run_map)
	and substr(title, 1, length(:head || (select old from temp.run_map where new = run_id) || ' and '))
		= :head || (select old from temp.run_map where new = run_id) || ' and '
