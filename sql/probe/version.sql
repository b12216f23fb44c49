-- What the server says it is. Column: version().
select version()
