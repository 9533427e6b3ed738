/**
 * Revenue: what fee and cost accounts received, by UTC day, partner, market and asset. Summed from the journal, so that a
 * day's rows equal the difference of the trial balances at its two ends.
 *
 * A fee counts on the day it was booked, and is subtracted on the day it was refunded. Charges of chains and banks are booked
 * without an order, so they have no partner and no market, and rows of their own.
 */
import { dayOf } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { EARNING_KINDS, type EarningKind, earnedWithin } from '../ledger/index.ts';
import { whoseOrders } from '../orders/index.ts';

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
const DAY_MS = 86_400_000;

const endOf = (day: string): Date => new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS);

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
  const rows: RevenueRow[] = [];
  let from = input.after === undefined ? input.from : endOf(input.after);
  if (from < input.from) from = input.from;
  for (let days = 0; from < input.until; days += 1) {
    const day = dayOf(from);
    if (days === MOST_DAYS || rows.length >= input.limit) return { rows, next: dayOf(new Date(from.getTime() - 1)) };
    const end = endOf(day);
    const until = end < input.until ? end : input.until;
    rows.push(...(await ofDay(tx, day, { from, until }, input)));
    from = until;
  }
  return { rows, next: null };
}

async function ofDay(
  tx: Tx,
  day: string,
  span: { from: Date; until: Date },
  input: { partnerId?: bigint | undefined; marketId?: bigint | undefined },
): Promise<RevenueRow[]> {
  const earned = await earnedWithin(tx, span);
  const ids = [...new Set(earned.flatMap(({ orderId }) => (orderId === null ? [] : [orderId])))];
  const owners = new Map((await whoseOrders(tx, ids)).map((owner) => [owner.id, owner]));
  const sums = new Map<string, RevenueRow & { units: Record<EarningKind, bigint> }>();
  for (const { orderId, kind, asset, units } of earned) {
    const { partnerId = null, marketId = null } = (orderId === null ? undefined : owners.get(orderId)) ?? {};
    if (input.partnerId !== undefined && input.partnerId !== partnerId) continue;
    if (input.marketId !== undefined && input.marketId !== marketId) continue;
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
