-- Accounts, entries of transfers, holds, and the seals that show when an entry was changed.
--
-- A transfer has one debit account, one credit account, one asset and an amount above zero, so an unbalanced entry cannot be
-- expressed. (account, asset) is a foreign key, so no transfer crosses assets. A check on the running balance rejects an
-- overdraft. Entries and transfers are never updated or deleted.

set search_path = cloverleaf;

create table assets (
  code     text     primary key,
  kind     text     not null check (kind in ('crypto', 'fiat')),
  -- The coin's usual name: usdc, inr. Several assets share a coin, one per chain.
  coin     text     not null,
  chain    text,
  -- Lower-case contract address; null for a chain's native coin and for fiat.
  contract text,
  decimals smallint not null check (decimals between 0 and 36),
  native   boolean  not null default false,
  check ((kind = 'crypto') = (chain is not null)),
  unique (chain, contract)
);

create table accounts (
  id           bigint        generated always as identity primary key,
  code         text          not null unique,
  kind         text          not null,
  asset        text          not null references assets (code),
  -- The side of its balance; 'either' for positions that may be long or short.
  side         text          not null check (side in ('debit', 'credit', 'either')),
  order_id     bigint,
  partner_id   bigint,
  debits       numeric(78,0) not null default 0,
  credits      numeric(78,0) not null default 0,
  debits_held  numeric(78,0) not null default 0,
  credits_held numeric(78,0) not null default 0,
  unique (id, asset),
  constraint no_overdraft check ( debits >= 0 and credits >= 0 and debits_held >= 0 and credits_held >= 0 and case side when 'debit' then debits >= credits + credits_held when 'credit' then credits >= debits + debits_held else true end)
);
create index accounts_order on accounts (order_id) where order_id is not null;
create index accounts_kind on accounts (kind, asset);

create table entries (
  -- The cause, such as ord_17:receive. Posting the same cause twice finds it here and does nothing.
  id         text        primary key,
  seq        bigint      generated always as identity unique,
  kind       text        not null,
  order_id   bigint,
  -- Hash of what was posted: the same id with other content is a bug, not a duplicate.
  content    bytea       not null,
  at         timestamptz not null,
  facts      jsonb       not null default '{}',
  -- The transaction that wrote it: an entry is sealed only when no older transaction can still commit one before it.
  written_in xid8        not null default pg_current_xact_id()
);
create index entries_order on entries (order_id, seq) where order_id is not null;
create trigger append_only before update or delete on entries for each row execute function refuse_change();
create trigger no_truncate before truncate on entries for each statement execute function refuse_change();
-- For the entries since an instant: the balances at that instant are today's minus what was posted since.
create index entries_at on entries (at, seq);

create table transfers (
  entry  text          not null references entries (id),
  line   smallint      not null,
  debit  bigint        not null,
  credit bigint        not null,
  asset  text          not null,
  units  numeric(78,0) not null check (units > 0),
  -- A line of a hold changes what is held; it moves nothing until it is settled.
  step   text          not null check (step in ('post', 'hold', 'settle', 'void')),
  hold   text,
  primary key (entry, line),
  foreign key (debit, asset) references accounts (id, asset),
  foreign key (credit, asset) references accounts (id, asset),
  check (debit <> credit),
  check ((step = 'post') = (hold is null))
);
create index transfers_debit on transfers (debit);
create index transfers_credit on transfers (credit);
create trigger append_only before update or delete on transfers for each row execute function refuse_change();
create trigger no_truncate before truncate on transfers for each statement execute function refuse_change();

create table holds (
  id     text          primary key,
  debit  bigint        not null,
  credit bigint        not null,
  asset  text          not null,
  units  numeric(78,0) not null check (units > 0),
  state  text          not null default 'held' check (state in ('held', 'settled', 'voided')),
  foreign key (debit, asset) references accounts (id, asset),
  foreign key (credit, asset) references accounts (id, asset)
);

-- Committed entries, sealed afterwards in batches, each hash over the previous one: nobody waits for it.
create table seals (
  number    bigint      primary key,
  first_seq bigint      not null,
  last_seq  bigint      not null,
  entries   integer     not null check (entries > 0),
  previous  bytea       not null,
  hash      bytea       not null,
  sealed_at timestamptz not null
);
create trigger append_only before update or delete on seals for each row execute function refuse_change();

create table sealed_entries (
  entry_seq bigint  primary key references entries (seq),
  seal      bigint  not null references seals (number),
  position  integer not null,
  unique (seal, position)
);
create trigger append_only before update or delete on sealed_entries for each row execute function refuse_change();

grant select on assets to cloverleaf_partner;
grant select, insert, update on assets, accounts, holds to cloverleaf_system;
grant select, insert on entries, transfers, seals, sealed_entries to cloverleaf_system;
