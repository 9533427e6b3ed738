/**
 * Encrypting customer data: the context in which each field is encrypted, and the input of its blind index.
 *
 * A context names table, column and row, so an encrypted value copied into another row does not decrypt there. A blind index is
 * computed from the normalised value (without spaces, hyphens, case), per partner or per customer, so that equal values of two of
 * them do not look equal in a dump.
 */
import { comparedNumber } from '../base/accountnumbers.ts';
import type { Vault } from '../base/crypto.ts';

export type Details = Readonly<Record<string, string>>;

export function encryptPhone(vault: Vault, customer: { id: string; partnerId: bigint }, phone: string) {
  return {
    encrypted: vault.encrypt(phone, `customers.phone:${customer.id}`),
    /** The present key's value first: it is the stored one. */
    indexes: phoneIndexes(vault, customer.partnerId, phone),
  };
}

/** The values that `phone_index` may have for a phone: also under an old master key. */
export const phoneIndexes = (vault: Vault, partnerId: bigint, phone: string): [Buffer, ...Buffer[]] =>
  vault.indexes(phone.replace(/[^0-9]/g, ''), `customers.phone:${partnerId}`) as [Buffer, ...Buffer[]];

export const encryptEmail = (vault: Vault, customerId: string, email: string): Buffer =>
  vault.encrypt(email, `customers.email:${customerId}`);

export const openPhone = (vault: Vault, customerId: string, encrypted: Buffer): string =>
  vault.decrypt(encrypted, `customers.phone:${customerId}`);

export const openEmail = (vault: Vault, customerId: string, encrypted: Buffer): string =>
  vault.decrypt(encrypted, `customers.email:${customerId}`);

export const encryptDetails = (vault: Vault, accountId: bigint, details: Details): Buffer =>
  vault.encrypt(JSON.stringify(details), `fiat_accounts.details:${accountId}`);

export const openDetails = (vault: Vault, accountId: bigint, encrypted: Buffer): Record<string, string> =>
  // The account was erased.
  encrypted.length === 0 ? {} : JSON.parse(vault.decrypt(encrypted, `fiat_accounts.details:${accountId}`));

/**
 * The values that `details_index` may have for an account: the present key's first. @param owner a customer's id, or `sender of
 * <deposit>`
 */
export function detailsIndexes(vault: Vault, owner: string, fiat: string, details: Details): [Buffer, ...Buffer[]] {
  const plain = Object.entries(details)
    .map(([field, value]) => [field, value.replace(/[\s-]/g, '').toUpperCase()])
    .filter(([, value]) => value !== '')
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return vault.indexes(JSON.stringify([fiat, plain]), `fiat_accounts.details:${owner}`) as [Buffer, ...Buffer[]];
}

/**
 * The values that `identity_index` may have for a document number: the present key's first. Empty when none was given, or one too
 * short for a document.
 */
export function identityIndexes(vault: Vault, partnerId: bigint, details: Details): Buffer[] {
  const number = (details.identityNumber ?? '').replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
  return number.length < SHORTEST_NUMBER ? [] : vault.indexes(number, `customer_details.identity:${partnerId}`);
}
const SHORTEST_NUMBER = 5;

/** What a document is recognised by: the bytes of a file, or a number that a verifier read. */
export type ComparedKind = 'file' | 'number';

/**
 * The values that `value_index` may have for a document: the present key's first. A number that was read has the index of one that was
 * typed, so that both are found. Empty for a number that is too short for a document.
 *
 * @param value SHA-256 of the bytes that were sent, in hex, or the number
 */
export const comparedIndexes = (vault: Vault, partnerId: bigint, kind: ComparedKind, value: string): Buffer[] =>
  kind === 'number'
    ? identityIndexes(vault, partnerId, { identityNumber: value })
    : vault.indexes(value, `compared_documents.file:${partnerId}`);

export const comparedContext = (customerId: string): string => `compared_documents.value:${customerId}`;

/** The account's number: its IBAN where it has no other. */
export const numberOf = (details: Details): string =>
  (details.account ?? details.iban ?? Object.values(details)[0] ?? '').replace(/[\s-]/g, '');

/**
 * The values that `number_index` may have for an account number, with any spacing and case: the present key's first. Empty for a
 * number that is too short to be one. @param partnerId null for the account that a deposit came from
 */
export function numberIndexes(vault: Vault, partnerId: bigint | null, details: Details): Buffer[] {
  const number = comparedNumber(numberOf(details));
  return number === undefined ? [] : vault.indexes(number, `fiat_accounts.number:${partnerId ?? 'sender'}`);
}

/** The last characters, for display: at most four, and never more than a third of the number. */
export function hintOf(details: Details): string {
  const number = numberOf(details);
  const shown = Math.min(4, Math.floor(number.length / 3));
  return shown === 0 ? '' : number.slice(-shown);
}
