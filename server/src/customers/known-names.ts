/**
 * Known names: what a customer typed about itself and what a verifier read from its document, and which of them count.
 *
 * The names that a verifier reads are encrypted beside the details that they were read for. They count once these details are
 * verified, and stay while newer details are checked. An operator who verifies details for which no verifier read a name confirms
 * the typed one, so names of before are removed.
 *
 * Beside money (payers, account holders, payees, the travel rule) verified names count. A typed name then counts only if it is
 * the same by names.ts: otherwise a customer could type the name of a stranger who pays or is paid. Without verified names the typed
 * ones count. Sanctions screening compares all of them, also names that are not accepted yet.
 *
 * Not here: the method (names.ts), and the review of a name that differs from the typed one (compliance/checks.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { nameScore, SAME_NAME } from './names.ts';
import { type KnownNamesRow, type LockedNamesRow, sql } from './store.ts';

type Fields = Readonly<Record<string, string>>;

/** Names as a verifier read them, under the names of the form's fields. */
export interface DocumentNames {
  readonly firstName?: string;
  readonly lastName?: string;
  /** Date of birth, YYYY-MM-DD. */
  readonly dob?: string;
  /** The registered name of a business. */
  readonly companyName?: string;
}

/** The context of both columns: values move from one to the other, and decrypt only in their customer's row. */
export const namesContext = (customerId: string): string => `customer_details.names:${customerId}`;

/** Everything that names a customer. */
export interface KnownNames {
  /** Changes with each of the three; 0 when there are none. */
  readonly revision: number;
  /** What the customer typed: all fields of its details. */
  readonly typed: Fields;
  /** Read for the newest details, which are not accepted yet. */
  readonly read?: DocumentNames;
  readonly verified?: DocumentNames;
}

/** Decrypted, so never for a log. */
export async function knownNames(tx: Tx, vault: Vault, customerId: string): Promise<KnownNames> {
  const row = await tx.row<KnownNamesRow>(sql.knownNames, [customerId]);
  if (row === undefined) return { revision: 0, typed: {} };
  const open = (value: Buffer): DocumentNames => JSON.parse(vault.decrypt(value, namesContext(customerId)));
  return {
    revision: row.revision,
    typed: JSON.parse(vault.decrypt(row.details, `customer_details.details:${customerId}`)) as Fields,
    ...(row.readNames !== null && { read: open(row.readNames) }),
    ...(row.verifiedNames !== null && { verified: open(row.verifiedNames) }),
  };
}

/**
 * Stores the names that a verifier first read for details without a result, and compares them with the typed ones. No effect, and
 * 'unknown', if there are other details or a result by now.
 *
 * @returns 'other' when the typed name of the person or of the company is another one; 'unknown' when none was typed
 */
export async function keepReadNames(
  tx: Tx,
  vault: Vault,
  k: { customerId: string; version: number; names: DocumentNames },
): Promise<PayerMatch> {
  const { customerId, version, names } = k;
  const row = await tx.row<LockedNamesRow>(sql.lockNames, [customerId]);
  if (row?.version !== version || (row.outcome !== null && row.outcome !== 'in_review')) return 'unknown';
  const context = namesContext(customerId);
  // The first answer counts: the operator who decides must not accept names that came after the ones shown.
  const kept = row.readFor === version ? row.readNames : null;
  const read: DocumentNames = kept === null ? names : JSON.parse(vault.decrypt(kept, context));
  if (kept === null) await tx.run(sql.readNames, [customerId, version, vault.encrypt(JSON.stringify(names), context)]);
  const typed = JSON.parse(vault.decrypt(row.details, `customer_details.details:${customerId}`)) as Fields;
  return documentMatch(typed, read);
}

/**
 * Whether the typed names are those of a document. Pure.
 *
 * @returns 'other' when that of the person or of the company is another one; 'unknown' when none was typed, or none was read
 */
