-- Operators search lines of bank statements by what the bank says about them, and orders by the bank reference that their
-- customer named. Before, a line that no order explains was found by nothing but the list. Indexes of a look-up end with the
-- order of its answer, so that a reference that very many rows have costs a page, too.
--
-- A server of the version before stores lines without either column. A job adds the index of their text; their references
-- are found only by the deposit or payout that they belong to.

set search_path = cloverleaf;

alter table bank_lines
  -- The bank's reference, as deposits and payouts have it.
  add column reference  text,
  -- A blind index of the remittance text; empty for a line without one, null for a line that is not indexed yet.
  add column text_index bytea;
update bank_lines l set reference = c.facts ->> 'reference'
  from cases c
 where l.meaning = 'unexplained' and c.kind = 'unexplained_debit' and c.subject = l.rail || ':' || l.external_id
   and c.facts ->> 'reference' <> '';
create index bank_lines_reference on bank_lines (reference, booked_at) where reference is not null;
create index bank_lines_text on bank_lines (text_index, booked_at) where text_index <> '';
create index bank_lines_textless on bank_lines (read_at) where text_index is null and details is not null;

-- The indexes end with the details, also where a server of the version before erases them.
create or replace function forget_payer() returns trigger
language plpgsql as $$
begin
  new.payer_index := null;
  new.payer_partner_id := null;
  new.text_index := null;
  return new;
end $$;

create index orders_payer_reference on orders (payer_reference, id) where payer_reference is not null;
create index orders_named on orders (merchant_reference, id) where merchant_reference is not null;
drop index orders_merchant_reference;
create index deposits_referred on deposits (reference, id) where reference <> '';
drop index deposits_reference;
create index deposits_at_target on deposits (target, id) where target <> '';
drop index deposits_target;
create index request_log_named on request_log (partner_id, client_request_id, id) where client_request_id is not null;
drop index request_log_client;
