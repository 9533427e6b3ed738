/**
 * Facts about deposits: seen, confirmed, cleared. A confirmed deposit is booked to its order up to the amount that the order
 * accepts; the rest goes to suspense.
 */
import { later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { enqueue, enqueueAt, type Handled } from '../../base/jobs.ts';
import { openCase } from '../../compliance/index.ts';
import { findCustomer, type PayerMatch } from '../../customers/index.ts';
import { chart, type Line, move, post } from '../../ledger/index.ts';
import { marketById, maxUnitsFor } from '../../partners/index.ts';
import type { DepositFact } from '../../rails/rail.ts';
import { advance, change } from '../advance.ts';
import type { Context } from '../context.ts';
import { type DepositTrouble, onExtra, placeDeposit, takeOfTooMuch } from '../decide.ts';
import { mostWithinLimits } from '../limits.ts';
import { clearsAtOf } from '../payouts/ready.ts';
import { requestRefund } from '../refunds/request.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { applyDeposits, wholly } from './apply.ts';
import { isDust } from './dust.store.ts';
import { endDebtBlock, isSameMoney, replaceLost, standingLoss } from './replace.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

export async function depositSeen(context: Context, tx: Tx, fact: DepositFact): Promise<void> {
  const { order, row, isNew } = await depositRow(context, tx, fact, 'seen');
  if (!isNew && row.state !== 'reversed') return;
  if (!isNew) await depositStore.changeDeposit(tx, row.id, { state: 'seen' });
  if (order === undefined || fact.asset !== order.depositAsset || row.late) return;
  await advance(context, tx, order, 'deposit_seen', {
    // One time for both, so that a timeline shows the order's step and its deposit together.
    now: isNew ? row.seenAt : context.clock.now(),
    facts: { reference: fact.reference, ...fact.facts },
    depositReference: fact.reference,
  });
}

export async function depositConfirmed(context: Context, tx: Tx, fact: DepositFact): Promise<void> {
  const now = context.clock.now();
  const { order, row } = await depositRow(context, tx, fact, 'seen');
  if (row.state !== 'seen' && row.state !== 'reversed') return;
  if (order !== undefined && (await isClearing(context, tx, order, row))) return;
  assert(row.units === fact.units && row.asset === fact.asset, `deposit ${row.id} differs from when it was first seen`);

  const earlier =
    order === undefined ? [] : (await depositStore.depositsOf(tx, order.id)).filter((one) => one.state === 'confirmed');
  const earlierUnits = earlier.reduce((sum, one) => sum + one.units, 0n);
  const decision = placeDeposit(order, row, earlierUnits);

  if (decision.outcome === 'suspense') return await toSuspense(context, tx, row, order, decision.why);
  assert(order !== undefined, 'a deposit outside suspense has no order');

  if (decision.outcome === 'part') {
    const suspense = chart.suspense(row.rail, row.asset);
    await bookDeposit(context, tx, row, move(custodyOf(context, row), suspense, row.units), order.id);
    await depositStore.changeDeposit(tx, row.id, {
      state: 'confirmed',
      bookedTo: suspense.code,
      why: 'part',
      confirmedAt: now,
    });
    await change(tx, order, { exception: 'underpaid', depositReference: fact.reference, now });
    // The deadline decides about partial deposits. The job is enqueued here in case the deadline passed while this part was being
    // confirmed.
    enqueue(tx, { kind: 'expire_order', subject: String(order.id), dueAt: order.expiresAt });
    return;
  }
  const tooMuch =
    decision.excessUnits === 0n
      ? 'all'
      : takeOfTooMuch(order, earlierUnits + row.units, order.policy.overpaid, await mostFor(tx, order, now));
  const excessUnits = tooMuch === 'all' ? 0n : decision.excessUnits;
  const taken = [...wholly(earlier), { row, units: row.units - excessUnits, from: custodyOf(context, row) }];
  const advanced = await applyDeposits(context, tx, order, taken, {
    now,
    confirmedAt: now,
    // The deposit's id, with which reconciliation finds the outside transaction behind the entry.
    facts: { deposit: String(row.id), reference: fact.reference, units: String(row.units), ...fact.facts },
    depositReference: fact.reference,
    ...(decision.excessUnits > 0n
      ? { exception: 'overpaid' }
      : earlier.length > 0
        ? { exception: 'paid_in_parts' }
        : {}),
  });
  if (excessUnits > 0n && tooMuch === 'refund_excess')
    await requestRefund(context, tx, {
      depositId: row.id,
      units: excessUnits,
      why: 'overpaid',
      order: advanced,
      now,
    });
}

/** The maximum that the order's customer may pay for it. */
async function mostFor(tx: Tx, order: Order, now: Date): Promise<bigint> {
  const { level } = await findCustomer(tx, order.customerId);
  const atOnce = await maxUnitsFor(tx, await marketById(tx, order.marketId), level);
  const left = await mostWithinLimits(tx, order, now);
  return left === undefined || left > atOnce ? atOnce : left;
}

/**
 * Whether an order must wait with its deposit because the deposit's rail can still reverse it. Until then the deposit is shown as
 * seen, and a reversal leaves no trace in the books. Money for which no order waits goes to suspense at once; no payout or refund
 * of it leaves before that time either (ready.ts).
 */
async function isClearing(context: Context, tx: Tx, order: Order, row: DepositRow): Promise<boolean> {
  const now = context.clock.now();
  if (row.asset !== order.depositAsset || row.late || (order.state !== 'created' && order.state !== 'deposit_seen'))
    return false;
  const clearsAt = row.clearsAt ?? (await clearsAtOf(context, tx, { ...row, seenAt: now }, order));
  if (clearsAt === null || clearsAt <= now) return false;
  if (row.state === 'reversed') await depositStore.changeDeposit(tx, row.id, { state: 'seen' });
  await depositStore.waitWithDeposit(tx, row.id, clearsAt);
  enqueueAt(tx, { kind: 'clear_deposit', subject: String(row.id), dueAt: clearsAt });
  await advance(context, tx, order, 'deposit_seen', {
    now,
    waitsFrom: clearsAt,
    facts: { reference: row.reference, clearsAt: clearsAt.toISOString(), ...row.facts },
    depositReference: row.reference,
  });
  return true;
}

/** The deposit's clearing time has passed. Unless it was reversed meanwhile, it now counts as confirmed. */
export async function clearDeposit(context: Context, tx: Tx, id: bigint): Promise<Handled> {
  const known = await depositStore.depositById(tx, id);
  assert(known?.clearsAt, `deposit ${id} has no clearing time`);
  const leftMs = known.clearsAt.getTime() - context.clock.now().getTime();
  if (leftMs > 0) return { againInMs: leftMs };
  if (known.orderId !== null) await store.lock(tx, known.orderId);
  const row = await depositStore.lockDeposit(tx, known.rail, known.externalId);
  if (row?.state !== 'seen') return undefined;
  // As it is now: its bank may have recalled a part of it before it was locked.
  const { rail, externalId, asset, units, target, reference, facts } = row;
  await depositConfirmed(context, tx, { rail, externalId, asset, units, target, reference, facts });
  return undefined;
}

const isChain = (context: Context, { rail }: { rail: string }): boolean => context.rails.get(rail)?.kind === 'chain';

export const REASONS: Record<DepositTrouble, string> = {
  unknown_target: 'paid to no order of ours',
  wrong_asset: 'another asset than the order asked for',
  wrong_chain: 'on another chain than the order asked for',
  late: 'came after the order had ended',
  second: 'came when the order had its deposit already',
  lost: 'reversed after it was booked',
};
const LOST_TARGET =
  'paid to an address of ours that no order in the books has: it was given out after the last commit restored';

async function toSuspense(
  context: Context,
  tx: Tx,
  row: DepositRow,
  order: Order | undefined,
  why: DepositTrouble,
): Promise<void> {
  const now = context.clock.now();
  const suspense = chart.suspense(row.rail, row.asset);
  await bookDeposit(context, tx, row, move(custodyOf(context, row), suspense, row.units), order?.id);
  const dust = await isDust(tx, row);
  await depositStore.changeDeposit(tx, row.id, {
    state: 'suspense',
    bookedTo: suspense.code,
    why,
    confirmedAt: now,
    dust,
  });
  if (dust) return;
  const lost = order && standingLoss(await depositStore.depositsOf(tx, order.id));
  if (order !== undefined && lost !== undefined && isChain(context, row) && isSameMoney(order, row, lost)) {
    const booked = await depositStore.lockDepositById(tx, row.id);
    assert(booked !== undefined, `deposit ${row.id} has disappeared`);
    await replaceLost(tx, { by: 'the rail', why: 'in a block again', now }, { order, row: booked, lost });
    await endDebtBlock(tx, order, now);
    return;
  }
  const changed = order && (await change(tx, order, { exception: why, now }));
  // If the order has a reversed deposit, that must be replaced first: an operator decides which money replaces it.
  const then = lost === undefined ? onExtra(why, changed?.policy) : 'hold';
  // A follow-on order needs a price, and the rail's transaction must not wait for one. Until the order is created, the case
  // covers the money.
  if (then === 'new_order') enqueue(tx, { kind: 'create_follow_on_order', subject: String(row.id), dueAt: now });
  await openCase(tx, {
    kind: `deposit_${why}`,
    subject: `deposit:${row.id}`,
    ...(order === undefined ? {} : { orderId: order.id, partnerId: order.partnerId }),
    reason: row.facts.index === undefined ? REASONS[why] : LOST_TARGET,
    facts: {
      units: String(row.units),
      asset: row.asset,
      reference: row.reference,
      ...(order === undefined && row.target !== '' ? { target: row.target } : {}),
      ...defined({ index: row.facts.index }),
    },
    now,
  });
  if (then === 'refund')
    await requestRefund(context, tx, { depositId: row.id, units: row.units, why, order: changed, now });
}

async function payerOf(context: Context, tx: Tx, order: Order | undefined, fact: DepositFact): Promise<PayerMatch> {
  if (order === undefined || fact.payerName === undefined || context.comparePayer === undefined) return 'unknown';
  return await context.comparePayer(tx, order.customerId, fact.payerName);
}

/** The row of a deposit and its order, both locked, order first. */
async function depositRow(context: Context, tx: Tx, fact: DepositFact, state: 'seen') {
  const targetRail = fact.homeRail ?? fact.rail;
  const found = fact.target === '' ? undefined : await store.lockByTarget(tx, targetRail, fact.target);
  const there = await depositStore.lockDeposit(tx, fact.rail, fact.externalId);
  if (there !== undefined) return { order: found, row: there, isNew: false };
  const now = context.clock.now();
  const row = await depositStore.insertDeposit(tx, {
    rail: fact.rail,
    externalId: fact.externalId,
    asset: fact.asset,
    units: fact.units,
    target: fact.target,
    clearsAt: await clearsAtOf(context, tx, { rail: fact.rail, asset: fact.asset, seenAt: now }, found),
    orderId: found?.id ?? null,
    partnerId: found?.partnerId ?? null,
    state,
    reference: fact.reference,
    payer: await payerOf(context, tx, found, fact),
    facts: { ...fact.facts },
    seenAt: now,
    ...timesOf(found, fact),
  });
  return { order: found, row, isNew: true };
}

/**
 * When the deposit arrived by the rail's clock, and whether that was after its order's deadline. If only a day is known, the
 * whole day of the deadline counts as in time, and the latest possible time is stored. A reorg that moves the deposit into
 * another block changes nothing: a deposit that was in time stays in time.
 */
function timesOf(order: Order | undefined, { at, withinMs = 0 }: DepositFact): Pick<DepositRow, 'cameAt' | 'late'> {
  if (at === undefined) return { cameAt: null, late: false };
  return { cameAt: later(at, withinMs), late: order !== undefined && at > order.expiresAt };
}

function custodyOf(context: Context, row: { rail: string; asset: string }) {
  const rail = context.rails.get(row.rail);
  assert(rail !== undefined, `rail ${row.rail} is not running`);
  return chart.custody(rail.code, rail.wallets.deposits, row.asset);
}

async function bookDeposit(
  context: Context,
  tx: Tx,
  row: DepositRow,
  lines: Line[],
  orderId: bigint | undefined,
): Promise<void> {
  const posted = await post(tx, {
    id: `dep_${row.id}:book`,
    kind: 'deposit_book',
    ...defined({ orderId }),
    at: context.clock.now(),
    facts: { deposit: String(row.id), reference: row.reference },
    lines,
  });
  assert(posted.outcome !== 'short', `deposit ${row.id} cannot be booked`);
}
