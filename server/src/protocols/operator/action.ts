/**
 * Operator actions: each is data, and all are carried out in the same way.
 *
 * First right, reason and fields are checked. Then, in one transaction: the operator is locked in its current state, the
 * action's subject is read (and locked), the number of people is determined, the action is performed, and the audit gets its
 * row with before and after. An action that calls outside is audited as begun, runs its own transactions, and is audited
 * again with its end.
 *
 * With a time, the action is planned instead: its row waits (operators/planned.ts), and the machine performs it at its time.
 *
 * If one person is not enough the action becomes a proposal. Confirming reads the subject again: if it has changed, the
 * proposal is superseded and nothing is done. If the action throws a Refusal, the proposal ends with that reason.
 */

import type { Tx } from '../../base/db.ts';
import { assert, BugError, Refusal } from '../../base/errors.ts';
import { enqueueAt } from '../../base/jobs.ts';
import { openTypedIn } from '../../base/typed.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import {
  agree,
  type Doing,
  decideProposal,
  expireProposals,
  failProposal,
  installation,
  isAsSeen,
  lockApprovers,
  lockOperator,
  lockProposal,
  missingRoles,
  type Need,
  noteApproved,
  type Operator,
  type Proposed,
  peopleTaken,
  plan,
  propose,
  type Role,
  recordAction,
  requireAhead,
  requireOther,
  requireRoom,
  rolesInRules,
  type Session,
  takesHere,
  validAgreers,
  type Wanted,
} from '../../operators/index.ts';
import { encryptFields, type Fields, readFields, type Values } from '../declaration/fields.ts';
import { requireApprover, requireRight, saidBy, weighed } from './approval.ts';
import { type DeclaredAction, reason } from './declare.ts';
import type { OperatorDeps } from './deps.ts';
import { needsFresh, requireFresh } from './fresh.ts';

/**
 * The parts of an action that may be planned. They need no connection of this process: the machine uses them at the time of the
 * change.
 */
export interface Plan<F extends Fields = Fields> {
  /** Throws the Refusal that the change would end with at its time, as far as that is known when it is decided. */
  check(tx: Tx, input: Values<F>): Promise<void>;
  look(tx: Tx, input: Values<F>): Promise<unknown>;
  perform(tx: Tx, input: Values<F>, doing: Doing): Promise<void>;
}

/** The approval that an action needs; of several needs, the one that takes most people decides. */
export type Needs = Need | readonly Need[];

export interface Action<F extends Fields = Fields> extends DeclaredAction<F> {
  /**
   * Fills in fields from the current state, at the time of the request only: a proposal stores them, so that the confirmation
   * covers the values shown.
   */
  bind?(deps: OperatorDeps, tx: Tx, input: Values<F>, doing: Doing): Promise<Values<F>>;
  subject(input: Values<F>): string;
  /** The current state of its subject, null when it is still to be created. Locked if that matters. Ids, states, amounts. */
  look(deps: OperatorDeps, tx: Tx, input: Values<F>): Promise<unknown>;
  /** The findings that people have to approve, if any. */
  needs?(deps: OperatorDeps, tx: Tx, input: Values<F>, doing: Doing): Promise<Needs | undefined>;
  /**
   * @param seen the result of `look`, earlier in this transaction
   * @returns data that is shown only to the caller: a secret, or something personal
   */
  perform?(
    deps: OperatorDeps,
    tx: Tx,
    input: Values<F>,
    doing: Doing,
    seen: unknown,
  ): Promise<Readonly<Record<string, unknown>> | void>;
  /** Further data that is shown only to the caller, read after `perform` has been committed and audited. */
  shows?(deps: OperatorDeps, input: Values<F>): Promise<Readonly<Record<string, unknown>>>;
  /** Runs in a new transaction after a Refusal rolled the action's back, for a subject that must still be updated. */
  refused?(deps: OperatorDeps, tx: Tx, input: Values<F>): Promise<void>;
  /**
   * Runs instead of `perform`, for an action that calls outside. Here `seen` is the result of `look` in the transaction of the
   * confirmation.
   */
  outside?(deps: OperatorDeps, input: Values<F>, doing: Doing, seen: unknown): Promise<void>;
  /** Set for an action with the field `effectiveAt`. */
  plan?: Plan<F>;
  /** Set for an action that can be confirmed only by uploading the same file again: the instruction to do so. */
  byFile?: string;
}

