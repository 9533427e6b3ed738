/**
 * What customers have with us over time: what we hold for them, and what they owe us, at any instant.
 *
 * `customer_changes` has what each entry changed for a customer, and `customer_days` the sums by day (UTC). Both are made of the journal in
 * the order of its sequence numbers, up to where all entries are sealed (seals.ts). What a customer had at an instant is the sum of the
 * days before it, of the changes of its own day, and of entries above that number, which are read from the journal: sums that lag
 * cost time and change no figure. `verify-ledger` computes both tables again.
 *
 * An entry belongs to the customer of its order, and to those whose debt it changes; neither ever changes. Accounts shared by many
 * customers do not say whose money they have: of what an order takes from there, its customer had only as much as was put there for
 * their orders before. The rest was unidentified until then. "Before" is by sequence number: postings to one account lock it, so a number
 * that is lower was drawn and committed earlier. Booking times prove nothing, because the clocks of two servers differ.
 *
 * Customers are read from `orders`, as earned.ts does for markets, and the codes of assets from `assets`.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { AccountKind } from './chart.ts';
import { DAY, startOfDay, transfersOf } from './daily.ts';

/** Accounts with money of many customers. No row of the account says whose money it is. */
export const SHARED_KINDS: readonly AccountKind[] = ['suspense', 'dormant'];
/** Accounts with money that we hold for customers. */
export const HELD_KINDS: readonly AccountKind[] = ['order', 'blocked', ...SHARED_KINDS];

/** Entries summed at once. */
const ENTRIES_AT_ONCE = 5_000;

type Each = '' | 'offset 0';

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');
const SHARED = `a.kind in (${quoted(SHARED_KINDS)})`;
const SUMMED_TO = '(select customers_to from daily_totals_progress)';
const COLUMNS = 'customer_id, at, seq, account, line, asset, held_units, owed_units';

/**
 * Entries above one sequence number up to another, once for each customer they belong to.
 *
 * @param each 'offset 0' has each row looked up by index: PostgreSQL cannot estimate how few entries these are. '' lets it choose
 */
const ownedBy = (after: string, upTo: string, each: Each): string => {
  const entries = `(select id, at, seq, order_id from entries where seq > ${after} and seq <= ${upTo} ${each}) e`;
  return `
  select o.customer_id, e.id, e.at, e.seq from ${entries}
   cross join lateral (select customer_id from orders where id = e.order_id ${each}) o
  union
  select split_part(a.code, ':', 2), e.id, e.at, e.seq from ${entries}
   cross join lateral (select debit, credit from transfers where entry = e.id ${each}) t
   cross join lateral (values (t.debit), (t.credit)) as side (account)
   cross join lateral (select code, kind from accounts where id = side.account ${each}) a where a.kind = 'receivable'`;
};

/** As `ownedBy`, entries of customer $1 that no sum counts yet. */
const LACKING = `
  select $1::text as customer_id, e.id, e.at, e.seq
    from (select id, at, seq, order_id from entries where seq > ${SUMMED_TO} order by seq offset 0) e
   cross join lateral (select customer_id from orders where id = e.order_id offset 0) o where o.customer_id = $1
  union
  select $1, e.id, e.at, e.seq
    from (select 'receivable:' || $1 || ':' || code as code from assets offset 0) r
   cross join lateral (select id from accounts where code = r.code offset 0) a
   cross join lateral (
     select entry from transfers where debit = a.id union all select entry from transfers where credit = a.id offset 0) t
   cross join lateral (select id, at, seq from entries where id = t.entry offset 0) e
   where e.seq > ${SUMMED_TO}`;

/**
 * What entries moved on the accounts of customers, credited minus debited. Of an account that many customers share, that is all that
 * moved for orders of the customer, whoever had it before.
 *
 * @param entries lists entries as `ownedBy` does, and `each` is as there
 */
