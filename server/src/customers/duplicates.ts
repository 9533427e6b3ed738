/**
 * Duplicates: the same document number under another customer of the same partner.
 *
 * The number is in the encrypted details; beside them is a keyed hash of it in normalised spelling, which finds other customers.
 * The key differs per partner, so that a dump does not show that one person is a customer of two partners.
 *
 * Not here: the consequences (compliance/checks.ts opens a case, and a review then takes two people).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { findCustomer } from './customers.ts';
import { openGivenDetails } from './details.ts';
import { identityIndexes } from './encryption.ts';
import { sql } from './store.ts';

/** Maximum number of other customers named: a number that more of them gave cannot be a document's. */
const MOST_OTHERS = 20;

/** Ids of other customers of the same partner who gave the same document number, in order. */
export async function sameDocument(tx: Tx, vault: Vault, customerId: string): Promise<string[]> {
  const details = await openGivenDetails(tx, vault, customerId);
  if (details === undefined) return [];
  const { partnerId } = await findCustomer(tx, customerId);
  const indexes = identityIndexes(vault, partnerId, details);
  if (indexes.length === 0) return [];
  const rows = await tx.rows<{ customerId: string }>(sql.sameDocument, [partnerId, indexes, customerId, MOST_OTHERS]);
  return rows.map((row) => row.customerId);
}
