-- Refunds that wait because the wallet or account that pays them has too little.
--
-- Each of them opened a case of its own, so a wallet that ran short of funds opened as many cases as there were refunds. There is one case
-- per rail and asset now, made from these rows. A row counts as long as its job exists: the job asks for the funds again and again, and ends
-- with the waiting. Servers of the previous version write no rows, and open cases of their own.

set search_path = cloverleaf;

create table short_refunds (
  -- The job that waits: of an order's whole refund, with the order's id, or of one refund out of suspense, with the refund's.
  kind    text          not null check (kind in ('refund_order', 'screen_refund')),
  subject text          not null,
  rail    text          not null,
  asset   text          not null references assets (code),
  units   numeric(78,0) not null check (units > 0),
  since   timestamptz   not null,
  primary key (kind, subject)
);

grant select, insert, delete on short_refunds to cloverleaf_system;
