/**
 * Decisions about orders. Pure: facts in, a decision out; no clock, no database, no rail.
 *
 * If the amount, time or asset differs from the request, the order's own policy decides; partners/policies.ts has its terms.
 */
import { quoteToBase, type Rate, ratesWithin } from '../base/money.ts';
import type { Deadline, Policy } from '../partners/index.ts';
import type { Fees } from '../quotes/index.ts';
import { isWaiting, type OrderState } from './machine.ts';

/** What was unusual about a deposit. */
export type DepositTrouble =
  | 'unknown_target'
  | 'wrong_asset'
  /** It arrived on another of our chains, at the order's address there. */
  | 'wrong_chain'
  | 'late'
  | 'second'
  /** Booked as received, then reversed by the chain or bank. */
  | 'lost';

export interface ExpectedDeposit {
  state: OrderState;
  depositRail: string;
  depositAsset: string;
  depositUnits: bigint;
}

export type DepositDecision =
  /** The order has its full amount; an excess does not belong to the order. */
  | { outcome: 'complete'; excessUnits: bigint }
  /** The order has a part of its amount: it waits for the rest until the deadline. */
  | { outcome: 'part'; missingUnits: bigint }
  /** Unexpected money: to suspense, with a case. */
  | { outcome: 'suspense'; why: DepositTrouble };

/**
 * Where a confirmed deposit belongs.
 *
 * A deposit is late if it arrived after the deadline by the rail's clock, or for an order that has ended. An order does not end
 * until its rail has been read up to the deadline, so a deposit is not late only because the server was down and read it late.
 *
 * @param order the order whose target was paid; undefined if no order has the target
 * @param earlierUnits  sum of the order's parts confirmed before
 */
export function placeDeposit(
  order: ExpectedDeposit | undefined,
  deposit: { rail: string; asset: string; units: bigint; late?: boolean },
  earlierUnits: bigint,
): DepositDecision {
  if (order === undefined) return { outcome: 'suspense', why: 'unknown_target' };
  if (deposit.rail !== order.depositRail) return { outcome: 'suspense', why: 'wrong_chain' };
  if (deposit.asset !== order.depositAsset) return { outcome: 'suspense', why: 'wrong_asset' };
  if (order.state === 'expired' || order.state === 'cancelled') return { outcome: 'suspense', why: 'late' };
  if (order.state !== 'created' && order.state !== 'deposit_seen') return { outcome: 'suspense', why: 'second' };
  if (deposit.late === true) return { outcome: 'suspense', why: 'late' };
  const sum = earlierUnits + deposit.units;
  if (sum < order.depositUnits) return { outcome: 'part', missingUnits: order.depositUnits - sum };
  return { outcome: 'complete', excessUnits: sum - order.depositUnits };
}

export type DeadlineDecision = 'wait' | 'expire' | 'take_what_came' | 'nothing';

/**
 * What a passed deadline means.
 *
 * A deposit that was seen in time but is not confirmed yet keeps the order waiting; so does a rail that has not been read up to
 * the deadline. Partial deposits are applied as an underpaid deposit, so that the order decides about them (and can refund them)
 * instead of expiring without them.
 *
 * @param deposits the deposits that arrived in time, and whether the rail may have more that are not read yet
 */
export function atDeadline(
  state: OrderState,
  deposits: { unconfirmed: number; confirmedUnits: bigint; allRead: boolean },
): DeadlineDecision {
  if (state !== 'created' && state !== 'deposit_seen') return 'nothing';
  if (deposits.unconfirmed > 0 || !deposits.allRead) return 'wait';
  if (deposits.confirmedUnits > 0n) return 'take_what_came';
  return state === 'created' ? 'expire' : 'wait';
}

/** What happens to money that no order accepts. A policy applies only to money that was paid for an order. */
export function onExtra(why: DepositTrouble, policy: Policy | undefined): 'hold' | 'refund' | 'new_order' {
  const question = QUESTION[why];
  return policy === undefined || question === undefined ? 'hold' : policy[question].then;
}

const QUESTION: Partial<Record<DepositTrouble, 'late' | 'second' | 'wrongAsset' | 'wrongChain'>> = {
  late: 'late',
  second: 'second',
  wrong_asset: 'wrongAsset',
  wrong_chain: 'wrongChain',
};

