/**
 * Compliance: may this happen, and who looks at it where a program cannot say.
 *
 * Every decision is a row with its rules, list versions and inputs, written in the transaction that acts on it. What a
 * person must look at is a case (cases.ts), of a kind that says what it means and what to do (kinds.ts).
 *
 * Not here: limits of a market (partners), how far a customer is verified (customers).
 */
import type { Tx } from '../base/db.ts';
import { sql } from './store.ts';

export {
  assignCase,
  type Case,
  type CaseAct,
  closeCase,
  closeCases,
  findCase,
  listCases,
  noteCase,
  openCase,
  openCaseCounts,
} from './cases.ts';
export { CASE_KINDS, type CaseKind, type CaseMeaning, isCaseKind, meaningOf, type NextActor } from './kinds.ts';
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

/** Amounts are bigint and stay exact as text. */
const json = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part));
