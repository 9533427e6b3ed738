/**
 * Sums of sealed entries by day: balances (daily.ts) and revenue (earned.ts). Each has its own progress, because a server of a
 * previous version may have moved one without the other.
 */
import type { Tx } from '../base/db.ts';
import { addTotals } from './daily.ts';
import { addToDailyRevenue } from './earned.ts';

/** Seals summed at once: each has at most a thousand entries. */
const SEALS_AT_ONCE = 20;

/** Adds the entries of the next seals to both. @returns how many seals were added; 0 also while another server adds */
export async function addToDailyTotals(tx: Tx, most = SEALS_AT_ONCE): Promise<number> {
  const next = await tx.row<{ seal: bigint; revenueTo: bigint; newest: bigint }>(
    `select p.seal, p.revenue_to, n.newest from daily_totals_progress p cross join (select max(number) as newest from seals) n
      where least(p.seal, p.revenue_to) < n.newest for update of p skip locked`,
  );
  if (next === undefined) return 0;
  const upTo = (after: bigint): bigint => (after + BigInt(most) < next.newest ? after + BigInt(most) : next.newest);
  const [seal, revenueTo] = [upTo(next.seal), upTo(next.revenueTo)];
  if (seal > next.seal) await addTotals(tx, next.seal, seal);
  if (revenueTo > next.revenueTo) await addToDailyRevenue(tx, next.revenueTo, revenueTo);
  await tx.run('update daily_totals_progress set seal = $1, revenue_to = $2', [seal, revenueTo]);
  return Math.max(Number(seal - next.seal), Number(revenueTo - next.revenueTo));
}
