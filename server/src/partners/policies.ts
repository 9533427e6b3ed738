/**
 * Policies: what an order does when amount, time or price differ from what was asked. Data: questions, and an answer to each.
 *
 * A partner's answer on a market overrides the market's, which overrides the built-in one, field by field. An order takes a
 * copy when it is created and keeps it, so a changed row applies to new orders, within two seconds, and to none under way.
 *
 * Numbers here are basis points and seconds, never money.
 *
 * Not here: the effect of an answer (orders/decide.ts), fees and limits themselves (fees.ts, limits.ts).
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import * as base from '../base/fields.ts';
import { jsonOf, type Reason, recordChange, UNSAID } from './changes.ts';
import type { FeeKind } from './fees.ts';
import type { Market } from './markets.ts';
import { remember } from './remember.ts';
import { policyRows, sql } from './store.ts';

/** What a form asks for: a number, one of `choices`, or any of them. */
export interface PolicyInput {
  /** Name inside the field, where that is an object. */
  readonly part?: string;
  readonly kind: 'number' | 'word' | 'words';
  readonly unit?: 'bps' | 's';
  readonly min?: number;
  readonly max?: number;
  /** Null is a value, too. */
  readonly orNull?: true;
  readonly choices?: readonly string[];
}

/** One field of an answer: its valid values, their description, and what a form asks for. */
interface Field<T> {
  rule: string;
  is(value: unknown): value is T;
  inputs: readonly PolicyInput[];
}

/** What happens when a state has lasted too long: a case is opened, or the money is refunded. */
export interface Deadline<Then extends string = 'case' | 'refund'> {
  readonly afterS: number;
  readonly then: Then;
}

const FOR_EVER_S = 365 * 86_400;
const MOST_BPS = 10_000;
const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

const bps: Field<number> = {
  rule: `must be basis points: a whole number from 0 to ${MOST_BPS}`,
  is: (value) => isWhole(value, 0, MOST_BPS),
  inputs: [{ kind: 'number', unit: 'bps', min: 0, max: MOST_BPS }],
};
const secondsOrNull: Field<number | null> = {
  rule: 'must be a whole number of seconds up to a year, or null',
  is: (value): value is number | null => value === null || isWhole(value, 0, FOR_EVER_S),
  inputs: [{ kind: 'number', unit: 's', min: 0, max: FOR_EVER_S, orNull: true }],
};
function oneOf<T extends string>(...words: readonly T[]): Field<T> {
  const { rule, read } = base.oneOf(words);
  return {
    rule: `must be ${rule}`,
    is: (value): value is T => read(value) !== undefined,
    inputs: [{ kind: 'word', choices: words }],
  };
}
const someOf = <T extends string>(...words: readonly T[]): Field<readonly T[]> => ({
  rule: `must be a list of ${words.join(', ')}, each at most once`,
  is: (value): value is readonly T[] =>
    Array.isArray(value) && value.every((one) => words.includes(one)) && new Set(value).size === value.length,
  inputs: [{ kind: 'words', choices: words }],
});
function deadline<T extends string>(...then: readonly T[]): Field<Deadline<T>> {
  return {
    rule: `must be {afterS: whole seconds from 1 to a year, then: ${then.join(' or ')}}`,
    is: (value): value is Deadline<T> => {
      if (!isObject(value) || Object.keys(value).length !== 2) return false;
      return isWhole(value.afterS, 1, FOR_EVER_S) && then.some((word) => word === value.then);
    },
    inputs: [
      { part: 'afterS', kind: 'number', unit: 's', min: 1, max: FOR_EVER_S },
      { part: 'then', kind: 'word', choices: then },
    ],
  };
}

/** Every question and the fields of its answer. */
const QUESTIONS = {
  /** Less than requested arrived, and the deadline has passed. Within the tolerance the order continues at the new amount. */
  underpaid: { acceptBps: bps, beyond: oneOf('hold', 'refund') },
  /** More than requested arrived. Within the tolerance the order continues at the new amount. */
  overpaid: { acceptBps: bps, beyond: oneOf('hold_excess', 'refund_excess', 'refund_all') },
  /** The money arrived after the order had expired or was cancelled. */
  late: { then: oneOf('hold', 'refund', 'new_order') },
  /** The money arrived when the order already had its deposit, whether it is under way or over. */
  second: { then: oneOf('hold', 'refund', 'new_order') },
  /** Another asset of ours arrived by the right rail: another token, or the chain's native asset. */
  wrongAsset: { then: oneOf('hold', 'refund') },
  /** The money arrived on another of our chains, and is refunded there. */
  wrongChain: { then: oneOf('hold', 'refund') },
  /**
   * The current price differs by more than this from the booked one, and the deposit arrived after the rate lock ended. A
   * lock is a promise: a deposit within it is honoured. `lockS` counts from the order's creation; null: until its deadline.
   */
  priceMoved: { lockS: secondsOrNull, bps, then: oneOf('honour', 'requote', 'refund') },
  /** The bank names a payer other than the customer. */
  payerName: { then: oneOf('hold', 'refund') },
  /** Fees that we keep when a deposit is refunded. */
  refundFees: { keep: someOf<FeeKind>('operator', 'partner', 'rail', 'chain') },
  /** How long a state may last, and what happens then. Money that may be on its way is never refunded by a timer. */
  waiting: {
    deposit_seen: deadline('case'),
    deposit_confirmed: deadline('case'),
    awaiting_liquidity: deadline('case', 'refund'),
    on_hold: deadline('case', 'refund'),
    paying_out: deadline('case'),
    payout_held: deadline('case'),
    refunding: deadline('case'),
    refund_held: deadline('case'),
  },
} as const satisfies Record<string, Record<string, Field<unknown>>>;

