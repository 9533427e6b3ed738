/**
 * Acts: what a person (or the sandbox in a person's place) decides about one order.
 *
 * Each is an event of the machine, refused where the machine has no such row. Every act says who and why, and both stand in
 * the order's history.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { ring } from '../base/work.ts';
import { closeCases, record } from '../compliance/index.ts';
import type { Rail } from '../rails/rail.ts';
import { type AdvanceFacts, advance, change } from './advance.ts';
import { holdBeforePayout } from './decide.ts';
import type { OrdersContext } from './index.ts';
import { isFinal, type OrderEvent } from './machine.ts';
import { type Order, store } from './store.ts';

export interface Act {
  orderId: bigint;
  by: string;
  why: string;
  now: Date;
}

type Context = { rails: ReadonlyMap<string, Rail> };

/** Only before any money was seen. @throws Refusal 'unknown_order' | 'order_over' */
export const cancel = (context: Context, tx: Tx, act: Act): Promise<Order> =>
  perform(context, tx, act, 'cancelled', { failure: 'other' });

/**
 * A held order goes on. One that was underpaid, or whose deposit was taken back, cannot: it would be paid out what is not
 * there.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function release(context: Context, tx: Tx, act: Act): Promise<Order> {
  const order = await store.lock(tx, act.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  const why = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
  if (why !== undefined) throw new Refusal('order_over', { state: order.state, why });
  return await perform(context, tx, act, 'released', {});
}

/**
 * A held order's deposit goes back. The destination is screened first, outside the transaction that acts on the answer.
 *
 * @param refund.failure why, in the partner's terms: the amount was wrong, the payer's name was, or something else
 * @param refund.address,refund.fiatAccountId where to: the customer's address on a chain, or an account at a bank
 * @throws Refusal 'unknown_order' | 'order_over' | 'destination_held'
 */
export async function reject(
  context: OrdersContext,
  act: Act,
  refund: { failure: 'amount' | 'name' | 'other'; address?: string; fiatAccountId?: bigint },
): Promise<Order> {
  const { failure, ...to } = refund;
  const before = await context.db.asSystem((tx) => store.get(tx, act.orderId));
  if (before === undefined) throw new Refusal('unknown_order', {});
  const screened = await context.screener.screen({
    ...before,
    purpose: 'refund',
    fiatAccountId: to.fiatAccountId ?? null,
    payoutAddress: to.address ?? null,
  });
  const decision = { orderId: act.orderId, partnerId: before.partnerId, about: 'refund', ...screened, now: act.now };
  if (screened.outcome === 'held') {
    await context.db.asSystem((tx) => record(tx, decision));
    throw new Refusal('destination_held', { orderId: String(act.orderId) });
  }
  return await context.db.asSystem(async (tx) => {
    await record(tx, decision);
    const first = (await store.depositsOf(tx, act.orderId)).find((row) => row.state === 'applied');
    // What was taken back cannot be given back, and a refund gives back all that the order's account stands at.
    if (first === undefined || (await store.hasLostDeposit(tx, act.orderId)))
      throw new Refusal('order_over', { state: before.state });
    return await perform(context, tx, act, 'rejected', { failure, refund: { depositId: first.id, ...to } });
  });
}

/** A payout that the rail refused goes out again, under an id of its own. @throws Refusal 'unknown_order' | 'order_over' */
export async function retry(context: Context, tx: Tx, act: Act): Promise<Order> {
  const { state } = await lockOrder(tx, act.orderId);
  // A refund is tried again with its deposit and destination, which is not this act.
  if (state !== 'payout_held') throw new Refusal('order_over', { state });
  return await perform(context, tx, act, 'retried', {});
}

/** Stopped by law, for good: what we hold of it stands apart. @throws Refusal 'unknown_order' | 'order_over' */
export const block = (context: Context, tx: Tx, act: Act): Promise<Order> => perform(context, tx, act, 'blocked', {});

/** An order, locked until `tx` ends. @throws Refusal 'unknown_order' */
export async function lockOrder(tx: Tx, id: bigint): Promise<Order> {
  const order = await store.lock(tx, id);
  if (order === undefined) throw new Refusal('unknown_order', {});
  return order;
}

/** Lets the deadline of an order pass now. */
export async function passDeadline(tx: Tx, act: Act): Promise<void> {
  const order = await store.lock(tx, act.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  if (isFinal(order.state)) throw new Refusal('order_over', { state: order.state });
  await change(tx, order, { expiresAt: act.now, now: act.now });
  await ring(tx, { kind: 'expire_order', subject: String(act.orderId), dueAt: act.now });
}

async function perform(
  context: Context,
  tx: Tx,
  act: Act,
  event: OrderEvent,
  given: Omit<AdvanceFacts, 'now'>,
): Promise<Order> {
  const order = await store.lock(tx, act.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  // Closed before: the transition may open one of its own, as when the treasury is short.
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `${event} by ${act.by}`, now: act.now });
  const advanced = await advance(context, tx, order, event, {
    ...given,
    now: act.now,
    facts: { by: act.by, why: act.why },
  });
  if (advanced.outcome === 'ignored') throw new Refusal('order_over', { state: order.state });
  return advanced.order;
}
