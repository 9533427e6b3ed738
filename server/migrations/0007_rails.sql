-- Money in and out of chains and banks: payouts, followed blocks, sends, bank lines; everything that rails must not keep in
-- memory only.
--
-- After a restore of an older backup: what our own wallets did on a chain that this database does not know, and what was paid
-- to addresses it never issued.

set search_path = cloverleaf;

-- Indexes below an extended public key: never used twice, a gap is harmless.
create sequence deposit_indexes as bigint minvalue 0 start 0;

create table payouts (
  id              text          primary key,
  order_id        bigint        references orders (id),
  partner_id      bigint        references partners (id),
  purpose         text          not null check (purpose in ('payout', 'refund')),
  attempt         integer       not null check (attempt > 0),
  -- A refund names the deposit it returns.
  deposit_id      bigint        references deposits (id),
  rail            text          not null,
  asset           text          not null references assets (code),
  units           numeric(78,0) not null check (units > 0),
  -- Destination: a fiat account of the customer, or an address.
  fiat_account_id bigint        references fiat_accounts (id),
  address         text,
  state           text          not null default 'created' check (state in ('created', 'submitting', 'submitted', 'unknown', 'settled', 'returned', 'rejected')),
  -- While submitting: no other worker may submit it before this, and afterwards none may without asking the rail first.
  submitting_until   timestamptz,
  -- How often it was submitted; a worker records its answer only while the number is still its own.
  submissions        integer       not null default 0,
  -- Since when its outcome is unknown, and when a person was told.
  unknown_since   timestamptz,
  alarmed_at      timestamptz,
  reference       text,
  why             text,
  created_at      timestamptz   not null,
  submitted_at       timestamptz,
  ended_at        timestamptz,
  refund_id       bigint        references refunds (id),
  -- Why it is not submitted for now, in words; null while nothing prevents it.
  waits_for       text,
  -- The amount that left, if two people have matched it with a movement of another amount. Null if it left as ordered.
  paid_units      numeric(78,0) check (paid_units > 0),
  check ((purpose = 'refund') = (deposit_id is not null)),
  check ((fiat_account_id is null) <> (address is null)),
  check (order_id is not null or refund_id is not null)
);
create index payouts_open on payouts (created_at) where ended_at is null;
call protect('payouts');
create unique index payouts_attempt on payouts (order_id, attempt) where purpose = 'payout';
create index payouts_of_refund on payouts (refund_id) where refund_id is not null;

-- One attempt at a refund at a time. (For an order's own payout the state machine ensures it: its state says what is under
-- way.)
create function one_attempt() returns trigger
language plpgsql as $$
begin
  if new.refund_id is null then return new; end if;
  perform from cloverleaf.refunds where id = new.refund_id for update;
  if exists (select from cloverleaf.payouts p
              where p.refund_id = new.refund_id and p.id <> new.id and p.state not in ('rejected', 'returned')) then
    raise exception 'payout %: the attempt before it has neither failed nor come back', new.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger one_attempt before insert on payouts for each row execute function one_attempt();
create index payouts_reference on payouts (reference) where reference is not null;
create index payouts_address on payouts (address) where address is not null;
create index payouts_created on payouts (created_at, id);

-- The addresses to watch. An address belongs to one order permanently.
create table deposit_addresses (
  rail       text        not null,
  address    text        not null,
  index      bigint      not null,
  order_id   bigint      references orders (id),
  partner_id bigint      references partners (id),
  made_at    timestamptz not null,
  -- One key has the same address on each chain of its family. If money comes to an order's address on another chain than the
  -- order asked for, that chain gets its own row for it; `home_rail` is the one that the customer was given.
  home_rail  text,
  primary key (rail, address),
  unique (rail, index)
);
create index deposit_addresses_order on deposit_addresses (order_id);
call protect('deposit_addresses');
create index deposit_addresses_lost on deposit_addresses (index) where order_id is null;

