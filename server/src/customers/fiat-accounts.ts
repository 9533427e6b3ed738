/**
 * Fiat accounts: accounts to which customers are paid, and accounts that deposits came from. Their details are encrypted; only
 * the end of the number is shown. The required fields per country are in accounts.ts.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { firstIdAt, numericId } from '../base/ids.ts';
import type { AssetCode } from '../base/money.ts';
import { partnerIds } from '../partners/index.ts';
import { type Customer, requireNotErased } from './customers.ts';
import { detailsIndexes, encryptDetails, hintOf, numberIndexes, numberOf, openDetails } from './encryption.ts';
import { compared, customerName, customerNames, type NameCompared } from './known-names.ts';
import { accountById, accountDetailsOf, accountsOf, type FiatAccountRow, sql } from './store.ts';

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
  requireNotErased(a.customer);
  const id = numericId(a.now);
  const indexes = detailsIndexes(vault, a.customer.id, a.fiat, a.details);
  const [index] = indexes;
  // Under an old master key the constraint would not detect that it is the same.
  const known = vault.old && (await tx.row<FiatAccountRow>(sql.accountByIndex, [a.customer.id, indexes]));
  if (known !== undefined) return accountOf(known);
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
      numberIndexes(vault, a.customer.partnerId, a.details)[0] ?? NO_NUMBER,
    ])) ?? (await tx.row<FiatAccountRow>(sql.accountByIndex, [a.customer.id, indexes]));
  assert(row !== undefined, 'the account was neither inserted nor found');
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
    detailsIndexes(vault, `sender of ${a.depositId}`, a.fiat, a.details)[0],
    hintOf(a.details),
    a.now,
    a.depositId,
    numberIndexes(vault, null, a.details)[0] ?? NO_NUMBER,
  ]);
  const row = await tx.row<{ id: bigint }>(sql.accountOfSender, [a.depositId]);
  assert(row !== undefined, 'the account was neither inserted nor found');
  return row.id;
}

/** Index value of an account without a number: no look-up finds it, and numberAccounts does not read it again. */
const NO_NUMBER = Buffer.alloc(0);

/** Accounts with this number, newest first and at most fifty: of customers of these partners, and those that deposits came from. */
export async function accountsOfNumber(
  tx: Tx,
  vault: Vault,
  input: { number: string; partnerIds: readonly bigint[] },
): Promise<(FiatAccount & { partnerId: bigint | null })[]> {
  const details = { account: input.number };
  const indexes = [...input.partnerIds, null].flatMap((partnerId) => numberIndexes(vault, partnerId, details));
  const rows = await tx.rows<FiatAccountRow & { partnerId: bigint | null }>(sql.accountsOfNumber, [indexes]);
  return rows.map((row) => ({ ...accountOf(row), partnerId: row.partnerId }));
}

/**
 * Blocked customers of any partner with an account of this number, the longest blocked first. Each owner's row is share-locked
 * until `tx` ends, as in `blockOf`. The number is indexed per partner, so this costs a hash for each of them.
 */
export async function blocksOfNumber(
  tx: Tx,
  vault: Vault,
  details: Record<string, string>,
): Promise<{ customerId: string; blockedAt: Date }[]> {
  const indexes = (await partnerIds(tx)).flatMap((id) => numberIndexes(vault, id, details));
  if (indexes.length === 0) return [];
  const owners = await tx.rows<{ customerId: string; blockedAt: Date | null }>(sql.ownersOfNumber, [indexes]);
  return owners.flatMap(({ customerId, blockedAt }) => (blockedAt === null ? [] : [{ customerId, blockedAt }]));
}

const NUMBERED_AT_ONCE = 500;
/** The job must end well before its lease; the next run continues. */
const NUMBERING_FOR_MS = 8_000;

/**
 * Adds the number index to accounts that an older version of the server stored without it, in small batches, for
 * NUMBERING_FOR_MS. @returns how many accounts were indexed
 */
export async function numberAccounts(db: Database, vault: Vault): Promise<number> {
  let count = 0;
  const began = performance.now();
  for (let after = -1n; performance.now() - began < NUMBERING_FOR_MS; ) {
    const read = await db.asSystem(async (tx) => {
      const rows = await tx.rows<{ id: bigint; partnerId: bigint | null; details: Buffer }>(sql.unnumbered, [
        after,
        NUMBERED_AT_ONCE,
      ]);
      for (const { id, partnerId, details } of rows)
        await tx.run(sql.setNumber, [
          id,
          numberIndexes(vault, partnerId, openDetails(vault, id, details))[0] ?? NO_NUMBER,
        ]);
      return rows;
    });
    count += read.length;
    after = read.at(-1)?.id ?? after;
    if (read.length < NUMBERED_AT_ONCE) break;
  }
  return count;
}

/** A customer's accounts, oldest first. */
export async function fiatAccounts(tx: Tx, customerId: string): Promise<FiatAccount[]> {
  return (await accountsOf(tx, customerId)).map(accountOf);
}

/** Accounts of a partner's customers added since a time. */
export const accountsSince = (
  tx: Tx,
  input: { partnerId: bigint; since: Date },
): Promise<{ id: bigint; createdAt: Date }[]> => tx.rows(sql.accountsSince, [input.partnerId, firstIdAt(input.since)]);

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
 * An account with its details decrypted: for the payout, and for showing a customer's own. The caller checks the owner.
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
 * The number of an account, decrypted; '' once it is erased. For comparing accounts, and never for a log.
 *
 * @throws Refusal 'unknown_account'
 */
export const accountNumber = async (tx: Tx, vault: Vault, id: bigint): Promise<string> =>
  numberOf((await openFiatAccount(tx, vault, id)).details);

/**
 * The payee of a payout to an account: its details, with the customer's name if they contain none. Only for the submission
 * itself, and never for a log.
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

/** Similarity of the account holder's name and the customer's; undefined when the account names no holder. */
export async function compareAccount(
  tx: Tx,
  vault: Vault,
  a: { customerId: string; accountId: bigint },
): Promise<NameCompared | undefined> {
  const { details } = await openFiatAccount(tx, vault, a.accountId);
  return comparedHolder(details, await customerNames(tx, vault, a.customerId));
}

/** A customer's accounts, oldest first and at most two hundred, each compared as by `compareAccount`. */
export async function comparedAccounts(
  tx: Tx,
  vault: Vault,
  customerId: string,
): Promise<(FiatAccount & { holder: NameCompared | undefined })[]> {
  const names = await customerNames(tx, vault, customerId);
  const rows = await accountDetailsOf(tx, customerId);
  return rows.map((row) => ({
    ...accountOf(row),
    holder: comparedHolder(openDetails(vault, row.id, row.details), names),
  }));
}

function comparedHolder(details: Record<string, string>, names: readonly string[]): NameCompared | undefined {
  const holder = details.name ?? details.accountHolder ?? '';
  return holder.trim() === '' ? undefined : compared(names, holder);
}

function accountOf(row: FiatAccountRow): FiatAccount {
  return {
    id: row.id,
    customerId: row.customerId,
    senderOf: row.senderOf,
    fiat: row.fiat,
    hint: row.hint,
    createdAt: row.createdAt,
  };
}
