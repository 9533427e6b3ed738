/**
 * Decisions about orders, pure: facts in, a decision out. No clock, no database, no rail.
 */
import type { OrderState } from './machine.ts';

/** What was unusual about the money that came. */
export type DepositTrouble =
  | 'unknown_target'
  | 'wrong_asset'
  | 'late'
  | 'second'
  /** Booked as received, and then taken back by the chain or bank. */
  | 'lost';

export interface ExpectedDeposit {
  state: OrderState;
  depositAsset: string;
  depositUnits: bigint;
}

export type DepositDecision =
  /** The order has all it asked for: the excess, if any, is not the order's. */
  | { outcome: 'complete'; excessUnits: bigint }
  /** A part; wait for the rest until the deadline. */
  | { outcome: 'part'; missingUnits: bigint }
  /** Money that came in no expected way: to suspense, with a case. */
  | { outcome: 'suspense'; why: DepositTrouble };

/**
 * Where a confirmed deposit belongs.
 *
 * @param order         whose target it was paid to; undefined where the target is nobody's
 * @param earlierUnits  sum of the order's parts confirmed before
 */
export function placeDeposit(
  order: ExpectedDeposit | undefined,
  deposit: { asset: string; units: bigint },
  earlierUnits: bigint,
): DepositDecision {
  if (order === undefined) return { outcome: 'suspense', why: 'unknown_target' };
  if (deposit.asset !== order.depositAsset) return { outcome: 'suspense', why: 'wrong_asset' };
  if (order.state === 'expired' || order.state === 'cancelled') return { outcome: 'suspense', why: 'late' };
  if (order.state !== 'created' && order.state !== 'deposit_seen') return { outcome: 'suspense', why: 'second' };
  const sum = earlierUnits + deposit.units;
  if (sum < order.depositUnits) return { outcome: 'part', missingUnits: order.depositUnits - sum };
  return { outcome: 'complete', excessUnits: sum - order.depositUnits };
}

export type DeadlineDecision = 'wait' | 'expire' | 'take_what_came' | 'nothing';

/**
 * What a passed deadline means.
 *
 * A deposit that was seen and is not confirmed yet came in time, so it is waited for. Parts that came and did not add up
 * are taken as an underpaid deposit, so that the order can decide about them (and give them back) instead of forgetting.
 */
export function atDeadline(
  state: OrderState,
  deposits: { unconfirmed: number; confirmedUnits: bigint },
): DeadlineDecision {
  if (state !== 'created' && state !== 'deposit_seen') return 'nothing';
  if (deposits.unconfirmed > 0) return 'wait';
  if (deposits.confirmedUnits > 0n) return 'take_what_came';
  return state === 'created' ? 'expire' : 'wait';
}

/** Reasons for which a confirmed deposit is looked at by a person before anything is converted. */
export function holdBeforePayout(
  order: { depositUnits: bigint; receivedUnits: bigint | null },
  depositLost: boolean,
): 'deposit_lost' | 'underpaid' | undefined {
  if (depositLost) return 'deposit_lost';
  // Not by the order's exception: what came since may have written another one over it.
  if (order.receivedUnits !== null && order.receivedUnits < order.depositUnits) return 'underpaid';
  return undefined;
}

/** A payout that provably never arrived is written anew by ourselves so often; then a person decides. */
export const MAX_OWN_RETRIES = 3;

export const mayRetryByItself = (why: string, attempt: number): boolean =>
  why === 'never_arrived' && attempt < MAX_OWN_RETRIES;
