-- The level that a program asks for with a submission.
--
-- Only its form was stored, and the default form has no row: the verifier was asked for the level from which the partner's customers
-- may trade, whatever level the submission was for. Submissions of a server of the previous version have none.

set search_path = cloverleaf;

-- null: the level from which the partner's customers may trade, at the time of the check.
alter table submissions add column level smallint check (level between 1 and 5);
grant insert (level) on submissions to cloverleaf_partner;