/** The job that carries out planned changes whose time has come (planned.ts). */
export const TAKE_EFFECT = 'take_effect';

/** All actions by name: the names that a rule may use. */
export const ACTIONS = new Map<string, Action>();

/** Type helper: keeps the types of the declared fields. */
export function action<F extends Fields>(written: Action<F>): Action {
  const made = actionOfRequest(written);
  ACTIONS.set(made.name, made);
  return made;
}

/** An action with the file of one request: the list of all actions keeps the one without a file. */
export const actionOfRequest = <F extends Fields>(written: Action<F>): Action => written as unknown as Action;

/** Declares an action that may be planned: at once or at its time, it does the same. */
export function plannable<F extends Fields>(
  written: Omit<Action<F>, 'look' | 'perform' | 'plan' | 'needs'> & Plan<F>,
): Action {
  const { check, look, perform, ...declared } = written;
  assert(
    declared.plans === true && declared.right === 'terms',
    `${declared.name} does not declare that it may be planned`,
  );
  return action<F>({
    ...(declared as unknown as DeclaredAction<F> & Pick<Action<F>, 'subject'>),
    needs: async () => 'rule' as const,
    look: (_deps, tx, input) => look(tx, input),
    perform: (_deps, tx, input, doing) => perform(tx, input, doing),
    plan: { check, look, perform },
  });
}

export interface ActionReply {
  status: number;
  body: Readonly<Record<string, unknown>>;
}

export interface Caller {
  operator: Operator;
  address: string;
  /** Absent for a caller with a token. */
  session?: Session;
}

/** How the caller signed in, as recorded in the audit. */
export const viaOf = ({ session }: { session?: Session | undefined }): string =>
  session === undefined ? 'token' : `session:${session.id}`;

const withReason = (fields: Fields): Fields => ({ ...fields, reason });
const subjectOfProposal = (id: bigint): string => `proposal:${id}`;

/** @throws Refusal of the action, or 'role_missing' | 'missing_fields' | 'malformed_field' */
export async function perform(
  deps: OperatorDeps,
  action: Action,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
): Promise<ActionReply> {
  requireRight(caller.operator, action.right);
  if (action.isFresh === true || needsFresh(action.right)) requireFresh(caller, deps.clock.now());
  const fields = withReason(action.fields);
  const { reason: why, ...asked } = encryptFields(deps.vault, fields, readFields(fields, given));
  const now = deps.clock.now();
  const subject = action.subject(asked);
  const begun = await unlessRefused(deps, { action, input: asked }, async (tx) => {
    const doing = await doingNow(tx, caller, { why: String(why), now });
    requireRight(doing.operator, action.right);
    const input = (await action.bind?.(deps, tx, asked, doing)) ?? asked;
    await timeOf(tx, action, input, now);
    const before = await action.look(deps, tx, input);
    const wanted = await wantedOf(deps, tx, { action, input, doing }, [doing.operator]);
    const { roles, ...takes } = await takesHere(tx, wanted);
    const held = [doing.operator.role];
    const people = peopleTaken({ ...takes, roles }, held);
    const { operators, delayS } = await installation(tx);
    if (people > 1 && !(operators === 'one' && delayS === 0)) {
      await closeExpired(tx, now);
      const alone = operators === 'one' ? delayS : null;
      const asked = { action, input, before, people, roles, delayS: alone };
      const made = await proposed(deps, tx, doing, asked);
      return { proposal: { ...made, roles, awaits: missingRoles(roles, held) } };
    }
    await noteApproved(tx, wanted);
    return { doing, input, begun: await carryOut(deps, tx, { action, input, doing, before }) };
  });
  if ('proposal' in begun) {
    const { id, ...proposal } = begun.proposal;
    return { status: 202, body: { action: action.name, subject, outcome: 'proposed', proposal: id, ...proposal } };
  }
  return await end(deps, { action, input: begun.input, doing: begun.doing }, begun.begun);
}

async function unlessRefused<T>(
  deps: OperatorDeps,
  { action, input }: Pick<Going, 'action' | 'input'>,
  body: (tx: Tx) => Promise<T>,
): Promise<T> {
  try {
    return await deps.db.asSystem(body);
  } catch (error) {
    if (error instanceof Refusal) await deps.db.asSystem(async (tx) => await action.refused?.(deps, tx, input));
    throw error;
  }
}

