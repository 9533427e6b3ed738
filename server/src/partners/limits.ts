/**
 * Limits: how much one customer may give at once, and how much may be promised to one partner at a time.
 *
 * A market has limits for everybody (markets.ts). A row here lowers the upper one for customers who are verified up to a
 * level; a cap bounds what the live quotes of one partner in one fiat come to together. Both are rows, and act within two
 * seconds of being changed.
 */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import { jsonOf, type Reason, recordChange, UNSAID } from './changes.ts';
import type { Market } from './markets.ts';
import { remember } from './remember.ts';
import { capOf, type LimitRow, limitRows, sql } from './store.ts';

const limits = remember<readonly LimitRow[]>({ forMs: 2_000, most: 1 });
const caps = remember<bigint | null>({ forMs: 2_000, most: 10_000 });

/**
 * The most that a customer of this level may give at once on a market, in the deposit asset's units: the row of the lowest
 * level that is not below the customer's, and never more than the market's own.
 */
export async function maxUnitsFor(tx: Tx, market: Market, level: number): Promise<bigint> {
  const rows = await limits.get('', () => limitRows(tx));
  const row = rows.find((one) => one.market_id === market.id && one.level >= level);
  return row === undefined || row.max_units > market.maxUnits ? market.maxUnits : row.max_units;
}

/** Sets the limit of a market for customers up to a level, or (null) takes it away. */
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
  limits.forget();
}

/** What the partner's live quotes in this fiat may come to, in its units; null where nothing bounds them. */
export async function exposureCap(tx: Tx, partnerId: bigint, fiat: AssetCode): Promise<bigint | null> {
  return await caps.get(`${partnerId}:${fiat}`, async () => (await capOf(tx, partnerId, fiat))?.max_units ?? null);
}

/** Sets the cap of a partner in a fiat, or (null) takes it away. */
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
  caps.forget();
}
