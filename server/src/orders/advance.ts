/**
 * Advance: the one place where an order changes its state.
 *
 * In the caller's transaction, all or nothing: the ledger entry, the state (the SQL repeats the states from which the
 * transition is legal), the history row, the event for the partner, and the jobs that fall due. Nothing outside is called.
 *
 * An event without a transition in the machine changes nothing: `ignored`, and the caller decides whether it was a duplicate or
 * needs a case. A conversion becomes the event `short` if the treasury lacks the funds, or if other orders have waited longer for
 * them. An entry that is already posted is not posted again.
 */
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { assert } from '../base/errors.ts';
import { enqueue, enqueueAt } from '../base/jobs.ts';
import { formatRate, formatUnits } from '../base/money.ts';
import { type CaseKind, closeCases, isCaseKind, openCase } from '../compliance/index.ts';
import { emitAlone } from '../events/index.ts';
import { chart, type Line, move, orderBalances, post } from '../ledger/index.ts';
import { assets } from '../partners/index.ts';
import type { Fees } from '../quotes/index.ts';
import { type NewPayout, type Passed, write as writePayout } from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import type { RefundTo } from './context.ts';
import { deadlineOf } from './decide.ts';
import { wakeOrder } from './deposits/dormant.ts';
import {
  type BookedOrder,
  type BookedRefund,
  blockedLines,
  type Custody,
  type LostPart,
  linesFor,
  type PaidBefore,
  payoutId,
  type ReceivedPart,
} from './entries.ts';
import * as historyStore from './history.store.ts';
import { type EntryName, legalFrom, next, type OrderEvent, type OrderState, type Transition } from './machine.ts';
import { destinationNow, ownDestination } from './payouts/destination.ts';
import { firstInTurn, waitsBehind } from './payouts/queue.store.ts';
import { shortageChanged } from './payouts/short.ts';
import { publicMoney, publicState } from './read/public.ts';
import type { Refund } from './refunds/store.ts';
import type { Noted, Order, OrderTerms } from './store.ts';
import * as store from './store.ts';

export type Advanced = { outcome: 'advanced'; order: Order } | { outcome: 'ignored'; order: Order };

export interface AdvanceFacts {
  now: Date;
  /** Start of the new state's waiting time; default: now. */
  waitsFrom?: Date;
  /** Stored in the history: ids, references, reasons. */
  facts?: Record<string, string | number>;
  /** For 'deposit_confirmed'. */
  parts?: readonly ReceivedPart[];
  receivedUnits?: bigint;
  /** For 'requoted': the new terms of the conversion. */
  terms?: OrderTerms;
  exception?: string;
  /** Why the order fails: 'amount' | 'name' | 'other'. */
  failure?: string;
  depositReference?: string;
  payoutReference?: string;
  /** Reason of the case, if the transition opens one. */
  reason?: string;
  /** Refunds held and created, settled, or released with this transition; each names its deposit and destination. */
  refunds?: readonly Refund[];
  /** Parts of the received amount that the rail has reversed and that this transition gives up. */
  lost?: readonly LostPart[];
  /** For 'retried', of a payout: another destination than that of the last attempt. */
  payTo?: RefundTo;
  /** For an event that creates a payout: writes it, if it has passed the gate in this transaction. */
  passed?: Pick<Passed, 'write'>;
  /** For 'payout_found': the attempt that paid the order. */
  paid?: PaidBefore;
}

/**
 * @param order locked by the caller in this transaction (store.lock)
 */
