/**
 * Refunds: sending a deposit, or part of one, back.
 *
 * A refund names its deposit, the amount refunded, the fee kept, and the destination. A payout is one attempt at it, sent by
 * rails/payouts.ts like any other. It leaves from the account where the money is: the order's account if the whole order is
 * refunded (in parts, one per deposit), or suspense for money that no order accepted. A returned payout is money in suspense,
 * too, and is paid again in the same way, as a payout of its order.
 *
 *   needs_destination ─▶ screening ─▶ created ─▶ submitted ─▶ settled ─▶ returned ─┐
 *          ▲                │  ▲                     └──▶ rejected ────────────────┤
 *          │               held┴──────────────────────────────────────(another try)┘
 *
 * Promises:
 * - never more than was received: a check on the deposit's row rejects it, however many requests run at once;
 * - the ledger hold is made in the transaction that creates the payout, so the money cannot be used for anything else meanwhile;
 * - no refund goes to a destination that was not screened, and screening is called outside any transaction;
 * - another attempt is made only after the rail has rejected or returned the last one.
 *
 * Not here: who decides on a refund (policies, actions.ts), reading where the money came from (rails).
 */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { enqueue, type Handled, type Handlers, type Run } from '../../base/jobs.ts';
import { closeCases, openCase, record, type Verdict } from '../../compliance/index.ts';
import { assets } from '../../partners/index.ts';
import { advance } from '../advance.ts';
import type { OrdersContext, Rails, RefundTo } from '../context.ts';
import { LOST_TIME_EVERY_MS, mayHavePaid } from '../custody/lost-time.ts';
import { awaitsPerson, keptOnRefund } from '../decide.ts';
import * as depositStore from '../deposits/store.ts';
import * as historyStore from '../history.store.ts';
import { next } from '../machine.ts';
import { type ApprovedBy, approveRefund, keepVerdict, uncoveredFindings } from '../payouts/gate.ts';
import { refundOf, screeningOf } from '../payouts/leaving.ts';
import { screenOutside } from '../payouts/rescreen.ts';
import type { Order, RefundRequest } from '../store.ts';
import * as store from '../store.ts';
import { fitsRefund, requireFits } from './destinations.ts';
import { endOfLost, giveUpLost, isAllLost, isPaidOut, lostOf } from './lost.ts';
import {
  announceRefund,
  blank,
  destinationColumns,
  destinationOf,
  FUNDS_EVERY_MS,
  wantedOf,
  wholeOf,
} from './request.ts';
import { screenRefund } from './screen.ts';
import { refundIsShort, shortRefundHandlers } from './short.ts';
import { insertRefund, type Refund, refundsOf } from './store.ts';

export function refundHandlers(context: OrdersContext): Handlers {
  return {
    refund_order: (subject, run) => refundOrder(context, BigInt(subject), run),
    screen_refund: (subject, run) => screenRefund(context, BigInt(subject), run),
    ...shortRefundHandlers(context),
  };
}

