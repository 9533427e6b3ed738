/**
 * Sweeps: move deposits from deposit addresses to the paying wallet.
 *
 * A sweep claims final deposits by id, so that no reorg can undo its transfer. It is stored as a row first, and then sent like
 * every chain send: nonce and signed bytes stored, broadcast, rebroadcast, fee raised. A deposit address has no native asset for
 * gas, so the paying wallet sends it ahead; that transfer is stored first, too. Both are booked under their own keys once they
 * are final, so only a reorg deeper than finality can undo a booking. After a crash at any point the next run continues from the
 * rows.
 *
 *   created ──gas there?──▶ submitted ──final──▶ settled (booked) | failed (its deposits are free again)
 *
 * Only custody moves. The owner of the money (an order, the treasury, or suspense) stays the same.
 *
 * The native asset that a third party sends to a deposit address is not mistaken for our gas: a sweep spends native units that
 * the books do not have only if gas of ours is also on its way there, and the rail subtracts our own sends from its findings
 * (chain.ts). A cost is booked only after the native units that paid it.
 *
 * Money of an order whose customer may still pay is not swept yet. The native asset is never swept.
 */
import { type Clock, later } from '../base/clock.ts';
import { awaitAll, type Tx } from '../base/db.ts';
import { assert, Refusal, Unavailable } from '../base/errors.ts';
import { enqueueAt, type Handlers } from '../base/jobs.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { chart, type Line, move, post } from '../ledger/index.ts';
import { fundsArrived, stillWaiting } from '../orders/index.ts';
import { isRailOff } from '../partners/index.ts';
import {
  broadcastAgain,
  type ChainRail,
  claimDeposits,
  depositsDue,
  depositWallet,
  firstAddress,
  isBatch,
  isMined,
  openGap,
  ownNativeAt,
  postponeDeposits,
  releaseDeposits,
  waitingFound,
} from '../rails/chain.ts';
import type { RailFact, Sending } from '../rails/rail.ts';
import { advanceBatches, bookLateBatches, OPEN_BATCHES, takeBatch } from './batches.ts';
import { matchOwn } from './movements.ts';
import { caseOf, FAILED_AGAIN_MS, freeId, type SweepContext } from './own.ts';
import type { OwnTransfer } from './store.ts';
import * as store from './store.ts';
import { inTurn, type KnownSweep, readSweeps, type Turns, tookTurn } from './sweeps.turns.ts';

/** Job kind that runs a rail's sweeps once; its subject is the rail's code. */
export const SWEEP = 'sweep_rail';

const EVERY_MS = 15_000;
/**
 * Checks of a rail that has nothing to sweep: every IDLE_MS, whether this process has read new blocks of its chain; every
 * ROWS_MS, the rows, because another process may follow the chain, and some rows become due with time.
 */
const IDLE_MS = 2_000;
const ROWS_MS = 10_000;
/** Deposits read per run. */
const LOOK = 500;
/** Sweeps under way per rail. Together with their gas transfers they stay well below what chain.sends.ts watches per run. */
const MAX_OPEN = 40;
/** A run ends after this, because its lease is 20 s; the next run continues. */
const LOOK_MS = 8_000;
/**
 * Time until a skipped deposit is checked again, by reason: its customer may still pay; it is too small; its address is being
 * swept.
 */
