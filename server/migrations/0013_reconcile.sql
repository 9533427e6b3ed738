-- Reconciliation: what the outside shows, item by item, beside what the ledger booked, and the differences.
--
-- The outside is read again and stored separately from the rails' own copies, so that what a rail has missed or misread is
-- found. A name is the outside's own (`<chain transaction>:<position>`, a statement line's id). A key identifies a group on
-- both sides: a payout's id, or the name itself.

set search_path = cloverleaf;

-- How far each rail has been read. A full run starts from the beginning under the next number.
create table reconcile_rails (
  rail         text        primary key,
  position     text        not null default '',
  -- The outside's time at that position; what was booked later may not be visible there yet.
  position_at  timestamptz,
  run          integer     not null default 1,
  -- When the current run began, and when one was last completed.
  run_began_at timestamptz not null default clock_timestamp(),
  run_ended_at timestamptz,
  -- Up to which seal the entries have been read.
  seal         bigint      not null default 0,
  compared_at  timestamptz,
  -- Why the last comparison failed; null when it succeeded.
  failed_why   text
);

create table outside_movements (
  rail    text          not null,
  name    text          not null,
  wallet  text          not null,
  asset   text          not null references assets (code),
  -- Signed: positive is incoming.
  units   numeric(78,0) not null,
  -- The wallet's address, if its balance is reconciled separately; else ''.
  place   text          not null default '',
  key     text          not null,
  -- The last run that showed it, and since when it is no longer shown.
  run     integer       not null,
  gone_at timestamptz,
  -- Its amount before the outside changed it.
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
  -- The entry's name for it, and the resulting key.
  name    text          not null,
  key     text          not null,
  seen_at timestamptz   not null default clock_timestamp(),
  open    boolean       not null default true,
  -- One line may go from one of our wallets to another.
  primary key (entry, line, wallet)
);
create index booked_movements_key on booked_movements (rail, key);
create index booked_movements_name on booked_movements (rail, name);
create index booked_movements_open on booked_movements (rail) where open;

-- Running sums of the two tables above, so that a comparison costs as much as has changed.
create table reconcile_sums (
  rail          text          not null,
  wallet        text          not null,
  place         text          not null,
  asset         text          not null references assets (code),
  outside_units numeric(78,0) not null default 0,
  booked_units  numeric(78,0) not null default 0,
  primary key (rail, wallet, place, asset)
);

-- The last comparison's result for each wallet.
create table reconcile_balances (
  rail          text          not null,
  wallet        text          not null,
  asset         text          not null references assets (code),
  ledger_units  numeric(78,0) not null,
  -- Null when the outside could not be read this time.
  outside_units numeric(78,0),
  transit_units numeric(78,0) not null,
  position      text          not null,
  compared_at   timestamptz   not null,
  primary key (rail, wallet, asset)
);

-- Items that do not agree. In transit with a reason, or a break with a case; closed when a later comparison no longer finds
-- them.
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
  -- Outside names and entry ids.
  names         jsonb         not null,
  found_at      timestamptz   not null default clock_timestamp(),
  closed_at     timestamptz
);
create unique index reconcile_items_open on reconcile_items (rail, wallet, asset, key) where closed_at is null;

grant select, insert, update on reconcile_rails, outside_movements, booked_movements, reconcile_sums, reconcile_balances,
  reconcile_items to cloverleaf_system;
