-- Identity documents that are recognised under another customer of the same partner: files by their bytes, and numbers that a
-- verifier read. A number that was typed has its index beside the details (0031).
--
-- Files from before are not here: pictures are encoded again, so the bytes that were sent are not kept. A server of the previous version
-- adds no rows.

set search_path = cloverleaf;

create table compared_documents (
  id          bigint      generated always as identity primary key,
  partner_id  bigint      not null references partners (id),
  customer_id text        not null references customers (id),
  kind        text        not null check (kind in ('file', 'number')),
  -- Encrypted: the SHA-256 of the bytes in hex, or the number as it was read. From it the index is made again under another key.
  value       bytea       not null,
  -- Keyed, and per partner: a dump does not show that one person is a customer of two.
  value_index bytea       not null,
  created_at  timestamptz not null
);
create index compared_documents_index on compared_documents (partner_id, value_index);
create index compared_documents_customer on compared_documents (customer_id);
call protect('compared_documents');

grant select, insert (partner_id, customer_id, kind, value, value_index, created_at) on compared_documents
  to cloverleaf_partner;
grant select, insert (partner_id, customer_id, kind, value, value_index, created_at), delete on compared_documents
  to cloverleaf_system;
