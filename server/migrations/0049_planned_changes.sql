-- Changes of terms that operators have decided and that take effect later: fees, terms and limits of markets, caps, policies, limits of
-- customers. They wait here and touch no term before their time, so whoever reads terms reads what it always did. A server of the
-- version before has no job for them: they take effect when one of this version runs.

set search_path = cloverleaf;

create table planned_changes (
  id           bigint      generated always as identity primary key,
  -- An action of the operator API with its fields, except its time.
  action       text        not null,
  subject      text        not null,
  input        jsonb       not null,
  effective_at timestamptz not null,
  -- Everyone who decided it, the proposer first.
  people       text[]      not null check (cardinality(people) > 0),
  planned_by   bigint      not null references operators (id),
  proposal_id  bigint      references proposals (id),
  -- As its operators typed it: encrypted.
  reason       text        not null check (length(reason) between 1 and 8000),
  planned_at   timestamptz not null,
  state        text        not null default 'planned' check (state in ('planned', 'done', 'withdrawn', 'failed')),
  ended_at     timestamptz,
  -- Who withdrew it.
  ended_by     text,
  -- Why it failed: the code of the refusal.
  failed_why   text,
  check ((state = 'planned') = (ended_at is null)),
  check ((state = 'withdrawn') = (ended_by is not null)),
  check ((state = 'failed') = (failed_why is not null))
);
create index planned_changes_waiting on planned_changes (effective_at, id) where state = 'planned';
create index planned_changes_subject on planned_changes (subject, id);
create trigger append_only before delete on planned_changes for each row execute function refuse_change();
create trigger no_truncate before truncate on planned_changes for each statement execute function refuse_change();

grant select, insert, update (state, ended_at, ended_by, failed_why) on planned_changes to cloverleaf_system;

-- A decision that takes effect later is 'planned'; the row of its effect is the machine's. The rows that are there met a narrower
-- check: they are not read again, which would hold up every action of an operator meanwhile.
alter table audit drop constraint audit_outcome_check;
alter table audit add constraint audit_outcome_check
  check (outcome in ('done', 'begun', 'proposed', 'agreed', 'confirmed', 'declined', 'overtaken', 'refused', 'failed', 'planned')) not valid;
