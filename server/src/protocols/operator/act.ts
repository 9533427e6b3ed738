/**
 * An act: something an operator does, as data, and the one way in which every act is carried out.
 *
 * Right, reason and fields first. Then, in one transaction: what it is about is looked at (and locked), whether it needs a
 * second operator is asked, it is done, and the audit gets its row with before and after. An act that has to ask somebody
 * outside is audited as begun, does its own transactions, and is audited again with its end.
 *
 * Where a second operator is needed it becomes a proposal. Confirming looks again: where what it is about has changed, the
 * proposal is overtaken and nothing is done.
 */
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import {
  type Doing,
  decideProposal,
  findOperator,
  isAsSeen,
  lockProposal,
  may,
  type Needs,
  needsSecond,
  type Operator,
  propose,
  type Right,
  recordAct,
} from '../../operators/index.ts';
import type { OrdersContext } from '../../orders/index.ts';
import type { BankDesk } from './bank.ts';
import { type Fields, readFields, reason, type Values } from './fields.ts';

export interface OperatorDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
  orders: OrdersContext;
  /** Rings for what waited while handing over was stopped. */
  handOverAgain: (tx: Tx, now: Date) => Promise<void>;
  chainStops: ChainStops;
  /** The desk of a bank without an API, where there is one. */
  bank?: BankDesk<unknown>;
}

/** Chains that stop by themselves, and go on when a person has looked. */
export interface ChainStops {
  /** Codes of the rails that are chains. */
  codes: readonly string[];
  /** Null where it is not stopped; locked, so that it stays as it was seen. */
  why(tx: Tx, rail: string): Promise<string | null>;
  /** `restart` begins again below what was final when it stopped. */
  clear(tx: Tx, rail: string, options: { restart: boolean }): Promise<void>;
}

export interface Act<F extends Fields = Fields> {
  /** Noun and verb: `order.release`. */
  name: string;
  /** Under /operator/v1, always POST; its `:names` are fields. */
  path: string;
  right: Right;
  fields: F;
  subject(ask: Values<F>): string;
  /** What it is about as it stands, null where it is yet to be made. Locked where that matters. Ids, states, amounts. */
  look(deps: OperatorDeps, tx: Tx, ask: Values<F>): Promise<unknown>;
  /** What two have to agree on, if anything. */
  needs?(deps: OperatorDeps, tx: Tx, ask: Values<F>, doing: Doing): Promise<Needs | undefined>;
  /** @returns what only the caller is shown: a secret, or something personal */
  perform?(deps: OperatorDeps, tx: Tx, ask: Values<F>, doing: Doing): Promise<Readonly<Record<string, unknown>> | void>;
  /** Instead of `perform`, where somebody outside is asked. */
  outside?(deps: OperatorDeps, ask: Values<F>, doing: Doing): Promise<void>;
}

/** Keeps the types of its fields while it is written down. */
export const act = <F extends Fields>(written: Act<F>): Act => written as unknown as Act;

export interface ActReply {
  status: number;
  body: Readonly<Record<string, unknown>>;
}

export interface Caller {
  operator: Operator;
  address: string;
}

const withReason = (fields: Fields): Fields => ({ ...fields, reason });

/** @throws Refusal of the act, or 'role_missing' | 'missing_fields' | 'malformed_field' */
export async function perform(
  deps: OperatorDeps,
  act: Act,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
): Promise<ActReply> {
  requireRight(caller.operator, act.right);
  const { reason: why, ...ask } = readFields(withReason(act.fields), given);
  const doing: Doing = { ...caller, reason: String(why), now: deps.clock.now() };
  const subject = act.subject(ask);
  const begun = await deps.db.asSystem(async (tx) => {
    const before = await act.look(deps, tx, ask);
    const needs = await act.needs?.(deps, tx, ask, doing);
    if (needs !== undefined && (await needsSecond(tx, needs))) {
      const proposed = await propose(tx, doing, { act: act.name, subject, ask, seen: before });
      return { proposal: proposed };
    }
    return await carryOut(deps, tx, { act, ask, doing, before });
  });
  if ('proposal' in begun)
    return {
      status: 202,
      body: {
        act: act.name,
        subject,
        outcome: 'proposed',
        proposal: begun.proposal.id,
        expiresAt: begun.proposal.expiresAt,
      },
    };
  return await end(deps, { act, ask, doing }, begun);
}