-- Current gas price of a chain: native units per unit of gas.
create table gas_prices (
  chain      text          primary key,
  units      numeric(78,0) not null,
  fetched_at timestamptz   not null
);

create table chains (
  rail         text          primary key,
  chain        text          not null,
  -- The chain's id, stored at the first step; a node that reports another one is not used.
  chain_id     numeric(78,0),
  genesis_hash text,
  -- Number of blocks below the head after which a block is treated as final.
  finality     integer       not null check (finality > 0),
  -- Set when a person must check something first: a reorg deeper than finality.
  halted_why  text,
  -- The oldest block kept, which no reorg may replace; -1 before the first step.
  finalized    bigint        not null default -1,
  head_number  bigint,
  head_hash    text,
  head_at      timestamptz,
  checked_at   timestamptz
);

-- The blocks above finality, linked by parent hash; older ones are pruned.
create table chain_blocks (
  rail        text        not null references chains (rail),
  number      bigint      not null,
  hash        text        not null,
  parent_hash text        not null,
  at          timestamptz not null,
  primary key (rail, number)
);

-- Transfers of listed tokens to deposit addresses, as the chain has them now. What was reported of each is stored here, so
-- that seen, confirmed and reversed are each reported once, even after a restart or when mined again.
create table chain_deposits (
  rail         text          not null references chains (rail),
  external_id  text          not null,
  tx_hash      text          not null,
  asset        text          not null references assets (code),
  units        numeric(78,0) not null check (units > 0),
  address      text          not null,
  block        bigint        not null,
  block_hash   text          not null,
  -- Its block was reorged out, and the new branch has not yet been read to its end.
  orphaned       boolean       not null default false,
  seen_at      timestamptz   not null,
  confirmed_at timestamptz,
  reversed_at  timestamptz,
  -- The sweep that moved or is to move it. Not examined again before `sweep_due`, when it was too small or not free yet.
  sweep        text,
  sweep_due    timestamptz   not null default '-infinity',
  -- The sender: what one sender pays in one block is confirmed by its sum.
  payer        text,
  primary key (rail, external_id)
);
create index chain_deposits_block on chain_deposits (rail, block);
create index chain_deposits_open on chain_deposits (rail) where reversed_at is null and (confirmed_at is null or orphaned);
create index chain_deposits_unswept on chain_deposits (rail, sweep_due)
  where sweep is null and reversed_at is null and confirmed_at is not null;
create index chain_deposits_address on chain_deposits (rail, address) where sweep is null;
create index chain_deposits_sweep on chain_deposits (rail, sweep) where sweep is not null;
-- What an address received of an asset: its deposits are confirmed by their sum.
create index chain_deposits_sum on chain_deposits (rail, address, asset);

-- Tokens that arrived at the paying wallet. Reported only when final, so a reorg undoes only what was not reported.
create table chain_credits (
  rail        text          not null references chains (rail),
  external_id text          not null,
  tx_hash     text          not null,
  payer       text          not null,
  asset       text          not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  block       bigint        not null,
  reported_at timestamptz,
  primary key (rail, external_id)
);
create index chain_credits_open on chain_credits (rail, block) where reported_at is null;

-- Native coin found at a deposit address by balance, so that only the increase is booked.
create table native_balances (
  rail    text          not null,
  address text          not null,
  units   numeric(78,0) not null,
  block   bigint        not null,
  primary key (rail, address)
);

-- The operator's own addresses that funding comes from. Money from elsewhere belongs to an unknown party.
create table funding_sources (
  rail    text not null,
  address text not null,
  note    text not null default '',
  primary key (rail, address)
);

