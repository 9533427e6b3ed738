/**
 * What the partner and the customer are told about an order's money, in addition to its amounts and state: deposits, why
 * something is unusual, refunds and repeated payouts, returned payouts, and whether a destination must be named.
 *
 * The transaction endpoints, every event and the customer's page use this one answer, so that they never disagree. Reasons are
 * public ones (reasons.ts). An order blocked by law is shown as under review.
 */
import type { Tx } from '../../base/db.ts';
import { formatUnits } from '../../base/money.ts';
import { type Asset, assets } from '../../partners/index.ts';
import { type Payout, payoutsOf } from '../../rails/payouts.ts';
import { HELD_AT_GATE, lastHold } from '../decide.ts';
import { returnLinks } from '../deposits/returns.store.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import * as historyStore from '../history.store.ts';
import type { OrderState } from '../machine.ts';
import { type Refund, refundsOf } from '../refunds/store.ts';
import type { ListedOrder, Order } from '../store.ts';
import { type PublicReason, publicReason } from './reasons.ts';

/** Progress of a refund. `created`: it is decided, and its payout is not submitted yet. */
export type PublicRefundStatus =
  | 'needs_destination'
  | 'created'
  | 'under_review'
  | 'submitted'
  | 'settled'
  | 'rejected'
  | 'returned';

/** Money as shown: an amount in decimals, and its asset. */
export interface PublicAmount {
  amount: string;
  /** Our code, such as `usdc.matic20`; the coin or fiat in upper case; the chain, '' for a fiat. */
  asset: string;
  currency: string;
  chain: string;
}

export interface PublicRefund extends PublicAmount {
  refundId: string;
  /** `payout`: a returned payout that is paid again. */
  kind: 'refund' | 'payout';
  status: PublicRefundStatus;
  reason: PublicReason;
  /** Destination: one of these two; both empty until one is named. */
  address: string;
  fiatAccountId: string;
  /** The chain's hash or the bank's reference, once there is one. */
  reference: string;
  createdAt: string;
  updatedAt: string;
}

export interface PublicReturn extends PublicAmount {
  reference: string;
  /** Why the bank returned it. */
  reason: PublicReason;
  returnedAt: string;
}

export interface PublicMoney {
  /** Confirmed deposits of the order that were not reversed, in the asset it requested. */
  receivedAmount: string;
  receivedCurrency: string;
  reason: PublicReason | null;
  /** Whether money waits only for its destination to be named. */
  needsDestination: boolean;
  /** The newest refunds, in chronological order. */
  refunds: readonly PublicRefund[];
  /** Number of older refunds, if there are any: page back with `before`. */
  olderRefunds?: number;
  /** The newest returned payouts, in chronological order. */
  returnedPayouts: readonly PublicReturn[];
  olderReturnedPayouts?: number;
  /** When unclaimed money moves to the dormant account; announced beforehand. It remains owed to the customer. */
  unclaimedFrom?: string;
}

/** The rows about an order's money, read once by the caller, which may show more than this. */
export interface Known {
  deposits: readonly DepositRow[];
  refunds: readonly Refund[];
  payouts: readonly Payout[];
  history: readonly { event: string; facts: Record<string, unknown> }[];
  /** Deposits whose customer has confirmed the refund address, to which operators send them. */
  confirmed: ReadonlySet<bigint>;
}

export const readKnown = async (tx: Tx, orderId: bigint): Promise<Known> => ({
  deposits: await depositStore.depositsOf(tx, orderId),
  refunds: await refundsOf(tx, orderId),
  payouts: await payoutsOf(tx, orderId),
  history: await historyStore.history(tx, orderId),
  confirmed: await returnLinks.confirmedOf(tx, orderId),
});

/** The state as shown outside. */
export const publicState = (state: OrderState): Exclude<OrderState, 'frozen'> =>
  state === 'frozen' ? 'on_hold' : state;

/** Maximum in an event, a message and a page: a payer who pays in small parts may cause many refunds. */
export const MOST_SHOWN = 20;
/** Maximum on request. */
export const MOST_ASKED = 100;

/** Which refunds to return: those before the given one, and at most how many. */
export interface RefundPage {
  before?: bigint | undefined;
  most: number;
}

