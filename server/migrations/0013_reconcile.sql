-- Reconciliation: what the outside shows, item by item, beside what the ledger booked, and what differs.
--
-- The outside is read again and kept here apart from the copies that rails work with, so what a rail has missed or misread is found.
-- A name is the outside's own (`<chain transaction>:<position>`, a statement line's id). A key is what both sides know a group by: a
-- payout's id, or the name itself.

set search_path = cloverleaf;

-- How far each rail has been asked. A full run begins again from the beginning under the next number.
create table reconcile_rails (
  rail         text        primary key,
  position     text        not null default '',
  -- Time of the outside at that position; what was booked later may not be visible there yet.
  position_at  timestamptz,
  run          integer     not null default 1,
  -- When the run under way began, and when one last went through to the end.
  run_began_at timestamptz not null default clock_timestamp(),
  run_ended_at timestamptz,
  -- The seals whose entries have been taken.
  seal         bigint      not null default 0,
  compared_at  timestamptz,
  -- Why it could not be compared, last time; null when it could.
  failed_why   text
);

create table outside_movements (
  rail    text          not null,
  name    text          not null,
  wallet  text          not null,
  asset   text          not null references assets (code),
  -- Signed: above zero came in.
  units   numeric(78,0) not null,
  -- Which address of the wallet, where its balance is reckoned with by itself; else ''.
  place   text          not null default '',
  key     text          not null,
  -- The last run that was shown it, and since when it is no longer shown.
  run     integer       not null,
  gone_at timestamptz,
  -- What it was before the outside changed it.
  before  numeric(78,0),
  seen_at timestamptz   not null default clock_timestamp(),
  -- Its key has not been found equal on both sides since it changed.
  open    boolean       not null default true,
  primary key (rail, name, wallet, asset, place)
);
create index outside_movements_key on outside_movements (rail, key);
create index outside_movements_open on outside_movements (rail) where open;
create index outside_movements_run on outside_movements (rail, run) where gone_at is null;

create table booked_movements (
  entry   text          not null,
  line    smallint      not null,
  rail    text          not null,
  wallet  text          not null,
  asset   text          not null references assets (code),
  units   numeric(78,0) not null,
  -- What the entry calls it, and the key it has by that.
  name    text          not null,
  key     text          not null,
  seen_at timestamptz   not null default clock_timestamp(),
  open    boolean       not null default true,
  -- One line may lead from one of our wallets to another.
  primary key (entry, line, wallet)
);
create index booked_movements_key on booked_movements (rail, key);
create index booked_movements_name on booked_movements (rail, name);
create index booked_movements_open on booked_movements (rail) where open;

-- Running sums of the two tables above, so that comparing costs what has changed.
create table reconcile_sums (
  rail          text          not null,
  wallet        text          not null,
  place         text          not null,
  asset         text          not null references assets (code),
  outside_units numeric(78,0) not null default 0,
  booked_units  numeric(78,0) not null default 0,
  primary key (rail, wallet, place, asset)
);

-- What the last comparison said of each wallet.
create table reconcile_balances (
  rail          text          not null,
  wallet        text          not null,
  asset         text          not null references assets (code),
  ledger_units  numeric(78,0) not null,
  -- Null where the outside could not be asked this time.
  outside_units numeric(78,0),
  transit_units numeric(78,0) not null,
  position      text          not null,
  compared_at   timestamptz   not null,
  primary key (rail, wallet, asset)
);

-- What does not fit. In transit with a reason, or a break with a case; closed when a later comparison finds it gone.
create table reconcile_items (
  id            bigint        generated always as identity primary key,
  rail          text          not null,
  wallet        text          not null,
  asset         text          not null references assets (code),
  key           text          not null,
  kind          text          not null check (kind in ('break_missing_in_ledger', 'break_missing_outside', 'break_amount', 'break_balance')),
  outside_units numeric(78,0) not null,
  ledger_units  numeric(78,0) not null,
  -- Null: a break.
  transit       text,
  why           text          not null,
  -- Names outside and ids of entries.
  names         jsonb         not null,
  found_at      timestamptz   not null default clock_timestamp(),
  closed_at     timestamptz
);
create unique index reconcile_items_open on reconcile_items (rail, wallet, asset, key) where closed_at is null;

grant select, insert, update on reconcile_rails, outside_movements, booked_movements, reconcile_sums, reconcile_balances,
  reconcile_items to cloverleaf_system;