const movedBy = (entries: string, each: Each): string => `
  select e.customer_id, e.at, e.seq, case when ${SHARED} then a.code else '' end as account,
         (case when ${SHARED} then t.line else 0 end)::smallint as line, t.asset,
         sum(case when a.kind = 'receivable' then 0 else side.units end)::numeric(78,0) as held_units,
         sum(case when a.kind = 'receivable' then -side.units else 0 end)::numeric(78,0) as owed_units
    from (${entries} ${each}) e
   cross join lateral (select * from transfers where entry = e.id and step in ('post', 'settle') ${each}) t
   cross join lateral (values (t.debit, -t.units), (t.credit, t.units)) as side (account, units)
   cross join lateral (select code, kind from accounts where id = side.account ${each}) a
   where a.kind in (${quoted(HELD_KINDS)}) or (a.kind = 'receivable' and split_part(a.code, ':', 2) = e.customer_id)
   group by 1, 2, 3, 4, 5, 6`;

/**
 * Changes, as rows of `customer_changes`: what a customer has on a shared account is never below zero. After any lines it is their sum
 * minus the lowest sum on the way, if that was below zero.
 *
 * @param moved names what `movedBy` lists, of all entries of their customers from some number on
 * @param had   an expression: what the customer of `m` had on its account before these entries
 */
const changesOf = (moved: string, had: string): string => `
  select ${COLUMNS} from ${moved} where account = ''
  union all
  select customer_id, at, seq, account, line, asset, (own - lag(own, 1, had) over course)::numeric(78,0), owed_units
    from (select *, run - least(0, min(run) over course) as own
            from (select s.*, h.had, h.had + sum(s.held_units) over course as run
                    from ${moved} s
                    join (select customer_id, account, ${had} as had
                            from (select distinct customer_id, account from ${moved} where account <> '') m) h
                   using (customer_id, account)
                  window course as (partition by customer_id, account order by s.seq, s.line)) r
          window course as (partition by customer_id, account order by seq, line)) o
  window course as (partition by customer_id, account order by seq, line)`;

const STORED = `(select coalesce(sum(c.held_units), 0) from customer_changes c
                  where c.customer_id = m.customer_id and c.account = m.account and c.account <> '')`;

const byDay = (changes: string): string => `
  select customer_id, ${DAY} as day, asset, sum(held_units)::numeric(78,0) as held_units, sum(owed_units)::numeric(78,0) as owed_units
    from ${changes} e group by 1, 2, 3`;

/**
 * Adds the next entries to both tables. Each call ends with what it added, so it may be stopped at any time.
 *
 * @param most the number of entries, at most
 * @returns by how many sequence numbers it came further; 0 also while another server adds
 */
export async function addToCustomers(tx: Tx, most = ENTRIES_AT_ONCE): Promise<number> {
  const next = await tx.row<{ after: bigint; upTo: bigint }>(
    `select p.customers_to as after,
            coalesce((select max(seq) from (select seq from entries where seq > p.customers_to and seq <= j.complete_to
                                             order by seq limit $1) e), j.complete_to) as up_to
       from daily_totals_progress p cross join journal_progress j where p.customers_to < j.complete_to for update of p skip locked`,
    [most],
  );
  if (next === undefined) return 0;
  await tx.run(
    `with moved as materialized (${movedBy(ownedBy('$1', '$2', 'offset 0'), 'offset 0')}),
          changes as materialized (${changesOf('moved', STORED)}),
          added as (insert into customer_changes (${COLUMNS}) select ${COLUMNS} from changes)
     insert into customer_days (customer_id, day, asset, held_units, owed_units) ${byDay('changes')}
     on conflict (customer_id, day, asset) do update set held_units = customer_days.held_units + excluded.held_units,
       owed_units = customer_days.owed_units + excluded.owed_units`,
    [next.after, next.upTo],
  );
  await tx.run('update daily_totals_progress set customers_to = $1', [next.upTo]);
  return Number(next.upTo - next.after);
}

/** Days and customers whose stored changes are not those of their entries, or whose sums are not those of the changes; a thousand at most. */
export const wrongCustomers = (tx: Tx): Promise<{ day: string; customer: string }[]> =>
  tx.rows(
    `with moved as materialized (${movedBy(ownedBy('0', SUMMED_TO, ''), '')}),
          changes as materialized (${changesOf('moved', '0::numeric')}),
          wrong as (
            select customer_id, ${DAY} as day
              from (select * from changes c full join customer_changes s using (${COLUMNS})
                     where c.customer_id is null or s.customer_id is null) e
            union
            select customer_id, day from (${byDay('changes')}) c full join customer_days s using (customer_id, day, asset)
             where (c.held_units, c.owed_units) is distinct from (s.held_units, s.owed_units))
     select day::text, customer_id as customer from wrong order by 1, 2 limit 1000`,
  );

