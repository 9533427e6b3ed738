/** Refunds that are submitted and settled, and the effect on the deposit and its order. */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { closeCases } from '../../compliance/index.ts';
import { findCustomer } from '../../customers/index.ts';
import { type Account, chart, move, post } from '../../ledger/index.ts';
import { type Payout, payoutsOf } from '../../rails/payouts.ts';
import { advance, bookedRefund, change, writeRefund } from '../advance.ts';
import type { Rails } from '../context.ts';
import { HELD_AT_GATE } from '../decide.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import { owesNothing } from '../deposits/owed.ts';
import { lossAccount } from '../deposits/replace.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { foundRefund, holdRefund, settleRefund, voidRefund } from '../entries.ts';
import * as store from '../store.ts';
import { foundFor, lockDebtor, oweFound, paidTo, settleParts } from './replaced.ts';
import { announceRefund, CANCELLABLE, inSuspense, isOpen, refundCase } from './request.ts';
import { arrived, refundRestOf, splitRejected } from './rest.ts';
import { changeRefund, type LockedRefund, lockRefund, refundsOf, refundsOfDeposit } from './store.ts';

// Handles rails' reports about a refund's attempts. The caller has locked the order, if there is one.

export async function refundSubmitted(tx: Tx, payout: Payout, now: Date): Promise<void> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked?.refund.key !== payout.id || locked.refund.state !== 'created') return;
  await changeRefund(tx, locked.refund, { state: 'submitted', now });
  await announceRefund(tx, locked.order, now);
}

/** @returns false if the refund was not under way, so the payment cannot be booked as this refund's */
export async function refundSettled(
  context: Rails,
  tx: Tx,
  payout: Payout,
  reference: string,
  now: Date,
): Promise<boolean> {
  const locked = payout.refundId === null ? undefined : await lockRefund(tx, payout.refundId);
  if (locked === undefined) return false;
  const { refund, order } = locked;
  if (refund.key !== payout.id || (refund.state !== 'created' && refund.state !== 'submitted')) return false;
  const settled = await changeRefund(tx, refund, { state: 'settled', now });
  const facts = { reference, payout: payout.id };
  if (refund.source === 'order') {
    assert(order !== undefined, `refund ${refund.id} has no order`);
    const others = (await refundsOf(tx, order.id)).filter((one) => one.source === 'order' && one.id !== refund.id);
    if (others.some(isOpen)) {
      await post(tx, {
        id: `${payout.id}:settled`,
        kind: 'settle_refund',
        orderId: order.id,
        at: now,
        facts,
        lines: settleRefund(bookedRefund(settled)),
      });
      await store.noteRefunded(tx, order.id, settled.grossUnits, now);
      await announceRefund(tx, order, now);
      await endOrderRefund(context, tx, order.id, payout, now);
    } else {
      const advanced = await advance(context, tx, order, 'refund_settled', { now, refunds: [settled], facts });
      assert(advanced.outcome === 'advanced', `order ${order.id} did not accept its last refund`);
    }
  } else {
    await post(tx, {
      id: `${payout.id}:settled`,
      kind: 'settle_refund',
      ...defined({ orderId: refund.orderId ?? undefined }),
      at: now,
      facts,
      lines: settleRefund(bookedRefund(settled)),
    });
  }
  await endRefund(tx, locked, reference, now);
  return true;
}

/** The effects of a settled refund, however it was booked. */
export async function endRefund(
  tx: Tx,
  { refund, order, deposit }: LockedRefund,
  reference: string,
  now: Date,
): Promise<void> {
  const left = (await refundsOfDeposit(tx, deposit.id)).some(isOpen);
  const after = await depositStore.depositById(tx, deposit.id);
  if (!left && after !== undefined && after.takenUnits === 0n && inSuspense(after) === 0n) {
    if (after.state !== 'lost') await depositStore.changeDeposit(tx, deposit.id, { state: 'refunded' });
  }
  // If the deposit was reversed since, the loss remains, and its case stays open.
  if (!left && after?.state !== 'lost')
    await closeCases(tx, { subject: `deposit:${deposit.id}`, outcome: 'refunded', now });
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome: 'settled', now });
  if (refund.purpose === 'payout' && order !== undefined) await change(tx, order, { payoutReference: reference, now });
  else if (refund.source === 'suspense') await announceRefund(tx, order, now);
}

