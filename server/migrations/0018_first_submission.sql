-- When a payout was first submitted: a bank's promise to carry out a key once ends some time after that.

set search_path = cloverleaf;

-- By the database's clock. Null before the first submission, and where a server that does not know this column made it: the
-- age of such a submission is unknown, and counts as too old to submit the payout again under its key.
alter table payouts add column first_submission_at timestamptz;
