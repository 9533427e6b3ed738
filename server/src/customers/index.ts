/**
 * Customers: who they are, how far they are verified, and the fiat accounts they are paid to. links.ts has the links that
 * bring them to our own pages, login.ts the codes they log in with, details.ts what they submit there.
 *
 * A customer belongs to one partner, and does not exist for any other: row-level security enforces that, so a look-up here
 * needs no partner id. Phone, e-mail and account details are encrypted before they reach a statement; nothing personal is in
 * an error, an event or a log.
 *
 * Verification levels: 0 none, 1 basic, 2 intermediate, 3 advanced, 4 enhanced, 5 complete. Each partner has its own words for them
 * and its own level from which customers may trade; neither is stored here.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { firstIdAt, numericId, randomText } from '../base/ids.ts';
import type { AssetCode } from '../base/money.ts';
import { encryptText, openTextOrNull } from '../base/texts.ts';
import { emit } from '../events/index.ts';
import type { Partner } from '../partners/index.ts';
import { customerName } from './details.ts';
import {
  encryptDetails,
  encryptEmail,
  encryptPhone,
  hintOf,
  indexDetails,
  openDetails,
  openEmail,
  openPhone,
} from './encryption.ts';
import { accountById, accountsOf, type CustomerRow, customerById, type FiatAccountRow, sql } from './store.ts';

export {
  type AccountField,
  type AccountForm,
  accountDetails,
  accountForms,
  accountShapeOf,
  hasAccountShape,
} from './accounts.ts';
export {
  addAddress,
  confirmDestination,
  type Destination,
  destinationById,
  destinationsOf,
  isUsable,
  noteApiAccount,
  noteConfirmedAccount,
  phoneCountsFrom,
  waitsUntil,
} from './destinations.ts';
export {
  comparePayer,
  customerName,
  type GivenDetails,
  givenDetails,
  lockGivenDetails,
  openGivenDetails,
  type PayerMatch,
  saveDetails,
} from './details.ts';
export {
  CHECKOUT_FOR_MS,
  type CheckoutLink,
  encryptLink,
  LINK_FOR_MS,
  type Link,
  type LinkPurpose,
  madeAs,
  openLink,
  RETURN_FOR_MS,
  type ReturnLink,
} from './links.ts';
export { type Asking, CODE_FOR_MS, checkCode, codeUnderWay, type Issued, issueCode, sendingFailed } from './login.ts';
export { REQUIREMENTS, type Requirement } from './requirements.ts';

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
  /** ISO 3166-1, two letters. */
  readonly country: string;
  readonly loggedInAt: Date | null;
  /** Incremented when its logins become invalid: a new phone, or none. Older sessions are invalid. */
  readonly loginEpoch: number;
  readonly blocked: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface FiatAccount {
  readonly id: bigint;
  /** Null for the account that a deposit came from. */
  readonly customerId: string | null;
  /** The one deposit that may be refunded to it; null for a customer's own account. */
  readonly senderOf: bigint | null;
  readonly fiat: AssetCode;
  /** The last characters of the account number, for display. */
  readonly hint: string;
  readonly createdAt: Date;
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
    now: Date;
  },
): Promise<Customer> {
  const id = `${randomText(10)}_${c.partnerId}`;
  const phone = c.phone === undefined ? undefined : encryptPhone(vault, { id, partnerId: c.partnerId }, c.phone);
  const name = encryptText(vault, c.partnerId, c.clientCustomerId);
  const existing = await tx.row<{ id: string }>(sql.idOfClient, [c.partnerId, name]);
  if (existing !== undefined) throw new Refusal('customer_exists', { customerId: existing.id });
  if (phone !== undefined) await refuseTaken(tx, { id, partnerId: c.partnerId }, phone.index);
  const row = await tx.row<CustomerRow>(sql.insert, [
    id,
    c.partnerId,
    name,
    c.kind,
    phone?.encrypted ?? null,
    phone?.index ?? null,
    c.email === undefined ? null : encryptEmail(vault, id, c.email),
    c.now,
  ]);
  if (row !== undefined) return customerOf(row);
  // Another request has enrolled the same name since the look-up.
  const other = await tx.row<{ id: string }>(sql.idOfClient, [c.partnerId, name]);
  throw new Refusal('customer_exists', { customerId: other?.id });
}

