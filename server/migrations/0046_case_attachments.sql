-- Files that operators attach to cases: a letter of a bank, a picture of a statement, a log. Encrypted in the store of documents, each
-- under a key of its own that the master key encrypts. Without its key, a file that was removed or erased can never be read again.

set search_path = cloverleaf;

create table case_attachments (
  -- Its name in the store.
  id          text        primary key check (id ~ '^[0-9a-f]{32}$'),
  case_id     bigint      not null references cases (id),
  type        text        not null check (type in ('image/jpeg', 'image/png', 'image/webp', 'application/pdf', 'text/plain')),
  bytes       integer     not null check (bytes between 1 and 5242880),
  -- What it shows, as its operator typed it: encrypted.
  label       text        not null check (length(label) between 1 and 8000),
  -- Its key, encrypted. Empty once it is removed or erased.
  wrapped     bytea       not null,
  attached_by text        not null,
  attached_at timestamptz not null,
  removed_at  timestamptz,
  check (removed_at is null or wrapped = '')
);
create index case_attachments_case on case_attachments (case_id, attached_at, id);
create trigger append_only before delete on case_attachments for each row execute function refuse_change();
create trigger no_truncate before truncate on case_attachments for each statement execute function refuse_change();

grant select, insert, update (label, wrapped, removed_at) on case_attachments to cloverleaf_system;
