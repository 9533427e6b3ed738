-- Lists of a partner's customers, the newest first, and of those in one state of verification: without an index each page would sort
-- all of them.

set search_path = cloverleaf;

create index customers_listed on customers (partner_id, created_at, id);
create index customers_by_verification on customers (partner_id, verification, created_at, id);
