-- Indexes for lists of operators that grow over years: a page costs its rows, however many others there are.

set search_path = cloverleaf;

-- All sweeps and gas transfers of a rail, newest first; and those that are not in the ledger yet, oldest first.
create index own_transfers_newest_of on own_transfers (rail, created_at, key);
create index own_transfers_waiting on own_transfers (created_at, key) where booked_at is null;

-- One kind of action among all acts.
create index audit_action on audit (action, id);

-- Cases of one kind, and of one person.
create index cases_open_kind on cases (kind, opened_at, id) where closed_at is null;
create index cases_closed_kind on cases (kind, opened_at, id) where closed_at is not null;
create index cases_closed_assignee on cases (assignee, opened_at, id) where closed_at is not null and assignee is not null;
