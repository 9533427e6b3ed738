-- Drafts of hosted forms: what a customer has filled in and not sent yet, so that another device continues where one stopped.

set search_path = cloverleaf;

-- One for each customer. Answers are encrypted; empty once they are sent, too old, or erased.
create table hosted_drafts (
  customer_id text        primary key references customers (id),
  partner_id  bigint      not null references partners (id),
  answers     bytea       not null,
  saved_at    timestamptz not null
);
-- Only those that have answers become too old.
create index hosted_drafts_saved on hosted_drafts (saved_at) where answers <> '';
call protect('hosted_drafts');

grant select, insert (customer_id, partner_id, answers, saved_at), update (answers, saved_at) on hosted_drafts to cloverleaf_partner;
grant select, update (answers) on hosted_drafts to cloverleaf_system;
