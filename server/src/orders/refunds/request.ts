/**
 * Requesting a refund: a row that names a deposit, the fee kept of it, and the destination of the rest if it is known. The row's
 * state decides the next step: a destination must be named, it is screened, or an operator reviews it.
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { numericId } from '../../base/ids.ts';
import { enqueue } from '../../base/jobs.ts';
import { type CaseKind, closeCases, openCase } from '../../compliance/index.ts';
import type { Rail } from '../../rails/rail.ts';
import { change } from '../advance.ts';
import type { Rails, RefundTo } from '../context.ts';
import { failureOf } from '../decide.ts';
import { wakeDeposit } from '../deposits/dormant.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import type { Order, RefundRequest } from '../store.ts';
import * as store from '../store.ts';
import { fitsRefund, type Outgoing, requireFits } from './destinations.ts';
import { insertRefund, type Refund, refundsOfDeposit } from './store.ts';

/** How often a refund checks again that waits for funds in the paying wallet. */
export const FUNDS_EVERY_MS = 5000;

/**
 * Requests a refund of money that no order accepted: an excess, a late or second deposit, another asset; also if its order is
 * over or there is none. If a refund of it is open, that one is returned.
 *
 * @param want.units in the deposit's smallest units, before the fee kept
 * @param want.order the deposit's order, if the caller has locked it
 * @param want.by    who requested it: `policy`, or an operator's name
 * @returns undefined if the deposit has less than that in suspense; no row was written then
 * @throws Refusal 'unknown_account' | 'malformed_field' if the money cannot arrive at `want.to`
 */
export async function requestRefund(
  context: Rails,
  tx: Tx,
  want: {
    depositId: bigint;
    units: bigint;
    why: string;
    order?: Order | undefined;
    by?: string;
    to?: RefundTo;
    now: Date;
  },
): Promise<Refund | undefined> {
  const { depositId, units, why, by = 'policy', now } = want;
  const known = await depositStore.depositById(tx, depositId);
  if (known === undefined) return undefined;
  const order = want.order ?? (known.orderId === null ? undefined : await store.lock(tx, known.orderId));
  const deposit = await depositStore.lockDepositById(tx, depositId);
  assert(deposit !== undefined, `deposit ${depositId} has disappeared`);
  const open = (await refundsOfDeposit(tx, depositId)).find((one) => one.source === 'suspense' && isOpen(one));
  if (open !== undefined) return open;
  if (units <= 0n || units > inSuspense(deposit)) return undefined;
  await wakeDeposit(tx, deposit, { by, why: 'it is refunded', now });

  if (want.to !== undefined) await requireFits(context, tx, outgoing({ ...deposit, depositId }, order), want.to);
  const to = want.to ?? (order === undefined ? undefined : await knownDestination(context, tx, order, deposit));
  const refund = await insertRefund(tx, {
    ...blank(deposit, units, 0n, now),
    purpose: deposit.origin === 'returned' ? 'payout' : 'refund',
    source: 'suspense',
    why,
    requestedBy: by,
    state: to === undefined ? 'needs_destination' : 'screening',
    ...destinationColumns(to),
  });
  await comesNext(tx, refund, now);
  await announceRefund(tx, order, now);
  return refund;
}

/** Announces a changed refund to the order's partner. Money without an order has no partner. */
export const announceRefund = async (tx: Tx, order: Order | undefined, now: Date): Promise<void> =>
  order === undefined ? undefined : void (await change(tx, order, { now }));

/**
 * The part of a deposit in suspense that no refund names. Parts of an order that may still be paid belong to the order and are
 * not free.
 */
export const inSuspense = (deposit: DepositRow): bigint =>
  deposit.state === 'suspense' || deposit.state === 'applied' || deposit.state === 'refunded'
    ? deposit.units - deposit.takenUnits - deposit.refundUnits
    : 0n;

/** States in which a refund waits and no attempt of it is under way. */
export const CANCELLABLE: readonly Refund['state'][] = [
  'needs_destination',
  'screening',
  'held',
  'rejected',
  'returned',
];