export function documentMatch(typed: Fields, read: DocumentNames = {}): PayerMatch {
  const [person, company] = [personIn({ ...read }), read.companyName];
  const matches = [
    ...(person === undefined ? [] : [compared(personsIn(typed), person).match]),
    ...(company === undefined ? [] : [compared(companyNames(typed), company).match]),
  ];
  if (matches.includes('other')) return 'other';
  return matches.includes('same') ? 'same' : 'unknown';
}

export type PayerMatch = 'same' | 'other' | 'unknown';

/**
 * Whether a payer's name is the customer's own.
 *
 * @returns 'unknown' when the customer or the rail gave no name
 */
export async function comparePayer(tx: Tx, vault: Vault, customerId: string, payerName: string): Promise<PayerMatch> {
  return compared(await customerNames(tx, vault, customerId), payerName).match;
}

/** Similarity of a name and a customer's: the best over the customer's names, of a person and of a company. */
export interface NameCompared {
  match: PayerMatch;
  /** In ten-thousandths (names.ts); absent when one side has no name. */
  score?: number;
}

export function compared(own: readonly string[], other: string): NameCompared {
  const scores = own.map((name) => nameScore(name, other)).filter((score) => score !== undefined);
  if (scores.length === 0) return { match: 'unknown' };
  const score = Math.max(...scores);
  return { match: score >= SAME_NAME ? 'same' : 'other', score };
}

/** The name under which the customer is paid: the first of those that count beside money, or undefined. */
export async function customerName(tx: Tx, vault: Vault, customerId: string): Promise<string | undefined> {
  return (await customerNames(tx, vault, customerId))[0];
}

/** Names that count beside money: of the person and, for a business, of the company. Empty when none is known. */
export async function customerNames(tx: Tx, vault: Vault, customerId: string): Promise<string[]> {
  return countingNames(await knownNames(tx, vault, customerId));
}

/** Pure. Verified names, and typed ones that are the same as one of them; the typed ones where there are no verified names. */
export function countingNames({ typed, verified = {} }: Pick<KnownNames, 'typed' | 'verified'>): string[] {
  const [own, read] = [namesIn(typed), namesIn({ ...verified })];
  if (read.length === 0) return own;
  return [...new Set([...read, ...own.filter((name) => compared(read, name).match === 'same')])];
}

/**
 * The customer's details with verified names instead of the typed ones: for data that must name the customer as its document does.
 * Empty without details.
 */
export async function legalDetails(tx: Tx, vault: Vault, customerId: string): Promise<Fields> {
  const { typed, verified = {} } = await knownNames(tx, vault, customerId);
  const replaced: readonly string[] = [
    ...(personIn({ ...verified }) === undefined ? [] : PERSON_NAMES),
    ...(verified.companyName === undefined ? [] : COMPANY_NAMES),
  ];
  const kept = Object.entries(typed).filter(([field]) => !replaced.includes(field));
  return { ...Object.fromEntries(kept), ...verified };
}

const PERSON_NAMES = ['firstName', 'lastName', 'firstSurname', 'secondSurname'] as const;

/** Answers that name a business: of forms, and `entityName`, which the wires take beside a form. */
export const COMPANY_NAMES = ['companyName', 'legalName', 'businessName', 'entityName'] as const;

/** Every name that a business was given, because one must not hide another from screening. */
export function companyNames(details: Fields): string[] {
  const names = COMPANY_NAMES.map((field) => (details[field] ?? '').trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** First name and surnames as given, or undefined. */
export function personIn(given: Fields): string | undefined {
  const name = PERSON_NAMES.map((field) => given[field])
    .filter(Boolean)
    .join(' ');
  return name === '' ? undefined : name;
}

function personsIn(given: Fields): string[] {
  const person = personIn(given);
  return person === undefined ? [] : [person];
}

const namesIn = (given: Fields): string[] => [...personsIn(given), ...companyNames(given)];
