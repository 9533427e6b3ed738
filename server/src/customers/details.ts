/**
 * Details: what a customer submitted for verification, encrypted, and the verifier's result.
 *
 * Each set of details has a version, which is also the verifier's key for the verification: the same form sent twice is one
 * verification, a corrected one is another.
 *
 * Not here: recording the result (`recordFinding`, with its effects), asking for it again (checks.ts), the names in them and in the
 * document (known-names.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { followCheck } from './checks.ts';
import { findCustomer, requireNotErased } from './customers.ts';
import { identityIndexes } from './encryption.ts';
import { type CustomerDetailsRow, sql } from './store.ts';

export interface GivenDetails {
  readonly version: number;
  /** null: the verifier has not answered yet. */
  readonly outcome: 'in_review' | 'verified' | 'failed' | 'refused' | null;
  /** A document of the verified details expires, and a new one is asked for. */
  readonly isExpiring?: boolean;
}

/** The next details to ask the verifier about, if any were submitted. */
export async function givenDetails(tx: Tx, customerId: string): Promise<GivenDetails | undefined> {
  return await tx.row<GivenDetails>(sql.detailsVersion, [customerId]);
}

/** The same, locked until `tx` ends: no other request or result can come in between. */
export async function lockGivenDetails(tx: Tx, customerId: string): Promise<GivenDetails | undefined> {
  const row = await tx.row<CustomerDetailsRow>(sql.lockDetails, [customerId]);
  return row && { version: row.version, outcome: row.outcome };
}

/**
 * Stores details, encrypted, and enqueues their check (checks.ts). Submitting the same details again before a result exists
 * returns the same version.
 *
 * @param d.over the newest details that the caller's decision was based on; undefined when there were none. If other details were
 * stored or a result was recorded since, nothing is stored: the second of two requests must not replace details that were
 * verified between its decision and this write
 * @returns the newest details, stored now or by another request
 */
export async function saveDetails(
  tx: Tx,
  vault: Vault,
  d: {
    customer: { id: string; partnerId: bigint };
    details: Readonly<Record<string, string>>;
    over?: GivenDetails | undefined;
    now: Date;
  },
): Promise<GivenDetails> {
  const { id, partnerId } = d.customer;
  const context = `customer_details.details:${id}`;
  const text = JSON.stringify(d.details);
  const encrypted = vault.encrypt(text, context);
  // Indexed so that duplicates.ts finds the document under another customer too.
  const [index = null] = identityIndexes(vault, partnerId, d.details);
  requireNotErased(await findCustomer(tx, id));
  if ((await tx.run(sql.firstDetails, [id, partnerId, encrypted, d.now, index])) === 1) {
    followCheck(tx, id, d.now);
    return { version: 1, outcome: null };
  }
  const there = await tx.row<CustomerDetailsRow>(sql.lockDetails, [id]);
  assert(there !== undefined, `details of ${id} were neither stored nor found`);
  const { version, outcome } = there;
  if (version !== d.over?.version || outcome !== d.over.outcome) return { version, outcome };
  followCheck(tx, id, d.now);
  if (outcome === null && vault.decrypt(there.details, context) === text) return { version, outcome };
  await tx.run(sql.replaceDetails, [id, encrypted, version + 1, d.now, index]);
  return { version: version + 1, outcome: null };
}

/** The details that the customer submitted, decrypted, by field; undefined when there are none. For the operator who verifies. */
export async function openGivenDetails(
  tx: Tx,
  vault: Vault,
  customerId: string,
): Promise<Record<string, string> | undefined> {
  const row = await tx.row<CustomerDetailsRow>(sql.details, [customerId]);
  if (row === undefined) return undefined;
  return JSON.parse(vault.decrypt(row.details, `customer_details.details:${customerId}`)) as Record<string, string>;
}
