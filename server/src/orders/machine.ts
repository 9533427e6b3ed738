/**
 * The order state machine, as data. One machine for both directions: a leg in, a leg out, and what may happen in between.
 *
 * Each state declares what the order's own ledger account holds while it lasts (`holds`), so that books and states check each
 * other after any history; tests and reconciliation check this. Each transition declares the ledger entry that it posts and the
 * job that falls due. An order changes only by a transition in this table.
 *
 * Not here: how an entry is built (entries.ts), what is decided from facts (decide.ts), the write itself (advance.ts).
 */

export const STATES = {
  created: { holds: 'nothing', final: false },
  deposit_seen: { holds: 'nothing', final: false },
  deposit_confirmed: { holds: 'the deposit', final: false },
  awaiting_liquidity: { holds: 'the deposit', final: false },
  on_hold: { holds: 'the deposit', final: false },
  paying_out: { holds: 'the payout, held', final: false },
  payout_held: { holds: 'the payout', final: false },
  refunding: { holds: 'the deposit, held', final: false },
  refund_held: { holds: 'the deposit', final: false },
  settled: { holds: 'nothing', final: true },
  refunded: { holds: 'nothing', final: true },
  expired: { holds: 'nothing', final: true },
  cancelled: { holds: 'nothing', final: true },
  frozen: { holds: 'nothing', final: true },
} as const satisfies Record<string, { holds: Holding; final: boolean }>;

export type Holding = 'nothing' | 'the deposit' | 'the deposit, held' | 'the payout' | 'the payout, held';
export type OrderState = keyof typeof STATES;

export type OrderEvent =
  | 'deposit_seen'
  | 'deposit_confirmed'
  | 'deposit_reversed'
  | 'requoted'
  | 'deadline_passed'
  | 'cancelled'
  | 'cleared'
  | 'short'
  | 'held'
  | 'funded'
  | 'released'
  | 'refund_requested'
  | 'payout_settled'
  | 'payout_rejected'
  | 'payout_found'
  | 'retried'
  | 'refund_settled'
  | 'refund_rejected'
  | 'refund_found'
  | 'deposit_gone'
  | 'rest_gone'
  | 'blocked';

/** Names of ledger entries; entries.ts builds them. */
export type EntryName =
  | 'receive'
  | 'convert_and_hold'
  | 'settle_payout'
  | 'void_payout'
  | 'payout_found'
  | 'convert_and_payout_found'
  | 'hold_payout'
  | 'hold_refund'
  | 'reverse_conversion'
  | 'reverse_conversion_and_hold_refund'
  | 'settle_refund'
  | 'void_refund'
  | 'refund_found'
  | 'give_up_deposit'
  | 'reverse_conversion_and_give_up'
  | 'move_to_blocked';

/** The job that falls due with a transition; advance.ts enqueues it in the same transaction. */
export type DueJob = 'expire' | 'screen' | 'send_payout' | 'send_refund' | 'await_liquidity' | 'open_case' | 'report';

export interface Transition {
  from: readonly OrderState[];
  on: OrderEvent;
  to: OrderState;
  post?: EntryName;
  then?: DueJob;
}

