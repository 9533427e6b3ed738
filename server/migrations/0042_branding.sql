-- How a partner appears to customers on hosted pages. A row has only what the partner has set.

set search_path = cloverleaf;

create table partner_branding (
  partner_id   bigint      primary key references partners (id),
  display_name text        check (length(display_name) between 1 and 60),
  accent       text        check (accent ~ '^#[0-9a-f]{6}$'),
  accent_dark  text        check (accent_dark ~ '^#[0-9a-f]{6}$'),
  -- A PNG that this server has drawn itself, and its SHA-256: the path under which it is served.
  logo         bytea       check (length(logo) <= 524288),
  logo_hash    text        check (logo_hash ~ '^[0-9a-f]{64}$'),
  logo_width   integer     check (logo_width between 1 and 480),
  logo_height  integer     check (logo_height between 1 and 144),
  changed_at   timestamptz not null,
  check (num_nonnulls(logo, logo_hash, logo_width, logo_height) in (0, 4))
);
call protect('partner_branding');
create index partner_branding_logo on partner_branding (logo_hash) where logo_hash is not null;

grant select on partner_branding to cloverleaf_partner;
grant select, insert, update, delete on partner_branding to cloverleaf_system;
