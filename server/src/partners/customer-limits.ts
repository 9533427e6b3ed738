/**
 * Customer limits: how much a customer of a level may trade across all of its orders, in a fiat: with one order, in any 24 hours,
 * in any 30 days. A limit may apply to one direction or to one market alone.
 *
 * Like limits of a market (limits.ts), a limit applies to customers verified up to its level, and the row of the lowest level not
 * below the customer's applies. If several cover an order, it must fit each. Without a row there is no limit.
 *
 * Rows are versions that never change; a change takes effect within two seconds.
 *
 * Not here: the amounts that count per order (orders/limits.ts).
 */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import type { Reason } from './changes.ts';
import {
  type CustomerLimitRow,
  insertLimit,
  type LimitScope,
  limitVersions,
  lockLimits,
  newestLimit,
  newestLimits,
} from './customer-limits.store.ts';
import type { Market } from './markets.ts';
import { remember } from './remember.ts';

export { type CustomerLimitRow, type LimitScope, lockCustomerOrders } from './customer-limits.store.ts';

export const PERIODS = ['order', 'day', 'month'] as const;
export type Period = (typeof PERIODS)[number];

/** A limit in force. */
export interface CustomerLimit extends CustomerLimitRow {
  readonly maxUnits: bigint;
}

const current = remember<readonly CustomerLimitRow[]>({ forMs: 2_000, most: 1 });

const isLimit = (row: CustomerLimitRow): row is CustomerLimit => row.maxUnits !== null;
/** Whether two limits count the same orders and period, whatever their levels. */
export const isSameScope = (a: LimitScope, b: LimitScope): boolean =>
  a.fiatAsset === b.fiatAsset && a.direction === b.direction && a.marketId === b.marketId && a.period === b.period;

/** For each scope and period, the row of the lowest level not below this one. */
export function inForce(rows: readonly CustomerLimitRow[], level: number): CustomerLimit[] {
  const reaching = rows.filter((row) => row.level >= level).filter(isLimit);
  return reaching.filter((row) => !reaching.some((other) => isSameScope(row, other) && other.level < row.level));
}

/** Whether an order on this market is one of those that the limit covers. */
export const covers = (
  { fiatAsset, direction, marketId }: LimitScope,
  market: { id: bigint; direction: Market['direction']; fiat: { code: AssetCode } },
): boolean =>
  fiatAsset === market.fiat.code &&
  (direction === null || direction === market.direction) &&
  (marketId === null || marketId === market.id);

/** The limits of customers of this level; with a market, those that cover its orders. */
export async function customerLimits(tx: Tx, level: number, market?: Market): Promise<readonly CustomerLimit[]> {
  return ofMarket(inForce(await current.get(tx, '', () => newestLimits(tx)), level), market);
}

/** As `customerLimits`, from the rows as they are now: for the gate, because another server may just have lowered a limit. */
export const customerLimitsNow = async (tx: Tx, level: number, market: Market): Promise<readonly CustomerLimit[]> =>
  ofMarket(inForce(await newestLimits(tx), level), market);

const ofMarket = (found: readonly CustomerLimit[], market: Market | undefined): readonly CustomerLimit[] =>
  market === undefined ? found : found.filter((limit) => covers(limit, market));

/** The lowest level above `level`, up to `highest`, whose customers may do more than this limit allows; null when there is none. */
export async function levelWithMore(
  tx: Tx,
  limit: CustomerLimit,
  { level, highest }: { level: number; highest: number },
): Promise<number | null> {
  const rows = await current.get(tx, '', () => newestLimits(tx));
  for (let higher = level + 1; higher <= highest; higher += 1) {
    const there = inForce(rows, higher).find((other) => isSameScope(other, limit));
    if (there === undefined || there.maxUnits > limit.maxUnits) return higher;
  }
  return null;
}

/** The newest version of a limit, including a removed one. */
export const customerLimitRow = (tx: Tx, scope: LimitScope): Promise<CustomerLimitRow | undefined> =>
  newestLimit(tx, scope);

/** Versions of limits, newest first; all of them without `below`. */
export const customerLimitVersions = (
  tx: Tx,
  of: { fiat?: string | undefined; below?: bigint | undefined; limit: number },
): Promise<CustomerLimitRow[]> =>
  limitVersions(tx, { fiat: of.fiat ?? null, below: of.below ?? null, limit: of.limit });

/** The newest version of each limit that is in force, whatever the level. */
export const allCustomerLimits = async (tx: Tx): Promise<CustomerLimit[]> => (await newestLimits(tx)).filter(isLimit);

/** Sets a limit, or (null) removes it, by a new version; no version without a change. */
export async function setCustomerLimit(
  tx: Tx,
  l: LimitScope & { maxUnits: bigint | null; now: Date },
  reason: Reason,
): Promise<CustomerLimitRow | undefined> {
  await lockLimits(tx);
  const before = await newestLimit(tx, l);
  if ((before?.maxUnits ?? null) === l.maxUnits) return before;
  const saved = await insertLimit(tx, { ...l, version: (before?.version ?? 0) + 1, ...reason });
  assert(saved !== undefined, 'the stored limit was not returned');
  current.forget(tx);
  return saved;
}
