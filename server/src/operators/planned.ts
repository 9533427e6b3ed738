/**
 * Planned changes: approved changes of terms that take effect at a scheduled time.
 *
 * A row waits with the fields of its action and touches nothing else, so code that reads terms is unaffected. At its time the
 * machine carries the action out and ends the row in one transaction: a change takes effect once, whatever stops or restarts.
 * Rows are taken in the order of their times, then of their numbers, by one process at a time.
 *
 * Not here: the actions, and the job that carries them out (protocols/operator/planned.ts).
 */
import { dayOf, later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { canonical, type Doing } from './audit.ts';

export const PLAN_STATES = ['planned', 'done', 'withdrawn', 'failed'] as const;
export type PlanState = (typeof PLAN_STATES)[number];
/** Of one subject, that wait; also the most rows of a page. */
export const MAX_PLANNED = 200;

/** Beyond this a time is more likely a typing error than a plan. */
const MOST_AHEAD_MS = 365 * 86_400_000;
const DAY_MS = 86_400_000;

export interface PlannedRow {
  id: bigint;
  action: string;
  subject: string;
  input: Record<string, unknown>;
  effectiveAt: Date;
  /** Names of everyone who decided it, the proposer first. */
  people: string[];
  plannedBy: bigint;
  proposalId: bigint | null;
  reason: string;
  plannedAt: Date;
  state: PlanState;
  endedAt: Date | null;
  /** Who withdrew it. */
  endedBy: string | null;
  /** Why it failed: the code of the Refusal. */
  failedWhy: string | null;
}

const COLUMNS = `id, action, subject, input, effective_at, people, planned_by, proposal_id, reason, planned_at, state, ended_at,
  ended_by, failed_why`;
const ASKED = '($1::text is null or subject = $1)';

const SQL = {
  insert: `insert into planned_changes
      (action, subject, input, effective_at, people, planned_by, proposal_id, reason, planned_at)
    values ($1, $2, $3::jsonb, $4, $5, $6, $7, $8, $9) returning ${COLUMNS}`,
  one: `select ${COLUMNS} from planned_changes where id = $1`,
  lock: `select ${COLUMNS} from planned_changes where id = $1 for update`,
  // In the order in which they take effect, and after the one that the page before ended with.
  waiting: `select ${COLUMNS} from planned_changes where state = 'planned' and ${ASKED}
      and ($2::bigint is null or (effective_at, id) > (select p.effective_at, p.id from planned_changes p where p.id = $2))
    order by effective_at, id limit $3`,
  ended: `select ${COLUMNS} from planned_changes where state = $4 and ${ASKED} and ($2::bigint is null or id < $2)
    order by id desc limit $3`,
  // One process at a time: two of them could carry out two changes of one term in the wrong order.
  takeTurn: `select pg_advisory_xact_lock(hashtextextended('planned changes', 0))`,
  due: `select ${COLUMNS} from planned_changes where state = 'planned' and effective_at <= $1
    order by effective_at, id limit 1 for update`,
  next: `select min(effective_at) as at from planned_changes where state = 'planned'`,
  count: `select count(*) from planned_changes where state = 'planned' and subject = $1`,
  end: `update planned_changes set state = $2, ended_at = $3, ended_by = $4, failed_why = $5 where id = $1 and state = 'planned'`,
} as const;

/**
 * Checks the time from which a change is to hold.
 *
 * @throws Refusal 'malformed_field' when it is not in the future, or more than a year ahead
 */
export function requireAhead(effectiveAt: Date, now: Date): void {
  const wrong = (rule: string) => {
    const example = `${dayOf(later(now, DAY_MS))}T00:00:00Z`;
    return new Refusal('malformed_field', { fields: { effectiveAt: `must be ${rule}, such as ${example}` } });
  };
  if (effectiveAt <= now) throw wrong('in the future');
  if (effectiveAt > later(now, MOST_AHEAD_MS)) throw wrong('at most 365 days ahead');
}

/** @throws Refusal 'malformed_field' when MAX_PLANNED changes of the subject wait */
export async function requireRoom(tx: Tx, subject: string): Promise<void> {
  const { count = 0n } = (await tx.row<{ count: bigint }>(SQL.count, [subject])) ?? {};
  if (count < BigInt(MAX_PLANNED)) return;
  const rule = `must be left out while ${MAX_PLANNED} planned changes of it wait: withdraw one first`;
  throw new Refusal('malformed_field', { fields: { effectiveAt: rule } });
}

/** Stores a decided change until its time. */
export async function plan(
  tx: Tx,
  doing: Doing,
  p: {
    action: string;
    subject: string;
    input: Readonly<Record<string, unknown>>;
    effectiveAt: Date;
    proposal?: bigint | undefined;
  },
): Promise<PlannedRow> {
  const row = await tx.row<PlannedRow>(SQL.insert, [
    ...[p.action, p.subject, canonical(p.input), p.effectiveAt, doing.people],
    ...[doing.operator.id, p.proposal ?? null, doing.reason, doing.now],
  ]);
  assert(row !== undefined, 'the stored plan was not returned');
  return row;
}

export const findPlan = (tx: Tx, id: bigint): Promise<PlannedRow | undefined> => tx.row<PlannedRow>(SQL.one, [id]);

/**
 * Plans in one state, of one subject or of all: those that wait in the order in which they take effect, others newest first.
 *
 * @param of.after the last id of the previous page
 */
export const plans = (
  tx: Tx,
  of: { state: PlanState; subject?: string | undefined; after?: bigint | undefined; limit: number },
): Promise<PlannedRow[]> => {
  const asked = [of.subject ?? null, of.after ?? null, of.limit];
  return of.state === 'planned' ? tx.rows(SQL.waiting, asked) : tx.rows(SQL.ended, [...asked, of.state]);
};

/**
 * Locks a plan until `tx` ends.
 *
 * @throws Refusal 'unknown_plan'
 */
export async function lockPlan(tx: Tx, id: bigint): Promise<PlannedRow> {
  const row = await tx.row<PlannedRow>(SQL.lock, [id]);
  if (row === undefined) throw new Refusal('unknown_plan');
  return row;
}

/** @throws Refusal 'plan_over' {state} when it has taken effect, failed, or is withdrawn */
export async function withdrawPlan(tx: Tx, row: PlannedRow, doing: Doing): Promise<void> {
  if (row.state !== 'planned') throw new Refusal('plan_over', { state: row.state });
  await tx.run(SQL.end, [row.id, 'withdrawn', doing.now, doing.operator.name, null]);
}

/** The next plan whose time has come. Other processes wait until `tx` ends. */
export async function lockDuePlan(tx: Tx, now: Date): Promise<PlannedRow | undefined> {
  await tx.run(SQL.takeTurn);
  return await tx.row<PlannedRow>(SQL.due, [now]);
}

/** When the next plan takes effect; null when none waits. */
export const nextPlanAt = async (tx: Tx): Promise<Date | null> =>
  (await tx.row<{ at: Date | null }>(SQL.next))?.at ?? null;

/** @param failedWhy the code of the refusal; null when it has taken effect */
export const endPlan = (tx: Tx, id: bigint, now: Date, failedWhy: string | null): Promise<number> =>
  tx.run(SQL.end, [id, failedWhy === null ? 'done' : 'failed', now, null, failedWhy]);
