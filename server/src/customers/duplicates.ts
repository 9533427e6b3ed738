/**
 * Duplicates: the same document, or the same account, under another customer of the same partner.
 *
 * A document is the same by its number, typed or read by a verifier, or by the bytes of its file (compared-documents.ts). The number is
 * encrypted; beside it is a keyed hash of it in normalised spelling, which finds other customers. The key differs per partner, so that a
 * dump does not show that one person is a customer of two partners.
 *
 * Beside money only numbers count. A program may send one placeholder for all its customers, such as for the back of a passport: a
 * block of one must not hold the money of all.
 *
 * Not here: the consequences (compliance/checks.ts opens a case, and a review then takes two people; compliance/screening.ts holds
 * money of a customer whose other identity is blocked).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { openCompared } from './compared-documents.ts';
import { findCustomer } from './customers.ts';
import { openGivenDetails } from './details.ts';
import { type ComparedKind, comparedIndexes, identityIndexes, numberIndexes } from './encryption.ts';
import { sql } from './store.ts';

/** Maximum number of other customers named: a number that more of them gave cannot be a document's. */
const MOST_OTHERS = 20;

export interface SameDocument {
  readonly customerId: string;
  /** What is the same, in order: the bytes of a file, the number. */
  readonly by: readonly ComparedKind[];
}

/** Other customers of the same partner who have the same document, in the order of their ids. */
export async function sameDocument(tx: Tx, vault: Vault, customerId: string): Promise<SameDocument[]> {
  const { partnerId } = await findCustomer(tx, customerId);
  const indexes = await ownIndexes(tx, vault, { customerId, partnerId, kinds: ['file', 'number'] });
  if (indexes.length === 0) return [];
  return await tx.rows<SameDocument>(sql.sameDocument, [partnerId, indexes, customerId, MOST_OTHERS]);
}

/** Indexes of the customer's documents, also under an old master key. */
async function ownIndexes(
  tx: Tx,
  vault: Vault,
  o: { customerId: string; partnerId: bigint; kinds: readonly ComparedKind[] },
): Promise<Buffer[]> {
  const typed = (await openGivenDetails(tx, vault, o.customerId)) ?? {};
  const compared = await openCompared(tx, vault, o.customerId);
  return [
    ...identityIndexes(vault, o.partnerId, typed),
    ...compared.flatMap(({ kind, value }) =>
      o.kinds.includes(kind) ? comparedIndexes(vault, o.partnerId, kind, value) : [],
    ),
  ];
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
  const documents = isBeingExchanged(vault)
    ? await ownIndexes(tx, vault, { customerId, partnerId, kinds: ['number'] })
    : [];
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