export async function advance(
  context: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  order: Order,
  event: OrderEvent,
  given: AdvanceFacts,
): Promise<Advanced> {
  const transition = next(order.state, event);
  if (transition === undefined) return { outcome: 'ignored', order };
  // An order with unclaimed money is woken first: any transition means that the money is no longer unclaimed.
  if (order.dormantFrom !== null)
    return await advance(
      context,
      tx,
      await wakeOrder(tx, order, { by: 'the order', why: event, now: given.now }),
      event,
      given,
    );

  assert(
    (event === 'requoted') === (given.terms !== undefined),
    'terms were given without a requote, or a requote without terms',
  );

  const attempts = attemptsAfter(order, transition);
  const booked = bookedOrder(order, attempts, given.receivedUnits);
  if (transition.post === 'convert_and_hold') {
    assert(
      booked.receivedUnits === order.depositUnits,
      `order ${order.id} has received another amount than it asks for`,
    );
  }
  if (transition.post !== undefined) {
    const posted = await postEntry(context, tx, order, transition.post, booked, given);
    if (posted === 'short') {
      // Only payouts wait for funds. If refunds waited, too, an order that is due for a refund would be paid out when funds
      // arrive.
      if (transition.then !== 'send_payout') return { outcome: 'ignored', order };
      // The machine defines the effect of `short` in each state. If the order already waits, it has no such transition, and
      // nothing changes.
      return await advance(context, tx, order, 'short', { now: given.now, facts: given.facts ?? {} });
    }
  }
  const lostUnits = (given.lost ?? []).reduce((sum, { units }) => sum + units, 0n);
  // The decision to continue withdraws an earlier request to refund.
  if (order.refundRequest !== null && CONTINUES.includes(transition.to))
    await store.noteRefundRequest(tx, order.id, null, given.now);
  const changed = await store.change(tx, order, {
    to: transition.to,
    legalFrom: legalFrom(event, transition.to),
    now: given.now,
    ...attempts,
    ...defined({ receivedUnits: given.receivedUnits }),
    ...(given.lost === undefined || lostUnits === booked.receivedUnits
      ? {}
      : { receivedUnits: booked.receivedUnits - lostUnits }),
    ...(transition.to === 'refunded' && event !== 'rest_gone' ? { refundedUnits: booked.receivedUnits } : {}),
    ...defined({ exception: given.exception }),
    // A decision to continue cancels an earlier decision to refund, and a paid order has not failed.
    failure: given.failure ?? (transition.to === 'paying_out' || transition.to === 'settled' ? null : order.failure),
    ...defined({ terms: given.terms }),
    ...waitAfter(order, transition.to, given.waitsFrom ?? given.now),
    ...defined({ depositReference: given.depositReference, payoutReference: given.payoutReference }),
  });
  assert(changed !== undefined, `order ${order.id} changed under its lock`);
  const facts = { ...given.facts, ...(given.terms === undefined ? {} : termsChanged(order, given.terms)) };
  historyStore.insertHistory(tx, { order: changed, from: order.state, event, facts, at: given.now });
  await announce(tx, changed, changed.state === order.state ? 'changed' : changed.state, given.now);
  if (order.overdue && !changed.overdue) {
    await closeCases(tx, {
      kind: 'overdue',
      subject: `order:${order.id}`,
      outcome: `continued: ${event}`,
      now: given.now,
    });
  }
  if (order.state === 'awaiting_liquidity' && changed.state !== order.state) {
    shortageChanged(tx, order, given.now);
    const waiting = await firstInTurn(tx, { rail: order.payoutRail, asset: order.payoutAsset });
    if (waiting !== undefined) enqueue(tx, { kind: 'fund_order', subject: String(waiting.id), dueAt: given.now });
    // Servers of the previous version opened one case per order.
    const its = { kind: 'treasury_short', subject: `order:${order.id}` } as const;
    await closeCases(tx, { ...its, outcome: `continued: ${event}`, now: given.now });
  }
  await fallDue(tx, changed, transition, given);
  return { outcome: 'advanced', order: changed };
}

/** A state's waiting time begins when the state is entered. */
function waitAfter(order: Order, to: OrderState, from: Date): { waitsUntil: Date | null; overdue: boolean } {
  if (to === order.state) return order;
  const deadline = deadlineOf(to, order.policy);
  return { waitsUntil: deadline === undefined ? null : later(from, deadline.afterS * 1000), overdue: false };
}

