-- Who has said in which country a customer is: until now it was always the default, so no form was chosen by it.

set search_path = cloverleaf;

-- `phone`: the calling code, which one country has. `partner`: its program said so. `form`: the customer's answer. Null: nobody,
-- and `country` is the default.
alter table customers add column country_by text check (country_by in ('phone', 'partner', 'form'));

grant insert (country, country_by), update (country, country_by) on customers to cloverleaf_partner;