export const isOpen = ({ state }: Refund): boolean => state !== 'settled' && state !== 'cancelled';
export function blank(deposit: DepositRow, grossUnits: bigint, costUnits: bigint, now: Date) {
  return {
    id: numericId(now),
    depositId: deposit.id,
    orderId: deposit.orderId,
    partnerId: deposit.partnerId,
    rail: deposit.rail,
    asset: deposit.asset,
    grossUnits,
    costUnits,
    netUnits: grossUnits - costUnits,
    attempt: 0,
    key: null,
    createdAt: now,
    updatedAt: now,
    settledAt: null,
  };
}

export const destinationColumns = (to: RefundTo | undefined) => ({
  address: to?.address ?? null,
  fiatAccountId: to?.fiatAccountId ?? null,
});

/**
 * The destination that this customer named for refunds of this order. Money that arrived on another chain is refunded there to
 * the same address, if that chain parses it to the same spelling. There is no destination yet if the money's currency is not the
 * account's, if it arrived on another kind of rail, or if only an operator has named an address: that applied to the money
 * present at that time, and must be repeated.
 */
async function knownDestination(
  context: Rails,
  tx: Tx,
  order: Order,
  deposit: Pick<DepositRow, 'rail' | 'asset' | 'origin'>,
): Promise<RefundTo | undefined> {
  if (deposit.origin === 'returned') return undefined;
  if (order.refundToBy === 'operator' && order.refundAddress !== null) return undefined;
  const to = destinationOf(context.rails, order);
  return to !== undefined && (await fitsRefund(context, tx, outgoing(deposit, order), to)) ? to : undefined;
}

export const outgoing = (
  money: { rail: string; asset: string; depositId?: bigint },
  order: Order | undefined,
): Outgoing => ({
  rail: money.rail,
  asset: money.asset,
  customerId: order?.customerId,
  depositId: money.depositId,
});

/** A full refund of the order's deposit. @param senderOf the deposit to whose sender's account it may go */
export const wholeOf = (order: Order, senderOf?: bigint): Outgoing => ({
  ...outgoing({ rail: order.depositRail, asset: order.depositAsset }, order),
  depositId: senderOf,
});
export function destinationOf(rails: ReadonlyMap<string, Rail>, order: Order): RefundTo | undefined {
  if (rails.get(order.depositRail)?.kind === 'chain')
    return order.refundAddress === null ? undefined : { address: order.refundAddress };
  return order.refundAccountId === null ? undefined : { fiatAccountId: order.refundAccountId };
}

/** Enqueues the job, or opens the case, that a refund's state requires. */
export async function comesNext(tx: Tx, refund: Refund, now: Date): Promise<void> {
  const subject = `refund:${refund.id}`;
  if (refund.state === 'screening') {
    await closeCases(tx, { kind: 'refund_destination', subject, outcome: 'a destination was named', now });
    return enqueue(tx, { kind: 'screen_refund', subject: String(refund.id), dueAt: now });
  }
  // A returned payout already has a case.
  if (refund.state === 'needs_destination' && refund.purpose === 'refund')
    await refundCase(tx, refund, 'refund_destination', 'the customer must name a destination', now);
}

export const refundCase = (tx: Tx, refund: Refund, kind: CaseKind, reason: string, now: Date) =>
  openCase(tx, {
    kind,
    subject: `refund:${refund.id}`,
    orderId: refund.orderId ?? undefined,
    partnerId: refund.partnerId ?? undefined,
    reason,
    facts: { deposit: String(refund.depositId), units: String(refund.netUnits), asset: refund.asset },
    now,
  });

/**
 * The stored request of the order's refund. A policy requests a refund without storing one: then the order's exception is the
 * reason.
 */
export function wantedOf(order: Order): RefundRequest {
  if (order.refundRequest !== null) return order.refundRequest;
  const why = order.exception ?? 'policy';
  return { by: 'policy', why, failure: (order.failure as RefundRequest['failure'] | null) ?? failureOf(why) };
}