/** The changed terms with their previous values, for the history. */
function termsChanged(before: OrderTerms, after: OrderTerms): Record<string, string> {
  const said = ({ depositUnits, payoutUnits, grossUnits, rate, fees, quoteId }: OrderTerms) => ({
    ...{ depositUnits, payoutUnits, grossUnits, rate: formatRate(rate), quoteId: quoteId ?? 'none' },
    ...{ feeOperator: fees.operator, feePartner: fees.partner, feeRail: fees.rail, feeChain: fees.chain },
    ...{ feeTax: fees.tax },
  });
  const was: Record<string, unknown> = said(before);
  return Object.fromEntries(
    Object.entries(said(after))
      .filter(([name, value]) => value !== was[name])
      .flatMap(([name, value]) => [
        [name, String(value)],
        [`${name}Before`, String(was[name])],
      ]),
  );
}

function attemptsAfter(order: Order, { then }: Transition): { payoutAttempt: number; refundAttempt: number } {
  return {
    payoutAttempt: order.payoutAttempt + (then === 'send_payout' ? 1 : 0),
    refundAttempt: order.refundAttempt + (then === 'send_refund' ? 1 : 0),
  };
}

/** States in which an order continues to its payout. */
const CONTINUES: readonly OrderState[] = ['deposit_confirmed', 'awaiting_liquidity', 'paying_out', 'settled'];

const bookedOrder = (
  order: Order,
  attempts: { payoutAttempt: number; refundAttempt: number },
  receivedUnits?: bigint,
): BookedOrder => ({
  ...order,
  ...attempts,
  receivedUnits: receivedUnits ?? order.receivedUnits ?? order.depositUnits,
});

