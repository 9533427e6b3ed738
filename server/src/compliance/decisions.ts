/**
 * Decisions: each is a row with its rules, list versions and inputs, inserted in the transaction that acts on it.
 */
import type { Tx } from '../base/db.ts';
import { sql } from './store.ts';

/**
 * Stores a decision permanently.
 *
 * @param d.about  the subject of the decision, such as `payout` or `refund`
 * @param d.inputs ids and words only, never a name or an account number
 */
export async function record(
  tx: Tx,
  d: {
    partnerId: bigint | null;
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
 * Takes the blind indexes of a customer's accounts out of decisions, stored results and approvals, and what operators typed. Rules,
 * outcomes and times stay: they explain what happened to the money.
 *
 * @param of.shared deposits of which another customer has a part: of their approvals only those of `accounts`
 * @returns number of changed rows
 */
export async function eraseDecisions(
  tx: Tx,
  of: {
    customerId: string;
    orders: readonly bigint[];
    deposits: readonly bigint[];
    refunds: readonly bigint[];
    shared: readonly bigint[];
    accounts: readonly bigint[];
  },
): Promise<number> {
  const refunds = of.refunds.map(String);
  const decisions = await tx.run(sql.eraseDecisions, [of.orders, of.customerId, refunds]);
  const screenings = await tx.run(sql.eraseScreenings, [of.orders, refunds.map((id) => `refund:refund:${id}:`)]);
  const destinations = of.accounts.map((id) => `account:${id}`);
  const values = [of.orders, of.deposits, of.shared, destinations];
  return decisions + screenings + (await tx.run(sql.eraseApprovals, values));
}

/** JSON has no bigint: amounts are written as exact text. */
const json = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part));

/** Decisions about an order, oldest first. */
export const decisionsOf = (tx: Tx, orderId: bigint) =>
  tx.rows<{ id: bigint; about: string; outcome: string; rules: string; at: Date }>(sql.decisionsOf, [orderId]);
