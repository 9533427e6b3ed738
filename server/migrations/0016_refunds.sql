-- Refunds: what goes back of a deposit, as an object with a life of its own. A payout is one attempt at it.
--
-- What cannot be written here cannot be given back twice: a deposit counts what its order took and what refunds name, and a
-- check refuses more than came in. The count is kept by a trigger under the deposit's own row lock, so two who write at once
-- queue up, and whatever code forgets is refused all the same. A refund goes out again only after its last attempt has
-- provably failed or come back: a trigger looks under the refund's lock.

set search_path = cloverleaf;

alter table deposits
  -- By its rail; or money of ours that came back or was let go, which is given out again by the same ways.
  add column origin       text not null default 'rail' check (origin in ('rail', 'returned', 'released', 'credit')),
  -- What its order's account was given of it, and what refunds name of it. The rest of a booked deposit is in suspense.
  add column taken_units  numeric(78,0) not null default 0 check (taken_units >= 0),
  add column refund_units numeric(78,0) not null default 0 check (refund_units >= 0),
  -- When it was taken back: what of it stands as a loss or as the customer's debt, and on which account.
  add column lost_units   numeric(78,0) not null default 0 check (lost_units >= 0),
  add column lost_to      text;

-- Of what was taken by an order the last deposit to come may be in part: what was above the amount stayed in suspense.
update deposits d set taken_units = d.units - greatest(0, case when d.id = t.last then t.units - o.received_units else 0 end)
  from orders o,
       (select order_id, max(id) as last, sum(units) as units from deposits
         where state = 'applied' or state_before_loss = 'applied' group by order_id) t
 where o.id = d.order_id and t.order_id = d.order_id and (d.state = 'applied' or d.state_before_loss = 'applied')
   and o.received_units is not null;
update deposits set lost_units = taken_units, lost_to = 'loss' where state = 'lost';

alter table orders
  -- Where a deposit goes back to, as the customer said: an address on the deposit's chain, or an account.
  add column refund_address    text,
  add column refund_account_id bigint references fiat_accounts (id),
  -- Why all of it is to go back, and on whose word, until it does.
  add column refund_wanted     jsonb,
  -- What of received_units has gone back: parts go one by one.
  add column refunded_units    numeric(78,0) not null default 0 check (refunded_units >= 0);
update orders set refund_account_id = fiat_account_id where payout_address is not null;
update orders set refunded_units = received_units where state = 'refunded' and received_units is not null;

create table refunds (
  id           bigint primary key,
  deposit_id   bigint not null references deposits (id),
  order_id     bigint references orders (id),
  partner_id   bigint references partners (id),
  -- A payout that came back is paid again as a payout of its order.
  purpose      text not null check (purpose in ('refund', 'payout')),
  rail         text not null,
  asset        text not null references assets (code),
  gross_units  numeric(78,0) not null check (gross_units > 0),
  -- Kept of it, as the order's policy says; what is left goes out.
  cost_units   numeric(78,0) not null default 0 check (cost_units >= 0),
  net_units    numeric(78,0) not null check (net_units > 0),
  -- Whose account it leaves: the order's, or suspense.
  source       text not null check (source in ('order', 'suspense')),
  why          text not null,
  wanted_by    text not null,
  -- Where to; neither while nobody has said.
  fiat_account_id bigint references fiat_accounts (id),
  address      text,
  state        text not null check (state in
    ('needs_destination', 'screening', 'held', 'written', 'sent', 'settled', 'failed', 'returned', 'cancelled')),
  attempt      integer not null default 0,
  -- The payout that is the newest attempt.
  key          text,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  settled_at   timestamptz,
  check (gross_units = cost_units + net_units),
  check (fiat_account_id is null or address is null),
  check (state in ('needs_destination', 'cancelled') or fiat_account_id is not null or address is not null),
  check ((state in ('written', 'sent', 'settled', 'failed', 'returned')) <= (key is not null))
);
create index refunds_deposit on refunds (deposit_id);
create index refunds_order on refunds (order_id) where order_id is not null;
create index refunds_waiting on refunds (created_at) where state in ('needs_destination', 'held', 'failed', 'returned');
call protect('refunds');
create trigger no_truncate before truncate on refunds for each statement execute function refuse_change();

-- What was given back before this table was there.
insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
    wanted_by, fiat_account_id, address, state, attempt, key, created_at, updated_at, settled_at)
  select row_number() over (order by p.written_at, p.id), p.deposit_id, p.order_id, p.partner_id, 'refund', p.rail, p.asset,
         p.units, p.units,
         case when p.state = 'returned' then 'suspense' else 'order' end, 'rejected', 'unknown', p.fiat_account_id, p.address,
         case when p.state = 'settled' then 'settled' when p.state = 'returned' then 'returned'
              when p.state = 'refused' then 'failed' when p.state = 'written' then 'written' else 'sent' end,
         p.attempt, p.id, p.written_at, p.written_at, p.ended_at
    from payouts p
   where p.purpose = 'refund'
     and not exists (select from payouts later
                      where later.order_id = p.order_id and later.purpose = 'refund' and later.attempt > p.attempt);

alter table payouts
  alter column order_id drop not null,
  alter column partner_id drop not null,
  add column refund_id bigint references refunds (id),
  add check (order_id is not null or refund_id is not null);
update payouts p set refund_id = r.id from refunds r where r.order_id = p.order_id and p.purpose = 'refund';
alter table payouts drop constraint payouts_order_id_purpose_attempt_key;
create unique index payouts_attempt on payouts (order_id, attempt) where purpose = 'payout';
create index payouts_of_refund on payouts (refund_id) where refund_id is not null;
-- A refund of an order that was paid in parts once went out in one piece, naming the first: one of more units than came with it.
update deposits d set taken_units = 0, refund_units = least(d.units, r.gross_units)
  from refunds r where r.deposit_id = d.id;
update deposits d set taken_units = 0 from orders o
 where o.id = d.order_id and o.state in ('refunding', 'refund_held', 'refunded');

alter table deposits
  add constraint never_more_than_came_in check (taken_units + refund_units <= units),
  add constraint applied_says_how_much check (state <> 'applied' or taken_units + refund_units > 0);

-- A refund of what an order took takes it from the order; cancelled, it is the order's again.
create function count_refunds() returns trigger
language plpgsql as $$
declare
  delta numeric(78,0);
begin
  if tg_op = 'UPDATE' then
    if new.deposit_id <> old.deposit_id or new.gross_units <> old.gross_units or old.state = 'cancelled' then
      raise exception 'refund %: what it gives back of which deposit stands, and cancelled is final', old.id
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

-- One attempt at a refund at a time. (Of an order's own payout the machine sees to it: its state says what is under way.)
create function one_attempt() returns trigger
language plpgsql as $$
begin
  if new.refund_id is null then return new; end if;
  perform from cloverleaf.refunds where id = new.refund_id for update;
  if exists (select from cloverleaf.payouts p
              where p.refund_id = new.refund_id and p.id <> new.id and p.state not in ('refused', 'returned')) then
    raise exception 'payout %: the attempt before it has neither failed nor come back', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger one_attempt before insert on payouts for each row execute function one_attempt();

-- A refund of money that belongs to no order we know is decided on, too.
alter table decisions alter column partner_id drop not null;

grant select on refunds to cloverleaf_partner;
grant select, insert, update on refunds to cloverleaf_system;
