-- Erasure with proof: what it takes out besides, and its counts.

set search_path = cloverleaf;

-- What operators typed, and blind indexes of destinations, taken out of a text. An index stands as `account:<hex>` where a
-- destination was compared with deny lists, and as `<list>:<hex>` where a list has it.
create or replace function without_typed(said text) returns text
language sql immutable parallel safe
as $$ select regexp_replace(regexp_replace(said, 'enc:op1:[A-Za-z0-9_-]{38,}\.', 'erased', 'g'), ':[0-9a-f]{64}\M', ':erased', 'g') $$;

-- Decisions name the indexes of the account that was compared, and approvals the entry of the list with what was typed.
drop trigger append_only on decisions;
create trigger append_only before delete on decisions for each row execute function refuse_change();
create trigger only_erased before update on decisions for each row
  when (row(new.id, new.partner_id, new.order_id, new.about, new.outcome, new.rules, new.inputs, new.at)
    is distinct from row(old.id, old.partner_id, old.order_id, old.about, old.outcome, old.rules,
      without_typed(old.inputs::text)::jsonb, old.at))
  execute function refuse_change();
grant update (inputs) on decisions to cloverleaf_system;
-- Of decisions about money without an order.
create index decisions_customer on decisions ((inputs ->> 'customerId')) where order_id is null;

drop trigger append_only on approvals;
create trigger append_only before delete on approvals for each row execute function refuse_change();
create trigger only_erased before update on approvals for each row
  when (row(new.id, new.partner_id, new.order_id, new.rule, new.entry, new.destination, new.asset, new.units, new.people, new.reason,
      new.at, new.deposit_id)
    is distinct from row(old.id, old.partner_id, old.order_id, old.rule, without_typed(old.entry), old.destination, old.asset, old.units,
      old.people, without_typed(old.reason), old.at, old.deposit_id))
  execute function refuse_change();
grant update (entry, reason) on approvals to cloverleaf_system;
create index approvals_deposit on approvals (deposit_id) where deposit_id is not null;
create index screenings_order on screenings (order_id) where order_id is not null;

-- The facts of an entry are not in its hash, so seals stay valid. Accounts, amounts and times stay.
drop trigger append_only on entries;
create trigger append_only before delete on entries for each row execute function refuse_change();
create trigger only_erased before update on entries for each row
  when (row(new.id, new.seq, new.kind, new.order_id, new.content, new.at, new.facts, new.written_in)
    is distinct from row(old.id, old.seq, old.kind, old.order_id, old.content, old.at, without_typed(old.facts::text)::jsonb,
      old.written_in) or new.facts = old.facts)
  execute function refuse_change();
grant update (facts) on entries to cloverleaf_system;

grant update (reason) on legal_holds to cloverleaf_system;
-- A stored reply about an erased customer: neither the reply nor the hash of its request stays.
grant update (body, reply) on idempotency_records to cloverleaf_system;
-- Partners choose these texts freely: in lines about an erased customer they are taken out.
grant update (client_request_id, idempotency_key) on request_log to cloverleaf_system;

-- Number of erased rows, by kind.
alter table erasures add column erased jsonb;
grant update (erased) on erasures to cloverleaf_system;

-- Erasures that were asked for while something prevented them: a job orders each once nothing does any more.
create table erasure_requests (
  id           bigint      generated always as identity primary key,
  customer_id  text        not null references customers (id),
  asked_at     timestamptz not null,
  people       text[]      not null check (cardinality(people) >= 1),
  -- What prevented it when the job looked last.
  looked_at    timestamptz,
  waits_for    text,
  ended_at     timestamptz,
  outcome      text        check (outcome in ('erased', 'withdrawn')),
  check ((ended_at is null) = (outcome is null))
);
create unique index erasure_requests_open on erasure_requests (customer_id) where ended_at is null;
grant select, insert (customer_id, asked_at, people), update (looked_at, waits_for, ended_at, outcome) on erasure_requests
  to cloverleaf_system;
