-- The manual bank: payouts leave as files that a person uploads, statements arrive as files that a person downloads.
--
-- A file can be uploaded twice by mistake, and the bank would pay twice. So the file of each payout is fixed permanently, the
-- bytes of a file are stored (encrypted) and never created again, and only the columns that may change can be updated.

set search_path = cloverleaf;

-- Numbers of files: they are part of the file itself, so they are drawn before it is written.
create sequence manual_batch_ids as bigint;

create table manual_batches (
  id            bigint        primary key,
  rail          text          not null,
  asset         text          not null references assets (code),
  format        text          not null check (format in ('csv', 'pain.001.001.09')),
  payouts       integer       not null check (payouts > 0),
  units         numeric(78,0) not null check (units > 0),
  -- The file as downloaded, encrypted: it contains names and accounts.
  content       bytea         not null,
  sha256        bytea         not null,
  closed_at     timestamptz   not null,
  closed_by     text          not null,
  -- A person states that it was not uploaded, and how they know.
  withdrawn_at  timestamptz,
  withdrawn_by  text,
  withdrawn_why text,
  check (num_nulls(withdrawn_at, withdrawn_by, withdrawn_why) in (0, 3))
);

create table manual_payouts (
  rail        text          not null,
  key         text          not null,
  -- The key as the bank carries it: no underscores, at most 35 characters.
  end_to_end  text          not null check (length(end_to_end) between 1 and 35),
  asset       text          not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  -- Name and account of the payee, encrypted.
  details     bytea         not null,
  listed_at   timestamptz   not null,
  batch_id    bigint        references manual_batches (id),
  rejected_at  timestamptz,
  rejected_why text,
  check (num_nulls(rejected_at, rejected_why) in (0, 2)),
  primary key (rail, key),
  unique (rail, end_to_end)
);
create index manual_payouts_waiting on manual_payouts (rail, asset, listed_at, key) where batch_id is null and rejected_at is null;
create index manual_payouts_batch on manual_payouts (batch_id, key) where batch_id is not null;

create function refuse_second_batch() returns trigger
language plpgsql as $$
begin
  raise exception 'payout % is in file % already', old.key, old.batch_id using errcode = 'restrict_violation';
end $$;
create trigger one_batch before update on manual_payouts
  for each row when (old.batch_id is not null and new.batch_id is distinct from old.batch_id)
  execute function refuse_second_batch();

-- Files that were taken in, each once.
create table manual_imports (
  id          bigint      generated always as identity primary key,
  rail        text        not null,
  asset       text        not null references assets (code),
  format      text        not null check (format in ('csv', 'camt.053')),
  sha256      bytea       not null,
  bytes       integer     not null,
  lines       integer     not null,
  new_lines   integer     not null,
  imported_at timestamptz not null,
  imported_by text        not null,
  unique (rail, asset, sha256)
);

create table manual_statements (
  id            bigint        generated always as identity primary key,
  rail          text          not null,
  asset         text          not null references assets (code),
  import_id     bigint        not null references manual_imports (id),
  -- Hash of the bank's own id of it, which may contain an account number.
  identity      bytea         not null,
  sequence      numeric(78,0),
  from_on       date          not null,
  to_on         date          not null,
  -- The last of its days that it covers: a day that had not come when it was taken in may still get lines.
  stands_to     date          not null,
  -- Null when the file carries no balances. An overdrawn account is negative.
  opening_units numeric(78,0),
  closing_units numeric(78,0),
  check (num_nulls(opening_units, closing_units) in (0, 2)),
  check (from_on <= to_on),
  check (stands_to <= to_on),
  unique (rail, asset, identity)
);
create index manual_statements_newest on manual_statements (rail, asset, stands_to desc, sequence desc nulls last, id desc);

-- Lines in the order they were taken in, which is the order in which the bank engine reads them. Imports of one rail are
-- serialized, so a smaller seq never appears after a larger one.
create table manual_lines (
  seq          bigint        generated always as identity primary key,
  rail         text          not null,
  external_id  text          not null,
  asset        text          not null references assets (code),
  statement_id bigint        not null references manual_statements (id),
  direction    text          not null check (direction in ('credit', 'debit')),
  units        numeric(78,0) not null check (units > 0),
  charge_units numeric(78,0) not null default 0 check (charge_units >= 0),
  booked_on    date          not null,
  -- Blind index of the reference that a payment keeps when it is returned or reversed.
  relation     bytea,
  -- References, text and the other party, encrypted.
  content      bytea         not null,
  unique (rail, external_id)
);
create index manual_lines_rail on manual_lines (rail, seq);
create index manual_lines_span on manual_lines (rail, asset, booked_on, seq);
create index manual_lines_relation on manual_lines (rail, relation) where relation is not null;

-- Two people have confirmed that a bank's statements show every file that was uploaded before the restore.
create table confirmed_restores (
  rail         text        not null,
  restored_at  timestamptz not null,
  confirmed_by text        not null,
  why          text        not null,
  confirmed_at timestamptz not null,
  primary key (rail, restored_at)
);

grant select, insert on manual_batches, manual_payouts, manual_imports, manual_statements, manual_lines,
  confirmed_restores to cloverleaf_system;
grant update (withdrawn_at, withdrawn_by, withdrawn_why) on manual_batches to cloverleaf_system;
grant update (batch_id, rejected_at, rejected_why) on manual_payouts to cloverleaf_system;
grant usage on sequence manual_batch_ids to cloverleaf_system;
