/**
 * A deposit that its chain or bank reversed. If it is not booked yet, it is dropped. If it is, it becomes a loss or its
 * customer's debt, and payouts that have not left are cancelled.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { lockCustomer } from '../../customers/index.ts';
import { chart } from '../../ledger/index.ts';
import { cancelUnlessSubmitted, payoutByKey, recordRejected } from '../../rails/payouts.ts';
import type { RailFact, RecalledPart } from '../../rails/rail.ts';
import { advance, change } from '../advance.ts';
import type { Context } from '../context.ts';
import { bookGone, unexplainedDebit } from '../custody/facts.ts';
import { payoutId } from '../entries.ts';
import { cancelPayingAgain } from '../refunds/cancel.ts';
import { cancelCompensations, cancelRefunds, cancelReleased, cancelReleasedRefunds } from '../refunds/rejected.ts';
import { announceRefund, inSuspense, isOpen, refundCase } from '../refunds/request.ts';
import { pricedRefunds, refundPriced, refundRest, reverseRejected } from '../refunds/rest.ts';
import { type Refund, refundsOfDeposit } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { wakeDeposit } from './dormant.ts';
import { REASONS } from './facts.ts';
import { blockOwing, whoWasPaid } from './owed.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

export async function depositReversed(
  context: Context,
  tx: Tx,
  fact: Extract<RailFact, { type: 'deposit_reversed' }>,
): Promise<void> {
  const known = await depositStore.findDeposit(tx, fact.rail, fact.externalId);
  if (known === undefined) return;
  const order = known.orderId === null ? undefined : await store.lock(tx, known.orderId);
  const row = await depositStore.lockDeposit(tx, fact.rail, fact.externalId);
  assert(row !== undefined, 'a locked deposit has disappeared');
  const isOver = row.state === 'reversed' || row.state === 'lost';
  if (fact.part !== undefined && (isOver || fact.part.units !== row.units))
    return await partReversed(context, tx, { ...fact, part: fact.part }, { row, order });
  if (isOver) return;
  if (row.state === 'seen') {
    await depositStore.changeDeposit(tx, row.id, { state: 'reversed', why: fact.why });
    if (order !== undefined) await forgetSeen(context, tx, order, fact.why);
    return;
  }
  await bookedDepositReversed(context, tx, row, order, fact.why);
}

/**
 * A booked deposit was reversed. The part in suspense was not assigned yet: it is booked out against the account on which it came
 * in. The part that an order accepted, or that was refunded, is a loss as long as no payout of it left; the order is held, and
 * finally gives up its claim. If a payout or refund of it was submitted, the customer owes the amount, in any state of the order,
 * and can create no new order until an operator allows it.
 */
async function bookedDepositReversed(
  context: Context,
  tx: Tx,
  known: DepositRow,
  before: Order | undefined,
  why: string,
): Promise<void> {
  const { order, row, goneUnits } = await cancelFunded(context, tx, known, before);
  await bookReversed(context, tx, { order, row, goneUnits, why });
}

/** Locks the customer, and cancels what the deposit would fund and what has not left yet. */
async function cancelFunded(context: Context, tx: Tx, known: DepositRow, before: Order | undefined) {
  const now = context.clock.now();
  const whoMayOwe = before ?? (await whoWasPaid(tx, known, undefined));
  if (whoMayOwe !== undefined) await lockCustomer(tx, whoMayOwe.customerId);
  await wakeDeposit(tx, known, { by: 'the rail', why: 'it was reversed', now });
  const goneUnits = await cancelRefunds(context, tx, known.id, now);
  if (before !== undefined) {
    await cancelPayout(context, tx, before, now);
    await cancelPayingAgain(context, tx, before.id, now);
    if (known.takenUnits > 0n) {
      await cancelCompensations(context, tx, before, now);
      await cancelReleasedRefunds(context, tx, before, now);
    }
  }
  const order = before && (await store.lock(tx, before.id));
  const row = await depositStore.lockDepositById(tx, known.id);
  assert(row !== undefined, `deposit ${known.id} has disappeared`);
  return { order, row, goneUnits };
}

/** Books a deposit that is gone, after everything that it would fund was stopped. */
async function bookReversed(
  context: Context,
  tx: Tx,
  { order, row, goneUnits, why }: { order: Order | undefined; row: DepositRow; goneUnits: bigint; why: string },
): Promise<void> {
  const now = context.clock.now();
  const rail = context.rails.get(row.rail);
  assert(rail !== undefined, `rail ${row.rail} is not running`);
  const gone = {
    kind: 'deposit_lost',
    rail,
    wallet: rail.wallets.deposits,
    facts: { deposit: String(row.id), reference: row.reference },
    ...defined({ orderId: order?.id }),
  };
  const free = row.state === 'confirmed' ? row.units : inSuspense(row) - goneUnits;
  if (free > 0n) {
    const to = chart.suspense(row.rail, row.asset);
    await bookGone(context, tx, { ...gone, id: `dep_${row.id}:lost`, units: free, to });
  }
  const units = row.units - free;
  if (units === 0n) {
    await depositStore.changeDeposit(tx, row.id, { state: 'reversed', why });
    await closeCases(tx, { subject: `deposit:${row.id}`, outcome: 'reversed', now });
    // Without this part the order waits for a deposit again; otherwise it could never expire.
    if (order !== undefined && row.state === 'confirmed') await forgetSeen(context, tx, order, why);
    return;
  }
  await lose(context, tx, { order, row, id: `dep_${row.id}:lost_taken`, units, why });
}