/** A place in a customer's statement, which is in order of time and, at the same time, of posting: before the entry with this `seq`. */
export interface Place {
  at: Date;
  seq: bigint;
}

/** The place of an entry, by its sequence number. */
export const placeOf = (tx: Tx, seq: bigint): Promise<Place | undefined> =>
  tx.row<Place>('select at, seq from entries where seq = $1', [seq]);

export interface HadBefore {
  asset: AssetCode;
  heldUnits: bigint;
  owedUnits: bigint;
}

/** Changes of customer $1 that are in no table yet, as `lacking`. */
const WITH_LACKING = `
  with moved as materialized (${movedBy(LACKING, 'offset 0')}), lacking as materialized (${changesOf('moved', STORED)})`;

/** What we held for a customer, and what they owed us, before a place in their statement. One row for each asset that they ever had or owed. */
export const hadBefore = (tx: Tx, customerId: string, { at, seq }: Place): Promise<HadBefore[]> =>
  tx.rows<HadBefore>(
    `${WITH_LACKING},
          parts as (
            select asset, held_units, owed_units from customer_days
             where customer_id = $1 and day < ($4::timestamptz at time zone 'UTC')::date
            union all
            select asset, held_units, owed_units from customer_changes
             where customer_id = $1 and at >= $4 and (at, seq) < ($2::timestamptz, $3::bigint)
            union all
            select asset, held_units, owed_units from lacking where (at, seq) < ($2, $3))
     select asset, sum(held_units)::numeric(78,0) as held_units, sum(owed_units)::numeric(78,0) as owed_units
       from parts group by asset order by asset`,
    [customerId, at, seq, startOfDay(at)],
  );

export interface PostedFor {
  entry: string;
  kind: string;
  seq: bigint;
  line: number;
  at: Date;
  orderId: bigint | null;
  asset: AssetCode;
  units: bigint;
  debit: string;
  debitKind: AccountKind;
  credit: string;
  creditKind: AccountKind;
  /** Of what is debited from an account of many customers: the part that was booked there for this customer. Else zero. */
  ownUnits: bigint;
}

/**
 * Lines of the next entries of a customer's orders and debt, from a place in their statement until an instant, in its order.
 *
 * @param input.most the number of entries, at most
 */
export const postedFor = (
  tx: Tx,
  customerId: string,
  { from, until, most }: { from: Place; until: Date; most: number },
): Promise<PostedFor[]> =>
  tx.rows<PostedFor>(
    `${WITH_LACKING},
          stored as materialized (
            select distinct at, seq from customer_changes
             where customer_id = $1 and (at, seq) >= ($2::timestamptz, $3::bigint) and at < $4::timestamptz order by at, seq limit $5),
          next as materialized (
            select at, seq from (
              select at, seq from stored union select at, seq from lacking where (at, seq) >= ($2, $3) and at < $4) n
             order by at, seq limit $5),
          posted as (
            select i.kind, i.seq, i.at, i.order_id, t.* from ${transfersOf(`(
                select e.* from next n cross join lateral (select id, kind, seq, at, order_id from entries where seq = n.seq offset 0) e)`)}
             where t.step in ('post', 'settle'))
     select p.entry, p.kind, p.seq, p.line::int as line, p.at, p.order_id, p.asset, p.units,
            d.code as debit, d.kind as debit_kind, c.code as credit, c.kind as credit_kind, coalesce(o.units, 0)::numeric(78,0) as own_units
       from posted p
      cross join lateral (select code, kind from accounts where id = p.debit offset 0) d
      cross join lateral (select code, kind from accounts where id = p.credit offset 0) c
       left join lateral (
         select -held_units as units from customer_changes
          where customer_id = $1 and at = p.at and seq = p.seq and account = d.code and line = p.line
         union all
         select -held_units from lacking where seq = p.seq and account = d.code and line = p.line offset 0) o on true
      order by p.at, p.seq, p.line`,
    [customerId, from.at, from.seq, until, most],
  );