/** Stores a proposal; in an installation with one operator it also opens a case, so that it is noticed. */
async function proposed(
  { orders }: OperatorDeps,
  tx: Tx,
  doing: Doing,
  p: {
    action: Action;
    input: Readonly<Record<string, unknown>>;
    before: unknown;
    people: number;
    roles: readonly Role[];
    delayS: number | null;
  },
): Promise<Proposed> {
  const { action, input, before: seen, people, roles, delayS } = p;
  const subject = action.subject(input);
  const made = await propose(tx, doing, { action: action.name, subject, input, seen, people, roles, delayS });
  if (made.readyAt === null) return made;
  await openCase(tx, {
    kind: 'action_delayed',
    subject: subjectOfProposal(made.id),
    reason: `${action.name} of ${subject}, proposed by ${doing.operator.name}, may be confirmed from ${made.readyAt.toISOString()}`,
    facts: { proposal: String(made.id), action: action.name, about: subject },
    now: doing.now,
  });
  orders.log.warn(
    { proposal: String(made.id), action: action.name, readyAt: made.readyAt },
    'an action waits out its delay',
  );
  return made;
}

/** Closes expired proposals and their cases. */
export async function closeExpired(tx: Tx, now: Date): Promise<void> {
  for (const id of await expireProposals(tx, now)) await closeDelayed(tx, id, 'expired', now);
}

const closeDelayed = (tx: Tx, id: bigint, outcome: string, now: Date): Promise<void> =>
  closeCases(tx, { kind: 'action_delayed', subject: subjectOfProposal(id), outcome, now });

/** The caller's current state. Role and activity cannot change until `tx` ends. */
async function doingNow(tx: Tx, caller: Caller, { why, now }: { why: string; now: Date }): Promise<Doing> {
  const operator = await lockOperator(tx, caller.operator.id);
  return { operator, address: caller.address, people: [operator.name], reason: why, now, via: viaOf(caller) };
}

/** @param by the operators whose amounts of the day are added: all who approve it */
async function wantedOf(deps: OperatorDeps, tx: Tx, going: Going, by: Wanted['operators']) {
  const { action, input, doing } = going;
  const given = (await action.needs?.(deps, tx, input, doing)) ?? [];
  const needs: readonly Need[] = Array.isArray(given) ? given : [given as Need];
  const isWeighed = needs.some((need) => typeof need !== 'string' && 'asset' in need);
  assert(!isWeighed || action.weighs === true, `${action.name} weighs amounts and does not say so`);
  const isAlways = needs.some(
    (need) => need === 'always' || (typeof need !== 'string' && 'asks' in need && need.asks === 'always'),
  );
  assert(action.people !== 'two' || isAlways, `${action.name} declares two people and does not need them`);
  assert(action.people !== 'one' || needs.length === 0, `${action.name} declares one person and needs more`);
  return {
    action: action.name,
    right: action.right,
    needs,
    operators: by,
    subject: action.subject(input),
    now: doing.now,
  };
}

/**
 * @throws Refusal 'unknown_proposal' | 'proposal_over' | 'own_proposal' | 'agreed_already' | 'proposal_waits' | 'file_needed'
 *   | 'role_missing' | 'approver_role', or of the action
 */
