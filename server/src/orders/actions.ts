/**
 * Actions: what a person (or the sandbox standing in for one) decides about one order.
 *
 * Each action is an event of the state machine and throws a Refusal when the machine has no such transition. Every action
 * records who and why in the order's history.
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { findCustomer } from '../customers/index.ts';
import { type Account, chart, isPosted, type Line, move, post, statement } from '../ledger/index.ts';
import { marketById } from '../partners/index.ts';
import { requireWithinLevel, requote } from '../quotes/index.ts';
import {
  cancelUnlessSubmitted,
  type Payout,
  payoutByKey,
  payoutsOf,
  recordRejected,
  unitsPaid,
} from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import { type AdvanceFacts, advance, change, custodyOf, fromPosition } from './advance.ts';
import { holdBeforePayout, PAID_OTHER_AMOUNT, paidOtherwise, placeDeposit } from './decide.ts';
import { fitsRefund, readAddressOn, requireFits } from './destinations.ts';
import { wakeDeposit } from './dormant.ts';
import { type LostPart, linesFor, payoutId } from './entries.ts';
import { receivedFromSuspense } from './facts.ts';
import {
  type ApprovedBy,
  approveRefund,
  approveStanding,
  type GateContext,
  payoutOf,
  refundOf,
  suspenseRefundOf,
} from './gate.ts';
import { requireNotHeldDeposit } from './held.ts';
import type { OrdersContext } from './index.ts';
import { isFinal, next, type OrderEvent } from './machine.ts';
import { type Refund, refundsOf, refundsOfDeposit } from './refunds.store.ts';
import {
  cancelUnsubmittedRefunds,
  giveUpLost,
  inSuspense,
  lostOf,
  outgoing,
  type RefundTo,
  requestRefund,
  sendRefundTo,
  startRefund,
  unsubmitRefunds,
} from './refunds.ts';
import { replaceLost, standingLoss, unfit } from './replace.ts';
import { type Order, store } from './store.ts';
import { isUnreleased } from './told.ts';

export interface Action {
  orderId: bigint;
  by: string;
  /** Names of everyone who approved it. */
  people?: readonly string[];
  /** For refunds: go ahead despite the screening hits and blocks that stand against the destination now. */
  pastHits?: boolean | undefined;
  why: string;
  now: Date;
}

type Context = { rails: ReadonlyMap<string, Rail> };

/** The people whose approval an action carries, for hits it lets pass. */
const approval = ({ by, people, why, now, pastHits }: Action) => ({
  ...{ people: people ?? [by], reason: why, pastHits, now },
});

/** Cancels an order before any money was seen. @throws Refusal 'unknown_order' | 'order_over' */
export const cancel = (context: Context, tx: Tx, action: Action): Promise<Order> =>
  perform(context, tx, action, 'cancelled', { failure: 'other' });

/**
 * Releases a held order. These people approve everything that screening and limits have found by now. An order that was
 * underpaid, or whose deposit was reversed, cannot be released: it would pay out money that is not there.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function release(context: GateContext, tx: Tx, action: Action): Promise<Order> {
  const order = await store.lock(tx, action.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  const why = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
  if (why !== undefined) throw new Refusal('order_over', { state: order.state, why });
  const released = await perform(context, tx, action, 'released', {});
  await approveStanding(context, tx, await payoutOf(tx, released), approval(action));
  return released;
}

/**
 * Refunds the deposit of a held order. The destination is screened first, outside the transaction that acts on the answer.
 *
 * @param refund.failure why, in the partner's terms: wrong amount, wrong payer name, or other
 * @param refund.address,refund.fiatAccountId destination: the customer's address on a chain, or a bank account
 * @throws Refusal 'unknown_order' | 'order_over' | 'destination_held'
 */
