/**
 * Told: what a partner and its customer are told of an order's money, beside its amounts and its state. What came in, why
 * something is unusual, what goes back or is paid again, what came back to us, and whether somebody has to name where it goes.
 *
 * Asked for by the transaction calls, put into every event, and shown on the customer's page: one answer, so that none of the
 * three says what another does not. Reasons are public ones (reasons.ts). An order that the law has stopped is told as one that
 * a person looks into.
 */
import type { Tx } from '../base/db.ts';
import { formatUnits } from '../base/money.ts';
import { type Asset, assets } from '../partners/index.ts';
import { type Payout, payoutsOf } from '../rails/payouts.ts';
import { HELD_AT_GATE, lastHold } from './decide.ts';
import type { OrderState } from './machine.ts';
import { type PublicReason, publicReason } from './reasons.ts';
import { type Refund, refundsOf } from './refunds.store.ts';
import { returnLinks } from './returns.store.ts';
import { type DepositRow, type ListedOrder, type Order, store } from './store.ts';

/** How far a refund is. `created`: decided on, and not submitted yet. */
export type ToldStatus =
  | 'needs_destination'
  | 'created'
  | 'under_review'
  | 'submitted'
  | 'settled'
  | 'rejected'
  | 'returned';

/** Money as it is told: an amount in decimals, and of what. */
export interface ToldMoney {
  amount: string;
  /** Our code, such as `usdc.matic20`; the coin or fiat in upper case; the chain, '' of a fiat. */
  asset: string;
  currency: string;
  chain: string;
}

export interface ToldRefund extends ToldMoney {
  refundId: string;
  /** `payout`: a payout that came back, paid again. */
  kind: 'refund' | 'payout';
  status: ToldStatus;
  reason: PublicReason;
  /** Where it goes: one of the two, or neither while nobody has said. */
  address: string;
  fiatAccountId: string;
  /** The chain's hash or the bank's reference, once there is one. */
  reference: string;
  createdAt: string;
  updatedAt: string;
}

export interface ToldReturn extends ToldMoney {
  reference: string;
  /** Why the bank sent it back. */
  reason: PublicReason;
  returnedAt: string;
}

export interface Told {
  /** What has come in for the order and was not reversed, of what it asked for. */
  receivedAmount: string;
  receivedCurrency: string;
  reason: PublicReason | null;
  /** Somebody has to name where money goes: it waits for that alone. */
  needsDestination: boolean;
  /** The newest, the oldest of them first. */
  refunds: readonly ToldRefund[];
  /** How many older ones there are, where there are any: asked for by `before`. */
  olderRefunds?: number;
  /** The newest, the oldest of them first. */
  returnedPayouts: readonly ToldReturn[];
  olderReturnedPayouts?: number;
  /** From when on what lies unclaimed is kept apart, told beforehand. It stays the customer's. */
  unclaimedFrom?: string;
}

/** What of an order's money is known: read by the caller, so that who shows more reads it once. */
export interface Known {
  deposits: readonly DepositRow[];
  refunds: readonly Refund[];
  payouts: readonly Payout[];
  history: readonly { event: string; facts: Record<string, unknown> }[];
  /** Deposits whose customer has confirmed where they go back to: people send them there. */
  confirmed: ReadonlySet<bigint>;
}

export const readKnown = async (tx: Tx, orderId: bigint): Promise<Known> => ({
  deposits: await store.depositsOf(tx, orderId),
  refunds: await refundsOf(tx, orderId),
  payouts: await payoutsOf(tx, orderId),
  history: await store.history(tx, orderId),
  confirmed: await returnLinks.confirmedOf(tx, orderId),
});

/** The state as it is told. */
export const toldState = (state: OrderState): Exclude<OrderState, 'frozen'> => (state === 'frozen' ? 'on_hold' : state);

/** An event, a message and a page tell so many: anybody who pays in small parts may make many refunds. */
export const MOST_TOLD = 20;
/** So many are told at once to who asks for them. */
export const MOST_ASKED = 100;

/** Which refunds: those before one, and how many. */
export interface ToldPage {
  before?: bigint | undefined;
  most: number;
}

export const told = async (tx: Tx, order: Order, page: ToldPage = { most: MOST_TOLD }): Promise<Told> =>
  isUsual(order)
    ? toldUsual(order, await assets(tx))
    : toldOf(order, await readKnown(tx, order.id), await assets(tx), page);

/** Nothing but what was asked for has happened, so nothing has to be read to say so. */
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

function toldUsual(order: ListedOrder, known: ReadonlyMap<string, Asset>): Told {
  const { amount, currency } = moneyOf(order.receivedUnits ?? 0n, order.depositAsset, known);
  return {
    ...{ receivedAmount: amount, receivedCurrency: currency },
    ...{ reason: null, needsDestination: false, refunds: [], returnedPayouts: [] },
  };
}

