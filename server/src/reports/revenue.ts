/**
 * Revenue: what fee and cost accounts received, by UTC day, partner, market and asset. Summed from the journal (ledger/earned.ts),
 * so that a day's rows equal the difference of the trial balances at its two ends.
 *
 * A fee counts on the day it was booked, and is subtracted on the day it was refunded. Charges of chains and banks are booked
 * without an order, so they have no partner and no market, and rows of their own.
 */
import { dayOf } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { EARNING_KINDS, type Earned, type EarningKind, earnedWithin } from '../ledger/index.ts';

export interface RevenueRow {
  /** YYYY-MM-DD. */
  day: string;
  partnerId: bigint | null;
  marketId: bigint | null;
  asset: AssetCode;
  units: Readonly<Record<EarningKind, bigint>>;
}

/** Maximum days per page, many of them possibly empty. */
const MOST_DAYS = 31;
/** Days that are read at once: a day may have a row for each partner and market. */
const STEP_DAYS = 8;
const DAY_MS = 86_400_000;

const endOf = (day: string): Date => new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS);
const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/**
 * Whole days, until there are as many rows as requested. Several rows may share a day, and a page ends with a complete day.
 *
 * @param input.after the last day of the previous page
 */
export async function revenue(
  tx: Tx,
  input: {
    from: Date;
    until: Date;
    partnerId?: bigint | undefined;
    marketId?: bigint | undefined;
    after?: string | undefined;
    limit: number;
  },
): Promise<{ rows: RevenueRow[]; next: string | null }> {
  const { until, partnerId, marketId } = input;
  const rows: RevenueRow[] = [];
  let from = input.after === undefined ? input.from : endOf(input.after);
  if (from < input.from) from = input.from;
  const last = earlier(new Date(endOf(dayOf(from)).getTime() + (MOST_DAYS - 1) * DAY_MS), until);
  while (from < last) {
    const end = earlier(new Date(endOf(dayOf(from)).getTime() + (STEP_DAYS - 1) * DAY_MS), last);
    const days = Map.groupBy(await earnedWithin(tx, { from, until: end, partnerId, marketId }), ({ day }) => day);
    for (const [day, earned] of [...days].sort(([one], [other]) => (one < other ? -1 : 1))) {
      rows.push(...ofDay(day, earned));
      if (rows.length >= input.limit) return { rows, next: endOf(day) < until ? day : null };
    }
    from = end;
  }
  return { rows, next: from < until ? dayOf(new Date(from.getTime() - 1)) : null };
}

function ofDay(day: string, earned: readonly Earned[]): RevenueRow[] {
  const sums = new Map<string, RevenueRow & { units: Record<EarningKind, bigint> }>();
  for (const { partnerId, marketId, kind, asset, units } of earned) {
    const key = `${partnerId}:${marketId}:${asset}`;
    const row = sums.get(key) ?? { day, partnerId, marketId, asset, units: nothing() };
    row.units[kind] += units;
    sums.set(key, row);
  }
  const rank = (id: bigint | null): bigint => id ?? -1n;
  return [...sums.values()]
    .filter(({ units }) => EARNING_KINDS.some((kind) => units[kind] !== 0n))
    .sort(
      (a, b) =>
        Number(rank(a.partnerId) - rank(b.partnerId)) ||
        Number(rank(a.marketId) - rank(b.marketId)) ||
        (a.asset < b.asset ? -1 : 1),
    );
}

const nothing = (): Record<EarningKind, bigint> => ({
  ...{ fee_operator: 0n, fee_partner: 0n, fee_rail: 0n, fee_chain: 0n, cost: 0n },
});
