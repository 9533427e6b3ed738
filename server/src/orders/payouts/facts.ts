/**
 * Facts about payouts of orders and of refunds: submitted, settled, rejected, returned, unknown.
 *
 * A fact that contradicts an earlier booking changes no existing entry: it is booked as a new one, and opens a case.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { lockCustomer } from '../../customers/index.ts';
import { chart, move, post } from '../../ledger/index.ts';
import {
  type Observed,
  type Payout,
  payoutByKey,
  payoutsOf,
  recordRejected,
  returned,
  settled,
  unitsPaid,
} from '../../rails/payouts.ts';
import { advance, change, emitSubmitted } from '../advance.ts';
import type { Context, Of } from '../context.ts';
import { bookCost, bookGone, bookOutOfNowhere, undoDebit } from '../custody/facts.ts';
import { mayRetryByItself, PAID_BEFORE, PAID_OTHER_AMOUNT, paidOtherwise } from '../decide.ts';
import { owesAfterAll, owesAfterCancelling } from '../deposits/owed.ts';
import { cancelPayout } from '../deposits/reversed.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { lockOrderOf } from '../lock.ts';
import { cancelRefunding } from '../refunds/cancel.ts';
import { refundFound, refundRejected, refundReturned } from '../refunds/rejected.ts';
import { requestRefund } from '../refunds/request.ts';
import { refundSettled, refundSubmitted } from '../refunds/settled.ts';
import { refundsOf } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { clearsAtOf } from './ready.ts';

export async function payoutSubmitted(context: Context, tx: Tx, fact: Of<'payout_submitted'>): Promise<void> {
  const now = context.clock.now();
  const payout = await payoutByKey(tx, fact.rail, fact.key);
  if (payout === undefined) return;
  if (payout.purpose === 'payout' && payout.orderId !== null) {
    const order = await store.noteSubmitted(tx, payout.orderId, now);
    if (order !== undefined) await emitSubmitted(tx, order, now);
  }
  await refundSubmitted(tx, payout, now);
  await isKnownAgain(tx, fact.key, 'the rail has it', now);
}

export async function payoutSettled(context: Context, tx: Tx, fact: Of<'payout_settled'>): Promise<void> {
  const now = context.clock.now();
  const order = await lockOrderOf(tx, fact);
  // The payout may become a debt (deposits/reversed.ts), and customers are locked before accounts.
  if (order !== undefined && order.state !== 'paying_out') await lockCustomer(tx, order.customerId);
  if (fact.undoes !== undefined) await undoDebit(context, tx, fact.rail, fact.undoes, fact.key);
  const observed = await settled(tx, { rail: fact.rail, key: fact.key, reference: fact.reference, now });
  if (observed === undefined) return;
  const booked = !observed.contradiction && (await bookSettled(context, tx, order, observed.payout, fact.reference));
  if (!booked) {
    await contradiction(context, tx, observed, `settled when the order was ${order?.state ?? 'unknown'}`);
    // The money has left, whatever the books expected, so custody must show it.
    await bookOutOfNowhere(context, tx, {
      ...fact,
      externalId: fact.key,
      asset: observed.payout.asset,
      units: unitsPaid(observed.payout),
    });
    await unsend(context, tx, order, observed.payout, now);
  }
  await bookCost(context, tx, fact);
  await isKnownAgain(tx, fact.key, 'settled', now);
}

/** The outcome is known: closes the payout's `payout_unknown` case. */
const isKnownAgain = (tx: Tx, key: string, outcome: string, now: Date): Promise<void> =>
  closeCases(tx, { kind: 'payout_unknown', subject: `payout:${key}`, outcome, now });

/** @returns whether the order or refund was waiting for this payment */
async function bookSettled(
  context: Context,
  tx: Tx,
  order: Order | undefined,
  payout: Payout,
  reference: string,
): Promise<boolean> {
  const now = context.clock.now();
  const isBooked =
    payout.refundId === null
      ? order !== undefined && (await settleOrder(context, tx, order, payout, reference))
      : await refundSettled(context, tx, payout, reference, now);
  if (isBooked) await bookDifference(context, tx, payout);
  return isBooked;
}

async function settleOrder(
  context: Context,
  tx: Tx,
  order: Order,
  payout: Payout,
  reference: string,
): Promise<boolean> {
  const advanced = await advance(context, tx, order, 'payout_settled', {
    now: context.clock.now(),
    facts: { reference, payout: payout.id, ...paidOtherwise(payout, order) },
    payoutReference: reference,
    ...(unitsPaid(payout) === order.payoutUnits ? {} : { exception: PAID_OTHER_AMOUNT }),
  });
  return advanced.outcome === 'advanced';
}

