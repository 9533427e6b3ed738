/** Shared parts of the table's rows: paths, and groups of refusals. */
import type { RefusalCode } from '../../../base/errors.ts';
import type { Body } from '../body.ts';

export const common = (path: string): string[] => [`/onramp/api/v2/common/transaction/${path}`];
export const onBank = (path: string): string => `/onramp-bank/api/v1/${path}`;
export const IDEMPOTENT: readonly RefusalCode[] = ['idempotency_conflict', 'idempotency_in_flight'];
export const QUOTED: readonly RefusalCode[] = [
  'unsupported_pair',
  'unsupported_chain',
  'amount_outside_limits',
  'amount_below_fees',
  'exposure_exceeded',
  'market_switched_off',
  'partner_switched_off',
];
export const TRADING: readonly RefusalCode[] = [
  'unknown_customer',
  'login_required',
  'verification_required',
  'customer_blocked',
];
export const ONE_OF_ITS: readonly RefusalCode[] = ['unknown_customer', 'unknown_order'];
/** Refusals of driving an order to a status, which may cancel or refund the order. */
export const DRIVEN: readonly RefusalCode[] = [
  'order_over',
  'unknown_account',
  'refund_under_way',
  'destination_held',
  'funds_short',
];
export const QUOTE_HEADERS = {
  'quote-id': 'Number of the quote',
  'quote-expires-at': 'Until when the quote is valid, ISO 8601',
};
export const COUNTED = { 'x-total-count': 'Total number of rows' };

/** Sample bodies, one per form of a request, for fields that depend on the request. */
export const sent = (...pairs: (readonly [string, string])[]): Body => new Map(pairs);
