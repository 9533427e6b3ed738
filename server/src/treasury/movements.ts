/**
 * Movements that a chain has and no row of ours has (rails/chain.adopt.ts), as far as the rails cannot identify them: sweeps and
 * gas transfers, which only the treasury knows, and movements that two operators decide.
 *
 * A transfer from a deposit address to the paying wallet is one of our sweeps, because only our key can sign it. If the deposits
 * that were there before its block sum to exactly its amount, the sweep claimed those. A gas transfer goes to a deposit address
 * and belongs to a sweep of that address. Either may have been created after the last commit that was restored; then its row is
 * created again.
 *
 * From then on a matched movement is a send like any other: its receipt settles it, with its cost.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { followOnById, movementKnown } from '../orders/index.ts';
import { declareForeign, lookDebit, settlePayoutByLine } from '../rails/bank.ts';
import {
  adoptAs,
  type ChainRail,
  claimDepositsBefore,
  countReported,
  depositWallet,
  endFound,
  type FoundMovement,
  findFound,
  hasSend,
  indexOf,
  listFound,
  lockFound,
  noteCancel,
  releaseDeposits,
  TRANSFER_KEY,
  waitingFound,
} from '../rails/chain.ts';
import { notePaidUnits, payoutByKey, requireOtherAmount } from '../rails/payouts.ts';
import type { Rail, Report } from '../rails/rail.ts';
import * as store from './store.ts';
import { findTransfer, noteTransfer } from './transfers.store.ts';

const MOST_SHOWN = 200;
const OWN_KEY = /^(sweep|gas|transfer):/;

/** A transfer between our own wallets, as the books have it. */
const findOwn = async (tx: Tx, key: string) =>
  key.startsWith(TRANSFER_KEY) ? await findTransfer(tx, key) : await store.find(tx, key);

interface Context {
  db: Database;
  clock: Clock;
}

/** Context of operators' decisions. */
type Deciding = Context & { rails: ReadonlyMap<string, Rail>; report: Report };

/** Matches movements between our own wallets with rows that fit. */
export async function matchOwn({ db, clock }: Context, rail: ChainRail): Promise<void> {
  const waiting = await db.asSystem((tx) => waitingFound(tx, rail.code, MOST_SHOWN));
  for (const { id, state } of waiting) {
    if (state !== 'open') continue;
    await db.asSystem(async (tx) => {
      await store.lockChoice(tx, rail.code);
      const row = await lockFound(tx, id);
      if (row?.state !== 'open' || row.succeeded !== true) return;
      const key = (await sweepOf(tx, rail, row, clock.now())) ?? (await gasOf(tx, rail, row, clock.now()));
      if (key !== undefined) await adopt(tx, row, key, clock.now());
    });
  }
}

/** Key of the sweep that a movement was; the sweep is created if the books lack it. */
async function sweepOf(tx: Tx, rail: ChainRail, row: FoundMovement, now: Date): Promise<string | undefined> {
  const from = sweptFrom(rail, row);
  if (from === undefined) return undefined;
  const { asset, units } = from;
  const address = await rail.targetOf(tx, from.index);
  const [written, ...others] = await notSent(tx, rail, { kind: 'sweep', address, asset, units });
  if (written !== undefined) return others.length === 0 ? written.key : undefined;
  const key = await store.nextSweepKey(tx, rail.code, address, asset);
  // An open sweep may have claimed these deposits, with others. It never left, because this movement took them.
  const open = (await store.sweepsAt(tx, rail.code, address)).filter(
    (one) => one.endedAt === null && one.asset === asset,
  );
  const [stale] = await withoutSend(tx, rail, open);
  const before = { address, asset, units, block: row.block ?? 0n, claimedBy: stale?.key };
  if (!(await claimDepositsBefore(tx, rail.code, before, key))) return undefined;
  if (stale !== undefined) {
    await releaseDeposits(tx, rail.code, stale.key, now);
    await store.end(tx, stale.key, { state: 'dropped', why: 'another sweep had left before the restore', at: now });
  }
  await writeSweep(tx, rail, row, { key, address, ...from }, now);
  return key;
}

