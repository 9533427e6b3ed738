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
  // The row is as new as its lock, and may count seals that the statement does not see: neither number moves back.
  const next = await tx.row<{ seal: bigint; sealTo: bigint; revenue: bigint; revenueTo: bigint }>(
    `select p.seal, greatest(p.seal, least(p.seal + $1, n.newest)) as seal_to,
            p.revenue_to as revenue, greatest(p.revenue_to, least(p.revenue_to + $1, n.newest)) as revenue_to
       from daily_totals_progress p cross join (select max(number) as newest from seals) n
      where least(p.seal, p.revenue_to) < n.newest for update of p skip locked`,
    [most],
  );
  if (next === undefined) return 0;
  const { seal, sealTo, revenue, revenueTo } = next;
  if (sealTo > seal) await addTotals(tx, seal, sealTo);
  if (revenueTo > revenue) await addToDailyRevenue(tx, revenue, revenueTo);
  await tx.run('update daily_totals_progress set seal = $1, revenue_to = $2', [sealTo, revenueTo]);
  return Math.max(Number(sealTo - seal), Number(revenueTo - revenue));
}
