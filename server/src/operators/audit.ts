/**
 * The audit: every act of an operator, who, when, from where, why, and what it changed. Only ever added to: a trigger refuses
 * the rest, truncation too.
 *
 * Written in the transaction of its act, so there is no act without its row. Ids, states and amounts only: no secret, and
 * nothing personal of a customer; the reason as the operators' wire has encrypted it (base/typed.ts).
 */
import type { Tx } from '../base/db.ts';
import type { Operator } from './people.ts';
import { type AuditRow, type Outcome, store } from './store.ts';

/** Who does something, from where, and why. */
export interface Doing {
  readonly operator: Operator;
  /** Names of all who stand behind it: the operator, and the one who proposed it where another confirmed. */
  readonly people: readonly string[];
  readonly address: string;
  readonly reason: string;
  readonly now: Date;
}

export const MAX_AUDIT = 500;

export async function recordAct(
  tx: Tx,
  doing: Doing,
  act: {
    act: string;
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
    reason: doing.reason,
    act: act.act,
    subject: act.subject,
    outcome: act.outcome,
    proposal: act.proposal ?? null,
    before: canonical(act.before ?? null),
    after: canonical(act.after ?? null),
  });
}

/** What was done without anybody signed in: at the start of a server, by a restore. */
export async function recordByMachine(
  tx: Tx,
  did: { act: string; subject: string; reason: string; now: Date; before?: unknown; after?: unknown },
): Promise<void> {
  await store.insertAudit(tx, {
    at: did.now,
    operator: 'the machine',
    role: 'machine',
    address: 'local',
    reason: did.reason,
    act: did.act,
    subject: did.subject,
    outcome: 'done',
    proposal: null,
    before: canonical(did.before ?? null),
    after: canonical(did.after ?? null),
  });
}

/** Newest first. @param ask.below the id of the last one of the page before */
export const readAudit = (
  tx: Tx,
  ask: {
    operator?: string | undefined;
    subject?: string | undefined;
    act?: string | undefined;
    /** At or after this time, and before that one. */
    from?: Date | undefined;
    until?: Date | undefined;
    below?: bigint | undefined;
    limit: number;
  },
): Promise<AuditRow[]> =>
  store.audit(tx, {
    operator: ask.operator ?? null,
    subject: ask.subject ?? null,
    act: ask.act ?? null,
    from: ask.from ?? null,
    until: ask.until ?? null,
    below: ask.below ?? null,
    limit: Math.min(ask.limit, MAX_AUDIT + 1),
  });

/** One text for one meaning: names in order, times and big integers as text. */
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