function sweptFrom(rail: ChainRail, row: FoundMovement): { index: bigint; asset: string; units: bigint } | undefined {
  const index = /^deposit:([0-9]+)$/.exec(row.wallet)?.[1];
  if (index === undefined || row.asset === null || row.units === null || row.data?.length === 0) return undefined;
  if (row.recipient !== rail.walletAddresses[rail.wallets.payouts]) return undefined;
  return { index: BigInt(index), asset: row.asset, units: row.units };
}

async function writeSweep(
  tx: Tx,
  rail: ChainRail,
  row: FoundMovement,
  sweep: { key: string; address: string; index: bigint; asset: string; units: bigint },
  now: Date,
): Promise<void> {
  assert(row.recipient !== null, `movement ${row.id} has no recipient`);
  await store.write(tx, { ...sweep, kind: 'sweep', rail: rail.code, target: row.recipient, sweep: null }, now);
}

/** Key of the gas transfer that a movement was, for its sweep if there is one. */
async function gasOf(tx: Tx, rail: ChainRail, row: FoundMovement, now: Date): Promise<string | undefined> {
  const { recipient: address, asset, units } = row;
  if (row.wallet !== rail.wallets.payouts || row.data?.length !== 0) return undefined;
  if (address === null || asset === null || units === null) return undefined;
  const index = await indexOf(tx, rail.code, address);
  if (index === undefined) return undefined;
  const [written, ...others] = await notSent(tx, rail, { kind: 'gas', address, asset, units });
  if (written !== undefined) return others.length === 0 ? written.key : undefined;
  for (const sweep of await store.sweepsAt(tx, rail.code, address)) {
    const before = await store.gasOf(tx, sweep.key);
    const unsent = await withoutSend(
      tx,
      rail,
      before.filter(({ endedAt }) => endedAt === null),
    );
    if (before.some((one) => one.state !== 'dropped' && !unsent.includes(one))) continue;
    // A gas transfer that was created to replace this one is no longer needed.
    for (const { key } of unsent)
      await store.end(tx, key, { state: 'dropped', why: 'gas had been sent before the restore', at: now });
    const key = store.gasKey(sweep.key, before.length);
    await store.write(
      tx,
      { key, kind: 'gas', rail: rail.code, address, index, asset, units, target: address, sweep: sweep.key },
      now,
    );
    return key;
  }
  return undefined;
}

const notSent = async (tx: Tx, rail: ChainRail, of: Parameters<typeof store.unsent>[2]): Promise<store.OwnTransfer[]> =>
  await withoutSend(tx, rail, await store.unsent(tx, rail.code, of));

async function withoutSend(tx: Tx, rail: ChainRail, rows: readonly store.OwnTransfer[]): Promise<store.OwnTransfer[]> {
  const found: store.OwnTransfer[] = [];
  for (const one of rows) if (!(await hasSend(tx, rail.code, one.key))) found.push(one);
  return found;
}

async function adopt(tx: Tx, row: FoundMovement, key: string, now: Date): Promise<void> {
  assert(row.asset !== null && row.units !== null, `movement ${row.id} has no asset or amount`);
  await adoptAs(tx, row, { key, version: 1, asset: row.asset, units: row.units });
  if (key.startsWith(TRANSFER_KEY)) await noteTransfer(tx, key, { state: 'submitted', why: null });
  else if (OWN_KEY.test(key)) await store.note(tx, key, { state: 'submitted', why: null, at: now });
  const left = await countReported(tx, row.rail);
  await movementKnown(tx, { rail: row.rail, movement: row.id, left, outcome: `matched with ${key}`, now });
}

