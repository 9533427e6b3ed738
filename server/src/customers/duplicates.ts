/**
 * Duplicates: the same document number, or the same account, under another customer of the same partner.
 *
 * The number is in the encrypted details; beside them is a keyed hash of it in normalised spelling, which finds other customers.
 * The key differs per partner, so that a dump does not show that one person is a customer of two partners.
 *
 * Not here: the consequences (compliance/checks.ts opens a case, and a review then takes two people; compliance/screening.ts holds
 * money of a customer whose other identity is blocked).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { findCustomer } from './customers.ts';
import { openGivenDetails } from './details.ts';
import { identityIndexes, numberIndexes } from './encryption.ts';
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

export interface BlockedTwin {
  customerId: string;
  blockedAt: Date;
  /** What both have: the account that is paid, or only the document's number. */
  by: 'account' | 'document';
}

/**
 * Blocked customers of the same partner who have the account that is paid, or the document number of the paid customer. Rows of
 * all customers who have one are share-locked until `tx` ends, as in `blockOf`.
 *
 * @param input.account details of the account that is paid, if it is the customer's own
 */
export async function blockedTwins(
  tx: Tx,
  vault: Vault,
  input: { customerId: string; partnerId: bigint | null; account?: Record<string, string> | undefined },
): Promise<BlockedTwin[]> {
  const { customerId, account } = input;
  const partnerId = input.partnerId ?? (await findCustomer(tx, customerId)).partnerId;
  const numbers = account === undefined ? [] : numberIndexes(vault, partnerId, account);
  // While the master key is exchanged, the other customer's index may still be by the old key.
  const details = isBeingExchanged(vault) ? await openGivenDetails(tx, vault, customerId) : undefined;
  const documents = details === undefined ? [] : identityIndexes(vault, partnerId, details);
  const rows = await tx.rows<{ customerId: string; blockedAt: Date | null; hasAccount: boolean }>(sql.sameOwner, [
    ...[partnerId, customerId, numbers, documents, MOST_TWINS],
  ]);
  return rows.flatMap(({ customerId: id, blockedAt, hasAccount }) =>
    blockedAt === null ? [] : [{ customerId: id, blockedAt, by: hasAccount ? ('account' as const) : 'document' }],
  );
}

/** Those of these customers who are blocked, the longest blocked first. All rows are share-locked until `tx` ends, as in `blockOf`. */
export async function blockedAmong(tx: Tx, ids: readonly string[]): Promise<{ customerId: string; blockedAt: Date }[]> {
  const rows = await tx.rows<{ customerId: string; blockedAt: Date | null }>(sql.blocksAmong, [ids]);
  return rows
    .flatMap(({ customerId, blockedAt }) => (blockedAt === null ? [] : [{ customerId, blockedAt }]))
    .toSorted((a, b) => a.blockedAt.getTime() - b.blockedAt.getTime());
}

/** More than one person has. Blocked customers come first, so a crowd hides none. */
const MOST_TWINS = 100;

const isBeingExchanged = (vault: Vault): boolean => vault.indexes('any', 'fiat_accounts.number:any').length > 1;
