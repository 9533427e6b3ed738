-- Revenue of each day by partner and market, so that a report of a month reads a few rows a day and not the journal. Sums are made
-- of sealed entries, as those of 0060_daily_totals.sql; a server of the previous version seals without summing, and the next one
-- continues.
--
-- And up to which entry all are sealed: reports of past instants looked for entries without a seal among the newest hundred
-- thousand, at every request.

set search_path = cloverleaf;

create table daily_revenue (
  -- In UTC, of the entries' booking time.
  day        date          not null,
  -- Of the order; 0 for postings without one, such as charges of chains and banks.
  partner_id bigint        not null,
  market_id  bigint        not null,
  asset      text          not null references assets (code),
  kind       text          not null,
  -- Fees: received minus refunded; costs: charged.
  units      numeric(78,0) not null,
  primary key (day, partner_id, market_id, asset, kind)
);
-- Entries of seals up to this one are summed in daily_revenue.
alter table daily_totals_progress add column revenue_to bigint not null default 0;

create table journal_progress (
  only_row  boolean     primary key default true check (only_row),
  -- Every entry up to this sequence number is sealed.
  complete_to bigint      not null default 0,
  -- The next number of that kind: the highest one at that time, and the first transaction that had not begun then.
  mark_seq  bigint      not null default 0,
  mark_xid  xid8        not null default '0',
  marked_at timestamptz not null default '-infinity'
);
insert into journal_progress default values;

grant select, insert, update on daily_revenue to cloverleaf_system;
grant select, update on journal_progress to cloverleaf_system;
