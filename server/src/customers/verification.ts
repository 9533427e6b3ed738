/**
 * Verification: how far a customer is verified and whether it has logged in, recorded with an event, and what each state allows.
 *
 * Levels: 0 none, 1 basic, 2 intermediate, 3 advanced, 4 enhanced, 5 complete. Each partner has its own words for them and its
 * own level from which customers may trade; neither is stored here.
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { emit } from '../events/index.ts';
import type { Partner } from '../partners/index.ts';
import { lookNow } from './checks.ts';
import { setDocumentCountry } from './countries.ts';
import { type Customer, customerOf, findCustomer, HIGHEST_LEVEL } from './customers.ts';
import { acceptExpiry } from './identity/expiry.ts';
import { reasonsOf, stateAfter } from './identity/outcome.ts';
import { verificationReason } from './identity/reasons.ts';
import { sql as identity } from './identity/store.ts';
import { type CustomerRow, sql } from './store.ts';

/**
 * Records a verifier's result: on the customer, as a row that never changes, and as an event `customer.verification`.
 *
 * @param v.level        level the customer has from now on, 0 to 5
 * @param v.failedReason a word or sentence without personal data
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
  assert(
    Number.isInteger(v.level) && v.level >= 0 && v.level <= HIGHEST_LEVEL,
    `verification level ${v.level} is not 0 to 5`,
  );
  const { id, partnerId } = v.customer;
  const row = await tx.row<CustomerRow>(sql.verified, [id, v.outcome, v.level, v.failedReason ?? null, v.now]);
  if (row === undefined) throw new Refusal('unknown_customer');
  await tx.run(sql.insertVerification, [partnerId, id, v.verifier, v.outcome, v.level, v.now]);
  const customer = customerOf(row);
  await announce(tx, customer, 'verification', v.now);
  return customer;
}

/** Writes the event with the customer's complete verification state. */
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
      failedReasonCode: verificationReason(customer) ?? null,
      loggedInAt: customer.loggedInAt?.toISOString() ?? null,
    },
    at,
  });
}

/**
 * Records a verifier's result for a version of a customer's details (details.ts), and wakes the job that waits for it.
 *
 * The names that the verifier read for these details (known-names.ts) count once they are verified.
 *
 * A customer who is verified has no submission under way any more, whether this was its result or not, unless its form is for a
 * higher level.
 *
 * No effect when there is a result already, when newer details were submitted meanwhile, or when the customer was blocked or
 * refused permanently in the meantime.
 *
 * @param f.finding.reason what the partner is told: a code of `VERIFICATION_REASONS`, or an operator's words
 * @returns whether the result was taken
 */
export async function recordFinding(
  tx: Tx,
  f: {
    customerId: string;
    version: number;
    verifier: string;
    finding: {
      outcome: 'in_review' | 'verified' | 'failed' | 'refused';
      level: number;
      reason?: string;
      /** The fields to submit again, with reasons. */
      fields?: Readonly<Record<string, string>>;
      /** With verified: the last day on which the document is valid, YYYY-MM-DD. */
      expiresOn?: string;
      /** With verified: the country of the document, two letters. */
      country?: string;
    };
    /** A person has compared the typed name with the document: names that a verifier read for older details do not count any more. */
    byPerson?: boolean;
    now: Date;
  },
): Promise<boolean> {
  const { outcome, level, reason } = f.finding;
  const fields = reasonsOf(f.finding.fields ?? {});
  if ((await tx.run(sql.detailsFound, [f.customerId, f.version, outcome])) === 0) return false;
  const state = stateAfter(outcome, fields);
  if (outcome !== 'in_review') await tx.run(identity.found, [f.customerId, f.version, state, fields, f.now]);
  const { expiresOn, country } = f.finding;
  const customer = await findCustomer(tx, f.customerId);
  if (outcome === 'verified') await acceptExpiry(tx, { customer, version: f.version, expiresOn, now: f.now });
  // Documents of a business are those of its people.
  if (outcome === 'verified' && country !== undefined && customer.kind === 'INDIVIDUAL')
    await setDocumentCountry(tx, { customerId: f.customerId, country, now: f.now });
  if (outcome === 'verified') await tx.run(sql.acceptNames, [f.customerId, f.version, f.byPerson === true]);
  else if (outcome !== 'in_review') await tx.run(sql.dropNames, [f.customerId]);
  // The verified details may differ from the submission's, for example if they came from our own page.
  if (outcome === 'verified') await tx.run(identity.superseded, [f.customerId, level, f.now]);
  if (outcome !== 'in_review') lookNow(tx, f.customerId, f.now);
  if (customer.blocked || customer.verification === 'refused') return true;
  await recordVerification(tx, {
    customer,
    verifier: f.verifier,
    outcome,
    // Failing to reach a higher level keeps the present one, and reaching a lower one does not lower it.
    level: outcome === 'verified' ? Math.max(level, customer.level) : customer.level,
    failedReason: reason,
    now: f.now,
  });
  return true;
}

/** Announces that details were submitted and the verifier is being asked, because the verifier's answer may take days. */
export async function announceReview(tx: Tx, customer: Customer, now: Date): Promise<void> {
  const { level } = customer;
  await recordVerification(tx, { customer, verifier: 'submission', outcome: 'in_review', level, now });
}

/**
 * Records that the customer has proved to own the phone, for example by a login code. The first time emits the event
 * `customer.login`, because it is a step of verification.
 *
 * @throws Refusal 'unknown_customer'
 */
export async function recordLogin(tx: Tx, customerId: string, now: Date): Promise<void> {
  const before = await findCustomer(tx, customerId);
  await tx.run(sql.loggedIn, [customerId, now]);
  if (before.loggedInAt === null) await announce(tx, { ...before, loggedInAt: now }, 'login', now);
}

/** Resets the customer to never having logged in: everything that requires a login requires it again. */
export async function forgetLogin(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.run(sql.loggedOut, [customerId, now]);
}

/**
 * Checks that this customer may trade with this partner. A pending review for a higher level does not stop trading at the
 * present level; one of a new document, after the old one was over, does.
 *
 * @throws Refusal 'customer_blocked' | 'login_required' | 'verification_required'
 */
export function requireTrading(customer: Customer, partner: Partner): void {
  if (customer.blocked) throw new Refusal('customer_blocked');
  if (customer.loggedInAt === null) throw new Refusal('login_required');
  const isLapsed = customer.documentLapsedAt !== null;
  const lost = customer.verification === 'failed' || customer.verification === 'refused' || isLapsed;
  if (lost || customer.level < partner.tradeLevel) {
    throw new Refusal('verification_required', { level: customer.level, needed: partner.tradeLevel });
  }
}
