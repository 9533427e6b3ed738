-- Views of lists that operators have named, to be there at whichever browser they sign in. Before, each browser kept its own.
--
-- A disabled operator's views stay: they are there again once the operator is enabled.

set search_path = cloverleaf;

create table operator_views (
  id          bigint      generated always as identity primary key,
  operator_id bigint      not null references operators (id),
  -- The list: its path in the operator API.
  page        text        not null check (length(page) between 1 and 100),
  -- As its operator typed it, encrypted so that equal names are equal.
  name        text        not null check (length(name) between 1 and 8000),
  -- The filters, as in the URL of the console. People type references of customers into them: encrypted.
  search      text        not null check (length(search) between 1 and 8000),
  saved_at    timestamptz not null
);
create unique index operator_views_name on operator_views (operator_id, page, name);

grant select, insert, update (search, saved_at), delete on operator_views to cloverleaf_system;
