/**
 * The journal over time, for reports: balances at an instant, receipts of fee and cost accounts within a span, and everything
 * posted for given orders. PostgreSQL computes the sums, exactly.
 *
 * A span includes its first instant and excludes its last; a balance at an instant counts entries before that instant.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { AccountKind } from './chart.ts';

export interface AccountAt {
  /** Its code; `order:*:inr` for all orders' accounts of an asset together, and likewise for customers' debts. */
  account: string;
  kind: AccountKind;
  asset: AssetCode;
  debits: bigint;
  credits: bigint;
  heldDebits: bigint;
  heldCredits: bigint;
  /** On the account's own side; for `either`, credits minus debits. */
  balance: bigint;
}

/** Both sides of transfers, by account; each transfer is read once. */
const sidesOf = (transfers: string) => `
  select s.account, sum(s.debits) as debits, sum(s.credits) as credits, sum(s.debits_held) as debits_held,
         sum(s.credits_held) as credits_held
    from (select t.*, case when t.step in ('post', 'settle') then t.units else 0 end as moved,
                 case t.step when 'hold' then t.units when 'post' then 0 else -t.units end as held from ${transfers} t) t
   cross join lateral (values (t.debit, t.moved, 0::numeric, t.held, 0::numeric), (t.credit, 0::numeric, t.moved, 0::numeric, t.held))
         as s (account, debits, credits, debits_held, credits_held)
   group by s.account`;

/** One line per account, except that accounts per order or per customer are summed into one line. */
const summed = (debits: string, credits: string, debitsHeld: string, creditsHeld: string) => `
  select case when a.kind in ('order', 'receivable') then a.kind || ':*:' || a.asset else a.code end as account, a.kind, a.asset,
         sum(${debits})::numeric(78,0) as debits, sum(${credits})::numeric(78,0) as credits,
         sum(${debitsHeld})::numeric(78,0) as held_debits, sum(${creditsHeld})::numeric(78,0) as held_credits,
         (sum(${debits} - ${credits}) * case when min(a.side) = 'debit' then 1 else -1 end)::numeric(78,0) as balance`;
const GROUPED = `group by 1, 2, 3
  having sum(a_debits) <> 0 or sum(a_credits) <> 0 or sum(a_debits_held) <> 0 or sum(a_credits_held) <> 0`;

/** Now: from the account rows. */
const NOW = `${summed('a_debits', 'a_credits', 'a_debits_held', 'a_credits_held')}
    from (select *, debits as a_debits, credits as a_credits, debits_held as a_debits_held, credits_held as a_credits_held
            from accounts) a ${GROUPED} order by 1`;
/** For an instant nearer to the end of the journal: now, minus the postings since. */
const BACKWARD = `
  with since as (select t.* from entries e join transfers t on t.entry = e.id where e.at >= $1),
       sides as (${sidesOf('since')})
  ${summed('a_debits', 'a_credits', 'a_debits_held', 'a_credits_held')}
    from (select a.*, a.debits - coalesce(s.debits, 0) as a_debits, a.credits - coalesce(s.credits, 0) as a_credits,
                 a.debits_held - coalesce(s.debits_held, 0) as a_debits_held,
                 a.credits_held - coalesce(s.credits_held, 0) as a_credits_held
            from accounts a left join sides s on s.account = a.id) a ${GROUPED} order by 1`;
/** For an instant nearer to its beginning: the postings until then. */
const FORWARD = `
  with before as (select t.* from entries e join transfers t on t.entry = e.id where e.at < $1),
       sides as (${sidesOf('before')})
  ${summed('a_debits', 'a_credits', 'a_debits_held', 'a_credits_held')}
    from (select a.id, a.code, a.kind, a.asset, a.side, s.debits as a_debits, s.credits as a_credits,
                 s.debits_held as a_debits_held, s.credits_held as a_credits_held
            from sides s join accounts a on a.id = s.account) a ${GROUPED} order by 1`;

