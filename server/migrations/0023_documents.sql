-- Documents: the files of a submission. Their content lies encrypted in a folder; here are only digest, size and type.

set search_path = cloverleaf;

-- The key of a customer's files, encrypted by the master key. Without it they can never be read again.
create table customer_keys (
  customer_id text        primary key references customers (id),
  partner_id  bigint      not null references partners (id),
  wrapped     bytea       not null,
  created_at  timestamptz not null
);
call protect('customer_keys');
create trigger append_only before update on customer_keys for each row execute function refuse_change();

create table submission_files (
  -- Random; also its name in the folder. The row is written after the file.
  id            text        primary key check (id ~ '^[0-9a-f]{32}$'),
  partner_id    bigint      not null references partners (id),
  customer_id   text        not null references customers (id),
  submission_id bigint      not null references submissions (id),
  -- A name of the form, never one from outside.
  slot          text        not null,
  type          text        not null,
  bytes         integer     not null check (bytes > 0),
  -- Keyed: equal files of one customer are equal, and nobody can try which file it is.
  digest        bytea       not null,
  created_at    timestamptz not null,
  -- Another file was sent in its place.
  replaced_at   timestamptz
);
create index submission_files_submission on submission_files (submission_id, slot);
create index submission_files_customer on submission_files (customer_id);
call protect('submission_files');

grant select, insert (customer_id, partner_id, wrapped, created_at) on customer_keys to cloverleaf_partner;
grant select on customer_keys to cloverleaf_system;
grant select, insert (id, partner_id, customer_id, submission_id, slot, type, bytes, digest, created_at)
  on submission_files to cloverleaf_partner;
grant update (replaced_at) on submission_files to cloverleaf_partner;
grant select on submission_files to cloverleaf_system;