export async function refundOrder(
  context: OrdersContext,
  action: Action,
  refund: { failure: 'amount' | 'name' | 'other'; address?: string; fiatAccountId?: bigint },
): Promise<Order> {
  const { failure, address, fiatAccountId } = refund;
  const to = await context.db.asSystem(async (tx): Promise<RefundTo> => {
    const order = await lockOrder(tx, action.orderId);
    const named =
      address === undefined
        ? { fiatAccountId }
        : { address: await refundAddressOn(context, tx, order.depositRail, address) };
    await requireFits(context, tx, outgoing({ rail: order.depositRail, asset: order.depositAsset }, order), named);
    await approveRefund(context, tx, await refundOf(tx, order, named), approval(action));
    return named;
  });
  const before = (tx: Tx, order: Order) => (order.state === 'refunding' ? order : heldBack(context, tx, order, action));
  const approvedBy = approval(action);
  return await startRefund(context, {
    ...{ ...action, failure, to, approvedBy },
    before: async (tx, order) => await before(tx, order),
  });
}

/**
 * Sends a payout that the rail rejected again, under a new payout id. Not when its deposit has been reversed since: that
 * order can only be refunded.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function retry(context: GateContext, tx: Tx, action: Action): Promise<Order> {
  const order = await lockOrder(tx, action.orderId);
  const { state } = order;
  // A rejected refund is retried with its deposit and destination: retryRefund.
  if (state !== 'payout_held') throw new Refusal('order_over', { state });
  const why = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
  if (why !== undefined) throw new Refusal('order_over', { state, why });
  await approveStanding(context, tx, await payoutOf(tx, order), approval(action));
  return await perform(context, tx, action, 'retried', {});
}

/**
 * Takes an order that goes on by itself and gives it to a person. Nothing more is submitted: the order waits on hold, or with
 * its payout or refund held. Of several refunds the unsubmitted ones are stopped, and the order is held once the others have
 * ended.
 *
 * @returns the order, and the refund payouts that were already submitted
 * @throws Refusal 'unknown_order' | 'order_over' when nothing of it goes on by itself | 'payout_submitted' when everything
 *   was
 *         already submitted
 */
export async function holdBack(
  context: Context,
  tx: Tx,
  action: Action,
): Promise<{ order: Order; notCancelled: string[] }> {
  const order = await lockOrder(tx, action.orderId);
  const { by, why, now } = action;
  const given = { now, reason: why, facts: { by, why, heldBy: 'operator' } };
  const held = (after: Order, notCancelled: string[] = []) => ({ order: after, notCancelled });
  switch (order.state) {
    case 'deposit_confirmed':
    case 'awaiting_liquidity':
      return held((await advance(context, tx, order, 'held', given)).order);
    case 'paying_out':
      await unsubmit(context, tx, order, `held by ${by}`, now);
      return held((await advance(context, tx, order, 'payout_rejected', given)).order);
    case 'refunding': {
      const { cancelled, notCancelled } = await unsubmitRefunds(context, tx, order.id, { by, now });
      if (cancelled === 0) throw submitted(order, notCancelled, 'submitted');
      return held(await lockOrder(tx, order.id), notCancelled);
    }
    default:
      throw new Refusal('order_over', { state: order.state });
  }
}

const submitted = ({ id }: Order, payouts: readonly string[], state: string | undefined) =>
  new Refusal('payout_submitted', { orderId: String(id), payout: payouts.join(', '), state });

/** Cancels an order's payout before it is submitted. @throws Refusal 'payout_submitted' */
async function unsubmit(context: Context, tx: Tx, order: Order, why: string, now: Date): Promise<void> {
  const key = payoutId(order);
  if (await cancelUnlessSubmitted(tx, key, why, now)) return;
  const payout = await payoutByKey(tx, order.payoutRail, key);
  const rail = context.rails.get(order.payoutRail);
  // A payout that the rail only lists for its next file has not left either.
  if (payout?.state === 'submitted' && (await rail?.unlist?.(tx, key, why)) === true) {
    await recordRejected(tx, { rail: order.payoutRail, key, why, now });
    return;
  }
  throw submitted(order, [key], payout?.state);
}

const GOES_ON: readonly Order['state'][] = ['deposit_confirmed', 'awaiting_liquidity', 'paying_out', 'refunding'];

/** Stops everything of the order that goes on by itself. @throws Refusal 'payout_submitted' when part of it was submitted */
async function heldBack(context: Context, tx: Tx, order: Order, action: Action): Promise<Order> {
  if (!GOES_ON.includes(order.state)) return order;
  const { order: held, notCancelled } = await holdBack(context, tx, action);
  if (notCancelled.length > 0) throw submitted(held, notCancelled, 'submitted');
  return held;
}

