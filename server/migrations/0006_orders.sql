-- Orders and what they hold: deposits, refunds, dust, dormant money.
--
-- A deposit counts what its order took and what refunds name, and a check refuses more than came in. Triggers keep the count under
-- the lock of the deposit's row, so two writers queue up. A refund is sent again only after its last attempt has provably failed
-- or come back; a trigger checks it under the refund's lock. Dormant money has to be woken before it moves; triggers refuse all
-- else.
--
-- Order lists are read by position: of a partner and direction, and of those and a fiat. A page is a range, so the last page costs
-- what the first costs. A trigger takes the positions as the row is written (docs/decisions/0029-round-trips.md).

set search_path = cloverleaf;

create table orders (
  id                 bigint        primary key,
  partner_id         bigint        not null references partners (id),
  customer_id        text          not null references customers (id),
  direction          text          not null check (direction in ('offramp', 'onramp')),
  -- Position among the customer's orders of this direction, dense from 1: a page of a list is a range of it.
  customer_seq       bigint        not null check (customer_seq > 0),
  market_id          bigint        not null references markets (id),
  quote_id           bigint        references quotes (id),
  state              text          not null,
  -- What is asked of the customer, and what the customer gets for it.
  deposit_asset      text          not null references assets (code),
  deposit_units      numeric(78,0) not null check (deposit_units > 0),
  payout_asset       text          not null references assets (code),
  payout_units       numeric(78,0) not null check (payout_units > 0),
  -- What the order's account was given; less than asked where an underpaid deposit was taken.
  received_units     numeric(78,0) check (received_units > 0),
  -- All that is converted, before fees; fees stand in the market's fiat.
  gross_units        numeric(78,0) not null,
  fiat_asset         text          not null references assets (code),
  fee_operator       numeric(78,0) not null,
  fee_partner        numeric(78,0) not null,
  fee_rail           numeric(78,0) not null,
  fee_chain          numeric(78,0) not null,
  rate_num           numeric(78,0) not null check (rate_num > 0),
  rate_den           numeric(78,0) not null check (rate_den > 0),
  rate_locked_until  timestamptz   not null,
  deposit_rail       text          not null,
  -- Where a deposit for this order arrives: an address or a reference, unique on its rail.
  deposit_target     text          not null,
  deposit_index      bigint,
  payout_rail        text          not null,
  payment_method     text          not null,
  fiat_account_id    bigint        references fiat_accounts (id),
  payout_address     text,
  merchant_reference text,
  -- The payer's bank reference as the customer says it: shown to whoever looks for the money, never matched by.
  payer_reference  text,
  -- What was unusual about the money, where anything was; and why it ended, where it did not end well.
  exception          text,
  failure            text,
  payout_attempt     integer       not null default 0,
  refund_attempt     integer       not null default 0,
  -- Whether a person had to look at it: what is shown of that never goes back.
  was_held           boolean       not null default false,
  -- When a rail first accepted a payout of this order.
  payout_submitted_at   timestamptz,
  -- Evidence for showing: the chain transaction, the bank's reference.
  deposit_reference  text,
  payout_reference   text,
  expires_at         timestamptz   not null,
  created_at         timestamptz   not null,
  updated_at         timestamptz   not null,
  version            integer       not null default 0,
  -- Both dense from 1, in the order of commits. Null only inside the transaction that makes the order.
  partner_seq        bigint        check (partner_seq > 0),
  fiat_seq           bigint        check (fiat_seq > 0),
  -- The policy it was made under. An order older than policies has none of its own: the built-in one is what it went by.
  policy             jsonb         not null default '{}',
  -- The order whose late or second deposit this one was made of.
  follows            bigint        references orders (id),
  -- Until when the state it is in may last before somebody hears of it; null where nothing is waited for.
  waits_until        timestamptz,
  -- It has waited too long already, and there is a case.
  overdue            boolean       not null default false,
  -- Where a deposit goes back to, as the customer said: an address on the deposit's chain, or an account.
  refund_address     text,
  refund_account_id  bigint        references fiat_accounts (id),
  -- Why all of it is to go back, and on whose word, until it does.
  refund_request      jsonb,
  -- What of received_units has gone back: parts go one by one.
  refunded_units     numeric(78,0) not null default 0 check (refunded_units >= 0),
  -- Who named where the deposit goes back to; the partner speaks for the customer.
  refund_to_by       text          check (refund_to_by in ('partner', 'operator')),
  -- Since when an order waits for funds; the first time it began to, where it was held or priced anew meanwhile: it keeps its place.
  short_since        timestamptz,
  dormant            boolean       not null default false,
  dormant_from       timestamptz,
  fee_tax            numeric(78,0) not null default 0 check (fee_tax >= 0),
  unique (customer_id, direction, customer_seq),
  unique (deposit_rail, deposit_target)
);
create index orders_open on orders (state, updated_at)
  where state not in ('settled', 'refunded', 'expired', 'cancelled', 'frozen');
