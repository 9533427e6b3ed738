-- Operators, their tokens, rules for how many people an action takes, proposals, and the audit.
--
-- No partner may read any of it. The audit stores operators' names as they were, so a row never changes its meaning. The
-- audit is sealed into a chain of hashes (src/operators/seals.ts).

set search_path = cloverleaf;

create table operators (
  id          bigint      generated always as identity primary key,
  name        text        not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{1,39}$'),
  role        text        not null check (role in ('viewer', 'night', 'support', 'finance', 'admin')),
  created_at  timestamptz not null,
  disabled_at timestamptz
);

-- A token is 256 random bits, shown once; only its SHA-256 is stored. It cannot be guessed, so a slow hash is unnecessary.
create table operator_tokens (
  id           bigint      generated always as identity primary key,
  operator_id  bigint      not null references operators (id),
  hash         bytea       not null unique,
  label        text        not null,
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);
create index operator_tokens_operator on operator_tokens (operator_id);

-- Whether this installation has one operator or several, as its servers declare it at start.
create table installation (
  only_row  boolean primary key default true check (only_row),
  operators text    not null default 'two' check (operators in ('one', 'two')),
  -- With one operator: how long a proposal waits before its own proposer may confirm it.
  delay_s   integer not null default 86400 check (delay_s >= 0)
);

-- A rule. The most specific matching one decides: by action, then right, then asset. An action without a matching rule takes
-- two.
create table people_rules (
  -- An action (`order.release`), a family (`order.*`), or `*`.
  action      text          not null check (action ~ '^(\*|[a-z][a-z-]*\.(\*|[a-z][a-z_-]*))$'),
  for_right   text          not null check (for_right ~ '^(\*|[a-z]+)$'),
  -- `*` is every asset, and actions without an amount. Amounts of several assets cannot be added, so it has no limit.
  asset       text          not null,
  above_units numeric(78,0) not null check (above_units >= 0),
  people      smallint      not null check (people between 1 and 3),
  check (asset <> '*' or above_units = 0),
  primary key (action, for_right, asset, above_units)
);

-- What a person did without another, in the last day and before. One subject counts once: its money leaves once.
create table alone_amounts (
  id          bigint        generated always as identity primary key,
  operator_id bigint        not null references operators (id),
  at          timestamptz   not null,
  -- By the database's clock: a server whose clock steps ahead must not drop anything.
  recorded_at timestamptz   not null default clock_timestamp(),
  action      text          not null,
  for_right   text          not null,
  subject     text          not null,
  asset       text          not null references assets (code),
  units       numeric(78,0) not null check (units >= 0)
);
create index alone_amounts_person on alone_amounts (operator_id, asset, recorded_at);
create trigger append_only before update or delete on alone_amounts for each row execute function refuse_change();
create trigger no_truncate before truncate on alone_amounts for each statement execute function refuse_change();

-- An action that waits for another operator. `seen` is its subject's state at the time of the proposal.
create table proposals (
  id          bigint      generated always as identity primary key,
  action         text        not null,
  subject     text        not null,
  input       jsonb       not null,
  seen        jsonb,
  reason      text        not null,
  proposed_by bigint      not null references operators (id),
  proposed_at timestamptz not null,
  expires_at  timestamptz not null,
  state       text        not null default 'open' check (state in ('open', 'confirmed', 'declined', 'overtaken', 'expired', 'failed')),
  decided_by  bigint      references operators (id),
  decided_at  timestamptz,
  people      smallint    not null default 2 check (people between 2 and 3),
  -- With one operator: from when its own proposer may confirm it.
  ready_at    timestamptz,
  delay_s     integer     check (delay_s >= 0),
  recorded_at timestamptz not null default clock_timestamp(),
  failed_why  text,
  check ((state in ('confirmed', 'declined')) <= (decided_by is not null)),
  constraint proposals_failed check ((state = 'failed') = (failed_why is not null)),
  constraint proposals_delayed check (num_nulls(ready_at, delay_s) in (0, 2)),
  -- One person cannot act as two; with a single operator the delay replaces the second.
  constraint proposals_others check (state <> 'confirmed' or decided_by <> proposed_by or ready_at is not null)
);
create unique index proposals_open on proposals (action, subject) where state = 'open';

-- Who confirmed besides the proposer, when more than one other person is required.
create table proposal_approvals (
  proposal_id bigint      not null references proposals (id),
  operator_id bigint      not null references operators (id),
  at          timestamptz not null,
  reason      text        not null check (length(reason) between 1 and 8000),
  primary key (proposal_id, operator_id)
);
create trigger append_only before update or delete on proposal_approvals for each row execute function refuse_change();
create trigger no_truncate before truncate on proposal_approvals for each statement execute function refuse_change();

create table audit (
  id         bigint      generated always as identity primary key,
  at         timestamptz not null,
  operator   text        not null,
  role       text        not null,
  address    text        not null,
  action        text        not null,
  subject    text        not null,
  reason     text        not null check (length(reason) between 1 and 8000),
  -- `begun` stands alone for an action that calls outside; its end is a separate row.
  outcome    text        not null check (outcome in ('done', 'begun', 'proposed', 'agreed', 'confirmed', 'declined', 'overtaken', 'refused', 'failed')),
  proposal   bigint      references proposals (id),
  before     jsonb,
  after      jsonb,
  -- The transaction that wrote it: a row is sealed only when no older transaction can still commit one before it.
  written_in xid8        not null default pg_current_xact_id()
);
create index audit_subject on audit (subject, id);
create index audit_operator on audit (operator, id);
create trigger append_only before update or delete on audit for each row execute function refuse_change();
create trigger no_truncate before truncate on audit for each statement execute function refuse_change();
-- "Who did what in March."
create index audit_at on audit (at, id);

-- Committed rows of the audit, sealed afterwards in batches like the journal's entries (operators/seals.ts).
create table audit_seals (
  number    bigint      primary key,
  last_id   bigint      not null,
  rows      integer     not null check (rows > 0),
  previous  bytea       not null,
  hash      bytea       not null,
  sealed_at timestamptz not null
);
create trigger append_only before update or delete on audit_seals for each row execute function refuse_change();
create trigger no_truncate before truncate on audit_seals for each statement execute function refuse_change();

create table sealed_audit (
  audit_id bigint  primary key references audit (id),
  seal     bigint  not null references audit_seals (number),
  position integer not null,
  -- Hash of the row as it was sealed, so that a changed row is identified.
  content  bytea   not null,
  unique (seal, position)
);
create trigger append_only before update or delete on sealed_audit for each row execute function refuse_change();
create trigger no_truncate before truncate on sealed_audit for each statement execute function refuse_change();

insert into installation default values;

grant select, insert, update on operators, operator_tokens, installation, proposals to cloverleaf_system;
grant select, insert, update, delete on people_rules to cloverleaf_system;
grant select, insert on alone_amounts, proposal_approvals, audit, audit_seals, sealed_audit to cloverleaf_system;
