/** Operators' actions on deposits and refunds: name a destination, refund a deposit, assign one to an order. */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { closeCases } from '../../compliance/index.ts';
import { change } from '../advance.ts';
import type { Action, GateContext, Rails, RefundTo } from '../context.ts';
import { placeDeposit } from '../decide.ts';
import { applyDeposits, wholly } from '../deposits/apply.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import { requireNotHeldDeposit } from '../deposits/held.ts';
import { type Compares, requireUnlistedPayer } from '../deposits/listed.ts';
import { replaceLost, standingLoss, unfit } from '../deposits/replace.ts';
import * as depositStore from '../deposits/store.ts';
import { lockOrder } from '../lock.ts';
import { type ApprovedBy, approveRefund } from '../payouts/gate.ts';
import { refundOf, suspenseRefundOf } from '../payouts/leaving.ts';
import type { SeenFinding } from '../payouts/rules.ts';
import { isUnreleased } from '../read/public.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { fitsRefund, readAddressOn } from './destinations.ts';
import { inSuspense, outgoing, requestRefund } from './request.ts';
import { sendRefundTo } from './retry.ts';
import { type Refund, refundsOf, refundsOfDeposit } from './store.ts';

/**
 * Sets the destination of this order's refund, or of a returned payout that is paid again. The partner (for the customer) or an
 * operator names it. Everything that waits for it continues: a refund of the whole order, a refund of money in suspense, a second
 * payout.
 *
 * @param input.to an address on the deposit's chain, or an account of the customer's in the right fiat
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'unknown_refund' if no refund needs it |
 *   'refund_under_way'
 */