async function postEntry(
  context: { rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  order: Order,
  name: EntryName,
  booked: BookedOrder,
  given: AdvanceFacts,
): Promise<'posted' | 'short'> {
  const lines =
    name === 'move_to_blocked'
      ? blockedLines(order.id, order.partnerId, await orderBalances(tx, order.id))
      : linesFor(name, booked, custodyOf(context.rails, order), {
          parts: given.parts,
          refunds: given.refunds?.map(bookedRefund),
          lost: given.lost,
          paid: given.paid,
        });
  const entry = {
    // An order may post the same kind of entry more than once, for example for a second payout attempt. The version makes the id
    // unique.
    id: `ord_${order.id}:${name}:${order.version}`,
    kind: name,
    orderId: order.id,
    at: given.now,
    ...defined({ facts: given.facts }),
  };
  // Every order that needs these funds locks the account that they come from, so whose turn it is can be read under that lock.
  const isInTurn = async () => !(await waitsBehind(tx, order.id, given.now));
  let posted = await post(tx, { ...entry, lines }, name === 'convert_and_hold' ? isInTurn : undefined);
  if (posted.outcome === 'short' && name.startsWith('reverse_conversion')) {
    // The customer is refunded even if the treasury has spent the proceeds of the conversion: the position account covers the
    // rest.
    posted = await post(tx, { ...entry, lines: lines.flatMap(fromPosition(order.depositAsset)) });
  }
  if (posted.outcome === 'short' && name === 'convert_and_payout_found') {
    // The money has left already, so the treasury's balance is not checked.
    posted = await post(tx, { ...entry, lines: lines.flatMap(fromPosition(order.payoutAsset)) });
  }
  if (posted.outcome !== 'short') return 'posted';
  const mayBeShort = name === 'convert_and_hold' || name === 'hold_payout';
  assert(
    mayBeShort || posted.account.startsWith('custody:'),
    `entry ${name} of order ${order.id} overdraws ${posted.account}`,
  );
  return 'short';
}

/**
 * Amounts of a refund for its entries. A refund under way has a key: the key of its newest attempt. Fees are kept only from money
 * on the order's account, and only once: a returned refund in suspense is the amount that was sent, which no longer contains the
 * fees.
 */
export function bookedRefund({ id, key, source, netUnits, costUnits }: Refund): BookedRefund {
  assert(key !== null, `refund ${id} has no attempt`);
  return { key, netUnits, costUnits: source === 'order' ? costUnits : 0n };
}

/** The same lines, with the position account instead of the treasury. */
export const fromPosition =
  (asset: string) =>
  (line: Line): Line[] =>
    line.step === 'post' && line.debit.code === chart.treasury(asset).code
      ? move(chart.fx(asset), line.credit, line.units)
      : [line];

export function custodyOf(rails: ReadonlyMap<string, Rail>, order: Order): Custody {
  const [depositRail, payoutRail] = [rails.get(order.depositRail), rails.get(order.payoutRail)];
  assert(depositRail !== undefined && payoutRail !== undefined, `a rail of order ${order.id} is not running`);
  return {
    deposits: chart.custody(depositRail.code, depositRail.wallets.deposits, order.depositAsset),
    refunds: chart.custody(depositRail.code, depositRail.wallets.payouts, order.depositAsset),
    payouts: chart.custody(payoutRail.code, payoutRail.wallets.payouts, order.payoutAsset),
  };
}

/**
 * Changes an order without changing its state: its exception, its evidence, its deadlines.
 *
 * @param order locked by the caller in this transaction
 */
export async function change(tx: Tx, order: Order, { now, ...what }: Noted & { now: Date }): Promise<Order> {
  const changed = await store.note(tx, order.id, { ...what, now });
  await announce(tx, changed, 'changed', now);
  return changed;
}

/** Announces that a rail accepted the payout. The order's state does not change, but the partner is told. */
export const emitSubmitted = (tx: Tx, order: Order, at: Date): Promise<void> =>
  announce(tx, order, 'payout_submitted', at);

/** Announces the state in which an order is. */
export const emitState = (tx: Tx, order: Order, at: Date): Promise<void> => announce(tx, order, order.state, at);

/** Tax is included only if some is withheld; otherwise the event has four fees. */
const shownFees = ({ tax, ...fees }: Fees): Partial<Fees> => (tax === 0n ? fees : { ...fees, tax });

/** The event carries the whole resource, so that a receiver needs no second call. */
async function announce(
  tx: Tx,
  order: Order,
  what: OrderState | 'changed' | 'payout_submitted',
  at: Date,
): Promise<void> {
  // An order blocked by law is not announced: its last announced state remains visible.
  if (what === 'frozen') return;
  const known = await assets(tx);
  const amount = (units: bigint, asset: string) => formatUnits(units, known.get(asset)?.decimals ?? 0);
  emitAlone(tx, {
    partnerId: order.partnerId,
    type: `order.${what}`,
    subject: `order:${order.id}`,
    body: {
      orderId: String(order.id),
      customerId: order.customerId,
      direction: order.direction,
      state: publicState(order.state),
      ...(await publicMoney(tx, order)),
      depositAsset: order.depositAsset,
      depositUnits: String(order.depositUnits),
      depositAmount: amount(order.depositUnits, order.depositAsset),
      payoutAsset: order.payoutAsset,
      payoutUnits: String(order.payoutUnits),
      payoutAmount: amount(order.payoutUnits, order.payoutAsset),
      receivedUnits: order.receivedUnits === null ? null : String(order.receivedUnits),
      fiatAsset: order.fiatAsset,
      fees: shownFees(order.fees),
      rate: formatRate(order.rate),
      rateLockedUntil: order.rateLockedUntil.toISOString(),
      expiresAt: order.expiresAt.toISOString(),
      createdAt: order.createdAt.toISOString(),
      updatedAt: order.updatedAt.toISOString(),
      depositTarget: order.depositTarget,
      payoutAddress: order.payoutAddress,
      fiatAccountId: order.fiatAccountId === null ? null : String(order.fiatAccountId),
      // Whether the rail has accepted the payout.
      submittedPayout: order.submittedPayout,
      exception: order.exception,
      failure: order.failure,
      depositReference: order.depositReference,
      payoutReference: order.payoutReference,
      merchantReference: order.merchantReference,
      follows: order.follows === null ? null : String(order.follows),
      // Only in the first event, because the policy never changes afterwards.
      ...(what === 'created' ? { policy: order.policy } : {}),
    },
    at,
  });
}

/** How often an order that waits for funds checks again. */
const FUNDS_EVERY_MS = 5_000;

async function fallDue(tx: Tx, order: Order, transition: Transition, given: AdvanceFacts): Promise<void> {
  const { now } = given;
  const subject = String(order.id);
  const caseOf = (kind: CaseKind, reason: string) =>
    openCase(tx, {
      kind,
      subject: `order:${order.id}`,
      orderId: order.id,
      partnerId: order.partnerId,
      reason,
      facts: given.facts ?? {},
      now,
    });
  switch (transition.then) {
    case undefined:
      break;
    case 'expire':
      enqueueAt(tx, { kind: 'expire_order', subject, dueAt: order.expiresAt });
      break;
    case 'screen':
      enqueue(tx, { kind: 'screen_order', subject, dueAt: now });
      break;
    case 'await_liquidity':
      shortageChanged(tx, order, now);
      enqueueAt(tx, { kind: 'fund_order', subject, dueAt: later(now, FUNDS_EVERY_MS) });
      break;
    case 'send_payout': {
      const payout = await newestPayout(tx, order, now, given.payTo);
      await (given.passed === undefined ? writePayout(tx, payout) : given.passed.write(tx, payout));
      break;
    }
    case 'send_refund':
      for (const refund of given.refunds ?? []) await writeRefund(tx, refund, now);
      break;
    case 'open_case':
    case 'report':
      assert(isCaseKind(order.state), `state ${order.state} is no kind of case`);
      await caseOf(order.state, given.reason ?? transition.on);
      break;
  }
}

/** The payout of an order's newest attempt. @param payTo default: where the last attempt went */
async function newestPayout(tx: Tx, order: Order, now: Date, payTo?: RefundTo): Promise<NewPayout> {
  const first = order.payoutAttempt === 1;
  const { address, fiatAccountId } = first ? ownDestination(order) : await destinationNow(tx, order);
  const last = address === null ? { fiatAccountId: fiatAccountId ?? undefined } : { address };
  return {
    id: payoutId(order),
    orderId: order.id,
    partnerId: order.partnerId,
    purpose: 'payout',
    attempt: order.payoutAttempt,
    rail: order.payoutRail,
    asset: order.payoutAsset,
    units: order.payoutUnits,
    ...(payTo ?? last),
    now,
  };
}

/** The payout that `advance` is going to create for this order. */
export const nextPayout = (tx: Tx, order: Order, now: Date): Promise<NewPayout> =>
  newestPayout(tx, { ...order, payoutAttempt: order.payoutAttempt + 1 }, now);

/** Creates the payout row of a refund's newest attempt. The caller has made the ledger hold in this transaction. */
export async function writeRefund(tx: Tx, refund: Refund, now: Date): Promise<void> {
  const { key, fiatAccountId, address } = refund;
  assert(key !== null, `refund ${refund.id} has no attempt`);
  await writePayout(tx, {
    id: key,
    refundId: refund.id,
    orderId: refund.orderId ?? undefined,
    partnerId: refund.partnerId ?? undefined,
    purpose: refund.purpose,
    attempt: refund.attempt,
    ...(refund.purpose === 'refund' ? { depositId: refund.depositId } : {}),
    rail: refund.rail,
    asset: refund.asset,
    units: refund.netUnits,
    ...(address === null ? { fiatAccountId: fiatAccountId ?? undefined } : { address }),
    now,
  });
}
