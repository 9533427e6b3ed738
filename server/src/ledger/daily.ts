/**
 * Daily totals: what was posted on each day (UTC), by line of the trial balance. Reports of a past instant sum the days before it and
 * read only the entries of its own day.
 *
 * Totals are made of sealed entries, one seal after the other, so each entry is counted once, whenever it was booked. Entries
 * that are not in the totals yet are added by the reports themselves (`uncounted`): totals that lag cost time and change no
 * figure. `verify-ledger` computes the totals again.
 */
import type { Tx } from '../base/db.ts';
import { UNSEALED_ABOVE } from './seals.ts';

/**
 * Orders' accounts share one line of the trial balance per asset, and so do debts. Sums are grouped by kind, asset and this column
 * (null for a shared line) and get their name afterwards, because there are several accounts per order.
 *
 * @param code an expression for the account's code, beside a column `kind`
 */
export const ownCode = (code: string): string => `case when kind in ('order', 'receivable') then null else ${code} end`;
/** The name of a line, from columns `own`, `kind` and `asset`. */
export const LINE = `coalesce(own, kind || ':*:' || asset)`;

/**
 * Both sides of transfers, summed by account and by `day`, a column of theirs. Each side is summed on its own: one row for each
 * side of every transfer cost twice as much.
 */
export const sidesOf = (transfers: string): string => {
  const side = (of: 'debit' | 'credit', other: 'debit' | 'credit') => `
    select t.day, t.${of} as account, sum(case when t.step in ('post', 'settle') then t.units else 0 end) as ${of}s,
           0::numeric as ${other}s, sum(case t.step when 'hold' then t.units when 'post' then 0 else -t.units end) as ${of}s_held,
           0::numeric as ${other}s_held
      from ${transfers} t group by t.day, t.${of}`;
  // Columns of a union are matched by place.
  const columns = 'day, account, debits, credits, debits_held, credits_held';
  return `select ${columns} from (${side('debit', 'credit')}) d union all select ${columns} from (${side('credit', 'debit')}) c`;
};

/** The UTC day on which an entry `e` was booked. */
export const DAY = `(e.at at time zone 'UTC')::date`;

/** The first instant of the UTC day of `at`. */
export const startOfDay = (at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()));

/** Totals of the seals above one number up to another, as rows of `daily_totals`. */
const totalsOf = (after: string, upTo: string) => `
  with posted as (
         select ${DAY} as day, t.* from sealed_entries s join entries e on e.seq = s.entry_seq join transfers t on t.entry = e.id
          where s.seal > ${after} and s.seal <= ${upTo}),
       sides as (${sidesOf('posted')})
  select day, ${LINE} as account, kind, asset, side, debits, credits, debits_held, credits_held
    from (select s.day, ${ownCode('a.code')} as own, a.kind, a.asset, min(a.side) as side, sum(s.debits) as debits,
                 sum(s.credits) as credits, sum(s.debits_held) as debits_held, sum(s.credits_held) as credits_held
            from sides s join accounts a on a.id = s.account group by 1, 2, 3, 4) g`;

/**
 * Id and time of the entries before an instant that no total counts: those of seals that are not summed yet, and those without a
 * seal. PostgreSQL cannot estimate how few these are, so each part goes through indexes, row by row.
 *
 * @param before an expression of the statement
 * @param summed the column of `daily_totals_progress` with the last seal that the totals count
 */
export const uncounted = (before: string, summed: 'seal' | 'revenue_to' = 'seal'): string => `
  select e.id, e.at
    from (select number from seals where number > (select ${summed} from daily_totals_progress) order by number offset 0) n
   cross join lateral (select entry_seq from sealed_entries where seal = n.number offset 0) s
   cross join lateral (select id, at from entries where seq = s.entry_seq offset 0) e
   where e.at < ${before}
  union all
  select e.id, e.at
    from (select id, at, seq from entries
           where seq > ${UNSEALED_ABOVE} order by seq offset 0) e
   where e.at < ${before} and not exists (select from sealed_entries where entry_seq = e.seq offset 0)`;

/** The transfers of entries, which `name` lists by `id`. Entries are few, and PostgreSQL may expect many: it looks up each. */
export const transfersOf = (name: string): string => `
  ${name} i cross join lateral (select * from transfers where entry = i.id offset 0) t`;

/**
 * Ids of the entries that complete the totals of earlier days to an instant: those of its own day, and those that no total counts.
 *
 * @param at the instant, and `day` the start of its day, as expressions of the statement
 */
export const entriesBefore = (at: string, day: string): string => `
  (select id from entries where at >= ${day} and at < ${at} order by at offset 0)
  union all select u.id from (${uncounted(day)}) u`;

/**
 * What accounts had on their credit side before an instant, in parts to be summed by account.
 *
 * @param accounts lists `id` and `code`; no account that shares its line of the trial balance with others
 * @param entries  lists what `entriesBefore` found, for the same `day`
 */
export const owedBefore = (accounts: string, entries: string, day: string): string => `
  select a.id, d.credits - d.debits as units
    from ${accounts} a join daily_totals d on d.account = a.code where d.day < (${day} at time zone 'UTC')::date
  union all
  select a.id, case when t.credit = a.id then t.units else -t.units end
    from ${transfersOf(entries)} join ${accounts} a on a.id in (t.debit, t.credit) where t.step in ('post', 'settle')`;

/** Adds the entries of the seals above one number up to another to the totals. */
export const addTotals = (tx: Tx, after: bigint, upTo: bigint): Promise<unknown> =>
  tx.run(
    `insert into daily_totals (day, account, kind, asset, side, debits, credits, debits_held, credits_held) ${totalsOf('$1', '$2')}
     on conflict (day, account) do update set
       debits = daily_totals.debits + excluded.debits, credits = daily_totals.credits + excluded.credits,
       debits_held = daily_totals.debits_held + excluded.debits_held,
       credits_held = daily_totals.credits_held + excluded.credits_held`,
    [after, upTo],
  );

/** Lines of days whose stored totals are not the sum of their entries, a thousand at most. */
export const wrongTotals = (tx: Tx): Promise<{ day: string; account: string }[]> =>
  tx.rows(
    `with computed as (${totalsOf('0', '(select seal from daily_totals_progress)')})
     select coalesce(c.day, d.day)::text as day, coalesce(c.account, d.account) as account
       from computed c full join daily_totals d on d.day = c.day and d.account = c.account
      where (c.kind, c.asset, c.side, c.debits, c.credits, c.debits_held, c.credits_held)
            is distinct from (d.kind, d.asset, d.side, d.debits, d.credits, d.debits_held, d.credits_held)
      order by 1, 2 limit 1000`,
  );
