/**
 * Bulk operations: an operator cancels or requotes all unpaid orders of a market that were created in a time span, because their
 * price was wrong; or compensates all settled ones, because a fee was wrong.
 *
 * The operation is a row that says who decided it and why. A worker processes the orders by id, each with its own transaction and
 * lock, and records its position in the same transaction. So each order is processed exactly once, however often the worker is
 * interrupted, and no order waits for another. An order that has received money by its turn, even in part, is not changed: it is
 * filled at the promised price, or an operator handles it.
 *
 * A compensated order is paid the difference between the fee in the journal and the correct fee (compensate.ts), computed under
 * the order's lock; an order that was compensated meanwhile is skipped. The sum never exceeds the approved total. An order that
 * would exceed it, or whose account is unknown, is counted as refused and left to an operator.
 *
 * A requoted order keeps the amount that the customer pays, the payment target and the deadline, so that payment instructions
 * stay valid. The amount that the customer receives is repriced and announced as `order.changed`. Requoting waits while there is
 * no price.
 *
 * Source: docs/decisions/0034-prices-nobody-should-believe.md
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { enqueue, type Handlers } from '../base/jobs.ts';
import { formatRate } from '../base/money.ts';
import { marketById } from '../partners/index.ts';
import { rateNow, requoteUnless } from '../quotes/index.ts';
import { cancel } from './actions.ts';
import { advance } from './advance.ts';
import { type Bulk, type BulkKind, type BulkTerms, bulkStore, type Span, type UnpaidOrder } from './bulk.store.ts';
import type { OrdersContext } from './context.ts';
import { requireRoomForMore } from './create.ts';
import { chargedUnits, compensate, lookCompensation, otherFee } from './refunds/compensate.ts';
import type { Order } from './store.ts';
import * as store from './store.ts';

export type { Bulk, BulkTerms, Span } from './bulk.store.ts';

/** Small enough to finish before a worker's lease ends. */
const AT_ONCE = 50;
export const MAX_UNPAID = 200;

/** @returns the operation's id, under which `bulkOf` reports progress */
export async function beginBulk(
  tx: Tx,
  input: Span & {
    kind: BulkKind;
    by: string;
    people: readonly string[];
    why: string;
    /** For 'compensate'. */
    terms?: BulkTerms | undefined;
    now: Date;
  },
): Promise<bigint> {
  const { now, people, ...rest } = input;
  assert(
    (input.kind === 'compensate') === (input.terms !== undefined),
    'a compensation has no terms, or another operation has some',
  );
  const id = await bulkStore.insert(tx, { ...rest, people: [...people], begunAt: now });
  enqueue(tx, { kind: 'bulk_orders', subject: String(id), dueAt: now });
  return id;
}

export const bulkOf = (tx: Tx, id: bigint): Promise<Bulk | undefined> => bulkStore.get(tx, id);
export const lastBulk = (tx: Tx, marketId: bigint): Promise<bigint | undefined> => bulkStore.last(tx, marketId);

/** The orders that a bulk operation on this span would change now, by id, after an id; at most `MAX_UNPAID` per call. */
export async function unpaidOrders(
  tx: Tx,
  input: Span & { after: bigint; limit: number },
): Promise<(Omit<UnpaidOrder, 'rate'> & { rate: string })[]> {
  return (await bulkStore.unpaid(tx, input)).map((row) => ({ ...row, rate: formatRate(row.rate) }));
}

export function bulkHandlers(context: OrdersContext): Handlers {
  return {
    async bulk_orders(subject) {
      for (let done = 0; done < AT_ONCE; done += 1) {
        const isOver = await context.db.asSystem((tx) => nextOf(context, tx, BigInt(subject)));
        if (isOver) return undefined;
      }
      return { againInMs: 0 };
    },
  };
}

