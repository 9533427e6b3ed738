/**
 * Batches: sweeps of many deposit addresses in one chain transaction of the paying wallet, where a chain's settings say so
 * (docs/decisions/0100-batched-sweeps.md).
 *
 * The sweeps are rows of their own, and claim their deposits as always. A batch is a send of the rail under a key made from them.
 * The transaction that writes that send also marks its sweeps with the key (`reference`) and as submitted: so a sweep is in one
 * batch at most, and is never sent alone as well. After a crash the send continues from its row. If its reservation was given up,
 * its sweeps are free again.
 *
 * Once the batch is final, the rail reports what arrived from which address. Those sweeps are settled. The others moved nothing:
 * they fail, release their deposits and open a case, and the next sweep of such an address is sent alone. One entry books the
 * batch with its cost, which the first sweep's row carries.
 */
import { createHash } from 'node:crypto';
import { later } from '../base/clock.ts';
import { awaitAll, type Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { chart, move, post } from '../ledger/index.ts';
import { fundsArrived } from '../orders/index.ts';
import { isRailOff } from '../partners/index.ts';
import { batchKeyOf, type ChainRail, hasSend, isBatch, keyOfHash, releaseDeposits } from '../rails/chain.ts';
import type { RailFact } from '../rails/rail.ts';
import { caseOf, FAILED_AGAIN_MS, freeId, type SweepContext } from './own.ts';
import type { OwnTransfer } from './store.ts';
import * as store from './store.ts';

/** Batches under way per rail. */
export const OPEN_BATCHES = 10;
/** A batch of one costs more gas than a sweep sent alone, so a sweep waits this long for others. */
const ALONE_MS = 30_000;

type OwnFact = Extract<RailFact, { type: 'own_transfer_settled' | 'own_transfer_failed' }>;

/**
 * Advances the batches of a rail, and makes new ones.
 *
 * @param open all open sweeps of the rail
 * @returns keys of the sweeps that must not be sent alone now
 */
export async function advanceBatches(
  context: SweepContext,
  rail: ChainRail,
  open: readonly OwnTransfer[],
): Promise<Set<string>> {
  const { db, clock, log } = context;
  const kept = new Set<string>();
  const batches = new Set(open.flatMap(({ reference }) => reference ?? []));
  for (const { key, reference } of open) if (reference !== null) kept.add(key);
  // Asking continues a send that a crash has left behind.
  for (const key of batches) {
    const { outcome } = await rail.status(key);
    if (outcome === 'absent') await freeAgain(context, rail, key);
  }
  if (rail.mostInBatch === 0 || !rail.canSend(rail.wallets.payouts)) return kept;
  const now = clock.now();
  const { free, isOff } = await db.asSystem(async (tx) => ({
    free: await store.batchable(tx, rail.code),
    isOff: await isRailOff(tx, rail.code),
  }));
  const room = OPEN_BATCHES - batches.size;
  const groups = [...Map.groupBy(free, ({ asset }) => asset).values()].flatMap((of) => chunks(of, rail.mostInBatch));
  for (const [at, sweeps] of groups.entries()) {
    const isWaiting = sweeps.length === 1 && now.getTime() - (sweeps[0]?.createdAt.getTime() ?? 0) < ALONE_MS;
    if (sweeps.length === 1 && !isWaiting) continue;
    for (const { key } of sweeps) kept.add(key);
    if (isWaiting || isOff || at >= room) continue;
    const rejected = await sendAll(rail, sweeps, now);
    for (const { key } of rejected) kept.delete(key);
    if (rejected.length > 0) log.info({ rail: rail.code, sweeps: rejected.length }, 'sweeps not sent in a batch');
  }
  return kept;
}

/** Sends these sweeps; a batch that is rejected as a whole, for its fee or its sum, in halves. @returns those rejected even so */
async function sendAll(rail: ChainRail, sweeps: readonly OwnTransfer[], now: Date): Promise<readonly OwnTransfer[]> {
  const [first] = sweeps;
  if (first === undefined || sweeps.length === 1) return sweeps;
  const keys = sweeps.map(({ key }) => key).toSorted();
  const key = batchKeyOf(rail.code, createHash('sha256').update(keys.join('\n')).digest('hex').slice(0, 32));
  const moves = sweeps.map(({ address, index, units }) => ({ address, index, units }));
  const guard = async (tx: Tx): Promise<string | undefined> => {
    const sent = await awaitAll(...keys.map((one) => hasSend(tx, rail.code, one)));
    const joined = sent.includes(true) ? 0 : await store.joinBatch(tx, keys, key, now);
    return joined === keys.length ? undefined : 'another process has begun one of these sweeps';
  };
  // Without an answer the node may have the bytes, or only our row has them: the next run asks.
  const { outcome } = await rail.sendBatch({ key, asset: first.asset, moves, guard });
  if (outcome !== 'rejected') return [];
  const middle = Math.ceil(sweeps.length / 2);
  return [...(await sendAll(rail, sweeps.slice(0, middle), now)), ...(await sendAll(rail, sweeps.slice(middle), now))];
}

/** Parts of nearly equal size: a last part of one would wait for others. */
function chunks<T>(all: readonly T[], most: number): T[][] {
  const count = Math.ceil(all.length / most);
  const end = (at: number): number => Math.floor((at * all.length) / count);
  return Array.from({ length: count }, (_, at) => all.slice(end(at), end(at + 1)));
}

/** The reservation of a batch was given up before a signer was asked, or it can never be mined. */
const freeAgain = ({ db }: SweepContext, rail: ChainRail, key: string): Promise<void> =>
  db.asSystem(async (tx) => {
    const sweeps = await store.lockBatch(tx, rail.code, key);
    if (!(await hasSend(tx, rail.code, key)))
      await store.leaveBatch(
        tx,
        sweeps.map((one) => one.key),
      );
  });

/** Books the rail's final report of a batch. */
export async function takeBatch(context: Pick<SweepContext, 'clock' | 'chains'>, tx: Tx, fact: OwnFact): Promise<void> {
  const now = context.clock.now();
  const sweeps = await store.lockBatch(tx, fact.rail, fact.key);
  const [first] = sweeps;
  // Reported before.
  if (first === undefined) return;
  const arrived = [...(fact.type === 'own_transfer_settled' ? (fact.moved ?? []) : [])];
  const settled: OwnTransfer[] = [];
  const failed: OwnTransfer[] = [];
  for (const sweep of sweeps) {
    const at = arrived.findIndex(({ from, units }) => from === sweep.address && units === sweep.units);
    if (at === -1) failed.push(sweep);
    else {
      arrived.splice(at, 1);
      settled.push(sweep);
    }
  }
  const { reference } = fact;
  const why =
    fact.type === 'own_transfer_failed' ? fact.why : 'its batch was mined, and moved nothing from this address';
  const keysOf = (of: readonly OwnTransfer[]) => of.map(({ key }) => key);
  const cost = fact.cost && { key: first.key, ...fact.cost };
  store.endAll(tx, keysOf(settled), { state: 'settled', why: null, reference, at: now, cost });
  store.endAll(tx, keysOf(failed), { state: 'failed', why, reference, at: now, cost });
  for (const sweep of failed) {
    await releaseDeposits(tx, sweep.rail, sweep.key, later(now, FAILED_AGAIN_MS));
    const facts = { key: sweep.key, reference };
    await openCase(tx, { kind: 'sweep_failed', subject: caseOf(sweep).subject, reason: why, facts, now });
  }
  const subjects = settled.map((one) => caseOf(one).subject);
  if (subjects.length > 0)
    await closeCases(tx, { kind: 'sweep_rejected', subject: subjects, outcome: 'submitted', now });
  await bookBatch(context, tx, fact.key, await store.sweepsUnder(tx, fact.rail, reference));
}

/**
 * Books all sweeps of a batch in one entry. If the native units that paid its cost are not in the books yet, a later run books it.
 */
async function bookBatch(
  { clock, chains }: Pick<SweepContext, 'clock' | 'chains'>,
  tx: Tx,
  key: string,
  sweeps: readonly OwnTransfer[],
): Promise<void> {
  const [first] = sweeps;
  const rail = first && chains.get(first.rail);
  if (first === undefined || rail === undefined) throw new Unavailable('treasury', `the rail of ${key} is not running`);
  const now = clock.now();
  const { deposits, payouts } = rail.wallets;
  const at = (wallet: string, of: string) => chart.custody(rail.code, wallet, of);
  const settled = sweeps.filter(({ state }) => state === 'settled');
  const units = settled.reduce((sum, one) => sum + one.units, 0n);
  const lines = [
    ...(units > 0n ? move(at(payouts, first.asset), at(deposits, first.asset), units) : []),
    ...sweeps.flatMap(({ costAsset, costUnits }) =>
      costAsset === null ? [] : move(chart.cost(rail.code, costAsset), at(payouts, costAsset), costUnits),
    ),
  ];
  if (lines.length > 0) {
    const kind = units > 0n ? 'sweep' : 'sweep_failed';
    const facts = { movement: key, sweeps: sweeps.length };
    const posted = await post(tx, { id: await freeId(tx, key), kind, at: now, facts, lines });
    if (posted.outcome === 'short') return;
  }
  store.markBooked(
    tx,
    sweeps.map((one) => one.key),
    now,
  );
  if (units > 0n) await fundsArrived(tx, now);
}

/** Books batches among these unbooked transfers. @returns the others */
export async function bookLateBatches(
  context: SweepContext,
  tx: Tx,
  rail: ChainRail,
  unbooked: readonly OwnTransfer[],
): Promise<OwnTransfer[]> {
  const others: OwnTransfer[] = [];
  const batches = new Map<string, OwnTransfer[]>();
  for (const row of unbooked) {
    const key = row.reference === null ? undefined : await keyOfHash(tx, rail.code, row.reference);
    if (key === undefined || !isBatch(key)) others.push(row);
    else batches.set(key, [...(batches.get(key) ?? []), row]);
  }
  for (const [key, rows] of batches) await bookBatch(context, tx, key, rows);
  return others;
}