export async function nameDestination(
  context: GateContext,
  tx: Tx,
  input: {
    orderId: bigint;
    to: RefundTo;
    by: 'partner' | 'operator';
    /** Operators who approve this destination despite findings against it; never set for a partner. */
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
  // A partner sees an order blocked by law as under review until the law releases it.
  const isUnderReview = by === 'partner' && isUnreleased(order, await depositStore.depositsOf(tx, order.id));
  const under = ['refunding', 'refunded', 'frozen'].includes(order.state) && !isUnderReview;
  if (waiting.length === 0 && (!back || under)) {
    // A repeated call, for example because the first answer was lost: the destination is already set.
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
  // An account has one currency. Money in another currency continues to wait for another account.
  const takesDeposit = back && (await fits({ rail: order.depositRail, asset: order.depositAsset }));
  const fitting: Refund[] = [];
  for (const refund of waiting) if (await fits(refund)) fitting.push(refund);
  if (!takesDeposit && fitting.length === 0) throw new Refusal('unknown_account', {});
  // The customer's own address counts as named by the customer even if an operator repeats it.
  const isNoted = by === 'operator' && named.address !== undefined && named.address === order.refundAddress;
  if (takesDeposit && !isNoted) await store.noteRefundTo(tx, order.id, { ...named, by }, now);
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

const goesTo = ({ rails }: Rails, refund: Refund, { address, fiatAccountId }: RefundTo): boolean =>
  address === undefined
    ? refund.fiatAccountId === fiatAccountId
    : refund.address !== null && rails.get(refund.rail)?.readAddress?.(address) === refund.address;

/** States in which naming a destination sends a refund, or sends it again. */
export const NAMEABLE: readonly Refund['state'][] = ['needs_destination', 'held', 'rejected', 'returned'];

/**
 * Parses an address on a chain into the spelling that we store.
 *
 * @throws Refusal 'malformed_field' if it is no address of that chain, a token's contract, or one of our own
 */
export async function refundAddressOn(context: Rails, tx: Tx, code: string, text: string | undefined): Promise<string> {
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
 * @param input.units default: the part that no refund names; while a refund of it is open, that refund's amount
 * @param input.to default: the destination of an open refund of it
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
    /** As in `ApprovedBy`. */
    seen?: readonly SeenFinding[] | undefined;
    /** Allows the refund even if a deposit of the order was reversed and this money could replace it. */
    despiteDebt?: boolean | undefined;
    why: string;
    now: Date;
  },
): Promise<Refund> {
  const refund = await refundOfDeposit(context, tx, input);
  const isNamed = refund.address !== null || refund.fiatAccountId !== null;
  if (!isNamed || refund.state !== 'screening') return refund;
  const order = refund.orderId === null ? undefined : await lockOrder(tx, refund.orderId);
  const { people = [input.by], why: reason, pastHits, seen, now } = input;
  const by = { people, reason, pastHits, seen, now };
  await approveRefund(context, tx, await suspenseRefundOf(tx, refund, order), by);
  return refund;
}

/** Whether the order has a reversed deposit that this money could replace. */
export const standsForLoss = async (tx: Tx, orderId: bigint | null): Promise<boolean> =>
  orderId !== null && standingLoss(await depositStore.depositsOf(tx, orderId)) !== undefined;

async function refundOfDeposit(
  context: Rails,
  tx: Tx,
  input: Omit<Parameters<typeof refundDeposit>[2], 'people'>,
): Promise<Refund> {
  const known = await depositStore.depositById(tx, input.depositId);
  if (known === undefined) throw new Refusal('unknown_deposit', {});
  const order = known.orderId === null ? undefined : await lockOrder(tx, known.orderId);
  // Locked before it is read, so of two concurrent calls the second sees the first one's refund.
  const deposit = await depositStore.lockDepositById(tx, known.id);
  assert(deposit !== undefined, `deposit ${known.id} has disappeared`);
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
  if (input.despiteDebt !== true && (await standsForLoss(tx, deposit.orderId)))
    throw unfit(
      'a deposit of its order was reversed: assign it to the order, which makes that good, or ask for despiteDebt',
    );
  const units = input.units ?? inSuspense(deposit);
  const refund = await requestRefund(context, tx, { ...input, units, order });
  if (refund === undefined) throw new Refusal('refund_exceeds', { deposit: String(deposit.id) });
  return refund;
}

/**
 * Assigns money in suspense to the order for which it was meant, once an operator knows which: it arrived without a reference,
 * with a wrong one, or at another wallet of ours. The order decides how it is used:
 * - an order waiting for its deposit accepts it as the deposit or a part of it, and is screened as usual;
 * - an order whose deposit the chain or bank reversed accepts it as a replacement, or as payment of the customer's debt, in whole
 *   or in part. The excess stays in suspense, and so does the amount beyond `units` if only a part is used for a debt.
 *
 * @throws Refusal 'unknown_order' | 'unknown_deposit' | 'order_over' | 'deposit_unfit' | 'refund_under_way'
 */
export async function assignDeposit(
  context: Rails & Compares,
  tx: Tx,
  action: Action & { depositId: bigint; units?: bigint | undefined },
): Promise<Order> {
  const { now, by, why } = action;
  const order = await lockOrder(tx, action.orderId);
  const row = await depositStore.lockDepositById(tx, action.depositId);
  if (row === undefined) throw new Refusal('unknown_deposit', {});
  await requireNotHeldDeposit(tx, row.id);
  await requireUnlistedPayer(context, tx, row.id);
  const deposits = await depositStore.depositsOf(tx, order.id);
  const lost = standingLoss(deposits);
  const isOpen = order.state === 'created' || order.state === 'deposit_seen';
  if (!isOpen && lost === undefined) throw new Refusal('order_over', { state: order.state });
  const isParted = row.state === 'applied' && row.orderId === order.id && lost !== undefined;
  if (row.state !== 'suspense' && !isParted) throw unfit('it is not in suspense');
  if (row.partnerId !== null && row.partnerId !== order.partnerId) throw unfit('it belongs to another partner');
  if (lost !== undefined) return await replaceLost(tx, action, { order, row, lost });
  if (action.units !== undefined) throw unfit('a part of it can be kept only for what had been reversed of the order');
  if (row.takenUnits > 0n) throw unfit('only a part of it is in suspense');
  if (row.refundUnits > 0n) throw new Refusal('refund_under_way', { deposit: String(row.id) });
  if (row.rail !== order.depositRail || row.asset !== order.depositAsset)
    throw unfit('its asset or rail differs from that of the order');
  const earlier = deposits.filter(({ state }) => state === 'confirmed');
  const sum = earlier.reduce((units, one) => units + one.units, 0n);
  // The operator states that the money belongs to the order, and so also decides whether it is too late.
  const placed = placeDeposit(order, { ...row, late: false }, sum);
  const facts = { by, why, deposit: String(row.id), reference: row.reference };
  await wakeDeposit(tx, row, action);
  await depositStore.giveDepositTo(tx, row.id, order.id);
  if (row.partnerId === null) await depositStore.nameDepositPartner(tx, row.id, order.partnerId);
  await closeCases(tx, { subject: `deposit:${row.id}`, outcome: `assigned to order ${order.id} by ${by}`, now });
  if (placed.outcome === 'part') {
    await depositStore.changeDeposit(tx, row.id, { state: 'confirmed', why: 'part' });
    return await change(tx, order, { exception: 'underpaid', depositReference: row.reference, now });
  }
  assert(placed.outcome === 'complete', `deposit ${row.id} does not fit order ${order.id}`);
  const taken = [...wholly(earlier), { row, units: row.units - placed.excessUnits }];
  return await applyDeposits(context, tx, order, taken, {
    now,
    facts,
    depositReference: row.reference,
    ...(placed.excessUnits > 0n ? { exception: 'overpaid' } : {}),
  });
}