export async function confirm(
  deps: OperatorDeps,
  actions: ReadonlyMap<string, Action>,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
  id: bigint,
): Promise<ActionReply> {
  const { reason: why } = encryptFields(deps.vault, { reason }, readFields({ reason }, given));
  const now = deps.clock.now();
  let confirming: Doing | undefined;
  let isActing = false;
  let asked: Pick<Going, 'action' | 'input'> | undefined;
  try {
    const begun = await deps.db.asSystem(async (tx) => {
      isActing = false;
      await lockApprovers(tx, id, caller.operator.id);
      confirming = await doingNow(tx, caller, { why, now });
      const row = await lockProposal(tx, id, now);
      const action = actions.get(row.action);
      assert(action !== undefined, `action ${row.action} of proposal ${id} is unknown`);
      const named = await rolesInRules(tx);
      requireApprover(confirming.operator, action.right, [...row.roles, ...named]);
      if (needsFresh(action.right)) requireFresh(caller, now);
      await requireOther(tx, row, confirming.operator, now);
      if (action.byFile !== undefined) throw new Refusal('file_needed', { how: action.byFile });
      const others = await validAgreers(tx, row, action.right, [...row.roles, ...named]);
      isActing = true;
      const input = askedOf(deps, action, row.input);
      asked = { action, input };
      const before = await action.look(deps, tx, input);
      if (others === undefined || !isAsSeen(row, before)) {
        await decideProposal(tx, confirming, row, 'overtaken', { before: row.seen, after: before });
        await closeDelayed(tx, id, 'overtaken', now);
        return { overtaken: true } as const;
      }
      const isOwn = row.proposedBy === confirming.operator.id;
      const going = { action, input, doing: confirming };
      const all = isOwn ? others.slice(0, 1) : [...others, confirming.operator];
      const { approvers, takes, wanted, refusal } = await weighed(tx, row, all, await wantedOf(deps, tx, going, all));
      if (refusal !== undefined && !isOwn) {
        // It is about this person: the proposal waits for others.
        isActing = false;
        throw refusal;
      }
      const people = approvers.map(({ name }) => name);
      const held = approvers.map(({ role }) => role);
      const { roles } = takes;
      if (!isOwn && people.length < peopleTaken(takes, held)) {
        const [inAll, awaits] = [peopleTaken(takes, held), missingRoles(roles, held)];
        await agree(tx, confirming, row, { people: inAll, roles });
        return { agreed: people, people: inAll, roles, awaits, action: action.name, subject: row.subject };
      }
      if (!isOwn) await noteApproved(tx, wanted);
      await decideProposal(tx, confirming, row, 'confirmed');
      await closeDelayed(tx, id, 'confirmed', now);
      const doing: Doing = { ...confirming, people, reason: saidBy(deps, row, people.slice(1, -1), why) };
      return {
        action,
        input,
        doing,
        begun: await carryOut(deps, tx, { action, input, doing, before, proposal: id }),
      };
    });
    isActing = false;
    if ('overtaken' in begun)
      return {
        status: 409,
        body: {
          error: 'The subject of the proposal, or its proposer, has changed since. Nothing was done.',
          reason: 'proposal_overtaken',
        },
      };
    if ('agreed' in begun) {
      return { status: 202, body: { ...begun, outcome: 'agreed', proposal: id } };
    }
    return await end(deps, { ...begun, proposal: id }, begun.begun);
  } catch (error) {
    // Nothing was done, and a repeated confirmation would have the same result.
    const why = error instanceof Refusal ? error.code : error instanceof BugError ? 'internal' : undefined;
    const doing = confirming;
    if (isActing && why !== undefined && doing !== undefined)
      await deps.db.asSystem(async (tx) => {
        await failed(tx, doing, { id, why, from: 'open' });
        if (error instanceof Refusal) await asked?.action.refused?.(deps, tx, asked.input);
      });
    throw error;
  }
}

async function failed(tx: Tx, doing: Doing, f: { id: bigint; why: string; from: 'open' | 'confirmed' }): Promise<void> {
  await failProposal(tx, doing, f);
  await closeDelayed(tx, f.id, `failed: ${f.why}`, doing.now);
}

/** A proposal's fields, parsed again by the rules of its action. Encrypted texts stay exactly as they were shown. */
export function askedOf(
  { vault }: Pick<OperatorDeps, 'vault'>,
  { fields }: Action,
  kept: Readonly<Record<string, unknown>>,
) {
  const opened = openTypedIn(vault, kept) as Readonly<Record<string, unknown>>;
  const asked = encryptFields(vault, fields, readFields(fields, opened));
  return Object.fromEntries(
    Object.entries(asked).map(([name, value]) => [
      name,
      fields[name]?.typed !== undefined && kept[name] !== opened[name] ? kept[name] : value,
    ]),
  );
}