call protect('orders');
create unique index orders_partner_seq on orders (partner_id, direction, partner_seq);
create unique index orders_fiat_seq on orders (partner_id, direction, fiat_asset, fiat_seq);
-- For "since": from a time to a position.
create index orders_since on orders (partner_id, direction, created_at);
create index orders_fiat_since on orders (partner_id, direction, fiat_asset, created_at);
create index orders_waiting on orders (waits_until) where waits_until is not null;
create index orders_follows on orders (follows) where follows is not null;
-- What is promised at a locked rate and not paid yet, for the partner's cap.
create index orders_unpaid on orders (partner_id, fiat_asset) where state in ('created', 'deposit_seen');
create index orders_merchant_reference on orders (merchant_reference) where merchant_reference is not null;

create or replace function take_positions() returns trigger
language plpgsql as $$
begin
  insert into cloverleaf.order_lists as l (partner_id, direction, fiat_asset, count) values (new.partner_id, new.direction, '', 1)
    on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1
    returning count into new.partner_seq;
  insert into cloverleaf.order_lists as l (partner_id, direction, fiat_asset, count)
    values (new.partner_id, new.direction, new.fiat_asset, 1)
    on conflict (partner_id, direction, fiat_asset) do update set count = l.count + 1
    returning count into new.fiat_seq;
  return new;
end $$;
create trigger take_positions before insert on orders for each row execute function take_positions();
-- Unpaid orders of a market, in the order in which they were made. They are few at any time.
create index orders_unpaid_market on orders (market_id, id) where state = 'created';
-- A request creates orders. What comes after that is not a request's to say.
create policy created_only on orders as restrictive for insert to cloverleaf_partner with check (state = 'created');
create index orders_short on orders (payout_rail, payout_asset, short_since) where state = 'awaiting_liquidity';
-- All orders by the time they were made, a partner's, a customer's, and those in one state. The states in which most orders end are read
-- by time: an index of them would be the table once more.
-- A condition that always holds keeps an index for the statements that repeat it: walking all orders in search of a partner's
-- looks cheap to the planner where that partner has a tenth of them, and is not where these are the oldest tenth.
create index orders_made on orders (created_at, id) where id > 0;
create index orders_partner_made on orders (partner_id, created_at, id);
create index orders_customer_made on orders (customer_id, created_at, id);
create index orders_state_made on orders (state, created_at, id) where state not in ('settled', 'expired');

create function dormant_order_stays() returns trigger
language plpgsql as $$
begin
  if old.dormant and new.dormant and new.state <> old.state then
    raise exception 'order % is dormant: it is woken first', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger dormant_stays before update on orders for each row execute function dormant_order_stays();