const WAITING_AGAIN_MS = 30_000;
const TOO_LITTLE_AGAIN_MS = 600_000;
const BUSY_AGAIN_MS = 5_000;
/** Extra gas beyond the sweep's present maximum cost: a quarter, in case fees rise before it is sent. */
const marginOf = (units: bigint): bigint => units / 4n + 1n;
/** A sweep that is not mined after this time may lack gas for a higher fee. */
const STUCK_MS = 120_000;
/** How long a sweep may be rejected before a case opens, and before it is dropped for now. */
const REPORT_REJECTED_AFTER_MS = 600_000;
const REJECTED_DROPPED_MS = 3_600_000;
/** How long a released nonce waits for another send to take it. */
const GAP_MS = 5_000;
export function sweepHandlers(context: SweepContext): Handlers {
  const { db, clock, chains, everyMs = EVERY_MS } = context;
  const idle = new Map<string, { at: number; checks: number }>();
  const turns = new Map<string, Turns>();
  return {
    async [SWEEP](code) {
      const rail = chains.get(code);
      if (rail === undefined) return undefined;
      const checks = rail.checks();
      const last = idle.get(code);
      const isStill = last?.checks === checks && performance.now() - last.at < ROWS_MS;
      if (isStill || (await isIdle(context, rail))) {
        if (!isStill) idle.set(code, { at: performance.now(), checks });
        return { againInMs: Math.max(everyMs, IDLE_MS) };
      }
      idle.delete(code);
      await bookLate(context, rail);
      await matchOwn(context, rail);
      // A process without the key only watches; another one that has the key sweeps.
      if (!rail.canSend(depositWallet(0n))) return { againInMs: everyMs };
      await fillGap(context, rail);
      await choose(context, rail);
      const until = performance.now() + LOOK_MS;
      const bugs: unknown[] = [];
      const rounds = turns.get(code) ?? new Set();
      turns.set(code, rounds);
      const open = await db.asSystem((tx) => store.openSweeps(tx, code));
      const inBatches = await advanceBatches(context, rail, open);
      const known = await readSweeps(
        context,
        rail,
        inTurn(
          rounds,
          open.filter(({ key }) => !inBatches.has(key)),
          MAX_OPEN,
        ),
      );
      for (const one of known) {
        if (performance.now() > until) break;
        tookTurn(rounds, one.sweep);
        try {
          await goOn(context, rail, one, clock.now());
        } catch (error) {
          if (error instanceof Unavailable) throw error;
          // A failing sweep does not stop the others; the first error is thrown at the end.
          bugs.push(error);
        }
      }
      if (bugs.length > 0) throw bugs[0];
      return { againInMs: everyMs };
    },
  };
}

/** Whether there is nothing to sweep, to advance or to book; one round trip. */
const isIdle = ({ db, clock }: SweepContext, rail: ChainRail): Promise<boolean> =>
  db.asSystem(async (tx) => {
    const asked = await awaitAll(
      store.unbooked(tx, rail.code),
      waitingFound(tx, rail.code, 1),
      store.openSweeps(tx, rail.code),
      store.openFill(tx, rail.code),
      openGap(tx, rail.code, rail.wallets.payouts, GAP_MS),
      depositsDue(tx, rail.code, clock.now(), 1),
    );
    return asked.flat().every((one) => one === undefined);
  });

/** Creates sweeps of due deposits, oldest first. */
async function choose({ db, clock }: SweepContext, rail: ChainRail): Promise<void> {
  const target = rail.walletAddresses[rail.wallets.payouts];
  assert(target !== undefined, `${rail.code} has no paying wallet`);
  await db.asSystem(async (tx) => {
    await store.lockChoice(tx, rail.code);
    const now = clock.now();
    const open = await store.openSweeps(tx, rail.code);
    let room = Math.max(MAX_OPEN, OPEN_BATCHES * rail.mostInBatch) - open.length;
    if (room <= 0) return;
    const busy = new Set(open.map((sweep) => sweep.address));
    const due = await depositsDue(tx, rail.code, now, LOOK);
    const minimums = await store.minimums(tx);
    const waiting = await stillWaiting(tx, [...new Set(due.flatMap((one) => one.orderId ?? []))]);
    for (const { address, index, asset, units, orderId } of due) {
      const minimum = minimums.get(asset);
      const again =
        orderId !== null && waiting.has(orderId)
          ? WAITING_AGAIN_MS
          : minimum === undefined || units < minimum
            ? TOO_LITTLE_AGAIN_MS
            : busy.has(address)
              ? BUSY_AGAIN_MS
              : undefined;
      if (again !== undefined) {
        await postponeDeposits(tx, rail.code, { address, asset }, later(now, again));
        continue;
      }
      const key = await store.nextSweepKey(tx, rail.code, address, asset);
      const claimed = await claimDeposits(tx, rail.code, { address, asset }, key);
      if (claimed === 0n) continue;
      const sweep = {
        key,
        kind: 'sweep',
        rail: rail.code,
        address,
        index,
        asset,
        units: claimed,
        target,
        sweep: null,
      } as const;
      await store.write(tx, sweep, now);
      busy.add(address);
      room -= 1;
      if (room === 0) return;
    }
  });
}

