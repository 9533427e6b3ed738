/**
 * Customers as rows: enrolled, found, their contact, and whether they are blocked.
 *
 * Phone and e-mail are encrypted before they reach a statement. Among the customers that a partner has named, a phone belongs to
 * one; a customer who came through an anonymous link is identified by its phone alone.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { randomText } from '../base/ids.ts';
import { encryptText, openTextOrNull, textsLike } from '../base/texts.ts';
import { assumedCountry } from './countries.ts';
import { encryptEmail, encryptPhone, openEmail, openPhone, phoneIndexes } from './encryption.ts';
import { type CountrySource, type CustomerRow, customerById, sql } from './store.ts';

export interface Customer {
  readonly id: string;
  readonly partnerId: bigint;
  /** The partner's own name for it, as stored (encrypted): `clientIdOf` decrypts it. */
  readonly storedClientId: string | null;
  readonly kind: 'INDIVIDUAL' | 'BUSINESS';
  readonly level: number;
  readonly verification: 'none' | 'in_review' | 'verified' | 'failed' | 'refused';
  /** The level before the last change of level. */
  readonly previousLevel: number;
  readonly failedReason: string | null;
  /** ISO 3166-1, two letters. Of a customer without a source it is the default: read it by `knownCountry` (countries.ts). */
  readonly country: string;
  /** Source of the country; null: it is unknown. */
  readonly countryBy: CountrySource | null;
  readonly loggedInAt: Date | null;
  /** Incremented when its logins become invalid: its phone was replaced or removed. Older sessions are then invalid. */
  readonly loginEpoch: number;
  /** Since when a document that the customer was verified with is over, and no newer one is accepted; null: none is. */
  readonly documentLapsedAt: Date | null;
  readonly blocked: boolean;
  /** Time at which its personal data was erased; null before. */
  readonly erasedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const HIGHEST_LEVEL = 5;

/**
 * Adds a customer of a partner.
 *
 * @throws Refusal 'customer_exists' {customerId} when the partner has used this clientCustomerId before, or named another
 *   customer with this phone
 */
export async function enroll(
  tx: Tx,
  vault: Vault,
  c: {
    partnerId: bigint;
    clientCustomerId: string;
    phone?: string | undefined;
    email?: string | undefined;
    kind: 'INDIVIDUAL' | 'BUSINESS';
    /** Two letters, as the partner's program says. */
    country?: string | undefined;
    now: Date;
  },
): Promise<Customer> {
  const id = `${randomText(10)}_${c.partnerId}`;
  const phone = c.phone === undefined ? undefined : encryptPhone(vault, { id, partnerId: c.partnerId }, c.phone);
  const name = encryptText(vault, c.partnerId, c.clientCustomerId);
  const names = textsLike(vault, c.partnerId, c.clientCustomerId);
  const existing = await tx.row<{ id: string }>(sql.idOfClient, [c.partnerId, names]);
  if (existing !== undefined) throw new Refusal('customer_exists', { customerId: existing.id });
  if (phone !== undefined) await refuseTaken(tx, { id, partnerId: c.partnerId }, phone.indexes);
  const row = await tx.row<CustomerRow>(sql.insert, [
    id,
    c.partnerId,
    name,
    c.kind,
    phone?.encrypted ?? null,
    phone?.indexes[0] ?? null,
    c.email === undefined ? null : encryptEmail(vault, id, c.email),
    c.now,
    ...(c.country === undefined ? assumed(c.phone) : [c.country, 'partner']),
  ]);
  if (row !== undefined) return customerOf(row);
  // Another request has enrolled the same name since the look-up.
  const other = await tx.row<{ id: string }>(sql.idOfClient, [c.partnerId, names]);
  throw new Refusal('customer_exists', { customerId: other?.id });
}

/** Country, and its source. */
function assumed(phone: string | undefined): readonly [string, CountrySource | null] {
  const { country, countryBy } = assumedCountry(phone);
  return [country, countryBy];
}

/**
 * Among the customers that a partner has named, a phone belongs to one. The lock is held until `tx` ends, so of two concurrent
 * requests with one phone the second is refused.
 *
 * @throws Refusal 'customer_exists' {customerId, byPhone: true}
 */
async function refuseTaken(
  tx: Tx,
  c: { id: string; partnerId: bigint },
  indexes: readonly [Buffer, ...Buffer[]],
): Promise<void> {
  await tx.run('select pg_advisory_xact_lock($1)', [indexes[0].readBigInt64BE(0)]);
  const taken = await tx.row<{ id: string }>(sql.namedByPhone, [c.partnerId, indexes, c.id]);
  if (taken !== undefined) throw new Refusal('customer_exists', { customerId: taken.id, byPhone: true });
}

