-- Dataset `book`, second phase: statistics of the small tables, side by side with 20-events.sql. Not in the
-- first phase: while the events were being written, no row was old enough to be marked visible to all.
-- Parameters: none.

vacuum (analyze) accounts, users, projects;
