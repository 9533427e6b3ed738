/**
 * Details: what a customer gave about itself to be verified, sealed, and what the verifier made of them.
 *
 * Each set of details has a version, which names the verification with the verifier: the same form sent twice is one
 * verification, a corrected one is another.
 *
 * Not here: recording what was found (`recordFinding`, beside what it changes).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { type CustomerDetailsRow, sql } from './store.ts';

export interface GivenDetails {
  readonly version: number;
  /** null while the verifier has not answered. */
  readonly outcome: 'in_review' | 'verified' | 'failed' | 'refused' | null;
}

/** What the verifier is to be asked about next, if anything was given. */
export async function givenDetails(tx: Tx, customerId: string): Promise<GivenDetails | undefined> {
  return await tx.row<GivenDetails>(sql.detailsVersion, [customerId]);
}

/** Keeps details, sealed. The same again while nothing has been found about them is the same version. */
export async function saveDetails(
  tx: Tx,
  vault: Vault,
  d: { customer: { id: string; partnerId: bigint }; details: Readonly<Record<string, string>>; now: Date },
): Promise<GivenDetails> {
  const { id, partnerId } = d.customer;
  const context = `customer_details.details:${id}`;
  const text = JSON.stringify(d.details);
  const sealed = vault.seal(text, context);
  if ((await tx.run(sql.firstDetails, [id, partnerId, sealed, d.now])) === 1) return { version: 1, outcome: null };
  const before = await tx.row<CustomerDetailsRow>(sql.lockDetails, [id]);
  const isSame = before !== undefined && before.outcome === null && vault.open(before.details, context) === text;
  const version = (before?.version ?? 0) + (isSame ? 0 : 1);
  if (!isSame) await tx.run(sql.replaceDetails, [id, sealed, version, d.now]);
  return { version, outcome: null };
}