/** Advances one sweep as far as possible now. @throws Unavailable */
async function goOn(context: SweepContext, rail: ChainRail, read: KnownSweep, now: Date): Promise<void> {
  const { db } = context;
  const { sweep, gas, hasSend, isOff } = read;
  const isStuck = now.getTime() - sweep.createdAt.getTime() > STUCK_MS;
  if (sweep.state === 'submitted' && !isStuck) return;
  const outcome = hasSend ? (await rail.status(sweep.key)).outcome : 'absent';
  const isSent = outcome === 'known';
  if (outcome === 'rejected' || outcome === 'unknown') return;
  if (isSent && sweep.state === 'created') await noted(context, sweep, 'submitted', null);
  // Only an unmined sweep can lack gas.
  if (isSent && (!isStuck || (await db.asSystem((tx) => isMined(tx, rail.code, sweep.key))))) return;

  const open = gas.find((one) => one.endedAt === null);
  if (open?.state === 'created') open.state = await submit(context, rail, rail.wallets.payouts, open, isOff);

  const wallet = depositWallet(sweep.index);
  const cost = await rail.gasFor(wallet, sendingOf(sweep));
  if ('rejected' in cost) return isSent ? undefined : await rejected(context, rail, sweep, cost.rejected);
  const { needUnits, hasUnits } = cost;
  // Native units that the books do not have may be a customer's deposit that is not booked yet.
  const isFunded = gas.some((one) => one.state !== 'created' && one.state !== 'dropped');
  const known = isFunded ? hasUnits : await db.asSystem((tx) => ownNativeAt(tx, rail.code, sweep));
  const usable = known < hasUnits ? known : hasUnits;
  if (usable >= needUnits) {
    if (!isSent) await submit(context, rail, wallet, sweep, isOff);
    return;
  }
  if (open !== undefined)
    return await noted(context, sweep, sweep.state === 'submitted' ? 'submitted' : 'created', 'waits for gas');
  const units = needUnits + marginOf(needUnits) - usable;
  const written = await writeGas(context, rail, sweep, units);
  if (written !== undefined) await submit(context, rail, rail.wallets.payouts, written, isOff);
}

const sendingOf = ({ key, kind, asset, units, target }: OwnTransfer): Sending => ({
  key,
  asset,
  units,
  destination: { kind: 'address', address: target },
  ...(kind === 'sweep' ? { guard: (tx: Tx) => whyBatched(tx, key) } : {}),
});

/** A sweep that another process has put into a batch must not be sent alone as well. */
const whyBatched = async (tx: Tx, key: string): Promise<string | undefined> => {
  const row = await store.lock(tx, key);
  return row?.endedAt === null && row.reference !== null ? 'the sweep is in a batch' : undefined;
};

/**
 * @param isOff whether the rail is already known to be stopped; otherwise it is asked now
 * @returns the transfer's new state
 */
async function submit(
  context: SweepContext,
  rail: ChainRail,
  wallet: string,
  transfer: OwnTransfer,
  isOff = false,
): Promise<'created' | 'submitted'> {
  if (isOff || (await context.db.asSystem((tx) => isRailOff(tx, rail.code)))) {
    await noted(context, transfer, 'created', 'the rail is switched off');
    return 'created';
  }
  const sent = await rail.sendFrom(wallet, sendingOf(transfer));
  if (sent.outcome === 'rejected') {
    await rejected(context, rail, transfer, sent.why);
    return 'created';
  }
  // Without an answer the node may have the bytes, or only our row has them: the next run asks.
  const state = sent.outcome === 'submitted' ? 'submitted' : 'created';
  await noted(context, transfer, state, sent.outcome === 'unknown' ? sent.why : null);
  return state;
}

/** Writes nothing if the row says so already: a transfer that waits is not rewritten at each check. */
async function noted(
  { db, clock }: SweepContext,
  transfer: OwnTransfer,
  state: 'created' | 'submitted',
  why: string | null,
): Promise<void> {
  if (transfer.state === state && transfer.why === why) return;
  await db.asSystem((tx) => store.note(tx, transfer.key, { state, why, at: clock.now() }));
  Object.assign(transfer, { state, why });
}

/** The rail rejected the transfer: nothing was sent and no nonce was taken. Every run retries; after a while a case opens. */
async function rejected(context: SweepContext, rail: ChainRail, transfer: OwnTransfer, why: string): Promise<void> {
  const { db, clock, log } = context;
  const now = clock.now();
  const since = now.getTime() - transfer.createdAt.getTime();
  log.info({ rail: rail.code, key: transfer.key, why }, 'own transfer rejected');
  await noted(context, transfer, 'created', why);
  if (transfer.kind === 'gas' || since >= REPORT_REJECTED_AFTER_MS)
    await db.asSystem((tx) => openCase(tx, { ...caseOf(transfer), reason: why, facts: { key: transfer.key }, now }));
  if (transfer.kind === 'gas' || since < REJECTED_DROPPED_MS) return;
  if ((await rail.status(transfer.key)).outcome !== 'absent') return;
  await db.asSystem(async (tx) => {
    const row = await store.lock(tx, transfer.key);
    if (row === undefined || row.endedAt !== null) return;
    await store.end(tx, row.key, { state: 'dropped', why, at: now });
    await dropGas(tx, row, now);
    await releaseDeposits(tx, rail.code, row.key, later(now, FAILED_AGAIN_MS));
  });
}