-- How many orders a customer has of a direction; its row is locked while one is made, which is what keeps the sequence dense.
create table order_counts (
  partner_id  bigint not null references partners (id),
  customer_id text   not null references customers (id),
  direction   text   not null,
  count       bigint not null,
  primary key (customer_id, direction)
);
call protect('order_counts');

create table order_lists (
  partner_id bigint not null references partners (id),
  direction  text   not null,
  -- '' for all fiats together.
  fiat_asset text   not null,
  count      bigint not null,
  primary key (partner_id, direction, fiat_asset)
);
call protect('order_lists');

-- Every transition, in order.
create table order_history (
  order_id   bigint      not null references orders (id),
  version    integer     not null,
  partner_id bigint      not null references partners (id),
  state_from text        not null,
  event      text        not null,
  state_to   text        not null,
  facts      jsonb       not null default '{}',
  at         timestamptz not null,
  primary key (order_id, version)
);
call protect('order_history');
create trigger append_only before update or delete on order_history for each row execute function refuse_change();

create table deposits (
  id                bigint        generated always as identity primary key,
  rail              text          not null,
  -- The rail's own name for it: chain transaction and log, statement line.
  external_id       text          not null,
  asset             text          not null references assets (code),
  units             numeric(78,0) not null check (units > 0),
  target            text          not null,
  order_id          bigint        references orders (id),
  partner_id        bigint        references partners (id),
  state             text          not null check (state in ('seen', 'confirmed', 'reversed', 'applied', 'suspense', 'refunded', 'lost', 'written_off')),
  reference         text          not null,
  -- Whether who paid is the customer; the name itself is kept by the rail, encrypted.
  payer             text          not null default 'unknown' check (payer in ('same', 'other', 'unknown')),
  -- Account the money is booked to, once it is booked.
  booked_to         text,
  why               text,
  facts             jsonb         not null default '{}',
  seen_at           timestamptz   not null,
  confirmed_at      timestamptz,
  -- A chain may take a booked deposit back, and even bring it again.
  state_before_loss text,
  losses            integer       not null default 0,
  -- Until when a deposit that has arrived is waited with; null where nothing was.
  clears_at         timestamptz,
  -- By its rail; or money of ours that came back, was let go, or is a fee refunded, which is given out by the same ways.
  origin            text          not null default 'rail' check (origin in ('rail', 'returned', 'released', 'credit', 'compensation')),
  -- What its order's account was given of it, and what refunds name of it. The rest of a booked deposit is in suspense.
  taken_units       numeric(78,0) not null default 0 check (taken_units >= 0),
  refund_units      numeric(78,0) not null default 0 check (refund_units >= 0),
  -- When it was reversed: what of it stands as a loss or as the customer's debt, and on which account.
  lost_units        numeric(78,0) not null default 0 check (lost_units >= 0),
  lost_to           text,
  dust              boolean       not null default false,
  -- When it came, by the chain's block or the bank's booking, at the latest: a block says the second, some banks the day alone.
  -- Null where the rail did not say.
  came_at           timestamptz,
  -- It came after its order's deadline, by that time. Decided once, when it was first seen.
  late              boolean       not null default false,
  -- What of it stands on the dormant account in place of suspense; and from when on it does, once that was announced.
  dormant_units     numeric(78,0) not null default 0 check (dormant_units >= 0),
  dormant_from      timestamptz,
  unique (rail, external_id),
  constraint never_more_than_came_in check (taken_units + refund_units <= units),
  constraint applied_says_how_much check (state <> 'applied' or taken_units + refund_units > 0)
);
create index deposits_order on deposits (order_id) where order_id is not null;
create index deposits_suspense on deposits (seen_at) where state = 'suspense';
call protect('deposits');
-- What an operator is asked about: a hash, a reference, an address.
create index deposits_reference on deposits (reference) where reference <> '';
create index deposits_target on deposits (target) where target <> '';
create index deposits_dust on deposits (rail) where dust;
create index deposits_seen on deposits (seen_at, id) where id > 0;
create index deposits_partner_seen on deposits (partner_id, seen_at, id) where partner_id is not null;
-- What lies in suspense of a deposit, and refunds out of it that have not ended.
create index deposits_in_suspense on deposits (seen_at, id)
  where state in ('suspense', 'applied', 'refunded', 'confirmed') and taken_units + refund_units < units;
