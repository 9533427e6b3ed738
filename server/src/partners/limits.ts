/**
 * Limits: the maximum that one customer may pay at once, and the maximum promised to one partner at a time.
 *
 * A market has limits for all customers (markets.ts). A row here lowers the maximum for customers verified up to a level; a cap
 * bounds the sum of one partner's live quotes in one fiat. Both are rows, and changes take effect within two seconds.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { jsonOf, type Reason, recordChange, UNSAID } from './changes.ts';
import type { Market } from './markets.ts';
import { remember } from './remember.ts';
import { capOf, capsOf, type LimitRow, limitRows, sql } from './store.ts';

const limits = remember<readonly LimitRow[]>({ forMs: 2_000, most: 1 });
const caps = remember<bigint | null>({ forMs: 2_000, most: 10_000 });

/**
 * The most that a customer of this level may pay at once on a market, in the deposit asset's units: the row of the lowest
 * level not below the customer's, and never more than the market's own maximum.
 */
export async function maxUnitsFor(tx: Tx, market: Market, level: number): Promise<bigint> {
  const most = await levelMaxUnits(tx, market, level);
  return most === undefined || most > market.maxUnits ? market.maxUnits : most;
}

/** The same by the level's row alone; undefined when no row limits this level. */
async function levelMaxUnits(tx: Tx, market: Market, level: number): Promise<bigint | undefined> {
  return levelMaxIn(await limits.get(tx, '', () => limitRows(tx)), market, level);
}

/** As `levelMaxUnits`, from the rows as they are now: for the gate, because another server may just have lowered a limit. */
export const levelMaxUnitsNow = async (tx: Tx, market: Market, level: number): Promise<bigint | undefined> =>
  levelMaxIn(await limitRows(tx), market, level);

function levelMaxIn(rows: readonly LimitRow[], market: Market, level: number): bigint | undefined {
  return rows.find((one) => one.marketId === market.id && one.level >= level)?.maxUnits;
}

/** A partner's caps by fiat. */
export const exposureCaps = async (tx: Tx, partnerId: bigint): Promise<ReadonlyMap<AssetCode, bigint>> =>
  new Map((await capsOf(tx, partnerId)).map((row) => [row.fiatAsset, row.maxUnits]));

/** Sets the limit of a market for customers up to a level, or (null) removes it. */
export async function setLimit(
  tx: Tx,
  l: { marketId: bigint; level: number; maxUnits: bigint | null },
  reason: Reason = UNSAID,
): Promise<void> {
  const look = () => jsonOf(tx, sql.limitJson, [l.marketId, l.level]);
  const before = await look();
  if (l.maxUnits === null) await tx.run(sql.removeLimit, [l.marketId, l.level]);
  else await tx.run(sql.upsertLimit, [l.marketId, l.level, l.maxUnits]);
  const item = String(l.level);
  await recordChange(tx, { what: 'limit', marketId: l.marketId, item, before, after: await look(), reason });
  limits.forget(tx);
}

/**
 * The partner's cap on promises in this fiat, in its units; null without a cap. If there is one it is locked until `tx` ends: the
 * sum that the caller reads next is complete, and the next caller's sum includes this one. A partner without a cap waits for no
 * lock. Taken after a customer's number and a quote's row, never before them.
 */
export async function lockExposure(tx: Tx, partnerId: bigint, fiat: AssetCode): Promise<bigint | null> {
  const read = async () => (await capOf(tx, partnerId, fiat))?.maxUnits ?? null;
  const cap = await caps.get(tx, `${partnerId}:${fiat}`, read);
  // A separate statement before the count, so that the count sees what the last holder of the lock committed.
  if (cap !== null) tx.defer(sql.lockExposure, [`exposure ${partnerId} ${fiat}`]);
  return cap;
}

/** Sets the cap of a partner in a fiat, or (null) removes it. */
export async function setExposureCap(
  tx: Tx,
  c: { partnerId: bigint; fiat: AssetCode; maxUnits: bigint | null },
  reason: Reason = UNSAID,
): Promise<void> {
  const { partnerId, fiat } = c;
  const look = () => jsonOf(tx, sql.capJson, [partnerId, fiat]);
  const before = await look();
  if (c.maxUnits === null) await tx.run(sql.removeCap, [partnerId, fiat]);
  else await tx.run(sql.upsertCap, [partnerId, fiat, c.maxUnits]);
  await recordChange(tx, { what: 'exposure', partnerId, item: fiat, before, after: await look(), reason });
  caps.forget(tx);
}