/**
 * Reprices an order that a person holds, that waits for funds, or whose payout is not submitted yet: at the current price,
 * for the amount received. It is screened again and then goes on by itself.
 *
 * @throws Refusal 'unknown_order' | 'order_over' | 'payout_submitted' | 'amount_outside_limits' | 'amount_below_fees';
 *   Unavailable without a price
 */
export async function reprice(context: Context, tx: Tx, action: Action): Promise<Order> {
  const before = await lockOrder(tx, action.orderId);
  const order = before.state === 'awaiting_liquidity' ? before : await heldBack(context, tx, before, action);
  const { by, why, now } = action;
  const isLost = await store.hasLostDeposit(tx, order.id);
  const isPaid = (await payoutsOf(tx, order.id)).some(
    ({ refundId, state }) => refundId === null && state === 'settled',
  );
  if (next(order.state, 'requoted') === undefined || isLost || isPaid)
    throw new Refusal('order_over', {
      state: order.state,
      ...(isLost ? { why: 'deposit_lost' } : isPaid ? { why: 'paid_before' } : {}),
    });
  const market = await marketById(tx, order.marketId);
  const depositUnits = order.receivedUnits ?? order.depositUnits;
  const { level } = await findCustomer(tx, order.customerId);
  await requireWithinLevel(tx, { market, level, depositUnits });
  const input = { partner: { id: order.partnerId }, market, depositUnits, orderId: order.id, now };
  const { id, ...quote } = await requote(tx, input);
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `priced anew by ${by}`, now });
  const terms = { ...quote, quoteId: id };
  const advanced = await advance(context, tx, order, 'requoted', {
    now,
    terms,
    facts: { by, why, reason: 'by_operator' },
  });
  assert(advanced.outcome === 'advanced', `order ${order.id} could not be priced anew`);
  return advanced.order;
}

/**
 * Settles an order with an attempt that its rail had rejected and paid all the same, although the order's terms have changed
 * since. The order's balance covers the loss that was booked then. The rest stays with us as a difference, or is paid as
 * well, to the payout's destination; an amount paid beyond the balance is booked as a difference.
 *
 * @throws Refusal 'unknown_order' | 'unknown_payout' | 'does_not_fit' | 'order_over' | 'missing_fields'
 */
export async function settleBy(
  context: Context,
  tx: Tx,
  action: Action & { payout: string; rest?: 'keep' | 'pay' | undefined },
): Promise<Order> {
  const { by, why, now } = action;
  const order = await lockOrder(tx, action.orderId);
  const { paid, restUnits } = await paidBefore(tx, order, action);
  const { payoutRail, payoutAsset } = order;
  const isOwed = restUnits > 0n && action.rest === 'pay';
  const suspense = chart.suspense(payoutRail, payoutAsset);
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `paid by ${paid.id}, says ${by}`, now });
  await cancelUnsubmittedRefunds(tx, order.id, now);
  const { outcome, order: settled } = await advance(context, tx, order, 'payout_found', {
    now,
    paid: { units: unitsPaid(paid), rest: isOwed ? suspense : undefined },
    facts: { by, why, payout: paid.id, reference: paid.reference ?? '', ...paidOtherwise(paid, order) },
    payoutReference: paid.reference ?? '',
    ...(unitsPaid(paid) === order.payoutUnits ? {} : { exception: PAID_OTHER_AMOUNT }),
  });
  assert(outcome === 'advanced', `order ${order.id} cannot be settled in ${order.state}`);
  await closeCases(tx, {
    kind: 'payout_contradiction',
    subject: `payout:${paid.id}`,
    outcome: `it has paid order ${order.id}`,
    now,
  });
  if (!isOwed) return settled;
  // Treated like a returned payout: it belongs to the order, and a new attempt pays it.
  const row = await store.insertDeposit(tx, {
    rail: payoutRail,
    external_id: `rest:${paid.id}`,
    asset: payoutAsset,
    units: restUnits,
    target: '',
    order_id: order.id,
    partner_id: order.partnerId,
    state: 'suspense',
    reference: paid.reference ?? '',
    facts: { payout: paid.id },
    seen_at: now,
    payer: 'unknown',
    origin: 'returned',
  });
  await store.changeDeposit(tx, row.id, {
    state: 'suspense',
    bookedTo: suspense.code,
    why: 'paid_too_little',
    confirmedAt: now,
  });
  const to =
    order.payoutAddress === null
      ? { fiatAccountId: order.fiatAccountId ?? undefined }
      : { address: order.payoutAddress };
  await requestRefund(context, tx, {
    ...{ depositId: row.id, units: restUnits, why: 'paid_too_little', by, order: settled, now },
    to,
  });
  return settled;
}

