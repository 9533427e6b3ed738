/**
 * Expiry: the last day on which an accepted document is valid, and what follows before and after it.
 *
 * The day comes from a field of the form that names what expires with it (`expires`), or from the verifier of the details, whose
 * day counts before the customer's own. It takes effect when the details are verified. Some days before it the submission is open
 * again, with the reason `expired` for each item, so that only these are sent again. After it the customer
 * does not trade, also while a new document is being checked. A newer document that is accepted ends the expiry.
 *
 * Not here: the two steps (expired.ts), and the job (compliance/expiries.ts).
 */
import type { Tx } from '../../base/db.ts';
import type { Answers } from './answers.ts';
import { type Form, fieldsOf } from './form.ts';
import { sql } from './store.ts';

export interface Expiry {
  /** YYYY-MM-DD: the last day on which it is valid, in UTC. */
  readonly expiresOn: string;
  /** Names of answers and files. */
  readonly items: readonly string[];
}

/** The earliest expiry among the answers; undefined when none of them is one. */
export function expiryIn(form: Form, answers: Answers, files: ReadonlySet<string>): Expiry | undefined {
  const found = fieldsOf(form).flatMap(({ name, expires = [] }) => {
    const expiresOn = answers[name] ?? '';
    const given = expires.filter((item) => files.has(item) || (answers[item] ?? '') !== '');
    return expires.length === 0 || expiresOn === '' ? [] : [{ expiresOn, items: [name, ...given] }];
  });
  return found.toSorted((a, b) => (a.expiresOn < b.expiresOn ? -1 : 1))[0];
}

/** Stores the expiry of details that go to the verifier. */
export async function saveExpiry(
  tx: Tx,
  e: { customer: { id: string; partnerId: bigint }; version: number; expiry: Expiry | undefined },
): Promise<void> {
  const { id, partnerId } = e.customer;
  if (e.expiry !== undefined)
    await tx.run(sql.saveExpiry, [id, partnerId, e.version, e.expiry.expiresOn, [...e.expiry.items]]);
}

/**
 * These details were verified: their document counts from now on, and replaces the one that was asked for again.
 *
 * @param a.expiresOn the day that the verifier read; without it the one that the customer gave
 */
export async function acceptExpiry(
  tx: Tx,
  a: {
    customer: { id: string; partnerId: bigint };
    version: number;
    expiresOn?: string | undefined;
    now: Date;
  },
): Promise<void> {
  const { id, partnerId } = a.customer;
  if (a.expiresOn !== undefined) {
    const files = await tx.rows<{ slot: string }>(sql.filesOfVersion, [id, a.version]);
    const items = files.map(({ slot }) => slot);
    await tx.run(sql.readExpiry, [
      id,
      partnerId,
      a.version,
      a.expiresOn,
      items.length > 0 ? items : ['identityNumber'],
    ]);
  }
  await tx.run(sql.acceptExpiry, [id, a.version, a.now]);
  await tx.run(sql.endExpiries, [id, a.version, a.now]);
  await tx.run(sql.unlapsed, [id]);
}
