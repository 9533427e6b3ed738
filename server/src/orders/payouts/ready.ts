/**
 * Ready: whether a deposit may be spent.
 *
 * A bank can recall credits; a chain can reorg blocks. So before a payout, a refund or a follow-on order uses a deposit, bank
 * money waits for its clearing time, and chain money for the confirmations that the sum it is part of requires. That applies in
 * every state of the order, and to money that no order accepted.
 *
 * Reads stored rows only, so it may be called in the transaction that submits a payout.
 *
 * Not here: which code calls it before a payout is submitted, and what confirms a deposit in the first place
 * (rails/chain.follow.ts).
 */
import { later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { allMarkets, marketById } from '../../partners/index.ts';
import { depositAsset } from '../../quotes/index.ts';
import type { Rail } from '../../rails/rail.ts';
import type { DepositRow } from '../deposits/store.ts';
import type { Order } from '../store.ts';

export type NotReady = { cause: 'clearing' | 'confirmations'; until: Date | null; why: string };

type Rails = { rails: ReadonlyMap<string, Rail> };

/**
 * Whether these deposits may be spent: each one cleared by its bank, or deep enough on its chain for the sum it is part of.
 * Reads stored rows only.
 *
 * @param deposits the deposits that fund the payout: the order's applied deposits, or the one deposit of a refund
 * @returns undefined if all are ready
 */
export async function notReady(
  { rails }: Rails,
  tx: Tx,
  deposits: readonly DepositRow[],
  now: Date,
): Promise<NotReady | undefined> {
  // Deposits of another origin are money of their order. The caller adds the order's own deposits (leaving.ts).
  const brought = deposits.filter(({ origin }) => origin === 'rail');
  // Money that nobody sent for an order, such as what a bank returned beyond what was sent to it: it may take that back, too.
  const stray = deposits.filter(({ origin }) => origin === 'credit');
  let clearsAt: Date | undefined;
  for (const row of [...brought, ...stray]) {
    const at = await clearingEnd({ rails }, tx, row);
    if (at !== null && at > now && (clearsAt === undefined || at > clearsAt)) clearsAt = at;
  }
  if (clearsAt !== undefined)
    return {
      cause: 'clearing',
      until: clearsAt,
      why: `the bank can take the money back until ${clearsAt.toISOString()}`,
    };
  for (const [code, rows] of Map.groupBy(brought, ({ rail }) => rail)) {
    const why = await rails.get(code)?.notDeep?.(
      tx,
      rows.map(({ externalId }) => externalId),
    );
    if (why !== undefined) return { cause: 'confirmations', until: null, why };
  }
  return undefined;
}

/**
 * Until when a bank may reverse this credit, counted from when we first saw it; null if its rail is not a bank.
 *
 * @param order the order that the deposit belongs to: its market's clearing time applies if the market accepts this rail and
 *   asset. For any other money it is the longest clearing time of the markets that accept them
 */
export async function clearsAtOf(
  { rails }: Rails,
  tx: Tx,
  deposit: { rail: string; asset: string; seenAt: Date },
  order: Order | undefined,
): Promise<Date | null> {
  const { rail, asset, seenAt } = deposit;
  if (rails.get(rail)?.kind !== 'bank') return null;
  if (order !== undefined && order.depositRail === rail && order.depositAsset === asset)
    return later(seenAt, (await marketById(tx, order.marketId)).clearingMs);
  const takers = (await allMarkets(tx)).filter(({ depositRail }) => depositRail === rail);
  const same = takers.filter((market) => depositAsset(market).code === asset);
  // No market accepts this asset on this rail, so the longest clearing time of all markets on the rail applies.
  const counted = same.length > 0 ? same : takers;
  return later(seenAt, Math.max(0, ...counted.map(({ clearingMs }) => clearingMs)));
}

/** When to check again: once the credit has cleared; for a chain soon, because the next block may be deep enough. */
export const lookAgain = ({ until }: NotReady, now: Date): { againInMs: number } => ({
  againInMs: until === null ? BLOCKS_EVERY_MS : until.getTime() - now.getTime(),
});
const BLOCKS_EVERY_MS = 5_000;

/**
 * The stored clearing time. If it is missing, an older server booked the deposit to suspense, or operators found the money; older
 * servers stored it only for an order's own deposit.
 */
async function clearingEnd(context: Rails, tx: Tx, row: DepositRow): Promise<Date | null> {
  if (row.clearsAt !== null || row.state !== 'suspense') return row.clearsAt;
  return await clearsAtOf(context, tx, { ...row, seenAt: row.seenAt }, undefined);
}
