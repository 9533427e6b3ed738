/**
 * Duplicates: opens a case where a customer gave the document number of another one.
 *
 * The case is about the customer who came later, and names the others by their ids. It is opened once for the same others: a
 * closed case stays closed until another customer with the number comes.
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
  const others = await sameDocument(tx, vault, customerId);
  if (others.length === 0) return;
  const subject = `customer:${customerId}`;
  const newest = await tx.row<{ facts: { others?: unknown } }>(sql.newestCase, [KIND, subject]);
  if (JSON.stringify(newest?.facts.others) === JSON.stringify(others)) return;
  const { partnerId } = await findCustomer(tx, customerId);
  await openCase(tx, {
    ...{ kind: KIND, subject, partnerId, now },
    reason: `the same document number as ${others.length === 1 ? 'another customer' : `${others.length} other customers`}`,
    facts: { others },
  });
}
