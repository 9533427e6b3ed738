/**
 * Compliance: may this happen, and who looks at it where a program cannot say.
 *
 * Every decision is a row with its rules, list versions and inputs, written in the transaction that acts on it. What a
 * person must look at is a case: there is one open case of a kind about a subject, however often its cause comes again.
 *
 * Not here: limits of a market (partners), how far a customer is verified (customers).
 */
import type { Tx } from '../base/db.ts';
import { sql } from './store.ts';

export {
  HOLD_REFERENCE,
  magicScreener,
  openScreener,
  replaceDenyList,
  type Screener,
} from './screening.ts';

/**
 * Keeps a decision for good.
 *
 * @param d.about  what was decided on, such as `payout` or `refund`
 * @param d.inputs ids and words only, never a name or an account number
 */
export async function record(
  tx: Tx,
  d: {
    partnerId: bigint;
    orderId?: bigint | undefined;
    about: string;
    outcome: string;
    rules: string;
    inputs: Readonly<Record<string, unknown>>;
    now: Date;
  },
): Promise<void> {
  await tx.run(sql.insertDecision, [
    d.partnerId,
    d.orderId ?? null,
    d.about,
    d.outcome,
    d.rules,
    json(d.inputs),
    d.now,
  ]);
}

/**
 * Opens a case, unless one of this kind about this subject is open. Through the system's door only.
 *
 * @param c.facts ids and amounts only
 */
export async function openCase(
  tx: Tx,
  c: {
    kind: string;
    subject: string;
    orderId?: bigint | undefined;
    partnerId?: bigint | undefined;
    reason: string;
    facts?: Readonly<Record<string, unknown>> | undefined;
    now: Date;
  },
): Promise<void> {
  const { kind, subject, orderId = null, partnerId = null, reason, facts = {}, now } = c;
  await tx.run(sql.openCase, [kind, subject, orderId, partnerId, reason, json(facts), now]);
}

/** Closes what is open about a subject: of one kind, or of every kind where none is named. */
export async function closeCases(
  tx: Tx,
  c: { kind?: string | undefined; subject: string; outcome: string; now: Date },
): Promise<void> {
  await tx.run(sql.closeCases, [c.kind ?? null, c.subject, c.outcome, c.now]);
}

/** Open cases by kind, with the oldest of each. */
export const openCaseCounts = (tx: Tx) => tx.rows<{ kind: string; count: bigint; oldest: Date }>(sql.openCaseCounts);

/** Amounts are bigint and stay exact as text. */
const json = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part));
