/**
 * Duplicates: opens a case where a customer has the document of another one.
 *
 * The case is about the customer who came later, and names the others by their ids, and what is the same: the number, the file, never
 * which. It is opened once for the same others: a closed case stays closed until another customer with the document comes, or
 * something else is the same.
 *
 * Not here: finding them (customers/duplicates.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { findCustomer, sameDocument } from '../customers/index.ts';
import { openCase } from './cases.ts';
import { sql } from './store.ts';

const KIND = 'identity_duplicate';

export async function openDuplicateCase(tx: Tx, vault: Vault, customerId: string, now: Date): Promise<void> {
  const found = await sameDocument(tx, vault, customerId);
  if (found.length === 0) return;
  const subject = `customer:${customerId}`;
  const others = found.map((one) => one.customerId);
  const by = [...new Set(found.flatMap((one) => one.by))].toSorted();
  const newest = await tx.row<{ facts: { others?: unknown; by?: readonly string[] } }>(sql.newestCase, [KIND, subject]);
  // Cases of before were about numbers.
  const { others: known, by: knownBy = ['number'] } = newest?.facts ?? {};
  if (JSON.stringify(known) === JSON.stringify(others) && by.every((kind) => knownBy.includes(kind))) return;
  const { partnerId } = await findCustomer(tx, customerId);
  const what = by.map((kind) => `document ${kind}`).join(' and the same ');
  await openCase(tx, {
    ...{ kind: KIND, subject, partnerId, now },
    reason: `the same ${what} as ${others.length === 1 ? 'another customer' : `${others.length} other customers`}`,
    facts: { others, by },
  });
}
