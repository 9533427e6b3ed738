/**
 * Decisions about orders, pure: facts in, a decision out. No clock, no database, no rail.
 *
 * Where money comes otherwise than asked the order's own policy answers; the words it answers with are partners/policies.ts.
 */
import { quoteToBase, type Rate, ratesWithin } from '../base/money.ts';
import type { Deadline, Policy } from '../partners/index.ts';
import type { Fees } from '../quotes/index.ts';
import { isWaiting, type OrderState } from './machine.ts';

/** What was unusual about the money that came. */
export type DepositTrouble =
  | 'unknown_target'
  | 'wrong_asset'
  /** On another of our chains, at the order's address there. */
  | 'wrong_chain'
  | 'late'
  | 'second'
  /** Booked as received, and then reversed by the chain or bank. */
  | 'lost';

export interface ExpectedDeposit {
  state: OrderState;
  depositRail: string;
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
 * Late is what came after the deadline by the outside's own time, or to an order that has ended. Until the rail has been read
 * up to its deadline an order does not end, so what we see late because we were away is not late.
 *
 * @param order         whose target it was paid to; undefined where the target is nobody's
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
 * A deposit that was seen and is not confirmed yet came in time, so it is waited for; and so is the rail, until it has been
 * read up to the deadline. Parts that came and did not add up are taken as an underpaid deposit, so that the order can decide
 * about them (and give them back) instead of forgetting.
 *
 * @param deposits those that came in time, and whether others may have that we have not read of
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

/** What is done with money that no order takes. Only of what came for an order does a policy say anything. */
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
 * What an order takes of more than it asked for. All of it where it goes on with all of it, or goes back as a whole; else
 * what it asked for, and the excess stays in suspense.
 *
 * @param most what the customer may give at once on this market
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

/** What becomes of an order that has received another amount than it asked for. */
export function onAmount(
  { depositUnits, receivedUnits }: { depositUnits: bigint; receivedUnits: bigint | null },
  policy: Policy,
): 'as_asked' | 'accept' | 'hold' | 'refund' {
  if (receivedUnits === null || receivedUnits === depositUnits) return 'as_asked';
  const { acceptBps, beyond } = receivedUnits < depositUnits ? policy.underpaid : policy.overpaid;
  if (within(receivedUnits, depositUnits, acceptBps)) return 'accept';
  // Of too much, all is taken only to be refunded.
  return beyond === 'hold' ? 'hold' : 'refund';
}

/**
 * Whether an order's booked rate may be asked about: its deposit came when the lock was over, and the policy cares.
 *
 * @param cameAt when the deposit that made it whole was first seen
 */
export const rateIsOpen = (order: { rateLockedUntil: Date }, cameAt: Date | undefined, policy: Policy): boolean =>
  policy.priceMoved.then !== 'honour' && cameAt !== undefined && cameAt > order.rateLockedUntil;

/** What becomes of a booked rate that is open, at the price of now. A band of zero lets nothing but the very same pass. */
export const onPrice = (booked: Rate, now: Rate, { bps, then }: Policy['priceMoved']): Policy['priceMoved']['then'] =>
  ratesWithin(now, booked, BigInt(bps)) ? 'honour' : then;

/** One thing that is wrong with an order before it is paid out, and what is done about it. */
export interface Finding {
  reason: string;
  then: 'hold' | 'refund';
}

/** Why a deposit goes back, in the partner's terms. */
export const failureOf = (reason: string): 'amount' | 'name' | 'other' =>
  reason === 'underpaid' || reason === 'overpaid' ? 'amount' : reason === 'payer_name' ? 'name' : 'other';

/**
 * Whether an order is paid out. It goes back by itself only where everything that was found says so: what one finding wants
 * a person to see, another does not send away.
 */
export function beforePayout(found: readonly Finding[]): { reason: string; refund: boolean } | undefined {
  const [first] = found;
  return first && { reason: first.reason, refund: found.every(({ then }) => then === 'refund') };
}

/** Reasons for which nobody, whoever they are, may have an order converted as it stands. */
export function holdBeforePayout(
  order: { depositUnits: bigint; receivedUnits: bigint | null },
  depositLost: boolean,
): 'deposit_lost' | 'underpaid' | 'overpaid' | undefined {
  if (depositLost) return 'deposit_lost';
  // Not by the order's exception: what came since may have written another one over it.
  if (order.receivedUnits === null || order.receivedUnits === order.depositUnits) return undefined;
  return order.receivedUnits < order.depositUnits ? 'underpaid' : 'overpaid';
}

/**
 * What stays with us of a deposit that goes back, in its smallest units: the fees that the order's policy names, as booked.
 * Never the tax: it is withheld of a trade, and there was none.
 * Fees stand in the fiat; of crypto they are taken at the booked rate, rounded down, because we pay. Where they would eat up
 * all of it nothing is kept: a refund that gives nothing back is none.
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

/** Prefix of the reason under which a payout or refund ends that the gate holds. */
export const HELD_AT_GATE = 'held: ';

/**
 * Whether only a person may decide about what an order holds: screening, the gate or an operator has held it, so no deadline
 * gives it back by itself.
 */
export function isForAPerson(history: readonly { event: string; facts: Record<string, unknown> }[]): boolean {
  const last = lastHold(history);
  if (last === undefined) return false;
  const { by, why, heldBy } = last.facts;
  return by === 'screening' || heldBy === 'operator' || (typeof why === 'string' && why.startsWith(HELD_AT_GATE));
}

const HOLDING = ['held', 'payout_rejected', 'refund_rejected'];

/** The step of an order's history that last gave it to a person, or to its policy. */
export const lastHold = <H extends { event: string }>(history: readonly H[]): H | undefined =>
  history.findLast(({ event }) => HOLDING.includes(event));

/** How long a state may last and what then; undefined where nothing is waited for, or the unpaid order's own deadline is. */
export const deadlineOf = (state: OrderState, policy: Policy): Deadline | undefined =>
  isWaiting(state) ? policy.waiting[state] : undefined;

/** Why an attempt is stopped: the one before it, which its rail had rejected, has arrived. */
export const PAID_BEFORE = 'an attempt before it was paid after all';

/** An order's exception where another amount was paid for it than it says: by people's word, with the difference booked. */
export const PAID_OTHER_AMOUNT = 'paid_other_amount';

/** What its history says of that; nothing where it was paid what it says. */
export function paidOtherwise(
  paid: { paidUnits: bigint | null; units: bigint },
  order: { payoutUnits: bigint },
): { paidUnits?: string; orderedUnits?: string } {
  const units = paid.paidUnits ?? paid.units;
  return units === order.payoutUnits ? {} : { paidUnits: String(units), orderedUnits: String(order.payoutUnits) };
}

/** A payout that provably never arrived is written anew by ourselves so often; then a person decides. */
export const MAX_OWN_RETRIES = 3;

export const mayRetryByItself = (why: string, attempt: number): boolean =>
  why === 'never_arrived' && attempt < MAX_OWN_RETRIES;
