/** Money that is about to leave: a payout or refund with the order, deposits and destination that the gate checks. */

import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import type { Screening } from '../../compliance/index.ts';
import { findFiatAccount } from '../../customers/index.ts';
import type { AtGate } from '../../rails/payouts.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { findRefund, type Refund } from '../refunds/store.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { type Destination, destinationNow, ownDestination } from './destination.ts';

/** Money that is about to leave, or that would leave if an order were released. */
export interface Leaving {
  /** 'refund' also for a returned payout that is paid again, because the limits already counted the first one. */
  purpose: 'payout' | 'refund';
  order: Order | undefined;
  /**
   * The recipient: the order's customer, or without an order the owner of the account; null for an address or a sender's account.
   */
  customerId: string | null;
  refundId: bigint | null;
  /** The deposit in suspense from which it is paid; null if it leaves an order's account. */
  suspenseId: bigint | null;
  /** The deposits that fund it: those of its order, or the one it refunds. */
  deposits: readonly DepositRow[];
  rail: string;
  asset: string;
  /** In the asset's smallest units. */
  units: bigint;
  address: string | null;
  fiatAccountId: bigint | null;
}

/** Ids of the deposits that fund an order. */
export const fundingOf = async (tx: Tx, order: Pick<Order, 'id'>): Promise<bigint[]> =>
  (await backing(tx, order)).map(({ id }) => id);

/** Where an order is to be paid, through which rail, and its state; undefined if there is no such order. */
export async function payoutPlanned(tx: Tx, id: bigint) {
  const order = await store.get(tx, id);
  if (order === undefined) return undefined;
  const { payoutRail: rail, state, customerId } = order;
  return { payoutAddress: (await destinationNow(tx, order)).address, rail, state, customerId };
}

/** The money of a payout row. Locks its order before the payout. */
export async function leavingOf(tx: Tx, payout: AtGate): Promise<Leaving> {
  const order = payout.orderId === null ? undefined : await store.lock(tx, payout.orderId);
  const refund = payout.refundId === null ? undefined : await findRefund(tx, payout.refundId);
  const { rail, asset, units, address, fiatAccountId } = payout;
  const suspenseId = refund?.source === 'suspense' ? refund.depositId : null;
  const customerId = await ownerOf(tx, order, fiatAccountId);
  const where = {
    order,
    customerId,
    refundId: payout.refundId,
    suspenseId,
    rail,
    asset,
    units,
    address,
    fiatAccountId,
  };
  if (refund !== undefined) return { ...where, purpose: 'refund', deposits: await depositOf(tx, refund) };
  assert(order !== undefined, `payout ${payout.id} has no order and is no refund`);
  return { ...where, purpose: 'payout', deposits: await backing(tx, order) };
}

/**
 * The money that would leave if this order were paid now. @param to default: the destination of the last attempt, or the order's
 * own
 */
export async function payoutOf(tx: Tx, order: Order, to?: Destination): Promise<Leaving> {
  return {
    purpose: 'payout',
    order,
    customerId: order.customerId,
    refundId: null,
    suspenseId: null,
    deposits: await backing(tx, order),
    rail: order.payoutRail,
    asset: order.payoutAsset,
    units: order.payoutUnits,
    ...(to ?? (await destinationNow(tx, order))),
  };
}

/** The money that would leave if an order's whole deposit were refunded to this destination. */
export async function refundOf(
  tx: Tx,
  order: Order,
  to: { address?: string | undefined; fiatAccountId?: bigint | undefined },
): Promise<Leaving> {
  return {
    purpose: 'refund',
    order,
    customerId: order.customerId,
    refundId: null,
    suspenseId: null,
    // A part that its rail reversed is given up with the refund, and is not refunded.
    deposits: (await backing(tx, order)).filter(({ state }) => state !== 'lost'),
    rail: order.depositRail,
    asset: order.depositAsset,
    units: order.receivedUnits ?? order.depositUnits,
    address: to.address ?? null,
    fiatAccountId: to.fiatAccountId ?? null,
  };
}

