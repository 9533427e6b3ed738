-- A statement of a manual bank may name the time of its end. Its last day is complete only if that is the end of the day at the
-- bank. Null where the file names none, and for the rows of before and of servers of the previous version, whose last day counts
-- as complete once it is over.

set search_path = cloverleaf;

alter table manual_statements add column shown_to timestamptz;
