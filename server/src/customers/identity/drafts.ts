/**
 * Drafts: answers that a customer has typed on a hosted page and not submitted yet, so that the customer can continue on
 * another device after a login.
 *
 * One draft per customer, encrypted, under the names of its form. It is emptied when the details are submitted, when the
 * customer is erased, and after a month.
 */
import { later } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { type Customer, requireNotErased } from '../customers.ts';
import type { Answers } from './answers.ts';
import { sql } from './store.ts';

const KEPT_MS = 30 * 86_400_000;

const contextOf = (customerId: string): string => `hosted_drafts.answers:${customerId}`;

/** @returns an empty object when there is no draft */
export async function openDraft(tx: Tx, vault: Vault, customerId: string): Promise<Record<string, string>> {
  const row = await tx.row<{ answers: Buffer }>(sql.draft, [customerId]);
  return row === undefined || row.answers.length === 0
    ? {}
    : (JSON.parse(vault.decrypt(row.answers, contextOf(customerId))) as Record<string, string>);
}

/** Replaces the saved draft. @param d.answers each checked against its field, so that a draft is as bounded as a form */
export async function saveDraft(
  tx: Tx,
  vault: Vault,
  d: { customer: Customer; answers: Answers; now: Date },
): Promise<void> {
  const { customer, answers, now } = d;
  requireNotErased(customer);
  const bytes = vault.encrypt(JSON.stringify(answers), contextOf(customer.id));
  await tx.run(sql.saveDraft, [customer.id, customer.partnerId, bytes, now]);
}

export const emptyDraft = (tx: Tx, customerId: string): Promise<number> => tx.run(sql.emptyDraft, [customerId]);

/** Empties drafts that were not changed for a month. */
export async function emptyOldDrafts(db: Pick<Database, 'asSystem'>, now: Date): Promise<void> {
  await db.asSystem((tx) => tx.run(sql.emptyOldDrafts, [later(now, -KEPT_MS)]));
}