/** Creates a gas transfer for a sweep, unless the sweep has ended or gas is already on its way. */
async function writeGas(
  { db, clock }: SweepContext,
  rail: ChainRail,
  sweep: OwnTransfer,
  units: bigint,
): Promise<OwnTransfer | undefined> {
  return await db.asSystem(async (tx) => {
    const now = await store.lock(tx, sweep.key);
    const before = await store.gasOf(tx, sweep.key);
    // Another process may have put it into a batch.
    if (now?.endedAt !== null || now.reference !== null || before.some((one) => one.endedAt === null)) return undefined;
    const asset = await rail.nativeAsset(tx);
    if (asset === undefined) return undefined;
    const key = store.gasKey(sweep.key, before.length);
    const { rail: code, address, index } = sweep;
    const gas = {
      key,
      kind: 'gas',
      rail: code,
      address,
      index,
      asset,
      units,
      target: address,
      sweep: sweep.key,
    } as const;
    await store.write(tx, gas, clock.now());
    return await store.find(tx, key);
  });
}

/**
 * A nonce of the paying wallet was released after later nonces were signed, and no other send has taken it. The later sends would
 * wait indefinitely, so the smallest possible gas transfer to one of our deposit addresses uses that nonce. One gap at a time.
 */
async function fillGap(context: SweepContext, rail: ChainRail): Promise<void> {
  const { db, clock, log } = context;
  const wallet = rail.wallets.payouts;
  const { gap, open } = await db.asSystem(async (tx) => ({
    gap: await openGap(tx, rail.code, wallet, GAP_MS),
    open: await store.openFill(tx, rail.code),
  }));
  if (open !== undefined) {
    if (open.state === 'submitted') return;
    const { outcome } = await rail.status(open.key);
    if (outcome === 'known') return await noted(context, open, 'submitted', null);
    if (outcome !== 'absent') return;
    if (gap !== undefined) return void (await submit(context, rail, wallet, open));
    // Another send has taken the nonce meanwhile.
    const how = { state: 'dropped', why: 'the nonce was taken', at: clock.now() } as const;
    return await db.asSystem((tx) => store.end(tx, open.key, how));
  }
  if (gap === undefined || !rail.canSend(wallet)) return;
  const made = await db.asSystem(async (tx) => {
    const [asset, to] = [await rail.nativeAsset(tx), await firstAddress(tx, rail.code)];
    if (asset === undefined || to === undefined) return undefined;
    const key = await store.nextFillKey(tx, rail.code);
    const { address, index } = to;
    await store.write(
      tx,
      { key, kind: 'gas', rail: rail.code, address, index, asset, units: 1n, target: address, sweep: null },
      clock.now(),
    );
    return await store.find(tx, key);
  });
  log.warn({ rail: rail.code, nonce: gap.nonce, key: made?.key }, 'later sends wait for a released nonce');
  if (made !== undefined) await submit(context, rail, wallet, made);
}

type OwnFact = Extract<RailFact, { type: 'own_transfer_settled' | 'own_transfer_failed' }>;

/** Books the rail's final report of a sweep or a gas transfer. */
export async function takeOwnTransfer(
  context: { clock: Clock; chains: ReadonlyMap<string, ChainRail> },
  tx: Tx,
  fact: OwnFact,
): Promise<void> {
  if (isBatch(fact.key)) return await takeBatch(context, tx, fact);
  const now = context.clock.now();
  const row = await store.lock(tx, fact.key);
  assert(row !== undefined && row.rail === fact.rail, `own transfer ${fact.key} has no row on this rail`);
  if (row.state === 'settled' || row.state === 'failed') return;
  const failed = fact.type === 'own_transfer_failed';
  await store.end(tx, row.key, {
    state: failed ? 'failed' : 'settled',
    why: failed ? fact.why : null,
    reference: fact.reference,
    cost: fact.cost,
    at: now,
  });
  if (row.kind === 'sweep') await dropGas(tx, row, now);
  if (failed && row.kind === 'sweep') {
    await releaseDeposits(tx, row.rail, row.key, later(now, FAILED_AGAIN_MS));
    await openCase(tx, {
      kind: 'sweep_failed',
      subject: caseOf(row).subject,
      reason: fact.why,
      facts: { key: row.key, reference: fact.reference },
      now,
    });
  }
  if (!failed) await closeCases(tx, { ...caseOf(row), outcome: 'submitted', now });
  const ended = await store.find(tx, row.key);
  assert(ended !== undefined, 'a locked transfer has disappeared');
  await bookOrLater(context, tx, ended);
  // A gas transfer and its sweep may become final in one run, and the rail reports them in the order of their wallets. So the
  // sweep is tried again after its gas.
  const sweep = row.sweep === null ? undefined : await store.lock(tx, row.sweep);
  if (sweep !== undefined && sweep.endedAt !== null && sweep.bookedAt === null) await bookOrLater(context, tx, sweep);
}