-- Transfers that left or are to leave one of our wallets. Bytes and nonce are stored before anything is broadcast.
create table chain_sends (
  id           bigint        generated always as identity primary key,
  rail         text          not null references chains (rail),
  wallet       text          not null,
  nonce        bigint        not null,
  -- What it is for: the payout's id, or sandbox:… for money of a simulated customer.
  key          text          not null,
  version      integer       not null default 1,
  -- Recipient contract or account, call data and value: shared by every version of it.
  target       text          not null,
  data         bytea         not null,
  value        numeric(78,0) not null,
  -- What it pays, for the confirmations it needs.
  asset        text          not null references assets (code),
  units        numeric(78,0) not null check (units > 0),
  -- The fee this version offers, in the adapter's format; an increase starts from it.
  fee          jsonb,
  -- Null while the nonce is reserved and nothing is signed yet.
  hash         text,
  raw          bytea,
  state        text          not null default 'reserved' check (state in ('reserved', 'signed', 'mined', 'confirmed', 'failed', 'replaced')),
  block        bigint,
  -- Its cost in native units, once mined.
  cost_units   numeric(78,0),
  why          text,
  reserved_at  timestamptz   not null,
  broadcast_at timestamptz,
  -- When its outcome was first reported: after a reorg above finality it may be mined, and end, once more.
  reported_at  timestamptz,
  -- A send adopted from the chain has a hash and no bytes of ours: it is final when adopted.
  found        boolean       not null default false,
  -- A send that is reserved and not signed asks the gate again before it is signed; if the gate refuses, the reservation is
  -- released and the next send takes its nonce.
  --
  -- When a signer was last asked: from then on bytes may exist that nobody has stored, and the reservation stays. Null
  -- before.
  signing_at   timestamptz   default '-infinity',
  unique (rail, key, version),
  unique (rail, wallet, nonce, version),
  unique (rail, hash),
  constraint chain_sends_check check (raw is not null or found or state in ('reserved', 'replaced'))
);
create index chain_sends_open on chain_sends (rail, id) where state in ('reserved', 'signed', 'mined');
-- Gas on its way to a deposit address, found by the address when its native coin is counted.
create index chain_sends_gas on chain_sends (rail, target) where key like 'gas:%';
-- The effect of a wallet's sends on its native balance between two blocks, read at every check for coin from elsewhere.
create index chain_sends_of_wallet on chain_sends (rail, wallet, block) where state in ('confirmed', 'failed');

create function delete_unsigned() returns trigger
language plpgsql as $$
begin
  if old.state <> 'reserved' or old.version <> 1 or old.raw is not null or old.signing_at is not null then
    raise exception 'send % may have been signed', old.key using errcode = 'restrict_violation';
  end if;
  return old;
end $$;
create trigger delete_unsigned before delete on chain_sends for each row execute function delete_unsigned();

-- Next nonce of each wallet; the row is locked while one is reserved.
create table chain_nonces (
  rail      text        not null,
  wallet    text        not null,
  next      bigint      not null,
  -- When the wallet's used nonces were last compared with these books, with no unknown transaction of it waiting to be mined.
  looked_at timestamptz,
  primary key (rail, wallet)
);

create table released_nonces (
  id          bigint      generated always as identity primary key,
  rail        text        not null,
  wallet      text        not null,
  nonce       bigint      not null,
  -- Whose it was, and why it was released.
  key         text        not null,
  why         text        not null,
  released_at timestamptz not null default clock_timestamp(),
  -- The send that has it since.
  taken_by    text
);
create unique index released_nonces_free on released_nonces (rail, wallet, nonce) where taken_by is null;