export const TRANSITIONS: readonly Transition[] = [
  { from: ['created'], on: 'deposit_seen', to: 'deposit_seen' },
  { from: ['created'], on: 'deadline_passed', to: 'expired' },
  { from: ['created'], on: 'cancelled', to: 'cancelled' },
  {
    from: ['created', 'deposit_seen'],
    on: 'deposit_confirmed',
    to: 'deposit_confirmed',
    post: 'receive',
    then: 'screen',
  },
  { from: ['deposit_seen'], on: 'deposit_reversed', to: 'created', then: 'expire' },

  // The only event that changes amounts, rate and fees. An unpaid order holds nothing, and a paid one holds what it received, so
  // the books do not change; a converted one undoes the conversion first.
  { from: ['created'], on: 'requoted', to: 'created' },
  { from: ['deposit_confirmed'], on: 'requoted', to: 'deposit_confirmed' },
  { from: ['on_hold', 'awaiting_liquidity'], on: 'requoted', to: 'deposit_confirmed', then: 'screen' },
  { from: ['payout_held'], on: 'requoted', to: 'deposit_confirmed', post: 'reverse_conversion', then: 'screen' },
  { from: ['deposit_confirmed'], on: 'cleared', to: 'paying_out', post: 'convert_and_hold', then: 'send_payout' },
  { from: ['deposit_confirmed'], on: 'short', to: 'awaiting_liquidity', then: 'await_liquidity' },
  { from: ['deposit_confirmed'], on: 'held', to: 'on_hold', then: 'open_case' },

  { from: ['awaiting_liquidity'], on: 'funded', to: 'paying_out', post: 'convert_and_hold', then: 'send_payout' },
  { from: ['awaiting_liquidity'], on: 'held', to: 'on_hold', then: 'open_case' },

  { from: ['on_hold'], on: 'released', to: 'paying_out', post: 'convert_and_hold', then: 'send_payout' },
  { from: ['on_hold'], on: 'short', to: 'awaiting_liquidity', then: 'await_liquidity' },
  { from: ['on_hold'], on: 'refund_requested', to: 'refunding', post: 'hold_refund', then: 'send_refund' },

  { from: ['paying_out'], on: 'payout_settled', to: 'settled', post: 'settle_payout' },
  { from: ['paying_out'], on: 'payout_rejected', to: 'payout_held', post: 'void_payout', then: 'open_case' },

  // The rail paid an attempt that it had rejected: the order's balance covers the loss that was booked.
  { from: ['payout_held'], on: 'payout_found', to: 'settled', post: 'payout_found' },
  // The same after the order's conversion was undone: two operators confirm that the attempt paid it.
  { from: ['on_hold', 'refund_held'], on: 'payout_found', to: 'settled', post: 'convert_and_payout_found' },
  // An operator holds an order that is already held, for a reason of its own, so that it is not retried, refunded or paid to
  // another destination; or releases the hold on a rejected payout. Neither step moves money.
  { from: ['on_hold'], on: 'held', to: 'on_hold', then: 'open_case' },
  { from: ['refund_held'], on: 'held', to: 'refund_held', then: 'open_case' },
  { from: ['payout_held'], on: 'held', to: 'payout_held', then: 'open_case' },
  { from: ['payout_held'], on: 'released', to: 'payout_held', then: 'open_case' },
  { from: ['payout_held'], on: 'retried', to: 'paying_out', post: 'hold_payout', then: 'send_payout' },
  {
    from: ['payout_held'],
    on: 'refund_requested',
    to: 'refunding',
    post: 'reverse_conversion_and_hold_refund',
    then: 'send_refund',
  },

  { from: ['refunding'], on: 'refund_settled', to: 'refunded', post: 'settle_refund' },
  { from: ['refunding'], on: 'refund_rejected', to: 'refund_held', post: 'void_refund', then: 'open_case' },
  { from: ['refund_held'], on: 'refund_found', to: 'refunded', post: 'refund_found' },
  { from: ['refund_held'], on: 'retried', to: 'refunding', post: 'hold_refund', then: 'send_refund' },

  // The whole deposit was reversed before anything was paid out, so nothing is left to refund.
  { from: ['on_hold', 'refund_held'], on: 'deposit_gone', to: 'cancelled', post: 'give_up_deposit' },
  { from: ['payout_held'], on: 'deposit_gone', to: 'cancelled', post: 'reverse_conversion_and_give_up' },
  // One deposit of several was refunded, and the others were reversed.
  { from: ['refund_held'], on: 'rest_gone', to: 'refunded', post: 'give_up_deposit' },

  {
    from: ['on_hold', 'payout_held', 'refund_held'],
    on: 'blocked',
    to: 'frozen',
    post: 'move_to_blocked',
    then: 'report',
  },
];

const byStateAndEvent = new Map(
  TRANSITIONS.flatMap((row) => row.from.map((from) => [`${from} ${row.on}`, row] as const)),
);

/** The transition of an event in a state; undefined if there is none: then the event is a duplicate or needs a case. */
export function next(state: OrderState, event: OrderEvent): Transition | undefined {
  return byStateAndEvent.get(`${state} ${event}`);
}

/** Every state from which an event is legal: the SQL of the write repeats this condition. */
export function legalFrom(event: OrderEvent, to: OrderState): OrderState[] {
  return TRANSITIONS.filter((row) => row.on === event && row.to === to).flatMap((row) => [...row.from]);
}

/**
 * States that a rail's event or an operator's action ends. Each has a deadline in the order's policy. An unpaid order has a
 * deadline of its own.
 */
export type WaitingState = Exclude<OrderState, 'created' | 'settled' | 'refunded' | 'expired' | 'cancelled' | 'frozen'>;

export const isWaiting = (state: OrderState): state is WaitingState => state !== 'created' && !isFinal(state);

export const isFinal = (state: OrderState): boolean => STATES[state].final;