/**
 * Settles a failed refund that its rail has paid after all, by one of its own attempts or by an attempt of the refund that it
 * replaces (replaced.ts): the refund's money covers the loss that was booked. If the order has several refunds, this waits until
 * none of them is under way, because only then is the money no longer held.
 */
export async function settleFound(context: Rails, tx: Tx, id: bigint, now: Date): Promise<void> {
  const locked = await lockRefund(tx, id);
  if (locked === undefined) return;
  const { refund, order, deposit } = locked;
  const isOrders = refund.source === 'order';
  const found = await foundFor(tx, locked);
  if (found === undefined || (isOrders && order?.state !== 'refund_held')) return;
  const { paid, inPlace } = found;
  // Another refund of the deposit has paid it, so this one ends wherever it waits. Otherwise it waits for another attempt.
  if (refund.state !== 'rejected' && (isOrders || inPlace === undefined || !CANCELLABLE.includes(refund.state))) return;
  if (!isOrders) await wakeDeposit(tx, deposit, { by: 'the rail', why: 'it was refunded after all', now });
  assert(paid.reference !== null, `payout ${paid.id} settled without a reference`);
  const facts = { reference: paid.reference, payout: paid.id };
  if (inPlace !== undefined || deposit.state === 'lost') await lockDebtor(tx, locked, paid);
  const settled = await changeRefund(tx, refund, {
    state: 'settled',
    ...(inPlace === undefined ? {} : { key: paid.id, to: paidTo(paid) }),
    now,
  });
  const parts = inPlace === undefined ? [] : await settleParts(tx, inPlace, now);
  const booked = [settled, ...parts.filter(({ source }) => source === 'order')];
  const isLast =
    isOrders &&
    order !== undefined &&
    !(await refundsOf(tx, order.id)).some((one) => one.source === 'order' && isOpen(one));
  if (isLast) {
    await advance(context, tx, order, 'refund_found', { now, refunds: booked, facts });
    await closeCases(tx, { kind: 'refund_held', subject: `order:${order.id}`, outcome: 'refunded after all', now });
  } else {
    const from =
      isOrders && order !== undefined
        ? chart.order(order.id, order.partnerId, refund.asset)
        : chart.suspense(refund.rail, refund.asset);
    await post(tx, {
      id: `${paid.id}:found`,
      kind: 'refund_found',
      ...defined({ orderId: refund.orderId ?? undefined }),
      at: now,
      facts,
      lines: booked.flatMap((one) => foundRefund(bookedRefund(one), from)),
    });
    if (isOrders && order !== undefined)
      for (const { grossUnits } of booked) await store.noteRefunded(tx, order.id, grossUnits, now);
  }
  await oweFound(tx, locked, { paid, parts, now });
  await endRefund(tx, { ...locked, refund: settled }, paid.reference, now);
}

/** The order stays in its state: one entry releases the old hold and makes the next one. */
export async function tryAgainHeld(context: Rails, tx: Tx, { refund, order }: LockedRefund, now: Date): Promise<void> {
  const rail = context.rails.get(refund.rail);
  assert(rail !== undefined && order !== undefined, `rail ${refund.rail} is not running, or the refund has no order`);
  const attempt = refund.attempt + 1;
  const again = await changeRefund(tx, refund, { state: 'created', attempt, key: `ref_${refund.id}_${attempt}`, now });
  const posted = await post(tx, {
    id: `${again.key}:held`,
    kind: 'hold_refund',
    orderId: order.id,
    at: now,
    lines: [
      ...voidRefund(bookedRefund(refund)),
      ...holdRefund(
        bookedRefund(again),
        chart.order(order.id, order.partnerId, refund.asset),
        chart.custody(rail.code, rail.wallets.payouts, refund.asset),
      ),
    ],
  });
  assert(posted.outcome !== 'short', `refund ${refund.id} cannot hold its amount again`);
  await writeRefund(tx, again, now);
}

/** Why the gate or an operator held a part of an order's refund; undefined if none was held. */
export async function heldParts(tx: Tx, orderId: bigint): Promise<string | undefined> {
  const refunds = (await refundsOf(tx, orderId)).filter(
    ({ source, state }) => source === 'order' && state === 'rejected',
  );
  const whys = (await payoutsOf(tx, orderId)).filter(({ id }) => refunds.some(({ key }) => key === id));
  return whys.find(({ why }) => why?.startsWith(HELD_AT_GATE) === true)?.why ?? undefined;
}

