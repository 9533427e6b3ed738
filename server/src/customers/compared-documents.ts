/**
 * Compared documents: what a customer's identity documents are recognised by under another customer of the same partner: the files
 * that were sent, by their bytes, and the numbers that a verifier read from them.
 *
 * Only files of a kind of document of the form count (`documents`), the selfie with them. A field of the type `file` and an answer
 * to a question do not: two people of one household have the same utility bill, and two owners of a business the same extract.
 *
 * A number that a verifier read stays when the customer submits other details: the document was shown, whatever is typed later.
 *
 * Not here: a typed number (its index is beside the details), the comparison (duplicates.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { type ComparedKind, comparedContext, comparedIndexes } from './encryption.ts';
import { type LockedNamesRow, sql } from './store.ts';

/** Maximum number of values of one customer that are compared: more than anyone has documents. */
const MOST_OWN = 200;

/** Stores values that the customer does not have yet. A number that is too short for a document is not stored. */
export async function keepCompared(
  tx: Tx,
  vault: Vault,
  k: { customer: { id: string; partnerId: bigint }; kind: ComparedKind; values: readonly string[]; now: Date },
): Promise<void> {
  const { id, partnerId } = k.customer;
  for (const value of new Set(k.values)) {
    const indexes = comparedIndexes(vault, partnerId, k.kind, value);
    if (indexes[0] === undefined) continue;
    const encrypted = vault.encrypt(value, comparedContext(id));
    await tx.run(sql.keepCompared, [partnerId, id, k.kind, encrypted, indexes[0], k.now, indexes]);
  }
}

/**
 * Stores the numbers that a verifier read for details without a result. No effect if there are other details or a result by now, or
 * if the customer was erased.
 */
export async function keepReadNumbers(
  tx: Tx,
  vault: Vault,
  k: { customer: { id: string; partnerId: bigint }; version: number; numbers: readonly string[]; now: Date },
): Promise<void> {
  const row = await tx.row<LockedNamesRow>(sql.lockNames, [k.customer.id]);
  if (row?.version !== k.version || (row.outcome !== null && row.outcome !== 'in_review')) return;
  await keepCompared(tx, vault, { ...k, kind: 'number', values: k.numbers });
}

/** The customer's values, decrypted, numbers first: never for a log. */
export async function openCompared(
  tx: Tx,
  vault: Vault,
  customerId: string,
  limit = MOST_OWN,
): Promise<{ kind: ComparedKind; value: string }[]> {
  const rows = await tx.rows<{ kind: ComparedKind; value: Buffer }>(sql.comparedOf, [customerId, limit]);
  return rows.map(({ kind, value }) => ({ kind, value: vault.decrypt(value, comparedContext(customerId)) }));
}