/**
 * A reorg deeper than finality undid a sweep, and the caller has reversed its entry. The rail broadcasts its bytes again until a
 * block takes them; the result is then booked like the first one.
 *
 * @throws Refusal 'does_not_fit'
 */
export async function sweepUndone(tx: Tx, key: string): Promise<void> {
  const row = await store.lock(tx, key);
  if (row?.kind !== 'sweep' || row.state !== 'settled' || row.bookedAt === null)
    throw new Refusal('does_not_fit', { why: 'it is no sweep that is in the books' });
  const open = (await store.sweepsAt(tx, row.rail, row.address)).find(({ endedAt }) => endedAt === null);
  if (open !== undefined)
    throw new Refusal('does_not_fit', { why: `another sweep of the address is under way: ${open.key}` });
  await store.reopen(tx, key);
  await broadcastAgain(tx, row.rail, key);
}

/** Drops gas transfers of an ended sweep that were never submitted. */
async function dropGas(tx: Tx, sweep: OwnTransfer, now: Date): Promise<void> {
  for (const gas of await store.gasOf(tx, sweep.key)) {
    if (gas.endedAt === null && gas.state === 'created')
      await store.end(tx, gas.key, { state: 'dropped', why: 'the sweep has ended', at: now });
  }
}

/** Books transfers whose cost had to wait until the native units that paid it were booked. */
async function bookLate(context: SweepContext, rail: ChainRail): Promise<void> {
  await context.db.asSystem(async (tx) => {
    // If a cost is still short, the next run retries: enqueueing this job from itself would run it again at once.
    const rows = await store.unbooked(tx, rail.code);
    for (const row of await bookLateBatches(context, tx, rail, rows)) await book(context, tx, row);
  });
}

async function book(
  { clock, chains }: { clock: Clock; chains: ReadonlyMap<string, ChainRail> },
  tx: Tx,
  row: OwnTransfer,
): Promise<'booked' | 'short'> {
  const now = clock.now();
  const rail = chains.get(row.rail);
  assert(rail !== undefined, `rail ${row.rail} is not running`);
  const lines = linesOf(rail, row);
  if (lines.length > 0) {
    const posted = await post(tx, {
      // The id is free even if an earlier entry of the transfer was reversed.
      id: await freeId(tx, row.key),
      kind: row.state === 'failed' ? `${row.kind}_failed` : row.kind,
      at: now,
      facts: { address: row.address, movement: row.key },
      lines,
    });
    if (posted.outcome === 'short') return 'short';
  }
  store.markBooked(tx, [row.key], now);
  if (row.kind === 'sweep' && row.state === 'settled') await fundsArrived(tx, now);
  return 'booked';
}

/**
 * Books a report that the rail has just made. If its cost is short, a job books it later, once the native units that paid it are
 * booked.
 */
async function bookOrLater(context: Parameters<typeof book>[0], tx: Tx, row: OwnTransfer): Promise<void> {
  if ((await book(context, tx, row)) === 'booked') return;
  enqueueAt(tx, { kind: SWEEP, subject: row.rail, dueAt: later(context.clock.now(), 1_000) });
}

function linesOf(rail: ChainRail, { kind, state, asset, units, costAsset, costUnits }: OwnTransfer): Line[] {
  const at = (wallet: string, of: string) => chart.custody(rail.code, wallet, of);
  const { deposits, payouts } = rail.wallets;
  const [from, to] = kind === 'sweep' ? [deposits, payouts] : [payouts, deposits];
  return [
    ...(state === 'settled' ? move(at(to, asset), at(from, asset), units) : []),
    ...(costAsset === null ? [] : move(chart.cost(rail.code, costAsset), at(from, costAsset), costUnits)),
  ];
}