/** Opens a case if no refund of an order is under way any more and one has failed. */
export async function endOrderRefund(
  context: Rails,
  tx: Tx,
  orderId: bigint,
  payout: Payout,
  now: Date,
  rejectedWhy?: string,
): Promise<void> {
  const refunds = (await refundsOf(tx, orderId)).filter(({ source }) => source === 'order');
  if (refunds.some(({ state }) => state === 'created' || state === 'submitted')) return;
  const failed = refunds.filter(({ state }) => state === 'rejected');
  const order = await store.lock(tx, orderId);
  assert(order !== undefined, `order ${orderId} has disappeared`);
  // Independent of which part ended last: if an operator held one part, an operator decides about all of them.
  const why = (await heldParts(tx, orderId)) ?? rejectedWhy ?? 'another part of it failed';
  await advance(context, tx, order, 'refund_rejected', {
    now,
    refunds: failed,
    facts: { why, payout: payout.id },
    reason: why,
  });
  for (const { id } of failed) {
    await settleFound(context, tx, id, now);
    const locked = await lockRefund(tx, id);
    if (locked !== undefined) await splitRejected(tx, locked, now);
  }
}

/**
 * The deposit of a refund in suspense was reversed while the refund was under way, and the refund failed or was returned, so it
 * is no longer owed. Cancels the refund; its money covers the loss or the customer's debt. If only a part was reversed, the rest is
 * still owed, by a refund of its own. A customer who was blocked for that stays blocked until an operator decides otherwise.
 *
 * @param why why the refund failed or was returned
 * @returns whether that was the case
 */
export async function goesToLoss(
  tx: Tx,
  { refund, order, deposit }: LockedRefund,
  payout: Payout,
  why: string,
  now: Date,
): Promise<boolean> {
  const isLost = deposit.state === 'lost' && deposit.lostTo !== null && deposit.lostUnits > 0n;
  if (!isLost || refund.source !== 'suspense' || (await arrived(tx, refund)) !== undefined) return false;
  const units = refund.netUnits < deposit.lostUnits ? refund.netUnits : deposit.lostUnits;
  const to = order === undefined ? await lossOf(tx, deposit) : lossAccount(order, deposit);
  const posted = await post(tx, {
    id: `${payout.id}:made_good`,
    kind: 'deposit_replaced',
    ...defined({ orderId: refund.orderId ?? undefined }),
    at: now,
    facts: { refund: String(refund.id), deposit: String(deposit.id) },
    lines: move(chart.suspense(refund.rail, refund.asset), to, units),
  });
  assert(posted.outcome === 'posted', `refund ${refund.id} is not in suspense`);
  await changeRefund(tx, refund, { state: 'cancelled', now });
  const outcome = `refund ${refund.id} was not sent after all`;
  await closeCases(tx, { subject: `refund:${refund.id}`, outcome, now });
  if (units < refund.netUnits) {
    await closeCases(tx, { subject: `deposit:${deposit.id}`, outcome, now });
    const rest = await refundRestOf(tx, refund, units, now);
    await refundCase(tx, rest, rest.state === 'returned' ? 'refund_returned' : 'refund_rejected', why, now);
    await announceRefund(tx, order, now);
    return true;
  }
  await depositStore.makeGood(tx, deposit.id, units);
  if (units === deposit.lostUnits) await closeCases(tx, { subject: `deposit:${deposit.id}`, outcome, now });
  else if (order !== undefined)
    await owesNothing(tx, { order, depositId: deposit.id, payment: payout.id, debt: to, now });
  return true;
}

/**
 * The account on which a deposit without an order is booked as lost: a loss, or the debt of the customer whose account was paid.
 */
async function lossOf(tx: Tx, { asset, lostTo }: DepositRow): Promise<Account> {
  const [kind, customerId] = (lostTo ?? '').split(':');
  if (kind !== 'receivable' || customerId === undefined) return chart.loss(asset);
  return chart.receivable(customerId, (await findCustomer(tx, customerId)).partnerId, asset);
}