-- Transactions of our wallets found on a chain and unknown to chain_sends. Nothing more is sent to the same recipient in the
-- same asset until each is matched with a payout, refund or own transfer, or declared foreign.
create table found_movements (
  id          bigint        generated always as identity primary key,
  rail        text          not null references chains (rail),
  -- `hot`, or `deposit:<index>`.
  wallet      text          not null,
  -- One of the two suffices to find it: a used nonce, or a known hash.
  nonce       bigint,
  hash        text,
  -- unread: still to be read, or not final. open: read, and no row of ours matches uniquely. cancelled: an empty transfer of
  -- ours used the nonce.
  state       text          not null default 'unread' check (state in ('unread', 'open', 'adopted', 'foreign', 'cancelled')),
  -- Known from the signer's journal, perhaps before any block contains it: recipient, asset and units are then those signed.
  signed      boolean       not null default false,
  -- Two people have asked to use up the nonce by an empty transfer; the last fee offered for that, and when.
  cancel_at   timestamptz,
  cancel_fee  jsonb,
  cancel_sent_at timestamptz,
  -- How far the blocks were searched, if the node could not be asked by nonce.
  searched_to bigint,
  block       bigint,
  block_at    timestamptz,
  succeeded   boolean,
  cost_units  numeric(78,0),
  -- The call as made, and what it moved if it is a plain transfer.
  target      text,
  data        bytea,
  value       numeric(78,0),
  fee         jsonb,
  recipient   text,
  asset       text          references assets (code),
  units       numeric(78,0),
  -- What it turned out to be: a payout's id or the key of an own transfer.
  key         text,
  found_at    timestamptz   not null default clock_timestamp(),
  told_at     timestamptz,
  ended_at    timestamptz,
  check (num_nulls(nonce, hash) < 2),
  check (state = 'unread' or num_nulls(nonce, hash, block, block_at, succeeded, cost_units, target, data, value, fee) = 0),
  check ((state = 'adopted') = (key is not null)),
  check (signed or cancel_at is null),
  unique (rail, wallet, nonce),
  unique (rail, hash)
);
create index found_movements_waiting on found_movements (rail, wallet) where state in ('unread', 'open');

create table bank_cursors (
  rail    text        primary key,
  cursor  text        not null,
  read_at timestamptz not null,
  -- Up to which bank time its statement was read, per asset: {"inr": "2026-01-31T10:00:00.000Z"}.
  read_to jsonb       not null default '{}'
);

-- Statement lines as read, each once, even if the bank shows it twice.
create table bank_lines (
  rail         text          not null,
  external_id  text          not null,
  direction    text          not null check (direction in ('credit', 'debit')),
  asset        text          not null references assets (code),
  units        numeric(78,0) not null check (units > 0),
  -- Free text and the other party's account, encrypted: customers write names into references.
  details      bytea,
  -- What it was booked as; reconciliation sums by this.
  meaning      text          not null check (meaning in ('deposit', 'funding', 'return', 'payout', 'recall', 'unexplained')),
  -- The payout it belongs to, if the bank says so.
  key          text,
  -- What the bank charged in addition to a debit.
  charge_units numeric(78,0) not null default 0 check (charge_units >= 0),
  booked_at    timestamptz   not null,
  read_at      timestamptz   not null,
  -- An unexplained debit that two people have declared not to have paid any payout of ours.
  foreign_at   timestamptz,
  primary key (rail, external_id)
);
create index bank_lines_key on bank_lines (rail, key) where key is not null;
create index bank_lines_unexplained on bank_lines (rail, asset, units) where meaning = 'unexplained' and foreign_at is null;

-- Lines that could not be booked (no amount, another currency, changed since we booked it): each reported once.
create table bank_odd_lines (
  rail        text        not null,
  external_id text        not null,
  -- Hash of the line's content, so that a line that changes again is reported again.
  content     bytea       not null,
  why         text        not null,
  details     bytea       not null,
  read_at     timestamptz not null,
  primary key (rail, external_id, content)
);

grant select on payouts, deposit_addresses, gas_prices, chains to cloverleaf_partner;
grant insert (rail, address, index, order_id, partner_id, made_at) on deposit_addresses to cloverleaf_partner;
grant usage on sequence deposit_indexes to cloverleaf_partner;
grant select, insert, update on payouts, gas_prices, chains, chain_deposits, native_balances, chain_nonces, released_nonces,
  bank_cursors, bank_lines, bank_odd_lines to cloverleaf_system;
grant select, insert on deposit_addresses to cloverleaf_system;
grant select, insert, update, delete on chain_blocks, chain_credits, funding_sources, chain_sends,
  found_movements to cloverleaf_system;
grant select, update, usage on sequence deposit_indexes to cloverleaf_system;