create index deposits_unclaimed on deposits (id)
  where state in ('suspense', 'applied', 'refunded') and units > taken_units + refund_units and not dust;

-- Suspense is one account for all deposits of a rail: whoever took dormant money for money in suspense would take another's.
create function dormant_deposit_stays() returns trigger
language plpgsql as $$
begin
  if old.dormant_units > 0 and new.dormant_units = old.dormant_units
     and (new.state, new.units - new.taken_units - new.refund_units, new.lost_units)
         is distinct from (old.state, old.units - old.taken_units - old.refund_units, old.lost_units) then
    raise exception 'deposit % is dormant: it is woken first', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger dormant_stays before update on deposits for each row execute function dormant_deposit_stays();
-- What a write-off of many looks for, the oldest first.
create index deposits_dust_waiting on deposits (asset, id) where dust and state = 'suspense';

create table refunds (
  id              bigint        primary key,
  deposit_id      bigint        not null references deposits (id),
  order_id        bigint        references orders (id),
  partner_id      bigint        references partners (id),
  -- A payout that came back is paid again as a payout of its order.
  purpose         text          not null check (purpose in ('refund', 'payout')),
  rail            text          not null,
  asset           text          not null references assets (code),
  gross_units     numeric(78,0) not null check (gross_units > 0),
  -- Kept of it, as the order's policy says; what is left goes out.
  cost_units      numeric(78,0) not null default 0 check (cost_units >= 0),
  net_units       numeric(78,0) not null check (net_units > 0),
  -- Whose account it leaves: the order's, or suspense.
  source          text          not null check (source in ('order', 'suspense')),
  why             text          not null,
  requested_by       text          not null,
  -- Where to; neither while nobody has said.
  fiat_account_id bigint        references fiat_accounts (id),
  address         text,
  state           text          not null check (state in ('needs_destination', 'screening', 'held', 'created', 'submitted', 'settled', 'rejected', 'returned', 'cancelled')),
  attempt         integer       not null default 0,
  -- The payout that is the newest attempt.
  key             text,
  created_at      timestamptz   not null,
  updated_at      timestamptz   not null,
  settled_at      timestamptz,
  check (gross_units = cost_units + net_units),
  check (fiat_account_id is null or address is null),
  check (state in ('needs_destination', 'cancelled') or fiat_account_id is not null or address is not null),
  check ((state in ('created', 'submitted', 'settled', 'rejected', 'returned')) <= (key is not null))
);
create index refunds_deposit on refunds (deposit_id);
create index refunds_order on refunds (order_id) where order_id is not null;
create index refunds_waiting on refunds (created_at) where state in ('needs_destination', 'held', 'rejected', 'returned');
call protect('refunds');
create trigger no_truncate before truncate on refunds for each statement execute function refuse_change();

-- A refund of what an order took takes it from the order; cancelled, it is the order's again.
create function count_refunds() returns trigger
language plpgsql as $$
declare
  delta numeric(78,0);
begin
  if tg_op = 'UPDATE' then
    if new.deposit_id <> old.deposit_id or new.gross_units <> old.gross_units or old.state = 'cancelled' then
      raise exception 'refund %: what it refunds of which deposit stands, and cancelled is final', old.id
        using errcode = 'restrict_violation';
    end if;
    if new.state <> 'cancelled' then return new; end if;
    delta := -old.gross_units;
  else
    delta := new.gross_units;
  end if;
  update cloverleaf.deposits
     set refund_units = refund_units + delta,
         taken_units = taken_units - case when new.source = 'order' then delta else 0 end
   where id = new.deposit_id;
  return new;
