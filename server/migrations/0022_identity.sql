-- Identity: the forms that customers fill in to be verified, and what programs submit by them.

set search_path = cloverleaf;

-- Forms as data. The newest effective row for a customer applies, the most specific first; without one, the default of the
-- server does. A row never changes: a submission names the form that it was checked by.
create table requirement_forms (
  id           bigint      generated always as identity primary key,
  kind         text        not null check (kind in ('INDIVIDUAL', 'BUSINESS')),
  -- Null: any.
  fiat         text        references assets (code),
  country      text        check (country ~ '^[A-Z]{2}$'),
  -- The form asks for enough for this level; null: for any.
  level        smallint    check (level between 1 and 5),
  version      integer     not null check (version > 0),
  -- Shown unchanged, in its original order.
  form         json        not null check (json_typeof(form) = 'object'),
  -- Whether one of the documents is needed, or may be left out.
  needs_document boolean   not null default false,
  effective_at timestamptz not null,
  set_by       text        not null,
  set_at       timestamptz not null,
  unique nulls not distinct (kind, fiat, country, level, version)
);
create trigger append_only before update or delete on requirement_forms for each row execute function refuse_change();

-- What a program has submitted of a customer, in parts. The answers are encrypted; reasons are codes by field,
-- which name nobody.
create table submissions (
  id              bigint      primary key,
  partner_id      bigint      not null references partners (id),
  customer_id     text        not null references customers (id),
  kind            text        not null check (kind in ('INDIVIDUAL', 'BUSINESS')),
  -- The form it is checked by; null: the default, or a partner's own.
  form_id         bigint      references requirement_forms (id),
  -- `open`: something is missing or must be corrected. `in_review`: the verifier has it.
  state           text        not null check (state in ('open', 'in_review', 'completed', 'failed')),
  answers         bytea       not null,
  reasons         jsonb       not null default '{}' check (jsonb_typeof(reasons) = 'object'),
  -- The version of customer_details that the verifier checks; null before.
  details_version integer     check (details_version > 0),
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  check (state <> 'in_review' or details_version is not null)
);
-- Of two at once, one is told.
create unique index submissions_under_way on submissions (customer_id) where state in ('open', 'in_review');
create index submissions_customer on submissions (customer_id, id);
call protect('submissions');

grant select on requirement_forms to cloverleaf_partner;
grant select, insert (kind, fiat, country, level, version, form, needs_document, effective_at, set_by, set_at)
  on requirement_forms to cloverleaf_system;
grant select, insert (id, partner_id, customer_id, kind, form_id, state, answers, reasons, details_version, created_at,
  updated_at) on submissions to cloverleaf_partner;
grant update (state, answers, reasons, details_version, updated_at) on submissions to cloverleaf_partner;
grant select, update on submissions to cloverleaf_system;
