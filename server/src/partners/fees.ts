/**
 * Fees: what each of the four takes on a market. Only the terms; what they come to is arithmetic of the quote.
 */
import type { Tx } from '../base/db.ts';
import { jsonOf, type Reason, recordChange, UNSAID } from './changes.ts';
import type { Market } from './markets.ts';
import { remember } from './remember.ts';
import { feeRows, sql } from './store.ts';

/** Fixed part and minimum in the fiat's smallest units; `gasUnits` of gas are priced at what the chain charges now. */
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

/** The partner's own row stands before the general one; no row, no fee. */
export async function feesFor(tx: Tx, market: Market, partnerId: bigint): Promise<FeeTerms> {
  return await remembered.get(`${market.id}:${partnerId}`, async () => {
    const terms: Record<FeeKind, FeeTerm> = { operator: NO_FEE, partner: NO_FEE, rail: NO_FEE, chain: NO_FEE };
    for (const row of await feeRows(tx, market.id, partnerId)) {
      terms[row.kind] = {
        fixedUnits: row.fixed_units,
        bps: BigInt(row.bps),
        minimumUnits: row.minimum_units,
        gasUnits: row.gas_units,
      };
    }
    return terms;
  });
}

/** Sets one fee of a market, for one partner or (null) for all that have none of their own; kept with who and why. */
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
  remembered.forget();
}
