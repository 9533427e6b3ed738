/**
 * The journal over time, for reports: balances at an instant, and what orders were charged. PostgreSQL computes the sums exactly.
 *
 * A span includes its start and excludes its end; a balance at an instant counts the entries before that instant.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { AccountKind } from './chart.ts';
import { entriesBefore, LINE, ownCode, sidesOf, startOfDay, transfersOf } from './daily.ts';
import { EARNING_KINDS, type EarningKind } from './earned.ts';

export interface AccountAt {
  /** The account's code; `order:*:inr` is the sum of all orders' accounts of an asset, and likewise for customers' debts. */
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

/** Lines of the trial balance, from accounts or parts of their sums. */
const summed = (accounts: string) => `
  select ${LINE} as account, kind, asset, debits::numeric(78,0), credits::numeric(78,0), debits_held::numeric(78,0) as held_debits,
         credits_held::numeric(78,0) as held_credits,
         ((debits - credits) * case when side = 'debit' then 1 else -1 end)::numeric(78,0) as balance
    from (select own, kind, asset, min(side) as side, sum(debits) as debits, sum(credits) as credits,
                 sum(debits_held) as debits_held, sum(credits_held) as credits_held
            from (${accounts}) a group by 1, 2, 3) g
   where debits <> 0 or credits <> 0 or debits_held <> 0 or credits_held <> 0 order by 1`;

const SIDES = 'debits, credits, debits_held, credits_held';
/** Current balances, from the account rows. */
const NOW = summed(`select ${ownCode('code')} as own, kind, asset, side, ${SIDES} from accounts`);
/**
 * At an instant, from the totals of the days before it and the entries of its own day; $2 is the start of that day, in UTC.
 * Entries of earlier days that no total counts yet are added.
 */
const THEN = `
  with entry_ids as materialized (${entriesBefore('$1', '$2')}),
       -- One sum for all: each belongs to the instant.
       posted as (select null::date as day, t.* from ${transfersOf('entry_ids')}),
       sides as (${sidesOf('posted')})
  ${summed(`
    select ${ownCode('account')} as own, kind, asset, side, ${SIDES} from daily_totals where day < ($2 at time zone 'UTC')::date
    union all
    select ${ownCode('a.code')}, a.kind, a.asset, a.side, s.debits, s.credits, s.debits_held, s.credits_held
      from sides s cross join lateral (select code, kind, asset, side from accounts where id = s.account offset 0) a`)}`;

/** Statement timeout of a report. The terminal waits as long. */
const LONGEST_MS = 90_000;

/** Lets the statements of this transaction take longer than the usual timeout allows. */
export async function longReport(tx: Tx): Promise<void> {
  await tx.row(`select set_config('statement_timeout', $1, true)`, [String(LONGEST_MS)]);
}

/** Every non-empty account at an instant, counting the postings before it. Default: now. */
export async function balancesAt(tx: Tx, at?: Date): Promise<AccountAt[]> {
  if (at === undefined) return await tx.rows<AccountAt>(NOW);
  await longReport(tx);
  return await tx.rows<AccountAt>(THEN, [at, startOfDay(at)]);
}

export interface Charged {
  orderId: bigint;
  kind: EarningKind;
  units: bigint;
}

/**
 * Fees of these orders' conversions, minus those returned by undone conversions. Fees kept on refunds are not included. Each order,
 * entry, transfer and account is looked up: for five hundred orders PostgreSQL else reads all transfers.
 */
export const chargedOf = (tx: Tx, orderIds: readonly bigint[]): Promise<Charged[]> =>
  tx.rows<Charged>(
    `with posted as materialized (
            select i.order_id, t.debit, t.credit, t.units
              from ${transfersOf(`(
                select e.id, o.id as order_id from (select distinct unnest($1::bigint[]) as id) o
                 cross join lateral (select id from entries where order_id = o.id and kind <> 'refund_found' offset 0) e)`)}
             where t.step = 'post')
     select p.order_id, a.kind, sum(p.units)::numeric(78,0) as units
       from (select order_id, credit as account, units from posted
             union all select order_id, debit, -units from posted) p
      cross join lateral (select kind from accounts where id = p.account offset 0) a
      where a.kind = any($2)
      group by p.order_id, a.kind`,
    [orderIds, EARNING_KINDS],
  );
