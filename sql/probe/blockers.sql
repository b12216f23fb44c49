-- Who blocks a backend. $1: its pid. Column: a sentence a blocker.
select format('session "%s" (pid %s, %s) holds what it waits for: %s', b.application_name, b.pid,
		coalesce(b.state, 'unknown'),
		coalesce((select string_agg(format('%s on %s', l.mode,
				coalesce(l.relation::regclass::text, l.locktype)), ', ' order by l.mode)
			from pg_locks l
			where l.pid = b.pid and l.granted
				and exists (select 1 from pg_locks w
					where w.pid = $1::int and not w.granted and w.locktype = l.locktype
						and w.relation is not distinct from l.relation
						and w.transactionid is not distinct from l.transactionid
						and w.objid is not distinct from l.objid)), 'a lock'))
from unnest(pg_blocking_pids($1::int)) as blocking(pid)
join pg_stat_activity b on b.pid = blocking.pid
order by b.pid