export const publicMoney = async (
  tx: Tx,
  order: Order,
  page: RefundPage = { most: MOST_SHOWN },
): Promise<PublicMoney> =>
  isUsual(order)
    ? usualMoney(order, await assets(tx))
    : publicMoneyOf(order, await readKnown(tx, order.id), await assets(tx), page);

/** Whether nothing unusual has happened; then no further rows are read. */
const isUsual = (order: Order): boolean =>
  order.dormantFrom === null &&
  order.exception === null &&
  order.failure === null &&
  !order.wasHeld &&
  !order.overdue &&
  order.payoutAttempt <= 1 &&
  order.refundAttempt === 0 &&
  order.refundRequest === null &&
  USUAL.includes(order.state);
const USUAL: readonly OrderState[] = [
  'created',
  'deposit_seen',
  'deposit_confirmed',
  'awaiting_liquidity',
  'paying_out',
  'settled',
];

function usualMoney(order: ListedOrder, known: ReadonlyMap<string, Asset>): PublicMoney {
  const { amount, currency } = moneyOf(order.receivedUnits ?? 0n, order.depositAsset, known);
  return {
    ...{ receivedAmount: amount, receivedCurrency: currency },
    ...{ reason: null, needsDestination: false, refunds: [], returnedPayouts: [] },
  };
}

export function publicMoneyOf(
  order: Order,
  known: Known,
  assetsKnown: ReadonlyMap<string, Asset>,
  { before, most }: RefundPage = { most: MOST_SHOWN },
): PublicMoney {
  const { deposits, refunds, payouts } = known;
  const received = moneyOf(receivedUnits(order, deposits), order.depositAsset, assetsKnown);
  const unclaimedFrom = [order.dormantFrom, ...deposits.map((row) => row.dormantFrom)].find((at) => at !== null);
  const shown = refunds.filter(({ state }) => state !== 'cancelled');
  const asked = before === undefined ? shown : untilRefund(shown, before);
  const back = payouts.filter(({ purpose, state }) => purpose === 'payout' && state === 'returned');
  return {
    ...{ receivedAmount: received.amount, receivedCurrency: received.currency },
    reason: reasonOf(order, known),
    needsDestination: isUnnamed(order, deposits) || shown.some((refund) => isNameless(refund, known)),
    refunds: asked.slice(-most).map((refund) => publicRefund(refund, known, assetsKnown)),
    ...(asked.length > most ? { olderRefunds: asked.length - most } : {}),
    returnedPayouts: back.slice(-most).map((payout) => publicReturn(payout, deposits, assetsKnown)),
    ...(back.length > most ? { olderReturnedPayouts: back.length - most } : {}),
    ...(unclaimedFrom === undefined ? {} : { unclaimedFrom: unclaimedFrom.toISOString() }),
  };
}

/** Refunds older than the given one; none if it is not among these. */
function untilRefund(refunds: readonly Refund[], before: bigint): readonly Refund[] {
  const at = refunds.findIndex(({ id }) => id === before);
  return at < 0 ? [] : refunds.slice(0, at);
}

/** States of a booked deposit. A refunded deposit still counts. */
const CAME: readonly DepositRow['state'][] = ['confirmed', 'applied', 'suspense', 'refunded'];

const receivedUnits = ({ depositAsset }: Order, deposits: readonly DepositRow[]): bigint =>
  deposits
    .filter(({ asset, state, origin }) => asset === depositAsset && CAME.includes(state) && isNewMoney(origin))
    .reduce((sum, { units }) => sum + units, 0n);

/** Whether a deposit is new money: not a returned payout, money released by law, or a refunded fee. */
export const isNewMoney = (origin: DepositRow['origin']): boolean => origin === 'rail' || origin === 'credit';

/** Whether the whole order is to be refunded and no destination is named. */
export const isUnnamed = (order: Order, deposits: readonly DepositRow[]): boolean => {
  const { refundRequest, refundAddress, refundAccountId, state } = order;
  const shown = isUnreleased(order, deposits) ? publicState(state) : state;
  return (
    refundRequest !== null &&
    refundAddress === null &&
    refundAccountId === null &&
    (shown === 'on_hold' || shown === 'payout_held')
  );
};

/** Whether the order is blocked by law and not released. It is shown outside as under review. */
export const isUnreleased = ({ state }: Pick<Order, 'state'>, deposits: readonly DepositRow[]): boolean =>
  state === 'frozen' && !deposits.some(({ origin }) => origin === 'released');

