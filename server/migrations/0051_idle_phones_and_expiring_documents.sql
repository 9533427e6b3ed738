-- Numbers are given to new people, and documents expire.
--
-- A number that was idle for long opens the customer behind it only with answers that a new holder of the number does not know: wrong
-- tries are counted here. A server of the version before asks for none and counts none.
--
-- Accepted documents may carry a date until which they are valid: the customer is asked for a new one before it, and does not
-- trade after it. A server of the version before neither stores dates nor asks.

set search_path = cloverleaf;

alter table customers add column proof_tries smallint not null default 0;
alter table customers add column proof_tried_at timestamptz;
-- When an accepted document was over; null again once a newer one is accepted.
alter table customers add column document_lapsed_at timestamptz;
grant update (proof_tries, proof_tried_at, document_lapsed_at) on customers to cloverleaf_partner;

create table document_expiries (
  customer_id   text        not null references customers (id),
  partner_id    bigint      not null references partners (id),
  -- The version of the customer's details that has the document.
  version       integer     not null check (version > 0),
  -- The last day on which it is valid.
  expires_on    date        not null,
  -- Names of the answers and files that expire.
  items         text[]      not null,
  -- When the details were verified: before, nothing expires.
  accepted_at   timestamptz,
  -- When the customer was asked for a new document, by opening this submission again; null: there is none.
  asked_at      timestamptz,
  submission_id bigint      references submissions (id),
  -- When the last valid day was over and the customer could not trade any more.
  lapsed_at     timestamptz,
  -- When a newer document was accepted.
  ended_at      timestamptz,
  primary key (customer_id, version)
);
create index document_expiries_due on document_expiries (expires_on)
  where accepted_at is not null and ended_at is null;
call protect('document_expiries');
grant select on document_expiries to cloverleaf_partner;
grant insert (customer_id, partner_id, version, expires_on, items) on document_expiries to cloverleaf_partner;
grant update (expires_on, accepted_at, ended_at) on document_expiries to cloverleaf_partner;
grant select, insert, update, delete on document_expiries to cloverleaf_system;