/** @returns whether no order is left to process */
async function nextOf(context: OrdersContext, tx: Tx, id: bigint): Promise<boolean> {
  const bulk = await bulkStore.lock(tx, id);
  assert(bulk !== undefined, `there is no bulk ${id}`);
  if (bulk.endedAt !== null) return true;
  const orderId = await bulkStore.next(tx, bulk);
  if (orderId === undefined) {
    await bulkStore.end(tx, id, context.clock.now());
    return true;
  }
  const order = await store.lock(tx, orderId);
  assert(order !== undefined, `order ${orderId} is gone`);
  if (bulk.kind === 'compensate') {
    await bulkStore.note(tx, id, { cursor: orderId, ...(await payBack(context, tx, bulk, order)) });
    return false;
  }
  // Checked again under the order's lock: an arriving deposit is booked under the same lock.
  const isUnpaid = order.state === 'created' && !(await bulkStore.isPaid(tx, orderId));
  const outcome = isUnpaid ? await perform(context, tx, bulk, order) : 'leftAlone';
  await bulkStore.note(tx, id, { cursor: orderId, outcome });
  return false;
}

async function perform(
  context: OrdersContext,
  tx: Tx,
  bulk: Bulk,
  order: Order,
): Promise<'changed' | 'leftAlone' | 'refused'> {
  const now = context.clock.now();
  const { by, people, why } = bulk;
  if (bulk.kind === 'cancel') {
    await cancel(context, tx, { orderId: order.id, by, people, why, now });
    return 'changed';
  }
  const market = await marketById(tx, order.marketId);
  const rate = await rateNow(tx, market);
  const isSameRate = rate.num * order.rate.den === order.rate.num * rate.den;
  try {
    const input = {
      partner: { id: order.partnerId },
      market,
      depositUnits: order.depositUnits,
      orderId: order.id,
      now,
    };
    const made = await requoteUnless(tx, input, async (quote) => {
      // Even if the rate is right, the fees may be wrong.
      if (isSameRate && quote.payoutUnits === order.payoutUnits) return true;
      await requireRoomForMore(tx, order, { quote, market, now });
      return false;
    });
    if (made === undefined) return 'leftAlone';
    const { id: quoteId, ...quote } = made;
    const advanced = await advance(context, tx, order, 'requoted', {
      now,
      terms: { ...quote, quoteId },
      facts: { reason: 'wrong_price', by, why },
    });
    assert(advanced.outcome === 'advanced', `order ${order.id} was not requoted while it was unpaid`);
    return 'changed';
  } catch (error) {
    // The new terms violate the current limits or the partner's exposure cap, or fees exceed the amount. All of it is checked before
    // anything is written.
    if (error instanceof Refusal) return 'refused';
    throw error;
  }
}

async function payBack(
  context: OrdersContext,
  tx: Tx,
  bulk: Bulk,
  order: Order,
): Promise<{ outcome: 'changed' | 'leftAlone' | 'refused'; units?: bigint }> {
  const { asset, mostUnits, fee, fixedUnits, bps, minimumUnits, people, why } = bulk;
  assert(asset && fee && mostUnits != null && fixedUnits != null, `bulk ${bulk.id} has no terms`);
  assert(bps != null && minimumUnits != null, `bulk ${bulk.id} has no terms`);
  const units = (await chargedUnits(tx, order, fee)) - otherFee(order, { fixedUnits, bps, minimumUnits });
  if (units <= 0n) return { outcome: 'leftAlone' };
  if (bulk.doneUnits + units > mostUnits) return { outcome: 'refused' };
  const about = { orderId: order.id, fee };
  const nth = (await lookCompensation(context, tx, about)).before.length + 1;
  try {
    await compensate(context, tx, {
      ...about,
      asset,
      units,
      nth,
      by: people.join(', '),
      why,
      now: context.clock.now(),
    });
    return { outcome: 'changed', units };
  } catch (error) {
    // Everything is checked before anything is written.
    if (error instanceof Refusal) return { outcome: 'refused' };
    throw error;
  }
}