end $$;
create trigger count_refunds before insert or update on refunds for each row execute function count_refunds();
create index refunds_from_suspense on refunds (deposit_id)
  where source = 'suspense' and state not in ('settled', 'cancelled');

create function dormant_refund_stays() returns trigger
language plpgsql as $$
begin
  if new.state <> old.state and new.source = 'suspense' and old.source = 'suspense'
     and exists (select from deposits d where d.id = new.deposit_id and d.dormant_units > 0) then
    raise exception 'refund % is of a dormant deposit: it is woken first', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger dormant_stays before update on refunds for each row execute function dormant_refund_stays();

-- What an operator has done to all unpaid or settled orders of a market and a span of time, order by order (orders/bulk.ts). The row is the
-- continuation: whoever goes on, goes on behind `cursor`.
create table bulk_orders (
  id         bigint      generated always as identity primary key,
  kind       text        not null check (kind in ('cancel', 'requote', 'compensate')),
  market_id  bigint      not null references markets (id),
  partner_id bigint      references partners (id),
  from_at    timestamptz not null,
  until_at   timestamptz not null check (until_at > from_at),
  by         text        not null,
  people     text[]      not null,
  why        text        not null,
  begun_at   timestamptz not null,
  ended_at   timestamptz,
  cursor     bigint      not null default 0,
  changed    integer     not null default 0,
  -- Paid, over or at the right price already when their turn came.
  left_alone integer     not null default 0,
  -- Could not be requoted: outside the limits, or below the fees.
  refused    integer     not null default 0,
  -- Of compensations: the fee as it should have been, the most that all orders together are paid, and what was paid so far.
  asset         text          references assets (code),
  fee           text,
  fixed_units   numeric(78,0),
  bps           bigint,
  minimum_units numeric(78,0),
  not_for       bigint[],
  most_units    numeric(78,0) check (most_units > 0),
  done_units    numeric(78,0) not null default 0,
  check (num_nonnulls(asset, fee, fixed_units, bps, minimum_units, not_for, most_units) = case kind when 'compensate' then 7 else 0 end),
  check (done_units <= coalesce(most_units, 0))
);
create index bulk_orders_market on bulk_orders (market_id, id);

-- Money that no order takes and that is below its asset's threshold is booked and counted, and calls nobody.
create table dust_thresholds (
  asset       text          primary key references assets (code),
  below_units numeric(78,0) not null check (below_units > 0)
);

-- Deposits of which an operator lets nothing go: no refund of what lies in suspense, no order, until one releases them.
create table held_deposits (
  deposit_id bigint      primary key references deposits (id),
  by         text        not null,
  why        text        not null check (length(why) between 1 and 8000),
  at         timestamptz not null
);

-- An operator lets orders pass for which the funds do, although older ones wait that they do not do for.
create table shortage_passes (
  rail   text        not null,
  asset  text        not null references assets (code),
  until  timestamptz not null,
  by     text        not null,
  reason text        not null check (length(reason) between 1 and 8000),
  at     timestamptz not null,
  primary key (rail, asset)
);

-- One row, or none: then nothing becomes dormant, and nobody is told that it will.
create table dormancy_policy (
  single      boolean     primary key default true check (single),
  after_days  integer     not null check (after_days between 1 and 36500),
  notice_days integer     not null check (notice_days between 1 and 365 and notice_days <= after_days),
  by          text        not null,
  reason      text        not null check (length(reason) between 1 and 8000),
  at          timestamptz not null
);