/** The money of a refund from suspense. */
export async function suspenseRefundOf(
  tx: Tx,
  refund: Pick<Refund, 'id' | 'depositId' | 'rail' | 'asset' | 'netUnits' | 'address' | 'fiatAccountId'>,
  order: Order | undefined,
): Promise<Leaving> {
  const { id: refundId, depositId: suspenseId, rail, asset, netUnits: units, address, fiatAccountId } = refund;
  const deposits = await depositOf(tx, refund);
  const customerId = await ownerOf(tx, order, fiatAccountId);
  const where = { order, customerId, refundId, suspenseId, rail, asset, units, address, fiatAccountId };
  return { ...where, purpose: 'refund', deposits };
}

/**
 * Money without an order that goes to a customer's account belongs to that customer, so the customer's block or sanctions hit
 * applies to it, too.
 */
const ownerOf = async (tx: Tx, order: Order | undefined, fiatAccountId: bigint | null): Promise<string | null> =>
  order?.customerId ?? (fiatAccountId === null ? null : (await findFiatAccount(tx, fiatAccountId)).customerId);

const backing = async (tx: Tx, order: Pick<Order, 'id'>): Promise<DepositRow[]> =>
  (await depositStore.depositsOf(tx, order.id)).filter(
    // A deposit that was reversed after its refund was paid is a debt: it backs no payout, and never gets the required
    // confirmations. What a bank returned beyond what was sent backs nothing, unless the order has accepted it.
    ({ takenUnits, refundUnits, state, origin }) =>
      takenUnits > 0n || (refundUnits > 0n && state !== 'lost' && origin !== 'credit'),
  );

async function depositOf(tx: Tx, { depositId }: Pick<Refund, 'depositId'>): Promise<DepositRow[]> {
  const deposit = await depositStore.depositById(tx, depositId);
  return deposit === undefined ? [] : [deposit];
}

/**
 * The deposits that must be past reversal before the money leaves. A returned payout, money released by law and a compensation
 * are money of their order, so they also wait for the order's deposits.
 */
export async function backedBy(tx: Tx, { order, deposits }: Leaving): Promise<readonly DepositRow[]> {
  if (order === undefined || !deposits.some(({ origin }) => ORDERS_OWN.includes(origin))) return deposits;
  return [...deposits, ...(await backing(tx, order))];
}

export const destinationKey = ({ address, fiatAccountId }: Pick<Leaving, 'address' | 'fiatAccountId'>): string =>
  address === null ? `account:${fiatAccountId}` : `address:${address}`;

/** The key under which the newest screening result of this destination is stored. */
export function screeningSubject(leaving: Leaving): string {
  const of = leaving.order === undefined ? `refund:${leaving.refundId}` : `order:${leaving.order.id}`;
  return `${leaving.purpose}:${of}:${destinationKey(leaving)}`;
}

/** The screening request for money that leaves. */
export function screeningOf(leaving: Leaving): Screening {
  const { purpose, order, customerId, refundId, deposits, rail, address, fiatAccountId } = leaving;
  return {
    id: order?.id ?? refundId ?? 0n,
    partnerId: order?.partnerId ?? deposits[0]?.partnerId ?? null,
    customerId,
    merchantReference: order?.merchantReference ?? null,
    purpose,
    fiatAccountId,
    payoutAddress: address,
    rail,
    depositIds: deposits.map(({ id }) => id),
    ...(order === undefined ? {} : { depositAsset: order.depositAsset, depositUnits: order.depositUnits }),
  };
}

/**
 * The amount that decides how many people must approve: for an order's payout the amount that the order received, as for every
 * action on an order; for a refund the refunded amount.
 */
export function weightOf({ purpose, order, asset, units }: Leaving): { asset: string; units: bigint } {
  if (purpose === 'refund' || order === undefined) return { asset, units };
  return { asset: order.depositAsset, units: order.receivedUnits ?? order.depositUnits };
}

export const ORDERS_OWN: readonly DepositRow['origin'][] = ['returned', 'released', 'compensation'];

/**
 * Whether the destination is new: for a refund, an address that only an operator has named (accounts always belong to a
 * customer); for a payout, any destination but the order's own, which its customer has confirmed.
 */
export function isNewDestination({ purpose, order, address, fiatAccountId }: Leaving): boolean {
  if (order === undefined) return true;
  if (purpose === 'payout') return destinationKey({ address, fiatAccountId }) !== destinationKey(ownDestination(order));
  if (address === null || address === order.payoutAddress) return false;
  return address !== order.refundAddress || order.refundToBy === 'operator';
}
