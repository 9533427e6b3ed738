-- Orders and what they hold: deposits, refunds, dust, dormant money.
--
-- A deposit counts what its order took and what refunds name, and a check rejects more than came in. Triggers maintain the
-- count under the lock of the deposit's row, so two writers queue up. A refund is sent again only after its last attempt has
-- provably failed or was returned; a trigger checks that under the refund's lock. Dormant money has to be woken before it
-- moves; triggers reject everything else.
--
-- Order lists are read by position: within a partner and direction, and within those and a fiat. A page is a range, so the
-- last page costs what the first costs. A trigger assigns the positions when the row is inserted
-- (docs/decisions/0029-round-trips.md).

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
  -- What the customer pays, and what the customer gets for it.
  deposit_asset      text          not null references assets (code),
  deposit_units      numeric(78,0) not null check (deposit_units > 0),
  payout_asset       text          not null references assets (code),
  payout_units       numeric(78,0) not null check (payout_units > 0),
  -- What the order's account received; less than asked for when an underpaid deposit was accepted.
  received_units     numeric(78,0) check (received_units > 0),
  -- The converted amount before fees; fees are in the market's fiat.
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
  -- The payer's bank reference as the customer claims: shown to operators who search for the money, never used for matching.
  payer_reference  text,
  -- What was unusual about the money, if anything; and why it failed, if it did.
  exception          text,
  failure            text,
  payout_attempt     integer       not null default 0,
  refund_attempt     integer       not null default 0,
  -- Whether a person has reviewed it: what is shown of that stays shown.
  was_held           boolean       not null default false,
  -- When a rail first accepted a payout of this order.
  payout_submitted_at   timestamptz,
  -- Evidence for display: the chain transaction, the bank's reference.
  deposit_reference  text,
  payout_reference   text,
  expires_at         timestamptz   not null,
  created_at         timestamptz   not null,
  updated_at         timestamptz   not null,
  version            integer       not null default 0,
  -- Both dense from 1, in commit order. Null only inside the transaction that creates the order.
  partner_seq        bigint        check (partner_seq > 0),
  fiat_seq           bigint        check (fiat_seq > 0),
  -- The policy it was created under. An order older than policies has none: the built-in one applies.
  policy             jsonb         not null default '{}',
  -- The order whose late or second deposit this one was made from.
  follows            bigint        references orders (id),
  -- When its state becomes overdue; null when nothing is awaited.
  waits_until        timestamptz,
  -- It is overdue, and there is a case.
  overdue            boolean       not null default false,
  -- Refund destination, as the customer named it: an address on the deposit's chain, or an account.
  refund_address     text,
  refund_account_id  bigint        references fiat_accounts (id),
  -- Why all of it is to be refunded, and who requested it, until it is.
  refund_request      jsonb,
  -- The refunded part of received_units: parts are refunded one by one.
  refunded_units     numeric(78,0) not null default 0 check (refunded_units >= 0),
  -- Who named the refund destination; the partner speaks for the customer.
  refund_to_by       text          check (refund_to_by in ('partner', 'operator')),
  -- Since when an order waits for funds; the first time, even if it was held or repriced in between: it keeps its position.
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
-- Unpaid orders of a market, in creation order. There are few at any time.
create index orders_unpaid_market on orders (market_id, id) where state = 'created';
-- A request creates orders. Later states are not set by requests.
create policy created_only on orders as restrictive for insert to cloverleaf_partner with check (state = 'created');
create index orders_short on orders (payout_rail, payout_asset, short_since) where state = 'awaiting_liquidity';
-- All orders by creation time: a partner's, a customer's, and those in one state. Orders in the most common final states are
-- read by time: an index on those would be as large as the table. An always-true condition reserves an index for the
-- statements that repeat it: walking all orders in search of a partner's looks cheap to the planner if that partner has a
-- tenth of them, and is not if these are the oldest tenth.
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

-- How many orders a customer has of a direction; its row is locked while one is created, which keeps the sequence dense.
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
  -- Whether the payer is the customer; the rail stores the name itself, encrypted.
  payer             text          not null default 'unknown' check (payer in ('same', 'other', 'unknown')),
  -- The account it is booked to, once it is booked.
  booked_to         text,
  why               text,
  facts             jsonb         not null default '{}',
  seen_at           timestamptz   not null,
  confirmed_at      timestamptz,
  -- A chain may reverse a booked deposit, and even bring it again.
  state_before_loss text,
  losses            integer       not null default 0,
  -- Until when an arrived deposit has to wait; null without a wait.
  clears_at         timestamptz,
  -- From its rail; or our own money (returned, released, or a compensated fee), which leaves in the same ways.
  origin            text          not null default 'rail' check (origin in ('rail', 'returned', 'released', 'credit', 'compensation')),
  -- What its order's account received of it, and what refunds name of it. The rest of a booked deposit is in suspense.
  taken_units       numeric(78,0) not null default 0 check (taken_units >= 0),
  refund_units      numeric(78,0) not null default 0 check (refund_units >= 0),
  -- After a reversal: the amount booked as a loss or as the customer's debt, and the account.
  lost_units        numeric(78,0) not null default 0 check (lost_units >= 0),
  lost_to           text,
  dust              boolean       not null default false,
  -- When it arrived, by the chain's block or the bank's booking, at the latest: a block gives the second, some banks only the
  -- day. Null when the rail did not say.
  came_at           timestamptz,
  -- It arrived after its order's deadline, by that time. Decided once, when it was first seen.
  late              boolean       not null default false,
  -- The amount on the dormant account instead of suspense; and when it becomes dormant, once that was announced.
  dormant_units     numeric(78,0) not null default 0 check (dormant_units >= 0),
  dormant_from      timestamptz,
  unique (rail, external_id),
  constraint never_more_than_came_in check (taken_units + refund_units <= units),
  constraint applied_says_how_much check (state <> 'applied' or taken_units + refund_units > 0)
);
create index deposits_order on deposits (order_id) where order_id is not null;
create index deposits_suspense on deposits (seen_at) where state = 'suspense';
call protect('deposits');
-- For operators' look-ups: a hash, a reference, an address.
create index deposits_reference on deposits (reference) where reference <> '';
create index deposits_target on deposits (target) where target <> '';
create index deposits_dust on deposits (rail) where dust;
create index deposits_seen on deposits (seen_at, id) where id > 0;
create index deposits_partner_seen on deposits (partner_id, seen_at, id) where partner_id is not null;
-- A deposit's money in suspense, and refunds out of it that have not ended.
create index deposits_in_suspense on deposits (seen_at, id)
  where state in ('suspense', 'applied', 'refunded', 'confirmed') and taken_units + refund_units < units;
