-- The schema `lab`: functions that every scenario can use, in every cluster that keylab makes. The files of
-- this folder are applied in the order of their names to template1, by a superuser. They hold plain SQL for
-- PostgreSQL 15 and later, no psql commands. docs/lab.md shows each function with what it returns.

create schema lab;
comment on schema lab is 'keylab: what scenarios share';
grant usage on schema lab to public;