/** If the amount that left differs from the books, the difference is booked separately, under the payout's id. */
async function bookDifference(context: Context, tx: Tx, payout: Payout): Promise<void> {
  const { id, asset, units, orderId } = payout;
  const more = unitsPaid(payout) - units;
  if (more === 0n) return;
  const rail = context.rails.get(payout.rail);
  assert(rail !== undefined, `rail ${payout.rail} is not running`);
  const difference = chart.difference(asset);
  const entry = {
    id: `${id}:difference`,
    kind: 'payout_difference',
    ...defined({ orderId: orderId ?? undefined }),
    facts: { movement: id, orderedUnits: String(units), paidUnits: String(unitsPaid(payout)) },
  };
  if (more > 0n) return await bookGone(context, tx, { ...entry, rail, to: difference, units: more });
  const custody = chart.custody(rail.code, rail.wallets.payouts, asset);
  const posted = await post(tx, { ...entry, at: context.clock.now(), lines: move(custody, difference, -more) });
  assert(posted.outcome !== 'short', `the difference of ${id} could not be booked`);
}

/**
 * The rail settled a payout it had rejected. Cancels any replacement whose submission has not begun, then settles the order
 * from what it still holds.
 */
async function unsend(context: Context, tx: Tx, order: Order | undefined, paid: Payout, now: Date): Promise<void> {
  if (paid.refundId !== null) return await refundFound(context, tx, paid, now);
  if (order === undefined) return;
  await cancelPayout(context, tx, order, now, PAID_BEFORE);
  await cancelRefunding(context, tx, order.id, now);
  await paidAfterAll(context, tx, order.id, now);
  await owesAfterCancelling(context, tx, { order, paidUnits: unitsPaid(paid), now });
}

/**
 * Settles an order that still holds its money because its payouts were rejected, if one of them was paid after all: the order's
 * balance covers the loss that was booked. If the order's terms have changed since that attempt, operators decide (actions.ts,
 * settleBy).
 *
 * @returns whether it was settled
 */
async function paidAfterAll(context: Context, tx: Tx, orderId: bigint, now: Date): Promise<boolean> {
  const order = await store.lock(tx, orderId);
  if (order?.state !== 'payout_held') return false;
  const paid = (await payoutsOf(tx, orderId)).find(
    ({ refundId, state, units }) => refundId === null && state === 'settled' && units === order.payoutUnits,
  );
  if (paid === undefined) return false;
  assert(paid.reference !== null, `payout ${paid.id} settled without a reference`);
  await advance(context, tx, order, 'payout_found', {
    now,
    paid: { units: unitsPaid(paid) },
    facts: { payout: paid.id, reference: paid.reference, ...paidOtherwise(paid, order) },
    payoutReference: paid.reference,
    ...(unitsPaid(paid) === order.payoutUnits ? {} : { exception: PAID_OTHER_AMOUNT }),
  });
  await closeCases(tx, { kind: 'payout_held', subject: `order:${order.id}`, outcome: 'paid after all', now });
  await owesAfterAll(tx, order, now);
  return true;
}

/** @param said the operators who declare the rejection in place of the rail; stored in the order's history */
export async function payoutRejected(
  context: Context,
  tx: Tx,
  fact: Of<'payout_rejected'>,
  said: { by?: string; reason?: string; evidence?: string } = {},
): Promise<void> {
  const now = context.clock.now();
  const order = await lockOrderOf(tx, fact);
  const observed = await recordRejected(tx, { rail: fact.rail, key: fact.key, why: fact.why, now });
  // The chain charged once, whether this fact is repeated or not: the cost entry is named after the payout.
  await bookCost(context, tx, fact);
  const payout = observed?.payout;
  if (observed?.contradiction) return await contradiction(context, tx, observed, fact.why);
  if (payout === undefined) return;
  await isKnownAgain(tx, payout.id, `rejected: ${fact.why}`, now);
  if (payout.refundId !== null) return await refundRejected(context, tx, payout, fact.why, now);
  if (order === undefined) return;
  const failed = await advance(context, tx, order, 'payout_rejected', {
    now,
    facts: { why: fact.why, payout: payout.id, ...said },
    reason: fact.why,
  });
  if (failed.outcome === 'ignored' || (await paidAfterAll(context, tx, order.id, now))) return;
  if (!mayRetryByItself(fact.why, payout.attempt)) return;
  const subject = `order:${failed.order.id}`;
  await closeCases(tx, { kind: 'payout_held', subject, outcome: 'retried automatically', now });
  await advance(context, tx, failed.order, 'retried', { now, facts: { why: fact.why } });
}

/**
 * A payout or refund was returned: its money is booked to suspense. A refund is still owed. A payout's order stays settled,
 * and the returned money is paid again, as a second payout of the same order, once the customer has named another account.
 */
