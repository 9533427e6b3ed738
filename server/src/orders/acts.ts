/**
 * Acts: what a person (or the sandbox in a person's place) decides about one order.
 *
 * Each is an event of the machine, refused where the machine has no such row. Every act says who and why, and both stand in
 * the order's history.
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { ring } from '../base/work.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { fiatAccounts } from '../customers/index.ts';
import { chart, isPosted, move, post, statement } from '../ledger/index.ts';
import type { Rail } from '../rails/rail.ts';
import { type AdvanceFacts, advance, change } from './advance.ts';
import { holdBeforePayout, placeDeposit } from './decide.ts';
import { receivedFromSuspense } from './facts.ts';
import type { OrdersContext } from './index.ts';
import { isFinal, type OrderEvent } from './machine.ts';
import { type Refund, refundsOf, refundsOfDeposit } from './refunds.store.ts';
import { giveBack, inSuspense, type RefundTo, sendRefundTo, stopRefunds, wantRefund } from './refunds.ts';
import { replaceLost, standingLoss, unfit } from './replace.ts';
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
  const { failure, address, ...to } = refund;
  if (address === undefined) return await giveBack(context, { ...act, failure, to });
  const read = await context.db.asSystem(async (tx) => {
    const order = await store.get(tx, act.orderId);
    if (order === undefined) throw new Refusal('unknown_order', {});
    return await refundAddressOn(context, tx, order.depositRail, address);
  });
  return await giveBack(context, { ...act, failure, to: { address: read } });
}

/**
 * A payout that the rail refused goes out again, under an id of its own. Not where its deposit has been taken back since:
 * that order can only be rejected.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function retry(context: Context, tx: Tx, act: Act): Promise<Order> {
  const order = await lockOrder(tx, act.orderId);
  const { state } = order;
  // A refund is tried again with its deposit and destination: retryRefund.
  if (state !== 'payout_held') throw new Refusal('order_over', { state });
  const why = holdBeforePayout(order, await store.hasLostDeposit(tx, order.id));
  if (why !== undefined) throw new Refusal('order_over', { state, why });
  return await perform(context, tx, act, 'retried', {});
}

/** Stopped by law, for good: what we hold of it stands apart. @throws Refusal 'unknown_order' | 'order_over' */
export async function block(context: Context, tx: Tx, act: Act): Promise<Order> {
  await lockOrder(tx, act.orderId);
  const order = await perform(context, tx, act, 'blocked', {});
  await stopRefunds(tx, order.id, act.now);
  return order;
}

/**
 * Where money of this order goes back to, or, of a payout that came back, where it is paid again: the customer's word, by the
 * partner or by an operator. What waits for it goes on: a refund of the whole order, of money in suspense, a second payout.
 *
 * @param ask.to an address on the deposit's chain, or an account of the customer's in the right fiat
 * @throws Refusal 'unknown_order' | 'unknown_account' | 'malformed_field' | 'refund_under_way'
 */
export async function nameDestination(
  context: Context,
  tx: Tx,
  ask: { orderId: bigint; to: RefundTo; now: Date },
): Promise<Order> {
  const { now, to } = ask;
  const order = await lockOrder(tx, ask.orderId);
  const { address } = to;
  const kind = address === undefined ? 'bank' : 'chain';
  const refunds = await refundsOf(tx, order.id);
  const waiting = refunds.filter(
    (one) => one.source === 'suspense' && NAMEABLE.includes(one.state) && context.rails.get(one.rail)?.kind === kind,
  );
  const back = context.rails.get(order.depositRail)?.kind === kind;
  const under = ['refunding', 'refunded', 'frozen'].includes(order.state);
  if (waiting.length === 0 && (!back || under)) {
    // Said twice, as where the first answer was lost: it is as they say.
    if (refunds.some((one) => one.state !== 'cancelled' && goesTo(context, one, to))) return order;
    throw new Refusal('refund_under_way', { orderId: String(order.id), state: order.state });
  }
  if (to.fiatAccountId !== undefined) {
    const asset =
      waiting.find((one) => one.rail !== order.depositRail)?.asset ?? (back ? order.depositAsset : order.payoutAsset);
    const own = (await fiatAccounts(tx, order.customerId)).some(
      (one) => one.id === to.fiatAccountId && one.fiat === asset,
    );
    if (!own) throw new Refusal('unknown_account', {});
  }
  const on = back ? order.depositRail : (waiting[0]?.rail ?? order.depositRail);
  const named = kind === 'chain' ? { address: await refundAddressOn(context, tx, on, address) } : to;
  if (back) await store.noteRefundTo(tx, order.id, named, now);
  for (const refund of waiting) await sendRefundTo(tx, refund, named, now);
  if (back && (order.state === 'on_hold' || order.state === 'payout_held') && order.refundWanted !== null)
    ring(tx, { kind: 'refund_order', subject: String(order.id), dueAt: now });
  return order;
}

