-- Policies: what an order does when amount, time or price are not as expected, for one market and for one partner on it.
-- An order keeps the policy it was made under, so a change of a row never reaches an order that is under way.

set search_path = cloverleaf;

-- One answer per question. Fields that an answer leaves out are answered by the market's row, or by the built-in policy.
create table policies (
  id         bigint generated always as identity primary key,
  market_id  bigint not null references markets (id),
  -- Null: for every partner that has no answer of its own.
  partner_id bigint references partners (id),
  question   text not null,
  answer     jsonb not null check (jsonb_typeof(answer) = 'object'),
  unique nulls not distinct (market_id, partner_id, question)
);
alter table policies enable row level security;
create policy own_rows on policies to cloverleaf_partner
  using (partner_id is null or partner_id = cloverleaf.current_partner());
create policy all_rows on policies to cloverleaf_system using (true);
grant select on policies to cloverleaf_partner;
grant select, insert, update, delete on policies to cloverleaf_system;

alter table market_changes drop constraint market_changes_what_check,
  add constraint market_changes_what_check check (what in ('market', 'fee', 'limit', 'exposure', 'policy'));

alter table orders
  -- The policy it was made under. An order older than policies has none of its own: the built-in one is what it went by.
  add column policy jsonb not null default '{}',
  -- The order whose late or second deposit this one was made of.
  add column follows bigint references orders (id),
  -- Until when the state it is in may last before somebody hears of it; null where nothing is waited for.
  add column waits_until timestamptz,
  -- It has waited too long already, and there is a case.
  add column overdue boolean not null default false;
create index orders_waiting on orders (waits_until) where waits_until is not null;
create index orders_follows on orders (follows) where follows is not null;
-- What is promised at a locked rate and not paid yet, for the partner's cap.
create index orders_unpaid on orders (partner_id, fiat_asset) where state in ('created', 'deposit_seen');

-- Orders under way when this came: a day from now, as the built-in policy has it.
update orders set waits_until = now() + interval '1 day'
 where state not in ('created', 'settled', 'refunded', 'expired', 'cancelled', 'frozen');