-- What was announced, what became dormant, and what ended it. What an order holds may be of one asset only, as its deposit is.
create table dormancies (
  id           bigint        generated always as identity primary key,
  deposit_id   bigint        references deposits (id),
  order_id     bigint        references orders (id),
  partner_id   bigint        references partners (id),
  rail         text          not null,
  asset        text          not null references assets (code),
  units        numeric(78,0) not null check (units > 0),
  -- Since when nothing has happened to it.
  since        timestamptz   not null,
  noticed_at   timestamptz   not null,
  dormant_from timestamptz   not null,
  dormant_at   timestamptz,
  ended_at     timestamptz,
  ended_by     text,
  ended_why    text,
  -- A deposit's, with the order it came for where there is one; or an order's own.
  check (deposit_id is not null or order_id is not null),
  check ((ended_at is null) = (ended_by is null))
);
create unique index dormancies_deposit on dormancies (deposit_id) where ended_at is null and deposit_id is not null;
create unique index dormancies_order on dormancies (order_id) where ended_at is null and deposit_id is null;
create index dormancies_open on dormancies (id) where ended_at is null;
create index dormancies_of_deposit on dormancies (deposit_id, ended_at) where deposit_id is not null;
create index dormancies_of_order on dormancies (order_id, ended_at) where deposit_id is null;

-- Links by which a customer confirms where coins in suspense go back to: made by an operator for one deposit, used once.
create table return_links (
  id                text        primary key check (id ~ '^[0-9a-f]{32}$'),
  deposit_id        bigint      not null references deposits (id),
  -- Whose deposit it was when the link was made: nobody else opens it.
  partner_id        bigint      not null references partners (id),
  customer_id       text        not null references customers (id),
  made_by           text        not null,
  made_at           timestamptz not null,
  expires_at        timestamptz not null,
  -- A newer link for the same deposit was made: this one is over, and what was confirmed by it counts no more.
  replaced_at       timestamptz,
  -- Typed in, and shown back to be confirmed.
  entered_address   text,
  -- What the customer confirmed, when, and the login by which that was done.
  confirmed_address text,
  confirmed_at      timestamptz,
  logged_in_at      timestamptz,
  check (num_nonnulls(confirmed_address, confirmed_at, logged_in_at) in (0, 3))
);
create unique index return_links_open on return_links (deposit_id) where replaced_at is null;
create index return_links_deposit on return_links (deposit_id, made_at);
call protect('return_links');

create policy own_rows on jobs to cloverleaf_partner using (
  case when kind = 'expire_order' and ordering_key is null and subject ~ '^[0-9]{1,18}$'
       then exists (select from orders where orders.id = jobs.subject::bigint) else false end);
alter table fiat_accounts add foreign key (sender_of) references deposits (id);

grant select on orders, order_counts, order_lists, order_history, deposits, refunds, return_links to cloverleaf_partner;
grant insert (id, partner_id, customer_id, direction, customer_seq, market_id, quote_id, state, deposit_asset, deposit_units,
  payout_asset, payout_units, gross_units, fiat_asset, fee_operator, fee_partner, fee_rail, fee_chain, rate_num, rate_den,
  rate_locked_until, deposit_rail, deposit_target, deposit_index, payout_rail, payment_method, fiat_account_id, payout_address,
  merchant_reference, expires_at, created_at, updated_at, policy, follows, refund_address, refund_account_id,
  fee_tax) on orders to cloverleaf_partner;
grant update (payer_reference, updated_at) on orders to cloverleaf_partner;
grant insert (partner_id, customer_id, direction, count) on order_counts to cloverleaf_partner;
grant update (count) on order_counts to cloverleaf_partner;
grant insert (partner_id, direction, fiat_asset, count) on order_lists to cloverleaf_partner;
grant update (count) on order_lists to cloverleaf_partner;
grant insert (order_id, version, partner_id, state_from, event, state_to, facts, at) on order_history to cloverleaf_partner;
grant select, insert, update on orders, order_counts, order_lists, deposits, refunds, bulk_orders, dormancies,
  return_links to cloverleaf_system;
grant select, insert on order_history to cloverleaf_system;
grant select, insert, update, delete on dust_thresholds, shortage_passes, dormancy_policy to cloverleaf_system;
grant select, insert, delete on held_deposits to cloverleaf_system;