/** @throws Refusal 'unknown_proposal' | 'proposal_over' | 'own_proposal' | 'role_missing', or of the act */
export async function confirm(
  deps: OperatorDeps,
  acts: ReadonlyMap<string, Act>,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
  id: bigint,
): Promise<ActReply> {
  const { reason: why } = readFields({ reason }, given);
  const confirming: Doing = { ...caller, reason: why, now: deps.clock.now() };
  const begun = await deps.db.asSystem(async (tx) => {
    const row = await lockProposal(tx, id, confirming.now);
    const act = acts.get(row.act);
    assert(act !== undefined, `act ${row.act} of proposal ${id} is known`);
    requireRight(caller.operator, act.right);
    if (row.proposed_by === caller.operator.id) throw new Refusal('own_proposal');
    const ask = readFields(act.fields, row.ask);
    const before = await act.look(deps, tx, ask);
    const proposer = await findOperator(tx, row.proposer);
    const stillMay = proposer.disabledAt === null && may(proposer, act.right);
    if (!stillMay || !isAsSeen(row, before)) {
      await decideProposal(tx, confirming, row, 'overtaken', { before: row.seen, after: before });
      return { overtaken: row };
    }
    await decideProposal(tx, confirming, row, 'confirmed');
    const doing: Doing = {
      ...confirming,
      reason: `${row.reason} (proposed by ${row.proposer}; ${why})`.slice(0, 500),
    };
    return { act, ask, doing, begun: await carryOut(deps, tx, { act, ask, doing, before, proposal: id }) };
  });
  if ('overtaken' in begun)
    return {
      status: 409,
      body: {
        error: 'What this is about, or who proposed it, is not as it was then. Nothing was done.',
        reason: 'proposal_overtaken',
      },
    };
  return await end(deps, { ...begun, proposal: id }, begun.begun);
}

export async function decline(
  deps: OperatorDeps,
  acts: ReadonlyMap<string, Act>,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
  id: bigint,
): Promise<ActReply> {
  const { reason: why } = readFields({ reason }, given);
  const doing: Doing = { ...caller, reason: why, now: deps.clock.now() };
  await deps.db.asSystem(async (tx) => {
    const row = await lockProposal(tx, id, doing.now);
    // Taking back one's own is no confirming.
    const right = acts.get(row.act)?.right ?? 'operators';
    if (row.proposed_by !== caller.operator.id) requireRight(caller.operator, right);
    await decideProposal(tx, doing, row, 'declined');
  });
  return { status: 200, body: { proposal: id, outcome: 'declined' } };
}

export function requireRight(operator: Operator, right: Right): void {
  if (!may(operator, right)) throw new Refusal('role_missing', { right, role: operator.role });
}

interface Going {
  act: Act;
  ask: Readonly<Record<string, unknown>>;
  doing: Doing;
  proposal?: bigint;
}

type Begun = { after: unknown; shown: Readonly<Record<string, unknown>> } | { isOutside: true };

async function carryOut(deps: OperatorDeps, tx: Tx, going: Going & { before: unknown }): Promise<Begun> {
  const { act, ask, doing, before, proposal } = going;
  const about = { act: act.name, subject: act.subject(ask), proposal };
  if (act.outside !== undefined) {
    await recordAct(tx, doing, { ...about, outcome: 'begun', before, after: ask });
    return { isOutside: true };
  }
  assert(act.perform !== undefined, `${act.name} does something`);
  const shown = (await act.perform(deps, tx, ask, doing)) ?? {};
  const after = await act.look(deps, tx, ask);
  await recordAct(tx, doing, { ...about, outcome: 'done', before, after });
  return { after, shown };
}

async function end(deps: OperatorDeps, going: Going, begun: Begun): Promise<ActReply> {
  const { act, ask, doing, proposal } = going;
  const about = { act: act.name, subject: act.subject(ask), proposal };
  const reply = (after: unknown, shown: Readonly<Record<string, unknown>>): ActReply => ({
    status: 200,
    body: { act: act.name, subject: about.subject, outcome: 'done', after, ...shown },
  });
  if (!('isOutside' in begun)) return reply(begun.after, begun.shown);
  assert(act.outside !== undefined, `${act.name} asks outside`);
  try {
    await act.outside(deps, ask, doing);
  } catch (error) {
    // Of anything else nobody knows how it ended, so it stays begun: what it is about says where that stands.
    if (error instanceof Refusal) {
      const after = { why: error.code };
      await deps.db.asSystem((tx) => recordAct(tx, doing, { ...about, outcome: 'refused', after }));
    }
    throw error;
  }
  const after = await deps.db.asSystem(async (tx) => {
    const seen = await act.look(deps, tx, ask);
    await recordAct(tx, doing, { ...about, outcome: 'done', after: seen });
    return seen;
  });
  return reply(after, {});
}