/** Decisions of two operators about movements, and the data that they review. */
export const openMovements = (context: Deciding) => ({
  list: (tx: Tx) => listFound(tx, MOST_SHOWN),
  look,
  ordered,
  lookPayout: (tx: Tx, key: string) => lookPayout(context, tx, key),

  match: (tx: Tx, input: Matched) => match(context, tx, input),
  foreign: (tx: Tx, id: bigint) => foreign(context, tx, id),
  cancel,

  lookDebit: (tx: Tx, { rail, line }: { rail: string; line: string }) => lookDebit(tx, rail, line),
  /**
   * Records that an unexplained debit paid none of our payouts: no payout waits for it any more.
   *
   * @throws Refusal 'does_not_fit'
   */
  debitForeign: (tx: Tx, { rail, line }: { rail: string; line: string }) => declareForeign(tx, rail, line),
  settleBy: (input: Settled) => settleBy(context, input),
});

export type Movements = ReturnType<typeof openMovements>;

interface Matched {
  movement: bigint;
  key: string;
  otherAmount?: boolean | undefined;
}
interface Settled {
  payout: string;
  rail: string;
  by: { hash: string } | { line: string };
  otherAmount?: boolean | undefined;
}

function chainOf({ rails }: Deciding, code: string): ChainRail {
  const rail = rails.get(code);
  assert(rail?.kind === 'chain', `rail ${code} is not running`);
  return rail as ChainRail;
}

async function lockOpen(tx: Tx, id: bigint): Promise<FoundMovement> {
  const row = await lockFound(tx, id);
  if (row === undefined) throw new Refusal('unknown_movement');
  if (row.state !== 'open') throw new Refusal('movement_over', { state: row.state });
  return row;
}

/**
 * Matches a movement with a payout, sweep or gas transfer of the books.
 *
 * @param input.otherAmount for a payout that left with another amount than the books have, for example after a requote that the
 *   restored books lack or have made since. The amount that left is booked, and the difference is booked separately.
 * @throws Refusal 'unknown_movement' | 'movement_over' | 'unknown_payout' | 'does_not_fit'
 */
async function match(context: Deciding, tx: Tx, input: Matched): Promise<void> {
  const row = await lockOpen(tx, input.movement);
  const wrong = (why: string) => new Refusal('does_not_fit', { why });
  if (row.succeeded !== true) throw wrong('the transaction was reverted, so it paid nothing');
  const to = OWN_KEY.test(input.key) ? await findOwn(tx, input.key) : await payoutByKey(tx, row.rail, input.key);
  if (to === undefined || to.rail !== row.rail) throw new Refusal('unknown_payout');
  if (await hasSend(tx, row.rail, input.key)) throw wrong('it was sent by a transaction that is in the books');
  if (to.state === 'settled' || to.state === 'returned') throw wrong(`it is ${to.state} already`);
  const isOwn = 'target' in to;
  const recipient = isOwn ? to.target : to.address;
  if (isOwn && to.state === 'cancelled') throw wrong('it was cancelled');
  const wallet =
    isOwn && 'kind' in to && to.kind === 'sweep' ? depositWallet(to.index) : chainOf(context, row.rail).wallets.payouts;
  if (row.asset === null || row.units === null || row.asset !== to.asset) throw wrong('another asset');
  if (row.recipient !== recipient) throw wrong('another recipient');
  if (row.wallet !== wallet) throw wrong('out of another wallet');
  if (row.units !== to.units) {
    if (isOwn) throw wrong('another amount');
    requireOtherAmount(to, row.units, input.otherAmount);
    await notePaidUnits(tx, to.id, row.units);
  }
  await adopt(tx, row, input.key, context.clock.now());
}

/**
 * Starts to use up a movement's nonce with an empty transfer, unless the signed transaction is mined first
 * (rails/chain.adopt.ts).
 *
 * @throws Refusal 'unknown_movement' | 'movement_over'; 'does_not_fit' if the movement was not found through the signer's journal
 */
async function cancel(tx: Tx, id: bigint): Promise<void> {
  const row = await lockFound(tx, id);
  if (row === undefined) throw new Refusal('unknown_movement');
  if (row.state !== 'unread') throw new Refusal('movement_over', { state: row.state });
  if (!(await noteCancel(tx, id)))
    throw new Refusal('does_not_fit', { why: 'a block holds it: it is read, and then matched or declared not ours' });
}

