/**
 * Status numbers: our order states as the numbers that partners' programs know.
 *
 * Exhaustive by type: an omitted state does not compile. Only the lower series is sent. It ends at 4 for buying and 6 for
 * selling, because pollers stop there. A shown status never decreases, except when a seen deposit vanished before confirmation;
 * so a state that can follow a later one shows the highest number that the order may have shown before.
 */
import type { Direction, ListedOrder, OrderState } from '../../orders/index.ts';

export type Shown = Pick<
  ListedOrder,
  'state' | 'direction' | 'payoutAttempt' | 'submittedPayout' | 'wasHeld' | 'payerReference' | 'exception' | 'failure'
>;
type Shows = number | ((order: Shown) => number);

/** A payout was created before: states of later payouts have been shown. */
const paidOutOnce = (order: Shown): boolean => order.payoutAttempt > 0;
const amountMismatch = (order: Shown): boolean =>
  order.failure === 'amount' || (order.failure === null && order.exception === 'underpaid');
const nameMismatch = (order: Shown): boolean => order.failure === 'name';

const NUMBERS: Record<Direction, Record<OrderState, Shows>> = {
  onramp: {
    created: (order) => (order.payerReference === null ? 0 : 1),
    deposit_seen: 1,
    // An operator repriced the order after a payout was created: the shown status stays.
    deposit_confirmed: (order) => (paidOutOnce(order) ? 3 : 2),
    awaiting_liquidity: (order) => (paidOutOnce(order) ? 3 : 2),
    on_hold: (order) => (paidOutOnce(order) ? 3 : 2),
    paying_out: 3,
    payout_held: 3,
    settled: 4,
    refunding: (order) => (paidOutOnce(order) ? 3 : 2),
    refund_held: (order) => (paidOutOnce(order) ? 3 : 2),
    frozen: (order) => (paidOutOnce(order) ? 3 : 2),
    refunded: (order) => (amountMismatch(order) ? -4 : nameMismatch(order) ? -3 : -2),
    expired: -1,
    cancelled: -2,
  },
  offramp: {
    created: 0,
    deposit_seen: 1,
    deposit_confirmed: (order) => (paidOutOnce(order) ? 5 : order.wasHeld ? 3 : 2),
    awaiting_liquidity: (order) => (paidOutOnce(order) ? 5 : order.wasHeld ? 3 : 2),
    on_hold: (order) => (paidOutOnce(order) ? 5 : 3),
    // A further attempt follows one that was shown as submitted.
    paying_out: (order) => (order.submittedPayout || order.payoutAttempt > 1 ? 5 : 4),
    payout_held: 5,
    settled: 6,
    refunding: (order) => (paidOutOnce(order) ? 5 : 3),
    refund_held: (order) => (paidOutOnce(order) ? 5 : 3),
    frozen: (order) => (paidOutOnce(order) ? 5 : 3),
    refunded: (order) => (amountMismatch(order) ? -4 : -2),
    expired: -1,
    cancelled: -2,
  },
};

export function statusNumber(order: Shown): number {
  const number = NUMBERS[order.direction][order.state];
  return typeof number === 'function' ? number(order) : number;
}

/** Numbers of the first series with their words: those that are sent, and those that a sandbox order may be driven to. */
export const STATUS_WORDS: Record<Direction, ReadonlyMap<number, string>> = {
  offramp: new Map([
    [-4, 'AMOUNT_MISMATCH'],
    [-2, 'TRANSACTION_ABANDONED'],
    [-1, 'TRANSACTION_TIMED_OUT'],
    [0, 'TRANSACTION_CREATED'],
    [1, 'ON_CHAIN_DEPOSIT_RECEIVED'],
    [2, 'ON_CHAIN_DEPOSIT_CONFIRMED'],
    [3, 'ON_HOLD'],
    [4, 'TRADE_COMPLETED'],
    [5, 'FIAT_TRANSFER_INITIATED'],
    [6, 'FIAT_TRANSFER_COMPLETED'],
  ]),
  onramp: new Map([
    [-4, 'AMOUNT_MISMATCH'],
    [-2, 'TRANSACTION_ABANDONED'],
    [-1, 'TRANSACTION_TIMED_OUT'],
    [0, 'TRANSACTION_CREATED'],
    [1, 'REFERENCE_CLAIMED'],
    [2, 'FIAT_DEPOSIT_RECEIVED'],
    [3, 'TRADE_COMPLETED'],
    [4, 'ON_CHAIN_COMPLETED'],
  ]),
};

/** Numbers of the second series and their equivalents in the first. */
const TWINS: Record<Direction, ReadonlyMap<number, number>> = {
  offramp: new Map([
    [10, 1],
    [11, 2],
    [12, 3],
    [13, 4],
    [14, 5],
    [15, 6],
  ]),
  onramp: new Map([
    [10, 2],
    [11, 3],
    [12, 3],
    [13, 3],
    [14, 3],
    [15, 4],
    [16, 4],
    [5, 4],
  ]),
};

/** @returns the first series' number and its word; undefined for a number without a meaning */
export function drivenStatus(direction: Direction, text: string): { number: number; word: string } | undefined {
  if (!/^-?[0-9]{1,2}$/.test(text)) return undefined;
  const sent = Number(text);
  const number = TWINS[direction].get(sent) ?? sent;
  const word = STATUS_WORDS[direction].get(number);
  return word === undefined ? undefined : { number, word };
}
