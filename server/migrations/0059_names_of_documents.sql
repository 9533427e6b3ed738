-- The names that a verifier reads from a document, beside what the customer typed: payers, holders of accounts and sanctions lists
-- are compared with them.
--
-- Null where the verifier reads no name, and for customers who were verified earlier. A server of the previous version stores none and
-- leaves these columns alone: names count only for the version of the details that they were read for.

set search_path = cloverleaf;

alter table customer_details
  -- Encrypted JSON of the names that the verifier reads for the newest details; null after the decision.
  add column read_names bytea,
  -- The version of the details that `read_names` was read for.
  add column read_for integer,
  -- The same, once a verifier or an operator has accepted them. They stay while newer details are checked.
  add column verified_names bytea,
  -- Counts changes of both. With `version` it says which names a comparison with sanctions lists was made of.
  add column names_revision integer not null default 0 check (names_revision >= 0),
  add check ((read_names is null) = (read_for is null));

grant update (read_names, read_for, verified_names, names_revision) on customer_details to cloverleaf_partner;
