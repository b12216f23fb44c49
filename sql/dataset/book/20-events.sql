-- Dataset `book`, second phase: key and statistics of events, side by side with the check of its rows.
-- Parameters: none. Leaves: the dataset complete.

set maintenance_work_mem = '512MB';

-- Marks every page as visible to all, which leaves autovacuum nothing to do once the scenarios run. Not
-- earlier: while rows are being written on another connection, none is old enough.
vacuum events;

-- The index first: it lets the check read, which the constraint waits for.
create unique index events_pkey on events (id);
alter table events add primary key using index events_pkey;

analyze events;
vacuum (analyze) accounts, users, projects;
