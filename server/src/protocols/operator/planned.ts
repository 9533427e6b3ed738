/**
 * Planned changes of terms: the list, withdrawing one, and the job that carries them out at their time.
 *
 * The job does not poll: it is due when the next change is, and ends when none waits. It carries out all changes whose time has
 * come, in order, each in a transaction of its own. So after an outage none is left out and none is done twice. A change that is
 * refused, or that the database or a bug of ours would stop again at each try, ends as failed, with a case: the terms stay as they
 * are, and those after it, and the start of a server, go on.
 */
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { assert, BugError, Refusal } from '../../base/errors.ts';
import type { Handlers } from '../../base/jobs.ts';
import { describeError, type Log } from '../../base/log.ts';
import { encryptTyped } from '../../base/typed.ts';
import { openCase } from '../../compliance/index.ts';
import {
  type Doing,
  endPlan,
  findPlan,
  lockDuePlan,
  lockPlan,
  nextPlanAt,
  operatorById,
  type PlannedRow,
  plans,
  recordByMachine,
  withdrawPlan,
} from '../../operators/index.ts';
import { ACTIONS, type Action, action, askedOf, TAKE_EFFECT } from './action.ts';
import { PLANNED_CHANGES } from './declared/planned.ts';
import { type Read, read } from './read.ts';

interface PlanDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
  log: Log;
}

const shown = ({ plannedBy: _plannedBy, people, proposalId: proposal, ...row }: PlannedRow) => {
  const [proposedBy, ...confirmedBy] = people;
  return { ...row, proposal, proposedBy, confirmedBy };
};

export const PLANNED_READS: readonly Read[] = [
  read({
    ...PLANNED_CHANGES.list,
    async answer(_deps, tx, { state = 'planned', subject, after, limit: most = 50 }) {
      const found = await plans(tx, { state, subject, after, limit: most + 1 });
      const page = found.slice(0, most);
      return { planned: page.map(shown), next: found.length > most ? page.at(-1)?.id : null };
    },
  }),
  read({
    ...PLANNED_CHANGES.one,
    async answer(_deps, tx, input) {
      const found = await findPlan(tx, input.plan);
      if (found === undefined) throw new Refusal('unknown_plan');
      return shown(found);
    },
  }),
];

export const PLANNED_ACTIONS: readonly Action[] = [
  action({
    ...PLANNED_CHANGES.withdraw,
    subject: ({ plan }) => `plan:${plan}`,
    async look(_deps, tx, { plan }) {
      const { state, effectiveAt } = await lockPlan(tx, plan);
      return { state, effectiveAt };
    },
    needs: async () => 'ruled' as const,
    perform: async (_deps, tx, { plan }, doing) => await withdrawPlan(tx, await lockPlan(tx, plan), doing),
  }),
];

/** Carries out all changes whose time has come. A server also does so before it answers its first request. */
export async function takeEffect(deps: PlanDeps): Promise<void> {
  while (await nextTakesEffect(deps));
}

export const plannedHandlers = (deps: PlanDeps): Handlers => ({
  async [TAKE_EFFECT]() {
    await takeEffect(deps);
    const next = await deps.db.asSystem(nextPlanAt);
    return next === null ? undefined : { againInMs: Math.max(0, next.getTime() - deps.clock.now().getTime()) };
  },
});

/** @returns false when no change is due */
async function nextTakesEffect({ db, vault, clock, log }: PlanDeps): Promise<boolean> {
  let taken: PlannedRow | undefined;
  try {
    await db.asSystem(async (tx) => {
      const now = clock.now();
      taken = await lockDuePlan(tx, now);
      if (taken !== undefined) await performed(tx, vault, taken, now);
    });
  } catch (error) {
    const failed = taken;
    const why = whyFailed(error);
    if (failed === undefined || why === undefined) throw error;
    log.error({ plan: String(failed.id), action: failed.action, ...describeError(error) }, 'a planned change failed');
    await db.asSystem((tx) => ended(tx, vault, failed, { why, now: clock.now() }));
  }
  return taken !== undefined;
}

const OUR_BUGS = [BugError, TypeError, RangeError, SyntaxError];
/** Codes of PostgreSQL: what was to be stored breaks a rule of its table, or is not of its type. */
const NOT_STORABLE = /^2[23]...$/;

/** Why it would fail at every try; undefined for what may be over at the next one, such as an outage of the database. */
function whyFailed(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.code;
  const { code } = error as { code?: unknown };
  const isNotStorable = typeof code === 'string' && NOT_STORABLE.test(code);
  return isNotStorable || OUR_BUGS.some((one) => error instanceof one) ? 'internal' : undefined;
}

async function performed(tx: Tx, vault: Vault, row: PlannedRow, now: Date): Promise<void> {
  const found = ACTIONS.get(row.action);
  assert(found?.plan !== undefined, `action ${row.action} of planned change ${row.id} cannot be planned`);
  const input = askedOf({ vault }, found, row.input);
  const before = await found.plan.look(tx, input);
  await found.plan.perform(tx, input, await doingOf(tx, row, now));
  const after = await found.plan.look(tx, input);
  await endPlan(tx, row.id, now, null);
  await recordByMachine(tx, { ...about(vault, row), now, before, after });
}

/** Who decided it: whether they still have the right does not matter. */
const doingOf = async (tx: Tx, { plannedBy, people, reason }: PlannedRow, now: Date): Promise<Doing> => ({
  ...{ operator: await operatorById(tx, plannedBy), people, address: 'local', reason, now },
});

const about = (vault: Vault, { id, action, subject, people }: PlannedRow) => ({
  ...{ action, subject },
  reason: encryptTyped(vault, `planned change ${id} takes effect, as decided by ${people.join(' and ')}`),
});

async function ended(tx: Tx, vault: Vault, row: PlannedRow, { why, now }: { why: string; now: Date }): Promise<void> {
  if ((await endPlan(tx, row.id, now, why)) === 0) return;
  await recordByMachine(tx, { ...about(vault, row), outcome: 'failed', now, after: { plan: row.id, why } });
  await openCase(tx, {
    kind: 'change_failed',
    subject: `plan:${row.id}`,
    reason: `${row.action} of ${row.subject}, planned for ${row.effectiveAt.toISOString()}, was refused: ${why}`,
    facts: { plan: String(row.id), action: row.action, about: row.subject },
    now,
  });
}
