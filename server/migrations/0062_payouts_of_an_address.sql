-- Searches by address show the newest payouts. An address may have most of all payouts or none, and PostgreSQL, which plans for an
-- average one, read all payouts by time. With the time in the index each address costs a page.

set search_path = cloverleaf;

create index payouts_newest_of_address on payouts (address, created_at, id) where address is not null;
drop index payouts_address;