/** `|a − b| ≤ b × bps / 10 000`. */
const within = (a: bigint, b: bigint, bps: number): boolean => (a > b ? a - b : b - a) * 10_000n <= b * BigInt(bps);

/**
 * How much of an overpaid deposit an order accepts: all of it if the order continues with all of it or refunds all of it;
 * otherwise the amount that it asked for, and the excess stays in suspense.
 *
 * @param most the maximum the customer may pay at once on this market
 */
export function takeOfTooMuch(
  { depositUnits }: { depositUnits: bigint },
  sumUnits: bigint,
  { acceptBps, beyond }: Policy['overpaid'],
  most: bigint,
): 'all' | 'hold_excess' | 'refund_excess' {
  if (within(sumUnits, depositUnits, acceptBps) && sumUnits <= most) return 'all';
  return beyond === 'refund_all' ? 'all' : beyond;
}

/** What happens to an order that received another amount than it asked for. */
export function onAmount(
  { depositUnits, receivedUnits }: { depositUnits: bigint; receivedUnits: bigint | null },
  policy: Policy,
): 'as_asked' | 'accept' | 'hold' | 'refund' {
  if (receivedUnits === null || receivedUnits === depositUnits) return 'as_asked';
  const { acceptBps, beyond } = receivedUnits < depositUnits ? policy.underpaid : policy.overpaid;
  if (within(receivedUnits, depositUnits, acceptBps)) return 'accept';
  // An overpaid amount is accepted whole only in order to be refunded.
  return beyond === 'hold' ? 'hold' : 'refund';
}

/**
 * Whether the booked rate must be compared with the current price: the deposit came after the rate lock ended, and the policy
 * requires it.
 *
 * @param cameAt when the deposit that completed the amount arrived
 */
export const rateIsOpen = (order: { rateLockedUntil: Date }, cameAt: Date | undefined, policy: Policy): boolean =>
  policy.priceMoved.then !== 'honour' && cameAt !== undefined && cameAt > order.rateLockedUntil;

/** What happens to an expired rate at the current price. With a tolerance of 0 bps only an identical rate is accepted. */
export const onPrice = (booked: Rate, now: Rate, { bps, then }: Policy['priceMoved']): Policy['priceMoved']['then'] =>
  ratesWithin(now, booked, BigInt(bps)) ? 'honour' : then;

/** One problem found before an order is paid out, and what to do about it. */
export interface Finding {
  reason: string;
  then: 'hold' | 'refund';
}

/** Why a deposit is refunded, in the partner's terms. */
export const failureOf = (reason: string): 'amount' | 'name' | 'other' =>
  reason === 'underpaid' || reason === 'overpaid' ? 'amount' : reason === 'payer_name' ? 'name' : 'other';

/**
 * Whether an order is held or refunded before its payout. It is refunded automatically only if all findings allow that: a finding
 * that needs an operator prevents a refund for which another finding asks.
 */
export function beforePayout(found: readonly Finding[]): { reason: string; refund: boolean } | undefined {
  const [first] = found;
  return first && { reason: first.reason, refund: found.every(({ then }) => then === 'refund') };
}

/** Reasons for which an order cannot be converted as it is; no approval changes that. */
export function holdBeforePayout(
  order: { depositUnits: bigint; receivedUnits: bigint | null },
  depositLost: boolean,
): 'deposit_lost' | 'underpaid' | 'overpaid' | undefined {
  if (depositLost) return 'deposit_lost';
  // Not read from the order's exception, because a later deposit may have overwritten that.
  if (order.receivedUnits === null || order.receivedUnits === order.depositUnits) return undefined;
  return order.receivedUnits < order.depositUnits ? 'underpaid' : 'overpaid';
}

/**
 * What we keep of a refunded deposit, in its smallest units: the fees that the order's policy names, as booked. The tax is never
 * kept: it is withheld on a trade, and none took place. Fees are in the fiat; from crypto they are taken at the booked rate,
 * rounded down, because we pay. If they would consume the whole deposit, nothing is kept, because a refund of zero cannot be
 * sent.
 *
 * @param decimals of the market's crypto (base) and fiat (quote)
 */
