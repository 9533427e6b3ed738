/**
 * Proof of identity after a long pause: a phone number that was unused for long may have been reassigned.
 *
 * A customer is idle when neither a login nor the partner has confirmed its number for the configured time. Through a link that names
 * no customer, only the number identifies it. Through a link in which the partner names it, this applies if the partner was told its
 * id because of the number, since the number was last confirmed: somebody signed up with the number, and the partner may have taken
 * that person for the customer of long ago. A right code then proves the number and no more. The customer behind it is opened by
 * what a new holder of the number does not know: the number of the identity document and the date of birth that were submitted. Who
 * cannot tell them goes on as a new customer, and the number is detached from the former one.
 *
 * Three wrong tries lock the proof for this customer, in every session, until a day after the last one. Answers, and their duration, do
 * not depend on whether anything was submitted: without it every answer is wrong. Tries are counted under the customer's lock, so
 * sessions at once share the three.
 *
 * Not here: all other links in which a partner names its customer. The partner vouches for it, and its phone is a second factor only.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert, BugError, Refusal } from '../base/errors.ts';
import { type Customer, customerByPhone, detachPhone, findCustomer, lockCustomer, openContact } from './customers.ts';
import { type Details, identityIndexes, phoneIndexes } from './encryption.ts';
import { type PhoneConfirmedRow, type ProofRow, sql } from './store.ts';
import { recordLogin } from './verification.ts';

const MOST_TRIES = 3;
const LOCKED_FOR_MS = 24 * 3_600_000;
/** More customers with one number than this are a mistake of ours. */
const MOST_OF_ONE_NUMBER = 20;

/** How a customer is identified, and how long a number may be idle. */
interface Idle {
  customerId: string;
  /** Only the number identifies the customer; false: its partner names it. */
  isByPhone: boolean;
  /** The configured time; 0: never idle. */
  idleMs: number;
  now: Date;
}

/** Whether a right code alone must not open this customer. */
export async function isPhoneIdle(tx: Tx, { customerId, isByPhone, idleMs, now }: Idle): Promise<boolean> {
  if (idleMs === 0) return false;
  const row = await tx.row<PhoneConfirmedRow>(sql.phoneConfirmed, [customerId]);
  // Behind a number that was typed once and never confirmed there is nothing.
  if (row === undefined || !row.isUsed) return false;
  if (isByPhone) return later(row.confirmedAt, idleMs) <= now;
  return row.isTold && later(row.confirmedBefore, idleMs) <= now;
}

/** Records that a partner learns a customer's id, or uses it under another name, because of the customer's number. */
export async function noteTold(tx: Tx, c: { customerId: string; now: Date }): Promise<void> {
  await tx.run(sql.toldByPhone, [c.customerId, c.now]);
}

/**
 * The same for a refusal, before it is answered. In a transaction of its own, because that of the refused request was rolled back.
 *
 * @param error any error of a request
 */
export async function noteToldBy(
  inTx: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  error: unknown,
  now: Date,
): Promise<void> {
  if (!(error instanceof Refusal) || error.code !== 'customer_exists' || error.facts.byPhone !== true) return;
  const customerId = String(error.facts.customerId);
  await inTx((tx) => noteTold(tx, { customerId, now }));
}

/**
 * Compares the answers with what was submitted, and logs in if both are right.
 *
 * @param p.epoch the login epoch at which the code was right: the answers are for the customer of that time
 * @returns 'over' when the number was detached or replaced since
 */
