-- Dataset `book`, second phase: keys and statistics of events. Every constraint is validated against all rows.
-- Parameters: none. Leaves: the dataset complete.

set maintenance_work_mem = '512MB';

-- Marks every page as visible to all, which the scans below then need not look at row by row, and leaves
-- autovacuum nothing to do once the scenarios run.
vacuum events;

alter table events
	alter id set not null,
	alter account_id set not null,
	alter project_id set not null,
	alter kind set not null,
	alter payload set not null,
	alter created_at set not null,
	alter id add generated always as identity,
	add primary key (id);
select setval('events_id_seq', 2000000);

alter table events add foreign key (account_id) references accounts;

-- For the two larger parents a sort of two million integers is cheaper than as many look-ups in a hash
-- table that does not fit into the processor's cache.
set enable_hashjoin = off;
alter table events add foreign key (project_id) references projects;
alter table events add foreign key (user_id) references users;

analyze events;