/** Books what an order accepted of a reversed deposit, or what was refunded of it, as a loss or as its customer's debt. */
async function lose(
  context: Context,
  tx: Tx,
  {
    order,
    row,
    id,
    units: more,
    why,
  }: { order: Order | undefined; row: DepositRow; id: string; units: bigint; why: string },
): Promise<void> {
  const now = context.clock.now();
  const rail = context.rails.get(row.rail);
  assert(rail !== undefined, `rail ${row.rail} is not running`);
  const debtor = await whoWasPaid(tx, row, order);
  const owes = debtor !== undefined;
  const to = owes ? chart.receivable(debtor.customerId, debtor.partnerId, row.asset) : chart.loss(row.asset);
  await bookGone(context, tx, {
    ...{ id, kind: 'deposit_lost', rail, wallet: rail.wallets.deposits, units: more, to },
    facts: { deposit: String(row.id), reference: row.reference },
    ...defined({ orderId: order?.id }),
  });
  const wasLost = row.state === 'lost';
  const units = wasLost ? more + row.lostUnits : more;
  const before = wasLost ? (row.stateBeforeLoss ?? 'applied') : row.state;
  await depositStore.markLost(tx, row.id, { why, before, units, to: to.code });
  if (wasLost) await closeCases(tx, { subject: `deposit:${row.id}`, outcome: 'more of it was recalled', now });
  if (order !== undefined) await change(tx, order, { exception: 'deposit_lost', now });
  if (owes) await blockOwing(tx, debtor, { row, order, now });
  await openCase(tx, {
    kind: owes ? 'customer_owes' : 'deposit_lost',
    subject: `deposit:${row.id}`,
    ...defined({ orderId: order?.id }),
    partnerId: debtor?.partnerId ?? order?.partnerId,
    reason: owes ? 'reversed after it was paid out: the customer owes it, and is blocked' : REASONS.lost,
    facts: { units: String(units), asset: row.asset, reference: row.reference },
    now,
  });
  // A refund that waits for its destination may now have less to refund, or nothing: then it ends.
  if (order !== undefined && order.refundRequest !== null)
    enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
  // Money of the order that the law released and that has not left covers this loss at once.
  if (order !== undefined && row.state === 'applied') await cancelReleased(context, tx, order, now);
}

/**
 * A bank recalled a part of a deposit. The part becomes a deposit of its own, named by the debit, that is reversed as a whole. So
 * the rules are those of an order with several deposits of which one is reversed, and the rest stays with its order. Money in
 * suspense goes first, then what the order accepted. What was refunded cannot be split off: its customer owes it. A recall that
 * fits nothing of the deposit is an unexplained debit, about which operators decide.
 */
