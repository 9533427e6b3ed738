-- The travel rule between providers: which providers are asked, and what was sent and received about each transfer.
--
-- Personal data and addresses that are secrets (callbacks) are encrypted. Rules of before ask for no exchange.

set search_path = cloverleaf;

alter table travel_rules
  -- required: coins of a wallet that a provider holds move only when both providers have exchanged their data.
  add column exchange text not null default 'none' check (exchange in ('none', 'required'));
-- return: at the deadline the deposit goes back.
alter table travel_rules drop constraint travel_rules_policy_check;
alter table travel_rules add constraint travel_rules_policy_check check (policy in ('hold', 'send', 'return'));
grant insert (exchange) on travel_rules to cloverleaf_system;

-- Providers whose due diligence is done, by the host of their addresses. The newest version of a host is in force.
create table travel_providers (
  id      bigint      generated always as identity primary key,
  -- With its port, where it has one.
  host    text        not null check (host = lower(host) and length(host) between 1 and 255),
  name    text        not null,
  version integer     not null check (version > 0),
  is_on   boolean     not null,
  set_by  text        not null,
  why     text        not null,
  set_at  timestamptz not null,
  unique (host, version)
);
create trigger append_only before update or delete on travel_providers for each row execute function refuse_change();
create trigger no_truncate before truncate on travel_providers for each statement execute function refuse_change();

-- One for each inquiry: out, that we sent before coins leave; in, that another provider sent us about coins to come.
create table travel_exchanges (
  id          bigint        generated always as identity primary key,
  direction   text          not null check (direction in ('in', 'out')),
  order_id    bigint        not null references orders (id),
  customer_id text          not null references customers (id),
  partner_id  bigint        not null references partners (id),
  protocol    text          not null,
  -- The other provider's.
  host        text          not null,
  request_id  text          not null,
  rail        text          not null,
  -- Where the coins go: the customer's wallet, or the deposit address.
  address     text          not null,
  asset       text          not null references assets (code),
  units       numeric(78,0) not null check (units > 0),
  -- A hash without a key: of what was asked (out), of the whole call (in). The same question is one exchange.
  digest      bytea         not null,
  -- disowned: the provider that an inquiry named does not know of it.
  state       text          not null check (state in ('created', 'sent', 'received', 'approved', 'rejected', 'disowned')),
  -- Encrypted: the bytes that are sent, and the data. Empty once erased.
  message     bytea         not null,
  -- Encrypted: where the other provider waits for news. Empty once erased.
  peer        bytea         not null default '',
  -- Encrypted: why it was rejected, in the words of whoever did. Empty once erased.
  reason      bytea         not null default '',
  -- A hash without a key: of the secret in the address where we wait for news.
  token       bytea         unique,
  -- The transfer's name on its chain.
  tx          text,
  attempts    integer       not null default 0,
  -- Why the last try failed, in one word.
  failure     text,
  created_at  timestamptz   not null,
  answered_at timestamptz,
  -- When the other provider had taken our answer.
  told_at     timestamptz,
  ended_at    timestamptz,
  outcome     text          check (outcome in ('transferred', 'canceled', 'untold')),
  unique (order_id, direction, digest)
);
create index travel_exchanges_customer on travel_exchanges (customer_id);

grant select, insert (host, name, version, is_on, set_by, why, set_at) on travel_providers to cloverleaf_system;
grant select, insert, update (state, message, peer, reason, token, tx, attempts, failure, answered_at, told_at, ended_at, outcome)
  on travel_exchanges to cloverleaf_system;
