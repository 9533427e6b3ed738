-- Money that comes as nobody expected, second part: on another of our chains, at the wallet that pays, and too little of it
-- to be worth a person's time.

set search_path = cloverleaf;

-- Money that no order takes and that is below its asset's threshold is booked and counted, and calls nobody.
create table dust_thresholds (
  asset       text primary key references assets (code),
  below_units numeric(78,0) not null check (below_units > 0)
);
grant select, insert, update, delete on dust_thresholds to cloverleaf_system;

alter table deposits add column dust boolean not null default false;
create index deposits_dust on deposits (rail) where dust;

-- One key has the same address on each chain of its family. Where money comes to an order's address on another chain than the
-- order asked for, that chain gets a row of its own for it; `home_rail` is the one that the customer was told.
alter table deposit_addresses add column home_rail text;

-- What a wallet's sends did to its coin between two blocks is asked at every look for coin that came from elsewhere.
create index chain_sends_of_wallet on chain_sends (rail, wallet, block) where state in ('confirmed', 'failed');

-- What came to a wallet that pays from nobody known was an entry and a case until now. It is a deposit in suspense, like any
-- other money there, and so can be given back or be given to an order.
insert into deposits (rail, external_id, asset, units, target, state, reference, origin, booked_to, why, seen_at, confirmed_at)
  select split_part(c.subject, ':', 1), substr(c.subject, length(split_part(c.subject, ':', 1)) + 2), c.facts->>'asset',
         (c.facts->>'units')::numeric, '', 'suspense', c.facts->>'reference', 'credit',
         'suspense:' || split_part(c.subject, ':', 1) || ':' || (c.facts->>'asset'), 'unexpected_credit', c.opened_at, c.opened_at
    from cases c
   where c.kind = 'unexpected_credit' and c.closed_at is null
  on conflict (rail, external_id) do nothing;
update cases c set subject = 'deposit:' || d.id
  from deposits d
 where c.kind = 'unexpected_credit' and c.closed_at is null and d.origin = 'credit' and c.subject = d.rail || ':' || d.external_id;
