-- Breaking: a server of the version before would give a partner's form to every partner, and reads the table that is dropped.
--
-- A partner's own form of verification is a form like every other: a row with a version and a time from which it is effective, which
-- never changes and was checked when it was saved. Until now it was one row that was overwritten and that no action could set.

set search_path = cloverleaf;

-- Null: of every partner.
alter table requirement_forms add column partner_id bigint references partners (id);
alter table requirement_forms drop constraint requirement_forms_kind_fiat_country_level_version_key;
alter table requirement_forms add constraint requirement_forms_scope
  unique nulls not distinct (partner_id, kind, fiat, country, level, version);

alter table requirement_forms enable row level security;
create policy own_rows on requirement_forms to cloverleaf_partner
  using (partner_id is null or partner_id = cloverleaf.current_partner());
create policy all_rows on requirement_forms to cloverleaf_system using (true);
grant insert (partner_id) on requirement_forms to cloverleaf_system;

insert into requirement_forms (partner_id, kind, version, form, needs_document, effective_at, set_by, set_at)
  select partner_id, 'BUSINESS', 1, requirements, false, set_at, 'before forms had partners', set_at from kyb_requirements;
drop table kyb_requirements;