export async function payoutReturned(context: Context, tx: Tx, fact: Of<'payout_returned'>): Promise<void> {
  const now = context.clock.now();
  const { rail: code, key, why, reference, asset, units } = fact;
  await lockOrderOf(tx, fact);
  const observed = await returned(tx, { rail: code, key, why, reference, now });
  if (observed === undefined) return;
  const { payout } = observed;
  await isKnownAgain(tx, payout.id, 'came back', now);
  const order = payout.orderId === null ? undefined : await store.lock(tx, payout.orderId);
  // The money left and was returned before we saw it leave. The payment is booked first, so that the return has an entry to
  // reverse.
  if (observed.before !== 'settled') await bookSettled(context, tx, order, payout, reference);
  const rail = context.rails.get(code);
  assert(rail !== undefined, `rail ${code} is not running`);
  const suspense = chart.suspense(rail.code, asset);
  const posted = await post(tx, {
    id: `ret_${code}_${fact.externalId}`,
    kind: 'payout_returned',
    ...defined({ orderId: payout.orderId ?? undefined }),
    at: now,
    facts: { payout: payout.id, reference },
    lines: move(chart.custody(rail.code, rail.wallets.payouts, asset), suspense, units),
  });
  assert(posted.outcome !== 'short', 'returned money could not be booked');
  const refunds = payout.refundId === null ? undefined : await refundReturned(context, tx, payout, { units, why, now });
  const after = payout.orderId === null ? undefined : await store.lock(tx, payout.orderId);
  // Of more than was sent, the payout or its refund is owed its own amount. The rest is unassigned.
  const sentUnits = unitsPaid(payout);
  const ownUnits = refunds ?? (units < sentUnits ? units : sentUnits);
  const back = { payout, fact, suspense: suspense.code, order: after, now };
  if (units > ownUnits) await keepReturned(context, tx, { ...back, units: units - ownUnits, isOwn: false });
  if (refunds !== undefined || ownUnits === 0n) return;
  const row = await keepReturned(context, tx, { ...back, units: ownUnits, isOwn: true });
  // Another attempt has paid the refund: this one's money is unassigned, too.
  if (after === undefined || payout.purpose !== 'payout') return;
  await change(tx, after, { exception: 'payout_returned', now });
  // Only a completed payment that was returned is paid again automatically. An operator decides about any other.
  if (after.state !== 'settled' || observed.contradiction || (await isPaidByAnother(tx, payout, after))) return;
  const again = units < payout.units ? units : payout.units;
  await requestRefund(context, tx, { depositId: row.id, units: again, why: 'payout_returned', order: after, now });
}

/** Keeps returned money in suspense as a deposit of its own, with a case. @param back.isOwn whether it is what was sent */
async function keepReturned(
  context: Context,
  tx: Tx,
  back: {
    payout: Payout;
    fact: Of<'payout_returned'>;
    suspense: string;
    order: Order | undefined;
    units: bigint;
    isOwn: boolean;
    now: Date;
  },
): Promise<DepositRow> {
  const { payout, fact, order, units, isOwn, now } = back;
  const { rail, asset, reference } = fact;
  const row = await depositStore.insertDeposit(tx, {
    rail,
    externalId: `${isOwn ? 'returned' : 'excess'}:${fact.externalId}`,
    asset,
    units,
    target: '',
    orderId: payout.orderId,
    partnerId: payout.partnerId,
    state: 'suspense',
    reference,
    facts: { payout: payout.id },
    seenAt: now,
    payer: 'unknown',
    origin: isOwn && payout.purpose === 'payout' ? 'returned' : 'credit',
    // Our own money is here again; what came beyond it may be a mistake of the bank.
    clearsAt: isOwn ? now : await clearsAtOf(context, tx, { rail, asset, seenAt: now }, order),
  });
  await depositStore.changeDeposit(tx, row.id, {
    state: 'suspense',
    bookedTo: back.suspense,
    why: 'payout_returned',
    confirmedAt: now,
  });
  await openCase(tx, {
    kind: 'payout_returned',
    subject: `deposit:${row.id}`,
    orderId: payout.orderId ?? undefined,
    partnerId: payout.partnerId ?? undefined,
    reason: isOwn ? fact.why : 'more came back than was sent: the rest is in suspense',
    facts: { units: String(units), asset, reference, payout: payout.id },
    now,
  });
  return row;
}

/**
 * Whether another payout has paid the order. A rail that settles a payout it had rejected may have paid an order twice; if one of
 * the two is returned, the order is still paid.
 */
async function isPaidByAnother(tx: Tx, { id }: Payout, order: Order): Promise<boolean> {
  const others = (await payoutsOf(tx, order.id)).filter((one) => one.purpose === 'payout' && one.id !== id);
  return (
    others.some(({ state, endedAt }) => state === 'settled' || endedAt === null) ||
    (await refundsOf(tx, order.id)).some(({ purpose, state }) => purpose === 'payout' && state !== 'cancelled')
  );
}

export async function payoutUnknown(context: Context, tx: Tx, fact: Of<'payout_unknown'>): Promise<void> {
  const order = await lockOrderOf(tx, fact);
  await openCase(tx, {
    kind: 'payout_unknown',
    subject: `payout:${fact.key}`,
    ...(order === undefined ? {} : { orderId: order.id, partnerId: order.partnerId }),
    reason: fact.why,
    facts: {},
    now: context.clock.now(),
  });
}

async function contradiction(context: Context, tx: Tx, observed: Observed, why: string): Promise<void> {
  const { payout } = observed;
  await openCase(tx, {
    kind: 'payout_contradiction',
    subject: `payout:${payout.id}`,
    orderId: payout.orderId ?? undefined,
    partnerId: payout.partnerId ?? undefined,
    reason: why,
    facts: { before: observed.before },
    now: context.clock.now(),
  });
}
