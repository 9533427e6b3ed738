/** Fees: the terms of the four fees on a market. The quote computes the amounts. */
import type { Tx } from '../base/db.ts';
import { jsonOf, type Reason, recordChange, rowsJson, UNSAID } from './changes.ts';
import type { Market } from './markets.ts';
import { remember } from './remember.ts';
import { type FeeRow, feeRows, sql } from './store.ts';

/** Fixed part and minimum in the fiat's smallest units; `gasUnits` of gas are priced at the chain's current gas price. */
export interface FeeTerm {
  readonly fixedUnits: bigint;
  readonly bps: bigint;
  readonly minimumUnits: bigint;
  readonly gasUnits: bigint;
}

export type FeeKind = 'operator' | 'partner' | 'rail' | 'chain';
export type FeeTerms = Readonly<Record<FeeKind, FeeTerm>>;

const NO_FEE: FeeTerm = { fixedUnits: 0n, bps: 0n, minimumUnits: 0n, gasUnits: 0n };
const remembered = remember<FeeTerms>({ forMs: 2_000, most: 10_000 });

/** A partner's own row overrides the general one; no row, no fee. */
export async function feesFor(tx: Tx, market: Market, partnerId: bigint): Promise<FeeTerms> {
  return await remembered.get(tx, `${market.id}:${partnerId}`, async () => {
    const terms: Record<FeeKind, FeeTerm> = { operator: NO_FEE, partner: NO_FEE, rail: NO_FEE, chain: NO_FEE };
    for (const row of await feeRows(tx, market.id, partnerId)) {
      terms[row.kind] = {
        fixedUnits: row.fixedUnits,
        bps: BigInt(row.bps),
        minimumUnits: row.minimumUnits,
        gasUnits: row.gasUnits,
      };
    }
    return terms;
  });
}

/** Every fee, by `feeKey`, for code that sets many fees and skips unchanged ones. */
export async function everyFee(tx: Tx): Promise<ReadonlyMap<string, FeeTerm>> {
  const rows = await tx.rows<FeeRow & { marketId: bigint; partnerId: bigint | null }>(sql.everyFee);
  return new Map(
    rows.map(({ marketId, partnerId, kind, ...fee }) => [
      feeKey({ marketId, partnerId, kind }),
      {
        fixedUnits: fee.fixedUnits,
        bps: BigInt(fee.bps),
        minimumUnits: fee.minimumUnits,
        gasUnits: fee.gasUnits,
      },
    ]),
  );
}

export const feeKey = (f: { marketId: bigint; partnerId: bigint | null; kind: FeeKind }): string =>
  `${f.marketId}:${f.partnerId ?? ''}:${f.kind}`;

/** Markets on which at least one partner is charged for gas. */
export const chargingGas = async (tx: Tx): Promise<ReadonlySet<bigint>> =>
  new Set((await tx.rows<{ id: bigint }>(sql.chargingGas)).map(({ id }) => id));

/** Partners with their own fee of this kind on a market: the general one does not apply to them. */
export const partnersWithOwnFee = async (tx: Tx, marketId: bigint, kind: FeeKind): Promise<bigint[]> =>
  (await tx.rows<{ partnerId: bigint }>(sql.ownFees, [marketId, kind])).map((row) => row.partnerId);

/** Adds many at once; existing ones stay. Each is recorded with who and why. */
export async function addFees(
  tx: Tx,
  added: readonly ({ marketId: bigint; partnerId: bigint | null; kind: FeeKind } & FeeTerm)[],
  { by, why }: Reason = UNSAID,
): Promise<void> {
  if (added.length === 0) return;
  const rows = added.map(({ marketId, partnerId, kind, fixedUnits, bps, minimumUnits, gasUnits }) => ({
    ...{ market_id: marketId, partner_id: partnerId, kind, fixed_units: fixedUnits, bps },
    ...{ minimum_units: minimumUnits, gas_units: gasUnits },
  }));
  await tx.run(sql.addFees, [rowsJson(rows), by, why]);
  remembered.forget(tx);
}

/** Sets one fee of a market, for one partner or (null) for all without their own; recorded with who and why. */
export async function setFee(
  tx: Tx,
  f: { marketId: bigint; partnerId: bigint | null; kind: FeeKind } & Partial<FeeTerm>,
  reason: Reason = UNSAID,
): Promise<void> {
  const look = () => jsonOf(tx, sql.feeJson, [f.marketId, f.partnerId, f.kind]);
  const before = await look();
  const { fixedUnits, bps, minimumUnits, gasUnits } = { ...NO_FEE, ...f };
  await tx.run(sql.upsertFee, [f.marketId, f.partnerId, f.kind, fixedUnits, bps, minimumUnits, gasUnits]);
  const { marketId, partnerId, kind } = f;
  await recordChange(tx, { what: 'fee', marketId, partnerId, item: kind, before, after: await look(), reason });
  remembered.forget(tx);
}