/** @throws Refusal 'unknown_movement' | 'movement_over' */
async function foreign(context: Deciding, tx: Tx, id: bigint): Promise<void> {
  const { clock, report } = context;
  const row = await lockOpen(tx, id);
  const rail = chainOf(context, row.rail);
  const now = clock.now();
  const swept = row.succeeded === true ? sweptFrom(rail, row) : undefined;
  if (swept !== undefined) {
    // The money stays ours if it moved between our own wallets: booked as a sweep without named deposits.
    const address = await rail.targetOf(tx, swept.index);
    const key = await store.nextSweepKey(tx, rail.code, address, swept.asset);
    await writeSweep(tx, rail, row, { key, address, ...swept }, now);
    return await adopt(tx, row, key, now);
  }
  await endFound(tx, row.id, { state: 'foreign' });
  const { hash, rail: code, asset, units, costUnits, value } = row;
  const native = await rail.nativeAsset(tx);
  const reference = hash ?? '';
  if (row.succeeded === true && asset !== null && units !== null && asset !== native)
    await report(tx, { type: 'unexplained_debit', rail: code, externalId: `${hash}:0`, asset, units, reference });
  const coin = (costUnits ?? 0n) + (row.succeeded === true ? (value ?? 0n) : 0n);
  // The native asset emits no log. The balance shows the amount as missing, so it is booked as an unexplained debit.
  if (native !== undefined && coin > 0n && row.wallet === rail.wallets.payouts)
    await report(tx, {
      type: 'unexplained_debit',
      rail: code,
      externalId: `${hash}:coin`,
      asset: native,
      units: coin,
      reference,
    });
  const left = await countReported(tx, code);
  await movementKnown(tx, { rail: code, movement: row.id, left, outcome: 'not ours', now });
}

/** The movement as it is now, locked. @throws Refusal 'unknown_movement' */
async function look(tx: Tx, id: bigint) {
  await lockFound(tx, id);
  const row = await findFound(tx, id);
  if (row === undefined) throw new Refusal('unknown_movement');
  const { rail, wallet, nonce, hash, state, signed, block, succeeded, recipient, asset, units, key } = row;
  return { rail, wallet, nonce, hash, state, signed, block, succeeded, recipient, asset, units, key };
}

/**
 * The payout, sweep or gas transfer of a key as the books have it: asset, units and recipient. Without the state, which changes
 * by itself.
 */
async function ordered(tx: Tx, id: bigint, key: string) {
  const rail = (await findFound(tx, id))?.rail;
  if (rail === undefined) return undefined;
  const own = OWN_KEY.test(key) ? await findOwn(tx, key) : undefined;
  if (own !== undefined) return { asset: own.asset, units: own.units, recipient: own.target };
  const payout = await payoutByKey(tx, rail, key);
  return payout && { asset: payout.asset, units: payout.units, recipient: payout.address };
}

/** Current state of a payout. @throws Refusal 'unknown_payout' */
async function lookPayout({ rails }: Deciding, tx: Tx, key: string) {
  for (const rail of rails.keys()) {
    const payout = await payoutByKey(tx, rail, key);
    if (payout !== undefined) {
      const { state, asset, units, address, submissions } = payout;
      return { rail, state, asset, units, address, submissions, sent: await hasSend(tx, rail, key) };
    }
  }
  throw new Refusal('unknown_payout');
}

/**
 * Settles a payout by the transaction or the statement line that paid it.
 *
 * @throws Refusal 'unknown_payout' | 'does_not_fit' | 'movement_over'; Unavailable when the chain does not answer
 */
async function settleBy(context: Deciding, input: Settled): Promise<void> {
  const { db, report } = context;
  const { payout: key, rail, by, otherAmount } = input;
  if ('line' in by)
    return await db.asSystem(async (tx) => {
      const payout = await payoutByKey(tx, rail, key);
      const followOn = await followOnById(tx, payout?.refundId == null ? (payout?.orderId ?? null) : null);
      await settlePayoutByLine(tx, { rail, key, line: by.line, otherAmount, followOn }, report);
    });
  const movement = await chainOf(context, rail).readByHash(by.hash);
  await db.asSystem((tx) => match(context, tx, { movement, key, otherAmount }));
}
