-- A file may have been changed last by a commit that is no revision of its archive.
--
-- The history was rewritten down to a commit that was never planned, and a person has accepted that: the commits up to the
-- youngest have no numbers then, and a number that is counted would name another revision.
alter table millrace.indexed_file alter column changed_number drop not null;
