/**
 * Erasing a customer's rows: personal data is overwritten or deleted, and the key of the customer's files is deleted. Ids, levels
 * and times stay, because orders and the books refer to them.
 *
 * An empty byte value means erased: readers return no value for it. Blind indexes become random.
 */
import type { Tx } from '../base/db.ts';
import { emptyDraft } from './identity/drafts.ts';
import { sql } from './store.ts';

/**
 * @param e.deposits deposits of the customer's orders; the accounts they came from are erased too
 * @returns ids of files to remove from the store once `tx` has committed, and ids of the customer's requests for information
 */
export async function eraseCustomerRows(
  tx: Tx,
  e: { customerId: string; deposits: readonly bigint[]; now: Date },
): Promise<{ files: string[]; requests: bigint[] }> {
  const { customerId: id } = e;
  await tx.run(sql.eraseCustomer, [id, e.now]);
  await tx.run(sql.eraseDetails, [id]);
  await tx.run(sql.eraseExpiries, [id]);
  await tx.run(sql.eraseSubmissions, [id, e.now]);
  await emptyDraft(tx, id);
  await tx.run(sql.eraseAccounts, [id, e.deposits]);
  await tx.run(sql.eraseDestinations, [id]);
  await tx.run(sql.eraseLogins, [id]);
  const requests = await tx.rows<{ id: bigint }>(sql.eraseInformation, [id, e.now]);
  const files = await tx.rows<{ id: string }>(sql.eraseFiles, [id]);
  await tx.run(sql.eraseKey, [id]);
  return { files: files.map(({ id: file }) => file), requests: requests.map(({ id: request }) => request) };
}
