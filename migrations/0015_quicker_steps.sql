-- A check is read from the catalog and set up anew by every statement that inserts: a thirtieth of a step's cost. What it
-- said stands in functions/verify.sql, as for `live`.
alter table millrace.done drop constraint done_state;
