/**
 * Expired documents: the customer is asked for a new one in time, and does not trade after the last valid day.
 *
 * Both are recorded on the expiry's row in the transaction that does them, under the customer's lock, so each happens once.
 */
import { dayOf, later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { emit } from '../../events/index.ts';
import { findCustomer, lockCustomer } from '../customers.ts';
import { recordVerification } from '../verification.ts';
import { sql } from './store.ts';

export interface ExpiryRow {
  customerId: string;
  partnerId: bigint;
  version: number;
  expiresOn: string;
  items: string[];
  askedAt: Date | null;
  lapsedAt: Date | null;
}

const DAY_MS = 86_400_000;

/** Expiries that are due for a step, after a row of the page before. */
export const dueExpiries = (
  tx: Tx,
  d: { noticeDays: number; after: ExpiryRow | undefined; limit: number; now: Date },
): Promise<ExpiryRow[]> =>
  tx.rows<ExpiryRow>(sql.dueExpiries, [
    ...[dayOf(later(d.now, d.noticeDays * DAY_MS)), dayOf(d.now)],
    ...[d.after?.expiresOn ?? '0001-01-01', d.after?.customerId ?? '', d.after?.version ?? 0, d.limit],
  ]);

/** Takes the steps that are due for one expiry: asks for a new document, and ends trading. */
export async function followExpiry(
  tx: Tx,
  f: { customerId: string; version: number; noticeDays: number; now: Date },
): Promise<void> {
  const { customerId, version, now } = f;
  await lockCustomer(tx, customerId);
  // Under the lock: another process may have taken the step, or a new document may have been accepted.
  const row = await tx.row<ExpiryRow>(sql.openExpiry, [customerId, version]);
  if (row === undefined || row.expiresOn > dayOf(later(now, f.noticeDays * DAY_MS))) return;
  if (row.askedAt === null) await ask(tx, row, now);
  if (row.lapsedAt === null && row.expiresOn < dayOf(now)) await lapse(tx, row, now);
}

async function ask(tx: Tx, { customerId, partnerId, version, expiresOn, items }: ExpiryRow, now: Date): Promise<void> {
  const { blocked, verification } = await findCustomer(tx, customerId);
  // A blocked customer cannot submit. The request is sent after the block ends.
  if (blocked || verification === 'refused') return;
  // Another submission is under way: it ends first.
  if ((await tx.row(sql.underWay, [customerId])) !== undefined) return;
  const reasons = Object.fromEntries(items.map((name) => [name, 'expired']));
  const opened = await tx.row<{ id: bigint }>(sql.openAgain, [customerId, version, reasons, now]);
  await tx.run(sql.askedAgain, [customerId, version, now, opened?.id ?? null]);
  const submissionId = opened === undefined ? null : String(opened.id);
  const body = { customerId, submissionId, expiresOn, items };
  await emit(tx, { partnerId, type: 'document.expiring', subject: `customer:${customerId}`, body, at: now });
}

async function lapse(tx: Tx, { customerId, version }: ExpiryRow, now: Date): Promise<void> {
  await tx.run(sql.lapsed, [customerId, version, now]);
  await tx.run(sql.lapsedCustomer, [customerId, now]);
  const customer = await findCustomer(tx, customerId);
  // Another state forbids trading by itself, or waits for a result that must come first.
  if (customer.verification !== 'verified') return;
  await recordVerification(tx, {
    ...{ customer, verifier: 'expiry', outcome: 'failed', failedReason: 'document_expired', now },
    // The level stays, so that orders that are paid for are still paid out up to its limits.
    level: customer.level,
  });
}
