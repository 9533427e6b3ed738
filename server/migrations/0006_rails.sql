-- What rails are not allowed to remember themselves: cursors, blocks, addresses, signed transactions, statement lines.

set search_path = cloverleaf;

-- Indexes below an extended public key: never used twice, a gap is harmless.
create sequence deposit_indexes as bigint minvalue 0 start 0;

-- Which addresses to watch. An address belongs to one order for good.
create table deposit_addresses (
  rail       text not null,
  address    text not null,
  index      bigint not null,
  order_id   bigint not null references orders (id),
  partner_id bigint not null references partners (id),
  made_at    timestamptz not null,
  primary key (rail, address),
  unique (rail, index)
);
create index deposit_addresses_order on deposit_addresses (order_id);
call protect('deposit_addresses');

create table chains (
  rail         text primary key,
  chain        text not null,
  -- Which chain this is: noted at the first look, and a node that says otherwise is not listened to.
  chain_id     numeric(78,0),
  genesis_hash text,
  -- Blocks below the head that can no longer change, as far as we rely on it.
  finality     integer not null check (finality > 0),
  -- Set when something happened that a person must look at first: a reorg deeper than finality.
  stopped_why  text,
  -- The oldest block kept, which no reorg may replace; -1 before the first look.
  finalized    bigint not null default -1,
  head_number  bigint,
  head_hash    text,
  head_at      timestamptz,
  checked_at   timestamptz
);

-- The blocks above finality, linked by parent hash; older ones are pruned.
create table chain_blocks (
  rail        text not null references chains (rail),
  number      bigint not null,
  hash        text not null,
  parent_hash text not null,
  at          timestamptz not null,
  primary key (rail, number)
);

-- Transfers of listed tokens to deposit addresses, as the chain has them now. What was reported of each stands here, so
-- that seen, confirmed and reversed are each said once, whatever is restarted or mined again.
create table chain_deposits (
  rail         text not null references chains (rail),
  external_id  text not null,
  tx_hash      text not null,
  asset        text not null references assets (code),
  units        numeric(78,0) not null check (units > 0),
  address      text not null,
  block        bigint not null,
  block_hash   text not null,
  -- Its block left the chain, and the new branch has not yet been read to its end.
  adrift       boolean not null default false,
  seen_at      timestamptz not null,
  confirmed_at timestamptz,
  reversed_at  timestamptz,
  primary key (rail, external_id)
);
create index chain_deposits_block on chain_deposits (rail, block);
create index chain_deposits_open on chain_deposits (rail) where reversed_at is null and (confirmed_at is null or adrift);

-- Native coin found at a deposit address by balance, so that only the increase is booked.
create table native_balances (
  rail        text not null,
  address     text not null,
  units       numeric(78,0) not null,
  block       bigint not null,
  primary key (rail, address)
);

-- Transfers that left or are to leave one of our wallets. Bytes and nonce are here before anything is broadcast.
create table chain_sends (
  id          bigint generated always as identity primary key,
  rail        text not null references chains (rail),
  wallet      text not null,
  nonce       bigint not null,
  -- What it is for: the payout's id, or sandbox:… for money of a simulated customer.
  key         text not null,
  version     integer not null default 1,
  -- Recipient contract or account, call data and value: what every version of it must share.
  target      text not null,
  data        bytea not null,
  value       numeric(78,0) not null,
  -- What it pays, for the confirmations it needs.
  asset       text not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  -- What this version offers the chain, in the adapter's words; a bump starts from it.
  fee         jsonb,
  -- Null while the nonce is reserved and the signature still to be made.
  hash        text,
  raw         bytea,
  state       text not null default 'reserved' check (state in ('reserved', 'signed', 'mined', 'confirmed', 'failed', 'replaced')),
  block       bigint,
  -- Native units it cost, once mined.
  cost_units  numeric(78,0),
  why         text,
  reserved_at timestamptz not null,
  broadcast_at timestamptz,
  -- When its outcome was first said: a reorg above finality may make it be mined, and ended, once more.
  reported_at timestamptz,
  -- A version that was never signed may yet be replaced by the one before it, when that is mined first.
  check (raw is not null or state in ('reserved', 'replaced')),
  unique (rail, key, version),
  unique (rail, wallet, nonce, version),
  unique (rail, hash)
);
create index chain_sends_open on chain_sends (rail, id) where state in ('reserved', 'signed', 'mined');

-- Next nonce of each wallet; the row is locked while one is taken.
create table chain_nonces (
  rail   text not null,
  wallet text not null,
  next   bigint not null,
  primary key (rail, wallet)
);

create table bank_cursors (
  rail       text primary key,
  cursor     text not null,
  read_at    timestamptz not null
);

-- Statement lines as read, each once, whatever the bank shows twice.
create table bank_lines (
  rail        text not null,
  external_id text not null,
  direction   text not null check (direction in ('credit', 'debit')),
  asset       text not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  -- Free text and the other party's account, sealed: customers write names into references.
  details     bytea,
  -- What we took it for; reconciliation sums by this.
  meaning     text not null check (meaning in ('deposit', 'funding', 'return', 'payout', 'recall', 'unexplained')),
  -- The payout it belongs to, where the bank says so.
  key         text,
  -- What the bank charged on top of a debit.
  charge_units numeric(78,0) not null default 0 check (charge_units >= 0),
  booked_at   timestamptz not null,
  read_at     timestamptz not null,
  primary key (rail, external_id)
);
create index bank_lines_key on bank_lines (rail, key) where key is not null;

-- Lines that could not be taken (no amount, another currency, changed since we booked it): each told to a person once.
create table bank_odd_lines (
  rail        text not null,
  external_id text not null,
  -- Hash of what the line said, so that a line which changes again is told again.
  content     bytea not null,
  why         text not null,
  details     bytea not null,
  read_at     timestamptz not null,
  primary key (rail, external_id, content)
);

grant usage on sequence deposit_indexes to cloverleaf_partner, cloverleaf_system;
grant select, insert on deposit_addresses to cloverleaf_partner, cloverleaf_system;
grant select on chains to cloverleaf_partner;
grant select, insert, update on chains, chain_deposits, native_balances, chain_sends, chain_nonces, bank_cursors, bank_lines, bank_odd_lines to cloverleaf_system;
grant select, insert, update, delete on chain_blocks to cloverleaf_system;