const goesTo = ({ rails }: Context, refund: Refund, { address, fiatAccountId }: RefundTo): boolean =>
  address === undefined
    ? refund.fiatAccountId === fiatAccountId
    : refund.address !== null && rails.get(refund.rail)?.readAddress?.(address) === refund.address;

/** States in which a refund goes, or goes again, where somebody says. */
export const NAMEABLE: readonly Refund['state'][] = ['needs_destination', 'held', 'failed', 'returned'];

/**
 * An address on a chain, in the spelling we keep.
 *
 * @throws Refusal 'malformed_field' for what is no address there, or one of ours
 */
export async function refundAddressOn(
  context: Context,
  tx: Tx,
  code: string,
  text: string | undefined,
): Promise<string> {
  const rail = context.rails.get(code);
  const bad = (rule: string) => new Refusal('malformed_field', { fields: { address: rule } });
  const address = text === undefined ? undefined : rail?.readAddress?.(text);
  if (address === undefined) throw bad(`must be an address on ${rail?.chain ?? code}`);
  if (await rail?.isOwnAddress?.(tx, address)) throw bad('must not be an address of ours');
  return address;
}

/**
 * Money in suspense goes back: what came in excess, late, twice or as another asset.
 *
 * @param ask.units all of what is free of it, where left out; while a refund of it is open, that one's
 * @param ask.to    while a refund of it is on its way, where that one goes
 * @throws Refusal 'unknown_deposit' | 'refund_exceeds' | 'deposit_unfit' where its order still lacks a deposit that was taken back | 'refund_under_way'
 */
export async function refundDeposit(
  context: Context,
  tx: Tx,
  ask: { depositId: bigint; units?: bigint; to?: RefundTo; by: string; why: string; now: Date },
): Promise<Refund> {
  const known = await store.depositById(tx, ask.depositId);
  if (known === undefined) throw new Refusal('unknown_deposit', {});
  const order = known.order_id === null ? undefined : await lockOrder(tx, known.order_id);
  // Locked before it is looked at: of two who ask at once, the second one sees the first one's.
  const deposit = await store.lockDepositById(tx, known.id);
  assert(deposit !== undefined, `deposit ${known.id} stays where it is`);
  const open = (await refundsOfDeposit(tx, deposit.id)).find(
    ({ source, state }) => source === 'suspense' && state !== 'settled' && state !== 'cancelled',
  );
  if (open !== undefined) {
    const underWay = new Refusal('refund_under_way', { refund: String(open.id), state: open.state });
    if (ask.units !== undefined && ask.units !== open.grossUnits) throw underWay;
    if (ask.to === undefined) return open;
    if (NAMEABLE.includes(open.state)) return await sendRefundTo(tx, open, ask.to, ask.now);
    const { address = null, fiatAccountId = null } = ask.to;
    if (address !== open.address || fiatAccountId !== open.fiatAccountId) throw underWay;
    return open;
  }
  if (deposit.order_id !== null && standingLoss(await store.depositsOf(tx, deposit.order_id)) !== undefined)
    throw unfit('a deposit of its order was taken back: assign this one to the order, which makes that good');
  const units = ask.units ?? inSuspense(deposit);
  const refund = await wantRefund(context, tx, { ...ask, units, order });
  if (refund === undefined) throw new Refusal('refund_exceeds', { deposit: String(deposit.id) });
  return refund;
}

