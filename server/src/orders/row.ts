/**
 * An order's row: the types, the columns, and the mapping between them.
 *
 * Units are smallest units of their asset. Not here: statements (store.ts, read/pages.store.ts).
 */
import type { Rate } from '../base/money.ts';
import { type Policy, readPolicy } from '../partners/index.ts';
import { type Fees, type PricedRow, pricedOf } from '../quotes/index.ts';
import type { OrderState } from './machine.ts';

export type Direction = 'offramp' | 'onramp';

/** An order as lists show it. Units are smallest units; the rate is whole fiat per one whole crypto. */
export interface ListedOrder {
  id: bigint;
  partnerId: bigint;
  customerId: string;
  direction: Direction;
  state: OrderState;
  depositAsset: string;
  depositUnits: bigint;
  payoutAsset: string;
  payoutUnits: bigint;
  /** Units received on the order's account; null until then. */
  receivedUnits: bigint | null;
  /** How much of the received amount has been refunded. */
  refundedUnits: bigint;
  fees: Fees;
  rate: Rate;
  depositTarget: string;
  paymentMethod: string;
  fiatAccountId: bigint | null;
  payoutAddress: string | null;
  /** This and the next one as stored (encrypted). `openOrders` decrypts them (index.ts). */
  merchantReference: string | null;
  /** The payer's own bank reference, as the customer stated it. Evidence for an operator; never used for matching. */
  payerReference: string | null;
  exception: string | null;
  failure: string | null;
  payoutAttempt: number;
  /** Whether an operator has ever reviewed it; this stays visible. */
  wasHeld: boolean;
  /** Whether its money is unclaimed and on the dormant account. */
  dormant: boolean;
  /** Whether the rail has accepted a payout of this order. */
  submittedPayout: boolean;
  depositReference: string | null;
  payoutReference: string | null;
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** The whole row of an order, including its policy for unexpected money. */
export interface Order extends ListedOrder {
  customerSeq: bigint;
  marketId: bigint;
  quoteId: bigint | null;
  grossUnits: bigint;
  fiatAsset: string;
  rateLockedUntil: Date;
  depositRail: string;
  depositIndex: bigint | null;
  payoutRail: string;
  /** Refund destination, as the customer named it: an address on the chain, or an account. */
  refundAddress: string | null;
  refundAccountId: bigint | null;
  /** Who changed the destination after the order was created; null if the partner named it at creation. */
  refundToBy: 'partner' | 'operator' | null;
  /** The request to refund the whole amount, from the decision until the refund. */
  refundRequest: RefundRequest | null;
  refundAttempt: number;
  /** The order whose late or second deposit this one was made from. */
  follows: bigint | null;
  /** When its state becomes overdue; null when the order waits for nothing. */
  waitsUntil: Date | null;
  overdue: boolean;
  /** When its money becomes dormant, once that was announced. */
  dormantFrom: Date | null;
  version: number;
  policy: Policy;
}

/** The terms of an order's conversion: as quoted, or as quoted again. */
export type OrderTerms = Pick<Order, 'depositUnits' | 'payoutUnits' | 'grossUnits' | 'fees' | 'rate' | 'quoteId'>;

/** Stored with the order from the request to the refund, because it may take long until the destination is named. */
export interface RefundRequest {
  by: string;
  why: string;
  failure: 'amount' | 'name' | 'other';
  /** Version of the hold about which an operator decided with this request. A later hold needs another decision. */
  decidedHold?: number;
}

/** Columns whose names or types differ from the order's fields. */
type Translated = 'fees' | 'rate' | 'submittedPayout';

export type ListedRow = Omit<ListedOrder, Translated> & PricedRow & { payoutSubmittedAt: Date | null };

export type OneRow = ListedRow & Omit<Order, keyof ListedOrder | 'policy'> & { policy: unknown };

export const toListed = (row: ListedRow): ListedOrder => ({
  id: row.id,
  partnerId: row.partnerId,
  customerId: row.customerId,
  direction: row.direction,
  state: row.state,
  depositAsset: row.depositAsset,
  depositUnits: row.depositUnits,
  payoutAsset: row.payoutAsset,
  payoutUnits: row.payoutUnits,
  receivedUnits: row.receivedUnits,
  refundedUnits: row.refundedUnits,
  ...pricedOf(row),
  depositTarget: row.depositTarget,
  paymentMethod: row.paymentMethod,
  fiatAccountId: row.fiatAccountId,
  payoutAddress: row.payoutAddress,
  merchantReference: row.merchantReference,
  payerReference: row.payerReference,
  exception: row.exception,
  failure: row.failure,
  payoutAttempt: row.payoutAttempt,
  wasHeld: row.wasHeld,
  dormant: row.dormant,
  submittedPayout: row.payoutSubmittedAt !== null,
  depositReference: row.depositReference,
  payoutReference: row.payoutReference,
  expiresAt: row.expiresAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

export const toOrder = (row: OneRow): Order => ({
  ...toListed(row),
  customerSeq: row.customerSeq,
  marketId: row.marketId,
  quoteId: row.quoteId,
  grossUnits: row.grossUnits,
  fiatAsset: row.fiatAsset,
  rateLockedUntil: row.rateLockedUntil,
  depositRail: row.depositRail,
  depositIndex: row.depositIndex,
  payoutRail: row.payoutRail,
  refundAddress: row.refundAddress,
  refundAccountId: row.refundAccountId,
  refundToBy: row.refundToBy,
  refundRequest: row.refundRequest,
  refundAttempt: row.refundAttempt,
  follows: row.follows,
  waitsUntil: row.waitsUntil,
  dormantFrom: row.dormantFrom,
  overdue: row.overdue,
  version: row.version,
  policy: readPolicy(row.policy),
});

/** A page has fifty rows or more, so columns that no list shows are not selected. */
export const COLUMNS = `id, partner_id, customer_id, direction, state, deposit_asset, deposit_units, payout_asset, payout_units, received_units,
  refunded_units, fee_operator, fee_partner, fee_rail, fee_chain, fee_tax, rate_num, rate_den, deposit_target, payment_method,
  fiat_account_id, payout_address, merchant_reference, payer_reference, exception, failure, payout_attempt, was_held, dormant,
  payout_submitted_at, deposit_reference, payout_reference, expires_at, created_at, updated_at`;
/** All columns, for one order. */
export const ALL = `${COLUMNS}, customer_seq, market_id, quote_id, gross_units, fiat_asset, rate_locked_until, deposit_rail,
  deposit_index, payout_rail, refund_address, refund_account_id, refund_to_by, refund_request, refund_attempt, follows, waits_until, overdue,
  dormant_from, version, policy`;
