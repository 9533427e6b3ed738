-- Identity that explains itself: who has said in which country a customer is (until now it was always the default, so no form was
-- chosen by it), and requests for information, which an operator asks of a customer's partner.

set search_path = cloverleaf;

-- `phone`: the calling code, which one country has. `partner`: its program said so. `form`: the customer's answer. Null: nobody,
-- and `country` is the default.
alter table customers add column country_by text check (country_by in ('phone', 'partner', 'form'));

grant insert (country, country_by), update (country, country_by) on customers to cloverleaf_partner;

-- Question and answer are encrypted, and empty once erased. The partner answers through its API; the system's role writes the answer, which also tells the
-- operators by a case.
create table information_requests (
  id            bigint      primary key,
  partner_id    bigint      not null references partners (id),
  customer_id   text        not null references customers (id),
  -- The submission that was the newest when it was asked; null where there was none.
  submission_id bigint      references submissions (id),
  state         text        not null check (state in ('open', 'answered', 'withdrawn')),
  question      bytea       not null,
  answer        bytea,
  asked_by      text        not null,
  asked_at      timestamptz not null,
  due_at        timestamptz not null check (due_at > asked_at),
  ended_at      timestamptz,
  check ((state = 'answered') = (answer is not null)),
  check ((state = 'open') = (ended_at is null))
);
create index information_requests_customer on information_requests (customer_id, id);
call protect('information_requests');

grant select on information_requests to cloverleaf_partner;
grant select, insert, update (state, question, answer, ended_at) on information_requests to cloverleaf_system;