/** The partner's own name for a customer, as it was given. */
export const clientIdOf = (vault: Vault, { partnerId, storedClientId }: Customer): string | null =>
  openTextOrNull(vault, partnerId, storedClientId);

/** The partner's customer with this name, if there is one. */
export async function customerNamed(
  tx: Tx,
  vault: Vault,
  partnerId: bigint,
  clientCustomerId: string,
): Promise<Customer | undefined> {
  const row = await tx.row<{ id: string }>(sql.idOfClient, [partnerId, textsLike(vault, partnerId, clientCustomerId)]);
  return row === undefined ? undefined : await findCustomer(tx, row.id);
}

/** Two letters, as the partner's program gave it. */
const FAR = new Date('9999-01-01T00:00:00Z');

/**
 * A partner's customers, newest first, including those who came through an anonymous link.
 *
 * @param c.after the last customer of the previous page
 */
export async function customersOf(
  tx: Tx,
  c: {
    partnerId: bigint;
    verification?: Customer['verification'] | undefined;
    from?: Date | undefined;
    until?: Date | undefined;
    after?: Customer | undefined;
    limit: number;
  },
): Promise<Customer[]> {
  const { partnerId, verification, from = new Date(0), until = FAR, after, limit } = c;
  // An empty id sorts before every other: customers created at `until` are excluded.
  const end = after !== undefined && after.createdAt < until ? [after.createdAt, after.id] : [until, ''];
  const values = [partnerId, from, ...end, limit];
  const rows =
    verification === undefined
      ? await tx.rows<CustomerRow>(sql.page, values)
      : await tx.rows<CustomerRow>(sql.pageOfVerification, [...values, verification]);
  return rows.map(customerOf);
}

/**
 * The customer who came through an anonymous link and is identified by this phone, or a new one. The partner's own customers with
 * the same phone are separate: a phone alone does not prove that they are the same person.
 */
export async function customerByPhone(
  tx: Tx,
  vault: Vault,
  c: { partnerId: bigint; phone: string; now: Date },
): Promise<Customer> {
  const { partnerId } = c;
  const id = `${randomText(10)}_${partnerId}`;
  const { encrypted, indexes } = encryptPhone(vault, { id, partnerId }, c.phone);
  const [index] = indexes;
  // Two concurrent requests with one phone are one customer: the second waits here.
  await tx.run('select pg_advisory_xact_lock($1)', [index.readBigInt64BE(0)]);
  const row =
    (await tx.row<CustomerRow>(sql.byPhone, [partnerId, indexes])) ??
    (await tx.row<CustomerRow>(sql.insert, [
      ...[id, partnerId, null, 'INDIVIDUAL', encrypted, index, null, c.now],
      ...assumed(c.phone),
    ]));
  assert(row !== undefined, 'the customer was not inserted');
  return customerOf(row);
}

/** @throws Refusal 'unknown_customer', also for another partner's customer */
export async function findCustomer(tx: Tx, id: string): Promise<Customer> {
  const row = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/.test(id) ? await customerById(tx, id) : undefined;
  if (row === undefined) throw new Refusal('unknown_customer');
  return customerOf(row);
}

/**
 * Replaces the given fields and keeps the rest. A login code sent to the previous phone becomes invalid.
 *
 * @throws Refusal 'unknown_customer' | 'customer_blocked' | 'customer_exists' {customerId} when the phone is another customer's
 */
export async function updateContact(
  tx: Tx,
  vault: Vault,
  id: string,
  c: { phone?: string | undefined; email?: string | undefined; now: Date },
): Promise<void> {
  const customer = await findCustomer(tx, id);
  requireNotErased(customer);
  const phone = c.phone === undefined ? undefined : encryptPhone(vault, customer, c.phone);
  const email = c.email === undefined ? null : encryptEmail(vault, id, c.email);
  if (phone !== undefined) await refuseTaken(tx, customer, phone.indexes);
  const [index = null] = phone?.indexes ?? [];
  const [country, countryBy] = c.phone === undefined ? [null, null] : assumed(c.phone);
  await tx.run(sql.updateContact, [
    ...[id, phone?.encrypted ?? null, index, email, c.now, country],
    ...[phone?.indexes ?? [], countryBy],
  ]);
  if (phone === undefined) return;
  await tx.run(sql.forgetLoginCode, [id]);
}