async function refundOrder(context: OrdersContext, id: bigint, run?: Run): Promise<Handled> {
  const order = await context.db.asSystem((tx) => store.get(tx, id));
  assert(order !== undefined, `order ${id} does not exist`);
  if (!(await context.db.asSystem((tx) => isToRefund(tx, order)))) return undefined;
  // No refund while the order may have been paid in the time that a restore has lost.
  if ((await context.db.asSystem((tx) => mayHavePaid(context, tx, order))) !== undefined)
    return { againInMs: LOST_TIME_EVERY_MS };
  if (await endsWithoutMoney(context, id)) return undefined;
  const named = destinationOf(context.rails, order);
  const fits = named && (await context.db.asSystem((tx) => fitsRefund(context, tx, wholeOf(order), named)));
  const to = fits === true ? named : undefined;
  const about = { subject: `order:${id}`, orderId: id, partnerId: order.partnerId };
  if (to === undefined) {
    const now = context.clock.now();
    return await context.db.asSystem(async (tx) => {
      const locked = await store.lock(tx, id);
      if (locked !== undefined && (await isToRefund(tx, locked)))
        await awaitDestination(tx, locked, wantedOf(locked), now);
      run?.ends(tx, undefined);
      return undefined;
    });
  }
  try {
    await startRefund(context, {
      ...{ orderId: id, ...wantedOf(order), to, now: context.clock.now() },
      before: async (tx, locked) => {
        if (!(await isToRefund(tx, locked))) throw new Refusal('order_over', { state: locked.state });
        // Its transaction is the last one, unless it is rolled back.
        run?.ends(tx, undefined);
        return locked;
      },
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'order_over') return undefined;
    const now = context.clock.now();
    if (error.code === 'funds_short') {
      const { depositRail: rail, depositAsset: asset, receivedUnits, depositUnits } = order;
      const waits = { kind: 'refund_order', subject: String(id), rail, asset } as const;
      await context.db.asSystem((tx) => refundIsShort(tx, { ...waits, units: receivedUnits ?? depositUnits, now }));
      return { againInMs: FUNDS_EVERY_MS };
    }
    await context.db.asSystem((tx) =>
      openCase(tx, {
        kind: 'refund_destination_held',
        ...about,
        reason: 'screening does not allow this destination',
        now,
      }),
    );
    return undefined;
  }
}

/** Whether the order is still to be refunded. An operator, screening or the gate may have held it: then an operator decides. */
async function isToRefund(tx: Tx, order: Order): Promise<boolean> {
  if (next(order.state, 'refund_requested') === undefined) return false;
  return !awaitsPerson(order, await historyStore.history(tx, order.id));
}

/**
 * Ends an order that is to be refunded and of which nothing is left: it needs no destination.
 *
 * @returns whether the job has nothing more to do
 */
async function endsWithoutMoney(context: OrdersContext, id: bigint): Promise<boolean> {
  return await context.db.asSystem(async (tx) => {
    const order = await store.lock(tx, id);
    if (order === undefined || next(order.state, 'deposit_gone') === undefined) return false;
    if (!isAllLost(order, await depositStore.depositsOf(tx, id)) || (await isPaidOut(tx, id))) return false;
    if (!(await isToRefund(tx, order))) return true;
    const now = context.clock.now();
    await closeCases(tx, {
      subject: `order:${id}`,
      outcome: 'its deposit was reversed: there is nothing to refund',
      now,
    });
    await rejectLocked(context, tx, order, { ...wantedOf(order), to: {}, now });
    return true;
  });
}

/**
 * Records that an order's refund waits for its destination. Naming it enqueues `refund_order`, and so does a reversed deposit.
 */
export async function awaitDestination(tx: Tx, order: Order, wanted: RefundRequest, now: Date): Promise<void> {
  await store.noteRefundRequest(tx, order.id, wanted, now);
  if (isAllLost(order, await depositStore.depositsOf(tx, order.id)))
    return enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
  if (order.refundRequest === null) await announceRefund(tx, order, now);
  await openCase(tx, {
    ...{ kind: 'refund_destination', subject: `order:${order.id}`, orderId: order.id, partnerId: order.partnerId },
    reason: 'the customer must name a destination',
    now,
  });
}

/**
 * Refunds the whole balance of an order's account, each deposit by its own refund. The destination is screened first.
 *
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'order_over' | 'destination_held' | 'funds_short'
 */
export async function startRefund(
  context: OrdersContext,
  back: RefundRequest & {
    orderId: bigint;
    to: RefundTo;
    /** The deposit to whose sender the account `to` belongs. */
    senderOf?: bigint | undefined;
    /** Operators who approve a new destination, and explicitly its hits, in the transaction that refunds. */
    approvedBy?: ApprovedBy & { pastHits?: boolean | undefined };
    /** Moves the locked order to a state from which an operator may refund it, or throws a Refusal. */
    before?: (tx: Tx, order: Order) => Promise<Order>;
    now: Date;
  },
): Promise<Order> {
  const { orderId, to, now } = back;
  await context.db.asSystem(async (tx) => {
    const found = await store.get(tx, orderId);
    if (found === undefined) throw new Refusal('unknown_order', {});
    const mayGoBack = back.before !== undefined || next(found.state, 'refund_requested') !== undefined;
    if (mayGoBack) await requireFits(context, tx, wholeOf(found, back.senderOf), to);
  });
  const verdict = await screenOrderRefund(context, orderId, to);
  const refunded = await context.db.asSystem(async (tx) => {
    // Locked first, because a decision refers to its order: two callers that had each stored their decision would deadlock here.
    const locked = await store.lock(tx, orderId);
    assert(locked !== undefined, `order ${orderId} is gone`);
    if (back.approvedBy !== undefined)
      await approveRefund(context, tx, await refundOf(tx, locked, to), { ...back.approvedBy, now });
    if (await isKept(context, tx, locked, { to, verdict, now })) return undefined;
    const order = back.before === undefined ? locked : await back.before(tx, locked);
    // The old case is closed first, because a transition may open a new one.
    await closeCases(tx, { subject: `order:${order.id}`, outcome: `rejected by ${back.by}`, now });
    return await rejectLocked(context, tx, order, back);
  });
  if (refunded === undefined) throw new Refusal('destination_held', { orderId: String(orderId) });
  return refunded;
}

/** Screens the destination of an order's refund. @throws Refusal 'unknown_order' */
export async function screenOrderRefund(context: OrdersContext, orderId: bigint, to: RefundTo): Promise<Verdict> {
  const leaving = await context.db.asSystem(async (tx) => {
    const order = await store.get(tx, orderId);
    if (order === undefined) throw new Refusal('unknown_order', {});
    return await refundOf(tx, order, to);
  });
  return await screenOutside(context, screeningOf(leaving));
}

/** Stores the screening result of an order's refund. @returns whether the refund to that destination is refused now */
export async function isKept(
  context: OrdersContext,
  tx: Tx,
  order: Order,
  { to, verdict, now }: { to: RefundTo; verdict: Verdict; now: Date },
): Promise<boolean> {
  const leaving = await refundOf(tx, order, to);
  keepVerdict(tx, leaving, verdict, now);
  const left = await uncoveredFindings(context, tx, leaving, now);
  const outcome = left.length > 0 ? 'held' : 'cleared';
  await record(tx, { orderId: order.id, partnerId: order.partnerId, about: 'refund', ...verdict, outcome, now });
  return left.length > 0;
}

async function rejectLocked(
  context: Rails,
  tx: Tx,
  order: Order,
  back: RefundRequest & { to: RefundTo; now: Date },
): Promise<Order> {
  const { by, why, failure, to, now } = back;
  const over = () => new Refusal('order_over', { state: order.state });
  if (next(order.state, 'refund_requested') === undefined) throw over();
  // The customer was paid after all: an attempt that its rail had rejected has settled.
  if (await isPaidOut(tx, order.id))
    throw new Refusal('refund_under_way', { orderId: String(order.id), state: order.state });
  const deposits = await depositStore.depositsOf(tx, order.id);
  const lost = lostOf(order, deposits);
  const facts = { by, why };
  const refunds: Refund[] = [];
  const applied = deposits.filter(({ state }) => state === 'applied');
  // Fees belong to the order and are kept from the first deposits; each part must refund more than zero.
  let keepUnits = await keptOf(
    tx,
    order,
    applied.reduce((sum, row) => sum + row.takenUnits, 0n),
  );
  for (const { id } of applied) {
    const deposit = await depositStore.lockDepositById(tx, id);
    assert(deposit !== undefined, `deposit ${id} has disappeared`);
    const costUnits = keepUnits < deposit.takenUnits ? keepUnits : deposit.takenUnits - 1n;
    keepUnits -= costUnits;
    const fresh = blank(deposit, deposit.takenUnits, costUnits, now);
    refunds.push(
      await insertRefund(tx, {
        ...fresh,
        purpose: 'refund',
        source: 'order',
        why,
        requestedBy: by,
        state: 'created',
        attempt: 1,
        key: `ref_${fresh.id}_1`,
        ...destinationColumns(to),
      }),
    );
  }
  if (refunds.length === 0 && lost.length === 0) throw over();
  const event = refunds.length === 0 ? endOfLost(await refundsOf(tx, order.id)) : 'refund_requested';
  const advanced = await advance(context, tx, order, event, { now, failure, refunds, lost, facts });
  if (advanced.outcome === 'ignored') throw new Refusal('funds_short', { asset: order.depositAsset });
  if (lost.length > 0) await giveUpLost(tx, order, deposits, now);
  return advanced.order;
}

/** The fee that the order's policy keeps of its deposit. Nothing is kept of money that no order accepted. */
async function keptOf(tx: Tx, order: Order, grossUnits: bigint): Promise<bigint> {
  const known = await assets(tx);
  const crypto = order.depositAsset === order.fiatAsset ? order.payoutAsset : order.depositAsset;
  const [base, quote] = [known.get(crypto)?.decimals, known.get(order.fiatAsset)?.decimals];
  assert(base !== undefined && quote !== undefined, `an asset of order ${order.id} is unknown`);
  return keptOnRefund(order, grossUnits, { base, quote });
}