export async function proveIdentity(
  tx: Tx,
  vault: Vault,
  p: { customerId: string; epoch: number; identityNumber: string; dob: string; now: Date },
): Promise<'right' | 'wrong' | 'locked' | 'over'> {
  const { customerId, now } = p;
  await lockCustomer(tx, customerId);
  const customer = await findCustomer(tx, customerId);
  if (customer.loginEpoch !== p.epoch) return 'over';
  const row = await tx.row<ProofRow>(sql.proof, [customerId]);
  assert(row !== undefined, 'the customer was not found again');
  const { proofTries, proofTriedAt } = row;
  const isLockOver = proofTriedAt !== null && later(proofTriedAt, LOCKED_FOR_MS) <= now;
  const tries = isLockOver ? 0 : proofTries;
  if (tries >= MOST_TRIES) return 'locked';
  if (isSame(vault, customer, row, p)) {
    await tx.run(sql.proofTried, [customerId, 0, now]);
    await recordLogin(tx, customerId, now);
    return 'right';
  }
  await tx.run(sql.proofTried, [customerId, tries + 1, now]);
  return tries + 1 >= MOST_TRIES ? 'locked' : 'wrong';
}

/** Takes the same steps whether or not anything was submitted. */
function isSame(
  vault: Vault,
  { id, partnerId }: Pick<Customer, 'id' | 'partnerId'>,
  { details, identityIndex }: ProofRow,
  given: { identityNumber: string; dob: string },
): boolean {
  const context = `customer_details.details:${id}`;
  const submitted = JSON.parse(vault.decrypt(details ?? vault.encrypt('{}', context), context)) as Details;
  const dob = submitted.dob ?? submitted.dateOfBirth ?? '';
  const stored = identityIndex ?? randomBytes(32);
  const numbers = identityIndexes(vault, partnerId, given).map((index) => areEqual(index, stored));
  const digests = [dob, given.dob].map((day) => vault.index(day, `customers.proof:${id}`)) as [Buffer, Buffer];
  const [isDay, isNumber] = [areEqual(...digests), numbers.includes(true)];
  return isDay && isNumber && dob !== '';
}

const areEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/**
 * Takes an idle number from its former customer, who keeps its money and orders.
 *
 * @param b.epoch the login epoch at which the code was right
 * @returns undefined when the number is not the former customer's any more, or was confirmed since: the code has to be asked for again
 */
export async function releaseNumber(
  tx: Tx,
  vault: Vault,
  b: Idle & { epoch: number },
): Promise<{ partnerId: bigint; phone: string } | undefined> {
  const { customerId, now } = b;
  const { phone } = await openContact(tx, vault, customerId);
  if (phone === undefined) return undefined;
  const { partnerId } = await findCustomer(tx, customerId);
  // The number before the customer, as in every other change of a number.
  const [index] = phoneIndexes(vault, partnerId, phone);
  await tx.run('select pg_advisory_xact_lock($1)', [index.readBigInt64BE(0)]);
  await lockCustomer(tx, customerId);
  const former = await findCustomer(tx, customerId);
  if (former.loginEpoch !== b.epoch || !(await isPhoneIdle(tx, b))) return undefined;
  await detachPhone(tx, former, now);
  return { partnerId, phone };
}

/**
 * Gives the number of a customer whom only the number identifies to a new customer, who is logged in by it.
 *
 * @returns undefined as `releaseNumber`
 */
export async function continueAsNew(
  tx: Tx,
  vault: Vault,
  b: { customerId: string; epoch: number; idleMs: number; now: Date },
): Promise<Customer | undefined> {
  const { idleMs, now } = b;
  const released = await releaseNumber(tx, vault, { ...b, isByPhone: true });
  if (released === undefined) return undefined;
  const { partnerId, phone } = released;
  // Another customer may have been given the same number since: a code alone does not open that one either.
  for (let at = 0; at < MOST_OF_ONE_NUMBER; at += 1) {
    const found = await customerByPhone(tx, vault, { partnerId, phone, now });
    if (!(await isPhoneIdle(tx, { customerId: found.id, isByPhone: true, idleMs, now }))) {
      await recordLogin(tx, found.id, now);
      return found;
    }
    await detachPhone(tx, found, now);
  }
  throw new BugError('one number has too many customers');
}