export async function decline(
  deps: OperatorDeps,
  actions: ReadonlyMap<string, Action>,
  caller: Caller,
  given: Readonly<Record<string, unknown>>,
  id: bigint,
): Promise<ActionReply> {
  const { reason: why } = encryptFields(deps.vault, { reason }, readFields({ reason }, given));
  const now = deps.clock.now();
  await deps.db.asSystem(async (tx) => {
    const doing = await doingNow(tx, caller, { why, now });
    const row = await lockProposal(tx, id, now);
    // Withdrawing one's own proposal does not need the action's right.
    const right = actions.get(row.action)?.right ?? 'operators';
    if (row.proposedBy !== doing.operator.id) requireApprover(doing.operator, right, row.roles);
    await decideProposal(tx, doing, row, 'declined');
    await closeDelayed(tx, id, 'declined', now);
  });
  return { status: 200, body: { proposal: id, outcome: 'declined' } };
}

interface Going {
  action: Action;
  input: Readonly<Record<string, unknown>>;
  doing: Doing;
  proposal?: bigint;
}

type Begun =
  | { after: unknown; shown: Readonly<Record<string, unknown>> }
  | { isOutside: true; seen: unknown }
  | { plan: bigint; effectiveAt: Date };

/**
 * When the change takes effect; undefined for at once.
 *
 * @throws Refusal 'malformed_field', or of the action: what would fail at its time is refused when it is decided
 */
async function timeOf(tx: Tx, action: Action, input: Readonly<Record<string, unknown>>, now: Date) {
  const { effectiveAt } = input;
  if (action.plan === undefined || !(effectiveAt instanceof Date)) return undefined;
  requireAhead(effectiveAt, now);
  await requireRoom(tx, action.subject(input));
  await action.plan.check(tx, input);
  return effectiveAt;
}

async function carryOut(deps: OperatorDeps, tx: Tx, going: Going & { before: unknown }): Promise<Begun> {
  const { action, input, doing, before, proposal } = going;
  const about = { action: action.name, subject: action.subject(input), proposal };
  const effectiveAt = await timeOf(tx, action, input, doing.now);
  if (effectiveAt !== undefined) {
    const { effectiveAt: _, ...asked } = input;
    const { id } = await plan(tx, doing, { ...about, input: asked, effectiveAt });
    await recordAction(tx, doing, { ...about, outcome: 'planned', before, after: { plan: id, ...input } });
    enqueueAt(tx, { kind: TAKE_EFFECT, subject: 'all', dueAt: effectiveAt });
    return { plan: id, effectiveAt };
  }
  if (action.outside !== undefined) {
    await recordAction(tx, doing, { ...about, outcome: 'begun', before, after: input });
    return { isOutside: true, seen: before };
  }
  assert(action.perform !== undefined, `${action.name} has no perform`);
  const shown = (await action.perform(deps, tx, input, doing, before)) ?? {};
  const after = await action.look(deps, tx, input);
  await recordAction(tx, doing, { ...about, outcome: 'done', before, after });
  return { after, shown };
}

async function end(deps: OperatorDeps, going: Going, begun: Begun): Promise<ActionReply> {
  const { action, input, doing, proposal } = going;
  const about = { action: action.name, subject: action.subject(input), proposal };
  const reply = (after: unknown, shown: Readonly<Record<string, unknown>>): ActionReply => ({
    status: 200,
    body: { action: action.name, subject: about.subject, outcome: 'done', after, ...shown },
  });
  if ('plan' in begun)
    return { status: 200, body: { action: action.name, subject: about.subject, outcome: 'planned', ...begun } };
  if (!('isOutside' in begun)) return reply(begun.after, { ...begun.shown, ...(await action.shows?.(deps, input)) });
  assert(action.outside !== undefined, `${action.name} has no outside`);
  try {
    await action.outside(deps, input, doing, begun.seen);
  } catch (error) {
    // After any other error the outcome is unknown, so the audit keeps it as begun; the subject's own state shows the outcome.
    if (error instanceof Refusal) {
      const after = { why: error.code };
      await deps.db.asSystem(async (tx) => {
        await recordAction(tx, doing, { ...about, outcome: 'refused', after });
        if (proposal !== undefined) await failed(tx, doing, { id: proposal, why: error.code, from: 'confirmed' });
      });
    }
    throw error;
  }
  const after = await deps.db.asSystem(async (tx) => {
    const seen = await action.look(deps, tx, input);
    await recordAction(tx, doing, { ...about, outcome: 'done', after: seen });
    return seen;
  });
  return reply(after, (await action.shows?.(deps, input)) ?? {});
}