create index deposits_unclaimed on deposits (id)
  where state in ('suspense', 'applied', 'refunded') and units > taken_units + refund_units and not dust;

-- Suspense is one account for all deposits of a rail: taking dormant money as if it were in suspense would take another
-- deposit's.
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
-- For write-offs of many: the oldest first.
create index deposits_dust_waiting on deposits (asset, id) where dust and state = 'suspense';

create table refunds (
  id              bigint        primary key,
  deposit_id      bigint        not null references deposits (id),
  order_id        bigint        references orders (id),
  partner_id      bigint        references partners (id),
  -- A returned payout is paid again as a payout of its order.
  purpose         text          not null check (purpose in ('refund', 'payout')),
  rail            text          not null,
  asset           text          not null references assets (code),
  gross_units     numeric(78,0) not null check (gross_units > 0),
  -- The fee kept of it, as the order's policy says; the rest is sent.
  cost_units      numeric(78,0) not null default 0 check (cost_units >= 0),
  net_units       numeric(78,0) not null check (net_units > 0),
  -- The account it leaves from: the order's, or suspense.
  source          text          not null check (source in ('order', 'suspense')),
  why             text          not null,
  requested_by       text          not null,
  -- Destination; neither while none is named.
  fiat_account_id bigint        references fiat_accounts (id),
  address         text,
  state           text          not null check (state in ('needs_destination', 'screening', 'held', 'created', 'submitted', 'settled', 'rejected', 'returned', 'cancelled')),
  attempt         integer       not null default 0,
  -- The payout of its newest attempt.
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

-- A refund of what an order took takes it from the order; a cancelled one gives it back.
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

-- An operator's action on all unpaid or settled orders of a market and a time span, order by order (orders/bulk.ts). The row
-- is the continuation: a worker continues behind `cursor`.
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
  -- Already paid, over or at the right price when their turn came.
  left_alone integer     not null default 0,
  -- Could not be requoted: outside the limits, or below the fees.
  refused    integer     not null default 0,
  -- For compensations: the correct fee, the most that all orders together are paid, and what was paid so far.
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

-- Money that no order takes and that is below its asset's threshold is booked and counted, and opens no case.
create table dust_thresholds (
  asset       text          primary key references assets (code),
  below_units numeric(78,0) not null check (below_units > 0)
);

-- Deposits held by an operator: no refund of their money in suspense, and no follow-on order, until an operator releases
-- them.
create table held_deposits (
  deposit_id bigint      primary key references deposits (id),
  by         text        not null,
  why        text        not null check (length(why) between 1 and 8000),
  at         timestamptz not null
);

-- An operator lets orders pass that the funds suffice for, although they do not suffice for older ones.
create table shortage_passes (
  rail   text        not null,
  asset  text        not null references assets (code),
  until  timestamptz not null,
  by     text        not null,
  reason text        not null check (length(reason) between 1 and 8000),
  at     timestamptz not null,
  primary key (rail, asset)
);

-- One row, or none: then nothing becomes dormant, and nothing is announced.
create table dormancy_policy (
  single      boolean     primary key default true check (single),
  after_days  integer     not null check (after_days between 1 and 36500),
  notice_days integer     not null check (notice_days between 1 and 365 and notice_days <= after_days),
  by          text        not null,
  reason      text        not null check (length(reason) between 1 and 8000),
  at          timestamptz not null
);

-- What was announced, what became dormant, and what ended it. An order's own money is in one asset, its deposit's.
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
  -- A deposit's, with the order it came for, if any; or an order's own.
  check (deposit_id is not null or order_id is not null),
  check ((ended_at is null) = (ended_by is null))
);
create unique index dormancies_deposit on dormancies (deposit_id) where ended_at is null and deposit_id is not null;
create unique index dormancies_order on dormancies (order_id) where ended_at is null and deposit_id is null;
create index dormancies_open on dormancies (id) where ended_at is null;
create index dormancies_of_deposit on dormancies (deposit_id, ended_at) where deposit_id is not null;
create index dormancies_of_order on dormancies (order_id, ended_at) where deposit_id is null;

-- Links through which a customer confirms the refund address for coins in suspense: made by an operator for one deposit, used
-- once.
create table return_links (
  id                text        primary key check (id ~ '^[0-9a-f]{32}$'),
  deposit_id        bigint      not null references deposits (id),
  -- The deposit's customer when the link was made: no other customer can open it.
  partner_id        bigint      not null references partners (id),
  customer_id       text        not null references customers (id),
  made_by           text        not null,
  made_at           timestamptz not null,
  expires_at        timestamptz not null,
  -- A newer link for the same deposit was made: this one is invalid, and so is what was confirmed through it.
  replaced_at       timestamptz,
  -- Typed by the customer, and shown back for confirmation.
  entered_address   text,
  -- What the customer confirmed, when, and with which login.
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