/** Time limit of a report; the terminal waits as long. */
const LONGEST_MS = 90_000;

/** Every non-empty account at an instant: from the postings before it. Now by default. */
export async function balancesAt(tx: Tx, at?: Date): Promise<AccountAt[]> {
  if (at === undefined) return await tx.rows<AccountAt>(NOW);
  // In the middle of a long journal half of it is summed: longer than the usual statement timeout allows.
  await tx.row(`select set_config('statement_timeout', $1, true)`, [String(LONGEST_MS)]);
  const place = await tx.row<{ isLate: boolean }>(
    `select coalesce((select seq from entries where at >= $1 order by at, seq limit 1) * 2 > (select max(seq) from entries), true)
       as is_late`,
    [at],
  );
  return await tx.rows<AccountAt>(place?.isLate === false ? FORWARD : BACKWARD, [at]);
}

export const EARNING_KINDS = ['fee_operator', 'fee_partner', 'fee_rail', 'fee_chain', 'cost'] as const;
export type EarningKind = (typeof EARNING_KINDS)[number];

export interface Earned {
  /** Null for postings without an order: mostly charges of chains and banks. */
  orderId: bigint | null;
  kind: EarningKind;
  asset: AssetCode;
  /** Fees: received minus refunded; costs: charged. */
  units: bigint;
}

/** Receipts of the fee and cost accounts within a span, by order. */
export const earnedWithin = (tx: Tx, { from, until }: { from: Date; until: Date }): Promise<Earned[]> =>
  tx.rows<Earned>(
    `select e.order_id, a.kind, a.asset,
            sum(case when (t.credit = a.id) = (a.kind <> 'cost') then t.units else -t.units end)::numeric(78,0) as units
       from entries e join transfers t on t.entry = e.id and t.step in ('post', 'settle')
       join accounts a on a.id in (t.debit, t.credit)
      where e.at >= $1 and e.at < $2 and a.kind = any($3)
      group by e.order_id, a.kind, a.asset`,
    [from, until, EARNING_KINDS],
  );

export interface Charged {
  orderId: bigint;
  kind: EarningKind;
  units: bigint;
}

/** Charges of these orders' conversions, minus refunds of undone ones. Without fees kept on refunds. */
export const chargedOf = (tx: Tx, orderIds: readonly bigint[]): Promise<Charged[]> =>
  tx.rows<Charged>(
    `select e.order_id, a.kind,
            sum(case when t.credit = a.id then t.units else -t.units end)::numeric(78,0) as units
       from entries e join transfers t on t.entry = e.id and t.step = 'post'
       join accounts a on a.id in (t.debit, t.credit) and a.kind = any($2)
      where e.order_id = any($1::bigint[]) and e.kind <> 'refund_found'
      group by e.order_id, a.kind`,
    [orderIds, EARNING_KINDS],
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
}

/** Everything posted for these orders, and to their customer's debt, before an instant; in posting order. */
export const postedFor = (
  tx: Tx,
  input: { orderIds: readonly bigint[]; customerId: string; until: Date },
): Promise<PostedFor[]> =>
  tx.rows<PostedFor>(
    `with owed as (select id from accounts where kind = 'receivable' and split_part(code, ':', 2) = $2),
          mine as (
            select id from entries where order_id = any($1::bigint[])
            union
            select t.entry from owed join transfers t on t.debit = owed.id
            union
            select t.entry from owed join transfers t on t.credit = owed.id)
     select e.id as entry, e.kind, e.seq, t.line::int as line, e.at, e.order_id, t.asset, t.units,
            d.code as debit, d.kind as debit_kind, c.code as credit, c.kind as credit_kind
       from mine join entries e on e.id = mine.id
       join transfers t on t.entry = e.id and t.step in ('post', 'settle')
       join accounts d on d.id = t.debit join accounts c on c.id = t.credit
      where e.at < $3 order by e.seq, t.line`,
    [input.orderIds, input.customerId, input.until],
  );