export function toldOf(
  order: Order,
  known: Known,
  assetsKnown: ReadonlyMap<string, Asset>,
  { before, most }: ToldPage = { most: MOST_TOLD },
): Told {
  const { deposits, refunds, payouts } = known;
  const received = moneyOf(receivedUnits(order, deposits), order.depositAsset, assetsKnown);
  const unclaimedFrom = [order.dormantFrom, ...deposits.map((row) => row.dormant_from)].find((at) => at !== null);
  const shown = refunds.filter(({ state }) => state !== 'cancelled');
  const asked = before === undefined ? shown : untilRefund(shown, before);
  const back = payouts.filter(({ purpose, state }) => purpose === 'payout' && state === 'returned');
  return {
    ...{ receivedAmount: received.amount, receivedCurrency: received.currency },
    reason: reasonOf(order, known),
    needsDestination: isUnnamed(order, deposits) || shown.some((refund) => isNameless(refund, known)),
    refunds: asked.slice(-most).map((refund) => toldRefund(refund, known, assetsKnown)),
    ...(asked.length > most ? { olderRefunds: asked.length - most } : {}),
    returnedPayouts: back.slice(-most).map((payout) => toldReturn(payout, deposits, assetsKnown)),
    ...(back.length > most ? { olderReturnedPayouts: back.length - most } : {}),
    ...(unclaimedFrom === undefined ? {} : { unclaimedFrom: unclaimedFrom.toISOString() }),
  };
}

/** What is older than one of them; nothing where it is none of these. */
function untilRefund(refunds: readonly Refund[], before: bigint): readonly Refund[] {
  const at = refunds.findIndex(({ id }) => id === before);
  return at < 0 ? [] : refunds.slice(0, at);
}

/** States in which what was asked for and came is booked, and stays counted when it has gone back. */
const CAME: readonly DepositRow['state'][] = ['confirmed', 'applied', 'suspense', 'refunded'];

const receivedUnits = ({ depositAsset }: Order, deposits: readonly DepositRow[]): bigint =>
  deposits
    .filter(({ asset, state, origin }) => asset === depositAsset && CAME.includes(state) && isNewMoney(origin))
    .reduce((sum, { units }) => sum + units, 0n);

/** Not what we had sent and was sent back, nor what we had kept, nor a fee that we refund. */
export const isNewMoney = (origin: DepositRow['origin']): boolean => origin === 'rail' || origin === 'credit';

/** All of it is to go back, and nobody has said where to. */
export const isUnnamed = (order: Order, deposits: readonly DepositRow[]): boolean => {
  const { refundRequest, refundAddress, refundAccountId, state } = order;
  const shown = isUnreleased(order, deposits) ? toldState(state) : state;
  return (
    refundRequest !== null &&
    refundAddress === null &&
    refundAccountId === null &&
    (shown === 'on_hold' || shown === 'payout_held')
  );
};

/** Stopped by law and not let go: as far as anybody outside is told, it is looked into. */
export const isUnreleased = ({ state }: Pick<Order, 'state'>, deposits: readonly DepositRow[]): boolean =>
  state === 'frozen' && !deposits.some(({ origin }) => origin === 'released');

/** States in which what an order was held for says why it stands, or went back. */
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

/** It waits for somebody to say where it goes, and its customer has not confirmed that on a page of ours. */
export const isNameless = ({ state, depositId }: Refund, { confirmed }: Pick<Known, 'confirmed'>): boolean =>
  state === 'needs_destination' && !confirmed.has(depositId);

function toldRefund(refund: Refund, known: Known, assetsKnown: ReadonlyMap<string, Asset>): ToldRefund {
  const { payouts, deposits } = known;
  const deposit = deposits.find(({ id }) => id === refund.depositId);
  const attempt = payouts.find(({ id }) => id === refund.key);
  return {
    refundId: String(refund.id),
    kind: refund.purpose,
    status:
      refund.state === 'needs_destination' && !isNameless(refund, known) ? 'under_review' : statusOf(refund, attempt),
    ...moneyOf(refund.netUnits, refund.asset, assetsKnown),
    // What a person wrote is for nobody outside: why the money is no order's says it as well.
    reason: publicReason(refund.why, publicReason(deposit?.why ?? '')),
    address: refund.address ?? '',
    fiatAccountId: refund.fiatAccountId === null ? '' : String(refund.fiatAccountId),
    reference: (refund.state === 'needs_destination' ? null : attempt?.reference) ?? '',
    createdAt: refund.createdAt.toISOString(),
    updatedAt: refund.updatedAt.toISOString(),
  };
}

const STATUS: Readonly<Record<Exclude<Refund['state'], 'rejected' | 'cancelled'>, ToldStatus>> = {
  needs_destination: 'needs_destination',
  screening: 'created',
  held: 'under_review',
  created: 'created',
  submitted: 'submitted',
  settled: 'settled',
  returned: 'returned',
};

/** What the gate holds is looked into; what a rail would not pay is rejected. */
function statusOf({ state }: Refund, attempt: Payout | undefined): ToldStatus {
  if (state === 'cancelled') return 'under_review';
  if (state !== 'rejected') return STATUS[state];
  return attempt?.why?.startsWith(HELD_AT_GATE) === true ? 'under_review' : 'rejected';
}

function toldReturn(payout: Payout, deposits: readonly DepositRow[], known: ReadonlyMap<string, Asset>): ToldReturn {
  // A bank may have kept some of it on the way.
  const back = deposits.find(({ origin, facts }) => origin === 'returned' && facts.payout === payout.id);
  return {
    ...moneyOf(back?.units ?? payout.units, payout.asset, known),
    reference: back?.reference ?? payout.reference ?? '',
    reason: publicReason(payout.why ?? '', 'returned_by_bank'),
    returnedAt: (back?.seen_at ?? payout.endedAt ?? payout.createdAt).toISOString(),
  };
}

function moneyOf(units: bigint, code: string, known: ReadonlyMap<string, Asset>): ToldMoney {
  const asset = known.get(code);
  return {
    amount: formatUnits(units, asset?.decimals ?? 0),
    asset: code,
    currency: asset?.coin.toUpperCase() ?? '',
    chain: asset?.chain ?? '',
  };
}
