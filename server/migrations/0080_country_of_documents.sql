-- The country that issued the document which a verifier accepted, as a source of the customer's country: until now nothing used it.
--
-- A customer without a source is of an unknown country. Its column has the default, which the white-label wire shows.

set search_path = cloverleaf;

alter table customers drop constraint customers_country_by_check;
alter table customers add constraint customers_country_by_check check (country_by in ('phone', 'document', 'partner', 'form'));