/**
 * A phone belongs to one customer of a partner, among those that the partner has named. The lock is held until `tx` ends, so
 * of two concurrent requests with one phone the second is refused.
 *
 * @throws Refusal 'customer_exists' {customerId}
 */
async function refuseTaken(tx: Tx, c: { id: string; partnerId: bigint }, phoneIndex: Buffer): Promise<void> {
  await tx.run('select pg_advisory_xact_lock($1)', [phoneIndex.readBigInt64BE(0)]);
  const taken = await tx.row<{ id: string }>(sql.namedByPhone, [c.partnerId, phoneIndex, c.id]);
  if (taken !== undefined) throw new Refusal('customer_exists', { customerId: taken.id });
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
  const row = await tx.row<{ id: string }>(sql.idOfClient, [
    partnerId,
    encryptText(vault, partnerId, clientCustomerId),
  ]);
  return row === undefined ? undefined : await findCustomer(tx, row.id);
}

/**
 * The customer who came through a link that named no customer and is identified by this phone, or a new one. The partner's
 * own customers with the same phone are separate: nothing says that they are the same person.
 */
export async function customerByPhone(
  tx: Tx,
  vault: Vault,
  c: { partnerId: bigint; phone: string; now: Date },
): Promise<Customer> {
  const { partnerId } = c;
  const id = `${randomText(10)}_${partnerId}`;
  const { encrypted, index } = encryptPhone(vault, { id, partnerId }, c.phone);
  // Two concurrent requests with one phone are one customer: the second waits here.
  await tx.run('select pg_advisory_xact_lock($1)', [index.readBigInt64BE(0)]);
  const row =
    (await tx.row<CustomerRow>(sql.byPhone, [partnerId, index])) ??
    (await tx.row<CustomerRow>(sql.insert, [id, partnerId, null, 'INDIVIDUAL', encrypted, index, null, c.now]));
  assert(row !== undefined, 'a customer without a name is inserted');
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
 * @throws Refusal 'unknown_customer' | 'customer_exists' {customerId} when the phone is another customer's
 */
export async function updateContact(
  tx: Tx,
  vault: Vault,
  id: string,
  c: { phone?: string | undefined; email?: string | undefined; now: Date },
): Promise<void> {
  const customer = await findCustomer(tx, id);
  const phone = c.phone === undefined ? undefined : encryptPhone(vault, customer, c.phone);
  const email = c.email === undefined ? null : encryptEmail(vault, id, c.email);
  if (phone !== undefined) await refuseTaken(tx, customer, phone.index);
  await tx.run(sql.updateContact, [id, phone?.encrypted ?? null, phone?.index ?? null, email, c.now]);
  if (phone === undefined) return;
  await tx.run(sql.forgetLoginCode, [id]);
}

/** Whether this is the customer's current phone. */
export async function hasPhone(tx: Tx, vault: Vault, customer: Customer, phone: string): Promise<boolean> {
  const row = await tx.row(sql.hasPhone, [customer.id, encryptPhone(vault, customer, phone).index]);
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
 * Records a verifier's result: on the customer, as a row that never changes, and as an event `customer.verification`.
 *
 * @param v.level        level the customer has from now on, 0 to 5
 * @param v.failedReason a word or sentence that names nobody
 */
export async function recordVerification(
  tx: Tx,
  v: {
    customer: Customer;
    verifier: string;
    outcome: Customer['verification'];
    level: number;
    failedReason?: string | undefined;
    now: Date;
  },
): Promise<Customer> {
  assert(Number.isInteger(v.level) && v.level >= 0 && v.level <= HIGHEST_LEVEL, 'a verification level is 0 to 5');
  const { id, partnerId } = v.customer;
  const row = await tx.row<CustomerRow>(sql.verified, [id, v.outcome, v.level, v.failedReason ?? null, v.now]);
  if (row === undefined) throw new Refusal('unknown_customer');
  await tx.run(sql.insertVerification, [partnerId, id, v.verifier, v.outcome, v.level, v.now]);
  const customer = customerOf(row);
  await announce(tx, customer, 'verification', v.now);
  return customer;
}

/** Announces the customer's verification state, completely every time. */
async function announce(tx: Tx, customer: Customer, what: 'login' | 'verification', at: Date): Promise<void> {
  await emit(tx, {
    partnerId: customer.partnerId,
    type: `customer.${what}`,
    subject: `customer:${customer.id}`,
    body: {
      customerId: customer.id,
      // As stored (encrypted): the code that delivers the event decrypts it.
      clientCustomerId: customer.storedClientId,
      kind: customer.kind,
      verification: customer.verification,
      level: customer.level,
      previousLevel: customer.previousLevel,
      failedReason: customer.failedReason,
      loggedInAt: customer.loggedInAt?.toISOString() ?? null,
    },
    at,
  });
}

/**
 * Records a verifier's result for a version of a customer's details (details.ts).
 *
 * Does nothing when it was recorded before, when newer details were submitted meanwhile, or when the customer was blocked or
 * refused permanently in the meantime.
 */
export async function recordFinding(
  tx: Tx,
  f: {
    customerId: string;
    version: number;
    verifier: string;
    finding: { outcome: 'in_review' | 'verified' | 'failed' | 'refused'; level: number; reason?: string };
    now: Date;
  },
): Promise<void> {
  const { outcome, level, reason } = f.finding;
  if ((await tx.run(sql.detailsFound, [f.customerId, f.version, outcome])) === 0) return;
  const customer = await findCustomer(tx, f.customerId);
  if (customer.blocked || customer.verification === 'refused') return;
  await recordVerification(tx, {
    customer,
    verifier: f.verifier,
    outcome,
    // Failing to reach a higher level does not lose the present one, and reaching a lower one does not lower it.
    level: outcome === 'verified' ? Math.max(level, customer.level) : customer.level,
    failedReason: reason,
    now: f.now,
  });
}

/**
 * The customer has proved to own the phone, by a one-time password or the like. The first time emits the event
 * `customer.login`, because it is a step of verification.
 *
 * @throws Refusal 'unknown_customer'
 */
export async function recordLogin(tx: Tx, customerId: string, now: Date): Promise<void> {
  const before = await findCustomer(tx, customerId);
  await tx.run(sql.loggedIn, [customerId, now]);
  if (before.loggedInAt === null) await announce(tx, { ...before, loggedInAt: now }, 'login', now);
}

/** As if the customer had never logged in: everything that requires a login requires one again. */
export async function forgetLogin(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.run(sql.loggedOut, [customerId, now]);
}

/**
 * Since when a customer is blocked, or null. The row is share-locked until `tx` ends, so a block waits for transactions that
 * have read it, and later readers see the block.
 *
 * @throws Refusal 'unknown_customer'
 */
export async function blockOf(tx: Tx, customerId: string): Promise<Date | null> {
  const row = await tx.row<{ blocked_at: Date | null }>(sql.blockOf, [customerId]);
  if (row === undefined) throw new Refusal('unknown_customer');
  return row.blocked_at;
}

/** The customer may not trade from now on; money not submitted yet is held before it leaves. */
export async function blockCustomer(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.run(sql.block, [customerId, now, null]);
}

/** The same for a debt: it ends with the debt, unless a person blocks or has blocked the customer, too. */
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

/** Customers with this id, or this partner-given name, of every partner the role sees. */
export const customersLike = async (
  tx: Tx,
  vault: Vault,
  input: { text: string; partnerIds: readonly bigint[] },
): Promise<Customer[]> => {
  const names = input.partnerIds.map((id) => encryptText(vault, id, input.text));
  return (await tx.rows<CustomerRow>(sql.likeText, [input.text, names])).map(customerOf);
};

/**
 * Checks that this customer may trade with this partner. A pending review for a higher level does not stop trading at the
 * present level.
 *
 * @throws Refusal 'customer_blocked' | 'login_required' | 'verification_required'
 */
export function requireTrading(customer: Customer, partner: Partner): void {
  if (customer.blocked) throw new Refusal('customer_blocked');
  if (customer.loggedInAt === null) throw new Refusal('login_required');
  const lost = customer.verification === 'failed' || customer.verification === 'refused';
  if (lost || customer.level < partner.tradeLevel) {
    throw new Refusal('verification_required', { level: customer.level, needed: partner.tradeLevel });
  }
}

/**
 * Adds an account to be paid to. The same details again, with any spacing or case, are the same account.
 *
 * @param a.details what the rail needs, in plain text: `{ account, ifsc }`, `{ iban }`, …
 */
export async function addFiatAccount(
  tx: Tx,
  vault: Vault,
  a: { customer: Customer; fiat: AssetCode; details: Record<string, string>; now: Date },
): Promise<FiatAccount> {
  const id = numericId(a.now);
  const index = indexDetails(vault, a.customer.id, a.fiat, a.details);
  const row =
    (await tx.row<FiatAccountRow>(sql.insertAccount, [
      id,
      a.customer.partnerId,
      a.customer.id,
      a.fiat,
      encryptDetails(vault, id, a.details),
      index,
      hintOf(a.details),
      a.now,
    ])) ?? (await tx.row<FiatAccountRow>(sql.accountByIndex, [a.customer.id, index]));
  assert(row !== undefined, 'an account that was not inserted is there');
  return accountOf(row);
}

/** The account that a deposit came from, stored once, used only to refund that deposit. @returns its id */
export async function keepSenderAccount(
  tx: Tx,
  vault: Vault,
  a: { depositId: bigint; fiat: AssetCode; details: Record<string, string>; now: Date },
): Promise<bigint> {
  const id = numericId(a.now);
  await tx.run(sql.insertSender, [
    id,
    a.fiat,
    encryptDetails(vault, id, a.details),
    indexDetails(vault, `sender of ${a.depositId}`, a.fiat, a.details),
    hintOf(a.details),
    a.now,
    a.depositId,
  ]);
  const row = await tx.row<{ id: bigint }>(sql.accountOfSender, [a.depositId]);
  assert(row !== undefined, 'an account that was not inserted is there');
  return row.id;
}

/** A customer's accounts, oldest first. */
export async function fiatAccounts(tx: Tx, customerId: string): Promise<FiatAccount[]> {
  return (await accountsOf(tx, customerId)).map(accountOf);
}

/** Accounts of a partner's customers added since a time. */
export const accountsSince = (
  tx: Tx,
  input: { partnerId: bigint; since: Date },
): Promise<{ id: bigint; created_at: Date }[]> => tx.rows(sql.accountsSince, [input.partnerId, firstIdAt(input.since)]);

const LARGEST_ID = 2n ** 63n - 1n;

/** @throws Refusal 'unknown_account' */
export async function findFiatAccount(tx: Tx, id: bigint): Promise<FiatAccount> {
  const row = id >= 0n && id <= LARGEST_ID ? await accountById(tx, id) : undefined;
  if (row === undefined) throw new Refusal('unknown_account');
  return accountOf(row);
}

/** @throws Refusal 'unknown_account' */
export const fiatOfAccount = async (tx: Tx, id: bigint): Promise<string> => (await findFiatAccount(tx, id)).fiat;

/**
 * An account with its details decrypted: for the payout, and for showing a customer's own. The caller checks whose it is.
 *
 * @throws Refusal 'unknown_account', also for another partner's account
 */
export async function openFiatAccount(
  tx: Tx,
  vault: Vault,
  id: bigint,
): Promise<FiatAccount & { details: Record<string, string> }> {
  const row = id >= 0n && id <= LARGEST_ID ? await accountById(tx, id) : undefined;
  if (row === undefined) throw new Refusal('unknown_account');
  return { ...accountOf(row), details: openDetails(vault, id, row.details) };
}

/**
 * The payee of a payout to an account: its details, with the customer's name if they contain none. For the moment of
 * submission, and for no log.
 *
 * @throws Refusal 'unknown_account'
 */
export async function openPayee(tx: Tx, vault: Vault, accountId: bigint): Promise<Record<string, string>> {
  const { customerId, details } = await openFiatAccount(tx, vault, accountId);
  const name =
    details.name ??
    details.accountHolder ??
    (customerId === null ? undefined : await customerName(tx, vault, customerId));
  return name === undefined ? details : { ...details, name };
}

function customerOf(row: CustomerRow): Customer {
  return {
    id: row.id,
    partnerId: row.partner_id,
    storedClientId: row.client_customer_id,
    kind: row.kind,
    level: row.level,
    verification: row.verification,
    previousLevel: row.previous_level,
    failedReason: row.failed_reason,
    country: row.country,
    loggedInAt: row.logged_in_at,
    loginEpoch: row.login_epoch,
    blocked: row.blocked_at !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function accountOf(row: FiatAccountRow): FiatAccount {
  return {
    id: row.id,
    customerId: row.customer_id,
    senderOf: row.sender_of,
    fiat: row.fiat,
    hint: row.hint,
    createdAt: row.created_at,
  };
}