/**
 * The attempt that people say has paid an order, and what the order holds beyond it.
 *
 * @throws Refusal 'unknown_payout' | 'does_not_fit' | 'order_over' | 'missing_fields' when the caller does not say what
 *   happens
 *         to the rest
 */
export async function paidBefore(
  tx: Tx,
  order: Order,
  input: { payout: string; rest?: 'keep' | 'pay' | undefined },
): Promise<{ paid: Payout; restUnits: bigint }> {
  const { state } = order;
  const paid = (await payoutsOf(tx, order.id)).find(({ id }) => id === input.payout);
  if (paid === undefined) throw new Refusal('unknown_payout');
  const wrong = (why: string) => new Refusal('does_not_fit', { why });
  if (paid.refundId !== null || paid.purpose !== 'payout') throw wrong('it is no payout of the order');
  if (paid.state !== 'settled') throw wrong(`its rail does not show it as paid: it is ${paid.state}`);
  if (next(state, 'payout_found') === undefined) throw new Refusal('order_over', { state });
  if (order.refundedUnits > 0n) throw new Refusal('order_over', { state, why: 'partly_refunded' });
  const restUnits = order.payoutUnits - unitsPaid(paid);
  if (restUnits > 0n && input.rest === undefined) throw new Refusal('missing_fields', { names: ['rest'] });
  return { paid, restUnits: restUnits > 0n ? restUnits : 0n };
}

/**
 * Blocks an order by law, permanently: the money we hold of it moves to the blocked account. Nothing more is submitted.
 *
 * @throws Refusal 'unknown_order' | 'order_over' | 'payout_submitted'
 */
export async function block(context: Context, tx: Tx, action: Action): Promise<Order> {
  await heldBack(context, tx, await lockOrder(tx, action.orderId), action);
  const order = await perform(context, tx, action, 'blocked', {});
  await cancelUnsubmittedRefunds(tx, order.id, action.now);
  return order;
}

/**
 * Sets the destination of this order's refund, or of a returned payout that is paid again. The partner (for the customer) or
 * an operator names it. Everything waiting for it goes on: a refund of the whole order, of money in suspense, a second
 * payout.
 *
 * @param input.to an address on the deposit's chain, or an account of the customer's in the right fiat
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'unknown_refund' where nothing goes there |
 *         'refund_under_way'
 */