/**
 * Money in suspense is given to the order it was meant for, once somebody knows: what came without a reference, with a wrong
 * one, or to another wallet of ours. What it is to the order follows from the order:
 * - it waits for its deposit: this is it, or a part of it, and screening looks at the order as ever;
 * - its deposit was taken back by chain or bank: this replaces it, or pays the customer's debt.
 * What is above that stays in suspense.
 *
 * @throws Refusal 'unknown_order' | 'unknown_deposit' | 'order_over' | 'deposit_unfit' | 'refund_under_way'
 */
export async function assignDeposit(context: Context, tx: Tx, act: Act & { depositId: bigint }): Promise<Order> {
  const { now, by, why } = act;
  const order = await lockOrder(tx, act.orderId);
  const row = await store.lockDepositById(tx, act.depositId);
  if (row === undefined) throw new Refusal('unknown_deposit', {});
  const deposits = await store.depositsOf(tx, order.id);
  const lost = standingLoss(deposits);
  const isOpen = order.state === 'created' || order.state === 'deposit_seen';
  if (!isOpen && lost === undefined) throw new Refusal('order_over', { state: order.state });
  if (row.state !== 'suspense' || row.taken_units > 0n) throw unfit('it does not lie in suspense as a whole');
  if (row.refund_units > 0n) throw new Refusal('refund_under_way', { deposit: String(row.id) });
  if (row.partner_id !== null && row.partner_id !== order.partnerId) throw unfit('it is of another partner');
  if (lost !== undefined) return await replaceLost(tx, act, { order, row, lost });
  if (row.rail !== order.depositRail || row.asset !== order.depositAsset)
    throw unfit('it is of another asset or rail than the order asks for');
  const earlier = deposits.filter(({ state }) => state === 'confirmed');
  const sum = earlier.reduce((units, one) => units + one.units, 0n);
  const placed = placeDeposit(order, row, sum);
  const facts = { by, why, deposit: String(row.id), reference: row.reference };
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
 * Money blocked by law is let go, by a legal act that is named: it lies in suspense from then on, as the order's, and is
 * given back or paid like any other money there.
 *
 * @throws Refusal 'unknown_order' | 'order_over'
 */
export async function releaseBlocked(context: Context, tx: Tx, act: Act & { legalAct: string }): Promise<void> {
  const order = await lockOrder(tx, act.orderId);
  const id = `ord_${order.id}:released`;
  if (order.state !== 'frozen' || (await isPosted(tx, id))) throw new Refusal('order_over', { state: order.state });
  const moved = (await statement(tx, order.id)).filter(({ kind }) => kind === 'move_to_blocked');
  const railOf = (asset: string) => (asset === order.depositAsset ? order.depositRail : order.payoutRail);
  const posted = await post(tx, {
    id,
    kind: 'released_by_law',
    orderId: order.id,
    at: act.now,
    facts: { by: act.by, why: act.why, legalAct: act.legalAct },
    lines: moved.flatMap(({ asset, units }) => move(chart.blocked(asset), chart.suspense(railOf(asset), asset), units)),
  });
  assert(posted.outcome === 'posted', `what was blocked of order ${order.id} can be let go`);
  for (const { asset, units } of moved) {
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
      reference: act.legalAct,
      facts: {},
      seen_at: act.now,
      payer: 'unknown',
      origin: 'released',
    });
    await store.changeDeposit(tx, row.id, {
      state: 'suspense',
      bookedTo: suspense.code,
      why: 'released_by_law',
      confirmedAt: act.now,
    });
    await wantRefund(context, tx, {
      depositId: row.id,
      units,
      why: 'released_by_law',
      by: act.by,
      order,
      now: act.now,
    });
  }
  await closeCases(tx, {
    kind: 'frozen',
    subject: `order:${order.id}`,
    outcome: `released by ${act.by}`,
    now: act.now,
  });
}

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
  ring(tx, { kind: 'expire_order', subject: String(act.orderId), dueAt: act.now });
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