/** States in which the reason of the hold explains the state or the refund. */
const BY_HOLD: readonly OrderState[] = ['on_hold', 'payout_held', 'refund_held', 'frozen', 'refunding', 'refunded'];

function reasonOf({ state, exception }: Order, { history }: Known): PublicReason | null {
  const held = BY_HOLD.includes(state) ? lastHold(history) : undefined;
  const own = exception === null ? null : publicReason(exception);
  if (held === undefined)
    return own ?? (state === 'frozen' ? 'under_review' : state === 'expired' ? 'timed_out' : null);
  const { reason, why, heldBy } = held.facts;
  const inner = reason ?? why;
  if (heldBy !== undefined || typeof inner !== 'string') return 'under_review';
  return publicReason(
    inner,
    held.event === 'payout_rejected'
      ? 'payout_rejected'
      : held.event === 'refund_rejected'
        ? 'refund_rejected'
        : 'under_review',
  );
}

/** Whether a refund waits for a destination and its customer has not confirmed one on the hosted page. */
export const isNameless = ({ state, depositId }: Refund, { confirmed }: Pick<Known, 'confirmed'>): boolean =>
  state === 'needs_destination' && !confirmed.has(depositId);

function publicRefund(refund: Refund, known: Known, assetsKnown: ReadonlyMap<string, Asset>): PublicRefund {
  const { payouts, deposits } = known;
  const deposit = deposits.find(({ id }) => id === refund.depositId);
  const attempt = payouts.find(({ id }) => id === refund.key);
  return {
    refundId: String(refund.id),
    kind: refund.purpose,
    status:
      refund.state === 'needs_destination' && !isNameless(refund, known) ? 'under_review' : statusOf(refund, attempt),
    ...moneyOf(refund.netUnits, refund.asset, assetsKnown),
    // An operator's free text is never shown outside: the deposit's own reason is shown instead.
    reason: publicReason(refund.why, publicReason(deposit?.why ?? '')),
    address: refund.address ?? '',
    fiatAccountId: refund.fiatAccountId === null ? '' : String(refund.fiatAccountId),
    reference: (BEFORE_ATTEMPT.has(refund.state) ? null : attempt?.reference) ?? '',
    createdAt: refund.createdAt.toISOString(),
    updatedAt: refund.updatedAt.toISOString(),
  };
}

/** States in which the next attempt has no row yet: the last attempt known is an earlier one. */
const BEFORE_ATTEMPT: ReadonlySet<Refund['state']> = new Set(['needs_destination', 'screening', 'held']);

const STATUS: Readonly<Record<Exclude<Refund['state'], 'rejected' | 'cancelled'>, PublicRefundStatus>> = {
  needs_destination: 'needs_destination',
  screening: 'created',
  held: 'under_review',
  created: 'created',
  submitted: 'submitted',
  settled: 'settled',
  returned: 'returned',
};

/** Held by the gate: under review. Rejected by a rail: rejected. */
function statusOf({ state }: Refund, attempt: Payout | undefined): PublicRefundStatus {
  if (state === 'cancelled') return 'under_review';
  if (state !== 'rejected') return STATUS[state];
  return attempt?.why?.startsWith(HELD_AT_GATE) === true ? 'under_review' : 'rejected';
}

function publicReturn(
  payout: Payout,
  deposits: readonly DepositRow[],
  known: ReadonlyMap<string, Asset>,
): PublicReturn {
  // A bank may have kept a part of it on the way.
  const back = deposits.find(({ origin, facts }) => origin === 'returned' && facts.payout === payout.id);
  return {
    ...moneyOf(back?.units ?? payout.units, payout.asset, known),
    reference: back?.reference ?? payout.reference ?? '',
    reason: publicReason(payout.why ?? '', 'returned_by_bank'),
    returnedAt: (back?.seenAt ?? payout.endedAt ?? payout.createdAt).toISOString(),
  };
}

function moneyOf(units: bigint, code: string, known: ReadonlyMap<string, Asset>): PublicAmount {
  const asset = known.get(code);
  return {
    amount: formatUnits(units, asset?.decimals ?? 0),
    asset: code,
    currency: asset?.coin.toUpperCase() ?? '',
    chain: asset?.chain ?? '',
  };
}
