-- The same document number under another customer of a partner: found by a keyed hash beside the encrypted details.
-- Null where no number was given, and for details from before, until they are given again.

set search_path = cloverleaf;

alter table customer_details add column identity_index bytea;
create index customer_details_identity on customer_details (partner_id, identity_index) where identity_index is not null;

grant insert (identity_index), update (identity_index) on customer_details to cloverleaf_partner;
