/**
 * Erasing a customer's rows: personal data is overwritten or deleted, and the key of the customer's files is deleted. Ids, levels
 * and times stay, because orders and the books refer to them.
 *
 * An empty byte value means erased: readers return no value for it. Blind indexes become random.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { clientIdOf, findCustomer, openContact } from './customers.ts';
import { fiatAccounts, openFiatAccount } from './fiat-accounts.ts';
import { emptyDraft } from './identity/drafts.ts';
import { sql } from './store.ts';

export interface ErasedRows {
  /** Ids of files to remove from the store once the transaction has committed. */
  readonly files: string[];
  /** Ids of the customer's requests for information. */
  readonly requests: bigint[];
  /** Number of erased rows, by kind. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Erases the accounts that a deposit of nobody came from. @returns number of changed rows */
export const eraseSenders = (tx: Tx, depositId: bigint): Promise<number> =>
  tx.run(sql.eraseAccounts, ['', [depositId]]);

/** @param e.deposits deposits of the customer's orders; the accounts they came from are erased too */
export async function eraseCustomerRows(
  tx: Tx,
  e: { customerId: string; deposits: readonly bigint[]; now: Date },
): Promise<ErasedRows> {
  const { customerId: id } = e;
  const contact = (await tx.rows(sql.contactOf, [id])).length;
  await tx.run(sql.eraseCustomer, [id, e.now]);
  const counts = {
    contact,
    details: await tx.run(sql.eraseDetails, [id]),
    compared_documents: await tx.run(sql.eraseCompared, [id]),
    document_dates: await tx.run(sql.eraseExpiries, [id]),
    submissions: await tx.run(sql.eraseSubmissions, [id, e.now]),
    drafts: await emptyDraft(tx, id),
    accounts: await tx.run(sql.eraseAccounts, [id, e.deposits]),
    destinations: await tx.run(sql.eraseDestinations, [id]),
    login_codes: await tx.run(sql.eraseLogins, [id]),
  };
  const requests = await tx.rows<{ id: bigint }>(sql.eraseInformation, [id, e.now]);
  const files = await tx.rows<{ id: string }>(sql.eraseFiles, [id]);
  const keys = await tx.run(sql.eraseKey, [id]);
  return {
    files: files.map(({ id: file }) => file),
    requests: requests.map(({ id: request }) => request),
    counts: { ...counts, questions: requests.length, files: files.length, file_keys: keys },
  };
}

/** Shorter texts are in many replies: as amounts, counts or words. */
const MIN_MARK_CHARS = 8;

/**
 * Texts by which a stored reply shows that it is about this customer: its id, and its contact, reference and account numbers unless
 * they are so short that other replies have them by chance. A reply with a reference has the id as well.
 */
export async function marksOf(tx: Tx, vault: Vault, customerId: string): Promise<{ phone?: string; marks: string[] }> {
  const customer = await findCustomer(tx, customerId);
  const { phone, email } = await openContact(tx, vault, customerId);
  const marks = [customerId, phone, email, clientIdOf(vault, customer)];
  for (const { id } of await fiatAccounts(tx, customerId)) {
    const { details } = await openFiatAccount(tx, vault, id);
    marks.push(details.account, details.iban);
  }
  const long = marks.filter((mark) => mark != null && mark.length >= MIN_MARK_CHARS);
  return { ...(phone === undefined ? {} : { phone }), marks: long.flatMap((mark) => mark ?? []) };
}