async function partReversed(
  context: Context,
  tx: Tx,
  { why, part }: { why: string; part: RecalledPart },
  { row: known, order: before }: { row: DepositRow; order: Order | undefined },
): Promise<void> {
  const { line, units, reference } = part;
  const isOwed = known.state === 'lost' && known.lostTo?.startsWith('receivable') === true && known.refundUnits > 0n;
  const most = isOwed ? known.refundUnits - known.lostUnits : known.units;
  if (units > most || known.state === 'reversed' || (known.state === 'lost' && !isOwed)) {
    const { rail, asset } = known;
    return await unexplainedDebit(context, tx, {
      type: 'unexplained_debit',
      rail,
      externalId: line,
      asset,
      units,
      reference,
    });
  }
  // It is not booked yet: its order gets the rest once that has cleared, as an underpaid deposit.
  if (known.state === 'seen') {
    const gone = await depositStore.splitDeposit(tx, known, { line, units, takenUnits: 0n });
    return await depositStore.changeDeposit(tx, gone.id, { state: 'reversed', why });
  }
  const wasGoingBack = (await refundsOfDeposit(tx, known.id)).some((one) => one.source === 'suspense' && isOpen(one));
  const priced = await pricedRefunds(tx, known.id);
  const { order, goneUnits } = await cancelFunded(context, tx, known, before);
  const parts = await reverseRejected(tx, known.id, context.clock.now());
  const row = await depositStore.lockDepositById(tx, known.id);
  assert(row !== undefined, `deposit ${known.id} has disappeared`);
  const free = row.state === 'confirmed' ? row.units : row.state === 'lost' ? 0n : inSuspense(row) - goneUnits;
  const fromFree = least(units, free);
  const fromTaken = row.state === 'lost' ? 0n : least(units - fromFree, row.takenUnits);
  const split = { line, units: fromFree + fromTaken, takenUnits: fromTaken };
  const rest = units - split.units;
  if (split.units > 0n) {
    const gone = await depositStore.splitDeposit(tx, row, split);
    await bookReversed(context, tx, { order, row: gone, goneUnits: 0n, why });
  }
  await refundRest(tx, row.id, parts, context.clock.now());
  if (goneUnits > 0n)
    await keepPriced(context, tx, { order, row, priced, leftUnits: free - fromFree, restUnits: rest });
  if (rest > 0n) {
    const now = order && (await store.lock(tx, order.id));
    await lose(context, tx, { order: now, row, id: `dep_${row.id}:recalled_${line}`, units: rest, why });
  }
  const left = await depositStore.depositById(tx, row.id);
  if (!wasGoingBack || left === undefined || inSuspense(left) === 0n) return;
  await openCase(tx, {
    kind: 'deposit_unknown_target',
    subject: `deposit:${row.id}`,
    ...(order === undefined ? {} : { orderId: order.id, partnerId: order.partnerId }),
    reason: 'its bank recalled a part of it: the rest is in suspense, and its refund was cancelled',
    facts: { units: String(inSuspense(left)), asset: left.asset, reference: left.reference },
    now: context.clock.now(),
  });
}

/** What is left of refunds with kept amounts is owed again. A kept amount of which nothing is left to refund ends with the recall. */
async function keepPriced(
  context: Context,
  tx: Tx,
  left: { order: Order | undefined; row: DepositRow; priced: readonly Refund[]; leftUnits: bigint; restUnits: bigint },
): Promise<void> {
  const now = context.clock.now();
  const { refunds, keptUnits } = await refundPriced(tx, left.priced, left.leftUnits, now);
  for (const refund of refunds)
    await refundCase(
      tx,
      refund,
      refund.state === 'returned' ? 'refund_returned' : 'refund_destination',
      'its bank recalled a part of the deposit',
      now,
    );
  if (refunds.length > 0) await announceRefund(tx, left.order, now);
  // What was recalled beyond the money in suspense includes it, and is booked as lost.
  if (keptUnits === 0n || left.restUnits > 0n) return;
  const row = await depositStore.lockDepositById(tx, left.row.id);
  assert(row !== undefined, `deposit ${left.row.id} has disappeared`);
  const why = 'kept when its refund came back, and the rest was recalled';
  const part = { line: `${row.externalId}:kept`, units: keptUnits, takenUnits: 0n };
  const { id } = row.units === keptUnits ? row : await depositStore.splitDeposit(tx, row, part);
  await depositStore.changeDeposit(tx, id, { state: 'reversed', why });
  await closeCases(tx, { subject: `deposit:${id}`, outcome: 'recalled', now });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Cancels a payout backed by the reversed money, unless its submission has begun. */
export async function cancelPayout(
  context: Context,
  tx: Tx,
  order: Order,
  now: Date,
  reason: string = REASONS.lost,
): Promise<void> {
  if (order.state !== 'paying_out') return;
  const key = payoutId(order);
  if (
    !(await cancelUnlessSubmitted(tx, key, reason, now)) &&
    !(await unlisted(context, tx, order, { key, reason, now }))
  )
    return;
  await advance(context, tx, order, 'payout_rejected', { now, facts: { why: reason, payout: key }, reason });
}

/** As `cancelPayout`, for a payout that its rail only lists until an operator submits it. */
async function unlisted(
  context: Context,
  tx: Tx,
  { payoutRail }: Order,
  { key, reason, now }: { key: string; reason: string; now: Date },
): Promise<boolean> {
  const unlist = context.rails.get(payoutRail)?.unlist;
  if (unlist === undefined || (await payoutByKey(tx, payoutRail, key))?.state !== 'submitted') return false;
  if (!(await unlist(tx, key, reason))) return false;
  await recordRejected(tx, { rail: payoutRail, key, why: reason, now });
  return true;
}

/** Returns the order to its state before any deposit was seen, unless another seen deposit remains. */
async function forgetSeen(context: Context, tx: Tx, order: Order, why: string): Promise<void> {
  const others = (await depositStore.depositsOf(tx, order.id)).filter(
    (one) => one.asset === order.depositAsset && !one.late,
  );
  if (others.some((one) => one.state === 'seen' || one.state === 'confirmed')) return;
  await advance(context, tx, order, 'deposit_reversed', { now: context.clock.now(), facts: { why } });
}