/** An erased customer stores no personal data again. @throws Refusal 'customer_blocked' */
export function requireNotErased({ erasedAt }: Pick<Customer, 'erasedAt'>): void {
  if (erasedAt !== null) throw new Refusal('customer_blocked');
}

/** Whether this is the customer's current phone. */
export async function hasPhone(tx: Tx, vault: Vault, customer: Customer, phone: string): Promise<boolean> {
  const row = await tx.row(sql.hasPhone, [customer.id, phoneIndexes(vault, customer.partnerId, phone)]);
  return row !== undefined;
}

/**
 * Removes the phone from a customer, because it is another person's now. The login it proved is invalid, and its sessions
 * end, so the customer trades again only after logging in with another number.
 *
 * @returns whether there was one
 */
export async function detachPhone(tx: Tx, customer: Customer, now: Date): Promise<boolean> {
  if ((await tx.run(sql.detachPhone, [customer.id, now])) === 0) return false;
  await tx.run(sql.forgetLoginCode, [customer.id]);
  return true;
}

/** Phone and e-mail, decrypted: for verifiers and for the customer's own page. */
export async function openContact(tx: Tx, vault: Vault, id: string): Promise<{ phone?: string; email?: string }> {
  const row = await tx.row<{ phone: Buffer | null; email: Buffer | null }>(sql.contact, [id]);
  if (row === undefined) throw new Refusal('unknown_customer');
  return {
    ...(row.phone === null ? {} : { phone: openPhone(vault, id, row.phone) }),
    ...(row.email === null ? {} : { email: openEmail(vault, id, row.email) }),
  };
}

/**
 * When a customer was last blocked, or null. The row is share-locked until `tx` ends, so a block waits for transactions that have
 * read it, and later readers see the block.
 *
 * @throws Refusal 'unknown_customer'
 */
export async function blockOf(tx: Tx, customerId: string): Promise<Date | null> {
  const row = await tx.row<{ blockedAt: Date | null }>(sql.blockOf, [customerId]);
  if (row === undefined) throw new Refusal('unknown_customer');
  return row.blockedAt;
}

/** The customer may not trade from now on; money that is not submitted yet is held before it leaves. */
export async function blockCustomer(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.run(sql.block, [customerId, now, null]);
}

/** For a transaction that may block the customer after it has posted: payouts read the block before they lock accounts. */
export async function lockCustomer(tx: Tx, customerId: string): Promise<void> {
  await tx.run(sql.lock, [customerId]);
}

/** Waits for transactions that insert an order of this customer, because their foreign keys lock the row too. */
export async function lockAgainstOrders(tx: Tx, customerId: string): Promise<void> {
  await tx.run(sql.lockAgainstOrders, [customerId]);
}

/** Blocks the customer because of a debt. The block ends with the debt, unless an operator has blocked the customer too. */
export async function blockForDebt(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.run(sql.block, [customerId, now, 'debt']);
}

/** The customer no longer owes anything. @returns whether that ended a block */
export async function debtEnded(tx: Tx, customerId: string, now: Date): Promise<boolean> {
  return (await tx.run(sql.debtEnded, [customerId, now])) > 0;
}

/** Ends a block. */
export async function unblockCustomer(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.run(sql.unblock, [customerId, now]);
}

/** Customers with one of these texts as their id, or as their partner-given name, of every partner the role sees. */
export const customersLike = async (
  tx: Tx,
  vault: Vault,
  input: { texts: readonly string[]; partnerIds: readonly bigint[] },
): Promise<Customer[]> => {
  const names = input.partnerIds.flatMap((id) => input.texts.flatMap((text) => textsLike(vault, id, text)));
  return (await tx.rows<CustomerRow>(sql.likeText, [input.texts, names])).map(customerOf);
};

export function customerOf(row: CustomerRow): Customer {
  return {
    id: row.id,
    partnerId: row.partnerId,
    storedClientId: row.clientCustomerId,
    kind: row.kind,
    level: row.level,
    verification: row.verification,
    previousLevel: row.previousLevel,
    failedReason: row.failedReason,
    country: row.country,
    countryBy: row.countryBy,
    loggedInAt: row.loggedInAt,
    loginEpoch: row.loginEpoch,
    documentLapsedAt: row.documentLapsedAt,
    blocked: row.blockedAt !== null,
    erasedAt: row.erasedAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