export type PolicyQuestion = keyof typeof QUESTIONS;
export const POLICY_QUESTIONS = Object.keys(QUESTIONS) as PolicyQuestion[];
/** What a form of this question asks for, by field. */
export const policyInputs = (question: PolicyQuestion): { field: string; inputs: readonly PolicyInput[] }[] =>
  Object.entries<Field<unknown>>(QUESTIONS[question]).map(([field, { inputs }]) => ({ field, inputs }));
export type Policy = {
  readonly [Q in PolicyQuestion]: {
    readonly [F in keyof (typeof QUESTIONS)[Q]]: (typeof QUESTIONS)[Q][F] extends Field<infer T> ? T : never;
  };
};
export type PolicyAnswer<Q extends PolicyQuestion = PolicyQuestion> = Partial<Policy[Q]>;

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** Nothing happens automatically to money that differs from the request: it waits for an operator, with a case. */
export const BUILT_IN_POLICY: Policy = {
  underpaid: { acceptBps: 0, beyond: 'hold' },
  overpaid: { acceptBps: 0, beyond: 'hold_excess' },
  late: { then: 'hold' },
  second: { then: 'hold' },
  wrongAsset: { then: 'hold' },
  wrongChain: { then: 'hold' },
  priceMoved: { lockS: null, bps: 0, then: 'honour' },
  payerName: { then: 'hold' },
  refundFees: { keep: [] },
  waiting: {
    deposit_seen: { afterS: DAY_S, then: 'case' },
    // Screening takes seconds. If it takes an hour, something on our side is broken.
    deposit_confirmed: { afterS: HOUR_S, then: 'case' },
    awaiting_liquidity: { afterS: DAY_S, then: 'case' },
    on_hold: { afterS: DAY_S, then: 'case' },
    paying_out: { afterS: DAY_S, then: 'case' },
    payout_held: { afterS: DAY_S, then: 'case' },
    refunding: { afterS: DAY_S, then: 'case' },
    refund_held: { afterS: DAY_S, then: 'case' },
  },
};

const remembered = remember<Policy>({ forMs: 2_000, most: 10_000 });

/** The policy for a new order of this partner on this market. */
export async function policyFor(tx: Tx, market: Pick<Market, 'id'>, partnerId: bigint): Promise<Policy> {
  return await remembered.get(tx, `${market.id}:${partnerId}`, async () => {
    const rows = await policyRows(tx, market.id, partnerId);
    return rows.reduce((policy, row) => over(policy, { [row.question]: row.answer }), BUILT_IN_POLICY);
  });
}

/**
 * Parses a policy stored with an order. Questions newer than the policy get the built-in answer, which was the behaviour at
 * the time. Questions of a newer server version are ignored: while both versions run, this one uses those it knows.
 */
export function readPolicy(kept: unknown): Policy {
  assert(isObject(kept), 'the policy is not an object of answers');
  const asked = Object.entries(kept).filter(([question]) => Object.hasOwn(QUESTIONS, question));
  return over(BUILT_IN_POLICY, Object.fromEntries(asked));
}

/** @throws Refusal 'malformed_field' that names the question or field and its rule */
export function requirePolicy(question: string, answer: unknown): void {
  const wrong = wrongIn(question, answer);
  if (wrong !== undefined) throw new Refusal('malformed_field', { fields: { [wrong.name]: wrong.rule } });
}

/**
 * Sets the answer to one question on a market, for one partner or (null) for all without their own; a null answer removes it.
 * Recorded with who and why.
 *
 * @throws Refusal 'malformed_field' that names the question or field and its rule
 */
export async function setPolicy<Q extends PolicyQuestion>(
  tx: Tx,
  p: { marketId: bigint; partnerId: bigint | null; question: Q; answer: PolicyAnswer<Q> | null },
  reason: Reason = UNSAID,
): Promise<void> {
  const { marketId, partnerId, question, answer } = p;
  requirePolicy(question, answer ?? {});
  const look = () => jsonOf(tx, sql.policyJson, [marketId, partnerId, question]);
  const before = await look();
  if (answer === null) await tx.run(sql.removePolicy, [marketId, partnerId, question]);
  else await tx.run(sql.upsertPolicy, [marketId, partnerId, question, JSON.stringify(answer)]);
  await recordChange(tx, { what: 'policy', marketId, partnerId, item: question, before, after: await look(), reason });
  remembered.forget(tx);
}

/** Merges answers over others, field by field. Values written without `setPolicy` are validated here, and throw. */
function over(policy: Policy, answers: unknown): Policy {
  assert(isObject(answers), 'the policy is not an object of answers');
  const merged: Record<string, object> = { ...policy };
  for (const [question, answer] of Object.entries(answers)) {
    const wrong = wrongIn(question, answer);
    assert(wrong === undefined, `the stored policy for ${wrong?.name} ${wrong?.rule}`);
    merged[question] = { ...merged[question], ...(answer as object) };
  }
  return merged as Policy;
}

function wrongIn(question: string, answer: unknown): { name: string; rule: string } | undefined {
  if (!Object.hasOwn(QUESTIONS, question))
    return { name: question, rule: `must be one of ${Object.keys(QUESTIONS).join(', ')}` };
  const fields: Record<string, Field<unknown>> = QUESTIONS[question as PolicyQuestion];
  if (!isObject(answer)) return { name: question, rule: `must be an object with ${Object.keys(fields).join(', ')}` };
  for (const [name, value] of Object.entries(answer)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      return { name: `${question}.${name}`, rule: `is no field: there are ${Object.keys(fields).join(', ')}` };
    }
    if (!field.is(value)) return { name: `${question}.${name}`, rule: field.rule };
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