export async function nameDestination(
  context: GateContext,
  tx: Tx,
  input: {
    orderId: bigint;
    to: RefundTo;
    by: 'partner' | 'operator';
    /** People who approve this destination despite what stands against it: operators only, never a partner. */
    approvedBy?: ApprovedBy & { pastHits?: boolean | undefined };
    now: Date;
  },
): Promise<Order> {
  const { now, to, by } = input;
  const order = await lockOrder(tx, input.orderId);
  const { address } = to;
  const kind = address === undefined ? 'bank' : 'chain';
  const refunds = await refundsOf(tx, order.id);
  const waiting = refunds.filter(
    (one) => one.source === 'suspense' && NAMEABLE.includes(one.state) && context.rails.get(one.rail)?.kind === kind,
  );
  const back = context.rails.get(order.depositRail)?.kind === kind;
  // A partner sees an order blocked by law as under review, until the law releases it.
  const isStopped = by === 'partner' && isUnreleased(order, await store.depositsOf(tx, order.id));
  const under = ['refunding', 'refunded', 'frozen'].includes(order.state) && !isStopped;
  if (waiting.length === 0 && (!back || under)) {
    // Said twice, for example because the first answer was lost: the destination is set already.
    if (refunds.some((one) => one.state !== 'cancelled' && goesTo(context, one, to))) return order;
    const isOnItsWay = back || refunds.some(({ rail }) => context.rails.get(rail)?.kind === kind);
    throw new Refusal(isOnItsWay ? 'refund_under_way' : 'unknown_refund', {
      orderId: String(order.id),
      state: order.state,
    });
  }
  const on = back ? order.depositRail : (waiting[0]?.rail ?? order.depositRail);
  const named = kind === 'chain' ? { address: await refundAddressOn(context, tx, on, address) } : to;
  const fits = (money: { rail: string; asset: string }) => fitsRefund(context, tx, outgoing(money, order), named);
  // An account is in one currency: of money in two currencies, the part that does not fit keeps waiting for another account.
  const takesDeposit = back && (await fits({ rail: order.depositRail, asset: order.depositAsset }));
  const fitting: Refund[] = [];
  for (const refund of waiting) if (await fits(refund)) fitting.push(refund);
  if (!takesDeposit && fitting.length === 0) throw new Refusal('unknown_account', {});
  if (takesDeposit) await store.noteRefundTo(tx, order.id, { ...named, by }, now);
  for (const refund of fitting) {
    const sent = await sendRefundTo(context, tx, { refund, order }, named, now);
    if (input.approvedBy !== undefined)
      await approveRefund(context, tx, await suspenseRefundOf(tx, sent, order), { ...input.approvedBy, now });
  }
  if (takesDeposit && input.approvedBy !== undefined) {
    const after = await lockOrder(tx, order.id);
    await approveRefund(context, tx, await refundOf(tx, after, named), { ...input.approvedBy, now });
  }
  if (takesDeposit && (order.state === 'on_hold' || order.state === 'payout_held') && order.refundRequest !== null)
    enqueue(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
  return order;
}

const goesTo = ({ rails }: Context, refund: Refund, { address, fiatAccountId }: RefundTo): boolean =>
  address === undefined
    ? refund.fiatAccountId === fiatAccountId
    : refund.address !== null && rails.get(refund.rail)?.readAddress?.(address) === refund.address;

/** States in which naming a destination sends a refund, or sends it again. */
export const NAMEABLE: readonly Refund['state'][] = ['needs_destination', 'held', 'rejected', 'returned'];

/**
 * Parses an address on a chain into the spelling we store.
 *
 * @throws Refusal 'malformed_field' when it is no address there, a token's contract, or one of our own
 */
export async function refundAddressOn(
  context: Context,
  tx: Tx,
  code: string,
  text: string | undefined,
): Promise<string> {
  const read = await readAddressOn(context, tx, code, text ?? '');
  if ('address' in read) return read.address;
  const rule = {
    no_address: `must be an address on ${context.rails.get(code)?.chain ?? code}`,
    token_contract: 'must not be the contract of a token',
    ours: 'must not be an address of ours',
  }[read.why];
  throw new Refusal('malformed_field', { fields: { address: rule } });
}

/**
 * Refunds money in suspense: an excess, a late or second deposit, or another asset.
 *
 * @param input.units default: all of it that no refund names; while a refund of it is open, that refund's amount
 * @param input.to    default while a refund of it is under way: that refund's destination
 * @throws Refusal 'unknown_deposit' | 'refund_exceeds' | 'deposit_unfit' while its order still lacks a reversed deposit |
 *   'refund_under_way'
 */
export async function refundDeposit(
  context: GateContext,
  tx: Tx,
  input: {
    depositId: bigint;
    units?: bigint;
    to?: RefundTo;
    by: string;
    people?: readonly string[];
    pastHits?: boolean | undefined;
    /** Also while a deposit of its order is reversed and this money could replace it. */
    despiteDebt?: boolean | undefined;
    why: string;
    now: Date;
  },
): Promise<Refund> {
  const refund = await refundOfDeposit(context, tx, input);
  const isNamed = refund.address !== null || refund.fiatAccountId !== null;
  if (!isNamed || refund.state !== 'screening') return refund;
  const order = refund.orderId === null ? undefined : await lockOrder(tx, refund.orderId);
  const by = { people: input.people ?? [input.by], reason: input.why, pastHits: input.pastHits, now: input.now };
  await approveRefund(context, tx, await suspenseRefundOf(tx, refund, order), by);
  return refund;
}

/** Whether its order lacks a reversed deposit that this money could replace. */
export const standsForLoss = async (tx: Tx, orderId: bigint | null): Promise<boolean> =>
  orderId !== null && standingLoss(await store.depositsOf(tx, orderId)) !== undefined;

async function refundOfDeposit(
  context: Context,
  tx: Tx,
  input: Omit<Parameters<typeof refundDeposit>[2], 'people'>,
): Promise<Refund> {
  const known = await store.depositById(tx, input.depositId);
  if (known === undefined) throw new Refusal('unknown_deposit', {});
  const order = known.order_id === null ? undefined : await lockOrder(tx, known.order_id);
  // Locked before it is read: of two concurrent calls, the second sees the first one's refund.
  const deposit = await store.lockDepositById(tx, known.id);
  assert(deposit !== undefined, `deposit ${known.id} stays where it is`);
  await requireNotHeldDeposit(tx, known.id);
  const open = (await refundsOfDeposit(tx, deposit.id)).find(
    ({ source, state }) => source === 'suspense' && state !== 'settled' && state !== 'cancelled',
  );
  if (open !== undefined) {
    const underWay = new Refusal('refund_under_way', { refund: String(open.id), state: open.state });
    if (input.units !== undefined && input.units !== open.grossUnits) throw underWay;
    if (input.to === undefined) return open;
    if (NAMEABLE.includes(open.state))
      return await sendRefundTo(context, tx, { refund: open, order }, input.to, input.now);
    const { address = null, fiatAccountId = null } = input.to;
    if (address !== open.address || fiatAccountId !== open.fiatAccountId) throw underWay;
    return open;
  }
  if (input.despiteDebt !== true && (await standsForLoss(tx, deposit.order_id)))
    throw unfit(
      'a deposit of its order was reversed: assign it to the order, which makes that good, or ask for despiteDebt',
    );
  const units = input.units ?? inSuspense(deposit);
  const refund = await requestRefund(context, tx, { ...input, units, order });
  if (refund === undefined) throw new Refusal('refund_exceeds', { deposit: String(deposit.id) });
  return refund;
}

/**
 * Assigns money in suspense to the order it was meant for, once a person knows: it came without a reference, with a wrong
 * one, or to another wallet of ours. The order decides what it is used for:
 * - an order waiting for its deposit takes it as the deposit or a part of it, and is screened as usual;
 * - an order whose deposit the chain or bank reversed takes it as a replacement, or as payment of the customer's debt, in
 *   whole or in part. The excess stays in suspense, and so does everything beyond `units`, when only a part is used for a
 *   debt.
 *
 * @throws Refusal 'unknown_order' | 'unknown_deposit' | 'order_over' | 'deposit_unfit' | 'refund_under_way'
 */
export async function assignDeposit(
  context: Context,
  tx: Tx,
  action: Action & { depositId: bigint; units?: bigint | undefined },
): Promise<Order> {
  const { now, by, why } = action;
  const order = await lockOrder(tx, action.orderId);
  const row = await store.lockDepositById(tx, action.depositId);
  if (row === undefined) throw new Refusal('unknown_deposit', {});
  await requireNotHeldDeposit(tx, row.id);
  const deposits = await store.depositsOf(tx, order.id);
  const lost = standingLoss(deposits);
  const isOpen = order.state === 'created' || order.state === 'deposit_seen';
  if (!isOpen && lost === undefined) throw new Refusal('order_over', { state: order.state });
  const isParted = row.state === 'applied' && row.order_id === order.id && lost !== undefined;
  if (row.state !== 'suspense' && !isParted) throw unfit('it does not lie in suspense');
  if (row.partner_id !== null && row.partner_id !== order.partnerId) throw unfit('it is of another partner');
  if (lost !== undefined) return await replaceLost(tx, action, { order, row, lost });
  if (action.units !== undefined) throw unfit('a part of it can be kept only for what had been reversed of the order');
  if (row.taken_units > 0n) throw unfit('it does not lie in suspense as a whole');
  if (row.refund_units > 0n) throw new Refusal('refund_under_way', { deposit: String(row.id) });
  if (row.rail !== order.depositRail || row.asset !== order.depositAsset)
    throw unfit('it is of another asset or rail than the order asks for');
  const earlier = deposits.filter(({ state }) => state === 'confirmed');
  const sum = earlier.reduce((units, one) => units + one.units, 0n);
  // A person says that it belongs to the order, so its lateness is theirs to judge.
  const placed = placeDeposit(order, { ...row, late: false }, sum);
  const facts = { by, why, deposit: String(row.id), reference: row.reference };
  await wakeDeposit(tx, row, action);
  await store.giveDepositTo(tx, row.id, order.id);
  if (row.partner_id === null) await store.nameDepositPartner(tx, row.id, order.partnerId);
  await closeCases(tx, { subject: `deposit:${row.id}`, outcome: `given to order ${order.id} by ${by}`, now });
  if (placed.outcome === 'part') {
    await store.changeDeposit(tx, row.id, { state: 'confirmed', why: 'part' });
    return await change(tx, order, { exception: 'underpaid', depositReference: row.reference, now });
  }
  assert(placed.outcome === 'complete', `deposit ${row.id} fits order ${order.id}`);
  const part = { ...receivedFromSuspense(row, 0n), toOrderUnits: row.units - placed.excessUnits };
  const advanced = await advance(context, tx, order, 'deposit_confirmed', {
    now,
    parts: [...earlier.map((one) => receivedFromSuspense(one, 0n)), part],
    receivedUnits: order.depositUnits,
    facts,
    depositReference: row.reference,
    ...(placed.excessUnits > 0n ? { exception: 'overpaid' } : {}),
  });
  assert(advanced.outcome === 'advanced', `order ${order.id} takes the deposit it waits for`);
  const bookedTo = chart.order(order.id, order.partnerId, order.depositAsset).code;
  for (const one of [...earlier, row]) {
    const takenUnits = one === row ? part.toOrderUnits : one.units;
    await store.changeDeposit(tx, one.id, { state: 'applied', bookedTo, takenUnits });
  }
  if (placed.excessUnits > 0n) {
    await openCase(tx, {
      kind: 'overpaid',
      subject: `deposit:${row.id}`,
      orderId: order.id,
      partnerId: order.partnerId,
      reason: 'more was deposited than asked; the rest is in suspense',
      facts: { units: String(placed.excessUnits), asset: row.asset },
      now,
    });
  }
  return advanced.order;
}

/**
 * Releases money blocked by law, citing a legal act: it moves to suspense as the order's money, and is refunded or paid like
 * any other money there. The part that the order's rail has reversed meanwhile is not released: the blocked money covers that
 * loss first, and its conversion, if any, is undone.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function releaseBlocked(context: Context, tx: Tx, action: Action & { legalAct: string }): Promise<void> {
  const order = await lockOrder(tx, action.orderId);
  const id = `ord_${order.id}:released`;
  if (order.state !== 'frozen' || (await isPosted(tx, id))) throw new Refusal('order_over', { state: order.state });
  const moved = (await statement(tx, order.id)).filter(({ kind }) => kind === 'move_to_blocked');
  const railOf = (asset: string) => (asset === order.depositAsset ? order.depositRail : order.payoutRail);
  const deposits = await store.depositsOf(tx, order.id);
  const lost = lostOf(order, deposits);
  const released = releasedLines(context, order, { moved, lost, railOf });
  const entry = {
    id,
    kind: 'released_by_law',
    orderId: order.id,
    at: action.now,
    facts: { by: action.by, why: action.why, legalAct: action.legalAct },
  };
  let posted = await post(tx, { ...entry, lines: released.lines });
  // The treasury may have spent what it received in the conversion: the position account covers the rest.
  if (posted.outcome === 'short')
    posted = await post(tx, { ...entry, lines: released.lines.flatMap(fromPosition(order.depositAsset)) });
  assert(posted.outcome === 'posted', `what was blocked of order ${order.id} cannot be let go`);
  if (lost.length > 0) await giveUpLost(tx, order, deposits, action.now);
  for (const { asset, units } of released.free) {
    const suspense = chart.suspense(railOf(asset), asset);
    const row = await store.insertDeposit(tx, {
      rail: railOf(asset),
      external_id: `released:${order.id}:${asset}`,
      asset,
      units,
      target: '',
      order_id: order.id,
      partner_id: order.partnerId,
      state: 'suspense',
      reference: action.legalAct,
      facts: {},
      seen_at: action.now,
      payer: 'unknown',
      origin: 'released',
    });
    await store.changeDeposit(tx, row.id, {
      state: 'suspense',
      bookedTo: suspense.code,
      why: 'released_by_law',
      confirmedAt: action.now,
    });
    await requestRefund(context, tx, {
      depositId: row.id,
      units,
      why: 'released_by_law',
      by: action.by,
      order,
      now: action.now,
    });
  }
  await closeCases(tx, {
    kind: 'frozen',
    subject: `order:${order.id}`,
    outcome: `released by ${action.by}`,
    now: action.now,
  });
}

interface BlockedMoney {
  moved: readonly { asset: string; units: bigint }[];
  lost: readonly LostPart[];
  railOf(asset: string): string;
}

/** What a legal release posts, and how much of it is free in suspense afterwards. */
function releasedLines(
  context: Context,
  order: Order,
  { moved, lost, railOf }: BlockedMoney,
): { lines: Line[]; free: { asset: string; units: bigint }[] } {
  const toSuspense = (from: Account, units: bigint) =>
    move(from, chart.suspense(railOf(from.asset), from.asset), units);
  if (lost.length === 0)
    return {
      lines: moved.flatMap(({ asset, units }) => toSuspense(chart.blocked(asset), units)),
      free: [...moved],
    };
  const backToOrder = moved.flatMap(({ asset, units }) =>
    move(chart.blocked(asset), chart.order(order.id, order.partnerId, asset), units),
  );
  const wasConverted = moved.some(({ asset }) => asset !== order.depositAsset);
  const receivedUnits = order.receivedUnits ?? order.depositUnits;
  const booked = { ...order, receivedUnits };
  const undone = linesFor(
    wasConverted ? 'reverse_conversion_and_give_up' : 'give_up_deposit',
    booked,
    custodyOf(context.rails, order),
    { lost },
  );
  const left = receivedUnits - order.refundedUnits - lost.reduce((sum, { units }) => sum + units, 0n);
  const deposit = chart.order(order.id, order.partnerId, order.depositAsset);
  return {
    lines: [...backToOrder, ...undone, ...toSuspense(deposit, left)],
    free: left === 0n ? [] : [{ asset: order.depositAsset, units: left }],
  };
}

/** Loads an order and locks it until `tx` ends. @throws Refusal 'unknown_order' */
export async function lockOrder(tx: Tx, id: bigint): Promise<Order> {
  const order = await store.lock(tx, id);
  if (order === undefined) throw new Refusal('unknown_order', {});
  return order;
}

/** Moves an order's deadline to now. */
export async function passDeadline(tx: Tx, action: Action): Promise<void> {
  const order = await store.lock(tx, action.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  if (isFinal(order.state)) throw new Refusal('order_over', { state: order.state });
  await change(tx, order, { expiresAt: action.now, now: action.now });
  enqueue(tx, { kind: 'expire_order', subject: String(action.orderId), dueAt: action.now });
}

async function perform(
  context: Context,
  tx: Tx,
  action: Action,
  event: OrderEvent,
  given: Omit<AdvanceFacts, 'now'>,
): Promise<Order> {
  const order = await store.lock(tx, action.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  // Closed first, because the transition may open a case of its own, for example when the treasury is short.
  await closeCases(tx, { subject: `order:${order.id}`, outcome: `${event} by ${action.by}`, now: action.now });
  const advanced = await advance(context, tx, order, event, {
    ...given,
    now: action.now,
    facts: { by: action.by, why: action.why },
  });
  if (advanced.outcome === 'ignored') throw new Refusal('order_over', { state: order.state });
  return advanced.order;
}