export function keptOnRefund(
  order: { depositAsset: string; fiatAsset: string; fees: Omit<Fees, 'tax'>; rate: Rate; policy: Policy },
  grossUnits: bigint,
  decimals: { base: number; quote: number },
): bigint {
  const { fees, policy } = order;
  const fiatUnits = policy.refundFees.keep.reduce((sum, kind) => sum + fees[kind], 0n);
  const isFiat = order.depositAsset === order.fiatAsset;
  const units = isFiat ? fiatUnits : quoteToBase(fiatUnits, order.rate, decimals, 'down');
  return units < grossUnits ? units : 0n;
}

/** Prefix of the reason of a payout or refund that the gate held. */
export const HELD_AT_GATE = 'held: ';

/**
 * Whether only an operator may decide about the order's money: screening, the gate or an operator has held it, so no deadline
 * refunds it automatically.
 */
export function isForAPerson(history: readonly HoldStep[]): boolean {
  const last = lastHold(history);
  if (last === undefined) return false;
  const { by, why, heldBy } = last.facts ?? {};
  return by === 'screening' || heldBy === 'operator' || (typeof why === 'string' && why.startsWith(HELD_AT_GATE));
}

/**
 * As `isForAPerson`, but false if an operator has already decided about that hold by a refund that waits for its destination. The
 * decision covers the hold on which it was made, and the earlier holds, which apply again when that one is released.
 */
export const awaitsPerson = (
  { refundRequest }: { refundRequest: { decidedHold?: number } | null },
  history: readonly (HoldStep & { version: number })[],
): boolean => isForAPerson(history) && (lastHold(history)?.version ?? 0) > (refundRequest?.decidedHold ?? -1);

const HOLDING = ['held', 'payout_rejected', 'refund_rejected'];

/** The part of an order's history step that describes holds. */
interface HoldStep {
  event: string;
  facts?: Record<string, unknown>;
  stateFrom?: string;
}

/**
 * The latest history step that put an order on hold, by an operator or by its policy. An operator may also hold an order whose
 * payout was rejected; when that hold is released, the hold before it applies again, if there was one.
 */
export function lastHold<H extends HoldStep>(history: readonly H[]): H | undefined {
  let standing: readonly H[] = [];
  for (const step of history) {
    const isBesides = step.stateFrom === 'payout_held';
    if (HOLDING.includes(step.event)) standing = isBesides ? [...standing, step] : [step];
    else if (step.event === 'released' && isBesides) standing = standing.filter((one) => !isByOperator(one));
  }
  return standing.at(-1);
}

const isByOperator = (step: HoldStep | undefined): boolean => step?.facts?.heldBy === 'operator';

/** Whether an operator's hold is on: only a release ends it, and no other decision continues the order meanwhile. */
export const isHeldByOperator = (history: readonly HoldStep[]): boolean => isByOperator(lastHold(history));

/** Whether an operator has held the order, or the travel rule has refused it, since this version of it. */
export const isHeldSince = (history: readonly (HoldStep & { version: number })[], version: number): boolean =>
  history.some(
    (step) =>
      step.version > version && HOLDING.includes(step.event) && (isByOperator(step) || step.facts?.heldBy === 'rule'),
  );

/**
 * How long a state may last and what happens then; undefined if the order waits for nothing, or if an unpaid order's own deadline
 * applies.
 */
export const deadlineOf = (state: OrderState, policy: Policy): Deadline | undefined =>
  isWaiting(state) ? policy.waiting[state] : undefined;

/** Reason for cancelling an attempt: an earlier attempt that its rail had rejected has arrived. */
export const PAID_BEFORE = 'an attempt before it was paid after all';

/** An order's exception if operators decided that a payment of another amount settles it; the difference is booked. */
export const PAID_OTHER_AMOUNT = 'paid_other_amount';

/** What the order's history records about that; empty if the order was paid its own amount. */
export function paidOtherwise(
  paid: { paidUnits: bigint | null; units: bigint },
  order: { payoutUnits: bigint },
): { paidUnits?: string; orderedUnits?: string } {
  const units = paid.paidUnits ?? paid.units;
  return units === order.payoutUnits ? {} : { paidUnits: String(units), orderedUnits: String(order.payoutUnits) };
}

/** How often a payout that provably never arrived is sent again automatically; after that an operator decides. */
export const MAX_OWN_RETRIES = 3;

export const mayRetryByItself = (why: string, attempt: number): boolean =>
  why === 'never_arrived' && attempt < MAX_OWN_RETRIES;
