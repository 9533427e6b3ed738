/**
 * The audit: every action of an operator: who, when, from where, why, and the change. Insert-only: a trigger rejects everything
 * else, truncation too.
 *
 * Written in the transaction of its action, so there is no action without its row. Ids, states and amounts only: no secret and no
 * personal data of a customer; the reason is stored as the operator API encrypted it (base/typed.ts).
 */
import type { Tx } from '../base/db.ts';
import { type AuditFilter, type AuditRow, type Operator, type Outcome, store } from './store.ts';

/** Who acts, from where, and why. */
export interface Doing {
  readonly operator: Operator;
  /** Names of everyone behind it: the operator, and the proposer when another person confirmed. */
  readonly people: readonly string[];
  readonly address: string;
  readonly reason: string;
  readonly now: Date;
  /** `token`, `recovery` or `session:<number>`. */
  readonly via?: string | undefined;
}

export const MAX_AUDIT = 500;

export async function recordAction(
  tx: Tx,
  doing: Doing,
  action: {
    action: string;
    subject: string;
    outcome: Outcome;
    proposal?: bigint | undefined;
    before?: unknown;
    after?: unknown;
  },
): Promise<void> {
  await store.insertAudit(tx, {
    at: doing.now,
    operator: doing.operator.name,
    role: doing.operator.role,
    address: doing.address,
    via: doing.via ?? null,
    reason: doing.reason,
    action: action.action,
    subject: action.subject,
    outcome: action.outcome,
    proposal: action.proposal ?? null,
    before: canonical(action.before ?? null),
    after: canonical(action.after ?? null),
  });
}

/** Repeated reads of one subject within this time are one row, because a page polls every few seconds. */
const ONE_LOOK_MS = 15 * 60_000;

/** Records that an operator was shown personal texts: one row per subject within ONE_LOOK_MS. */
export async function recordLook(tx: Tx, doing: Doing, subject: string): Promise<void> {
  const look = { action: 'personal.read', subject, operator: doing.operator.name };
  if (await store.hasDone(tx, look, new Date(doing.now.getTime() - ONE_LOOK_MS))) return;
  await recordAction(tx, doing, { ...look, outcome: 'done' });
}

/**
 * Records that an operator was given personal data of several subjects at once, as in a file: a row for each, every time.
 *
 * @param look.after what had the data, such as the number of a file
 */
export const recordLooks = (
  tx: Tx,
  doing: Doing,
  look: { subjects: readonly string[]; after: Readonly<Record<string, string>> },
): Promise<number> =>
  store.insertLooks(tx, {
    ...{ at: doing.now, operator: doing.operator.name, role: doing.operator.role, address: doing.address },
    ...{ via: doing.via ?? null, reason: doing.reason, action: 'personal.read' },
    ...{ subjects: look.subjects, after: canonical(look.after) },
  });

/** An action without a signed-in operator: at a server's start, by a restore, at the time of a planned change. */
export async function recordByMachine(
  tx: Tx,
  did: {
    action: string;
    subject: string;
    reason: string;
    now: Date;
    outcome?: 'failed';
    before?: unknown;
    after?: unknown;
  },
): Promise<void> {
  await store.insertAudit(tx, {
    at: did.now,
    operator: 'the machine',
    role: 'machine',
    address: 'local',
    via: null,
    reason: did.reason,
    action: did.action,
    subject: did.subject,
    outcome: did.outcome ?? 'done',
    proposal: null,
    before: canonical(did.before ?? null),
    after: canonical(did.after ?? null),
  });
}

/** Newest first. */
export const readAudit = (tx: Tx, input: AuditFilter): Promise<AuditRow[]> =>
  store.audit(tx, { ...input, limit: Math.min(input.limit, MAX_AUDIT + 1) });

/** A canonical text of a value: names sorted, times and big integers as text. */
export function canonical(value: unknown): string {
  return JSON.stringify(plain(value));
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, plain(part)]),
  );
}
