/**
 * Stored screening results and approvals, which the gate reads in the transaction that submits money.
 *
 * A screener may call a provider, which takes time and may fail, so its result is stored beforehand: the newest one for each
 * destination of each order or refund. The gate reads it there, and checks our own blocks and lists again (screening.ts).
 *
 * An approval covers one hit, one destination, an amount, and what is paid: an order's payout, an order's refund, or a
 * deposit in suspense. Another hit, another entry of a list, another destination, another deposit or a larger amount is new
 * and needs another approval. A submission uses an approval up; the reader subtracts used ones. Both tables are insert-only.
 *
 * Not here: who may approve, and how many people it takes (operators); what the gate checks (orders/payouts/gate.ts).
 */
import type { Tx } from '../base/db.ts';
import { cutTyped } from '../base/typed.ts';
import type { Hit, Verdict } from './screener.ts';
import { sql } from './store.ts';

/** Replaces the stored result for a subject. */
export function keepScreening(
  tx: Tx,
  s: { subject: string; partnerId: bigint | null; orderId: bigint | null; verdict: Verdict; now: Date },
): void {
  const { subject, partnerId, orderId, verdict, now } = s;
  tx.defer(sql.keepScreening, [
    subject,
    partnerId,
    orderId,
    verdict.outcome,
    JSON.stringify(verdict.hits),
    verdict.rules,
    now,
  ]);
}

/** The newest stored result, reduced to the provider's hits: our own lists are read again. */
export async function keptScreening(tx: Tx, subject: string): Promise<{ hits: Hit[]; at: Date } | undefined> {
  const row = await tx.row<{ hits: Hit[]; at: Date }>(sql.keptScreening, [subject]);
  return row && { hits: row.hits.filter(({ own }) => !own), at: row.at };
}

/**
 * Maximum age of a stored result now, in milliseconds: `usualMs`, or more while two operators have extended it because the
 * provider is down.
 */
export async function screeningMaxAgeMs(tx: Tx, now: Date, usualMs: number): Promise<number> {
  const row = await tx.row<{ maxAgeS: bigint }>(sql.extension, [now]);
  return row === undefined ? usualMs : Math.max(usualMs, Number(row.maxAgeS) * 1000);
}

/** Allows results as old as `maxAgeS` until a time. Hits still count, and so does the age of sanctions lists. */
export async function extendScreening(
  tx: Tx,
  e: { maxAgeS: bigint; until: Date; people: readonly string[]; reason: string; now: Date },
): Promise<void> {
  await tx.run(sql.extend, [e.maxAgeS, e.until, e.people, e.reason, e.now]);
}

/** What an approval is bound to: destination and amount. `destination` is `account:<id>` or `address:<address>`. */
export interface Bound {
  partnerId: bigint | null;
  orderId: bigint | null;
  /** For money out of suspense: its deposit. Null for money on an order's account. */
  depositId: bigint | null;
  destination: string;
  asset: string;
  units: bigint;
}

export interface Approval {
  id: bigint;
  rule: string;
  entry: string;
  /** The approved amount, before subtracting uses. */
  units: bigint;
  people: readonly string[];
}

/** A submission that an approval let pass. */
export interface ApprovalUse {
  approvalId: bigint;
  payoutId: string;
  units: bigint;
}

/** Records that these people let this hit pass, for this destination and up to this amount. */
export async function approve(
  tx: Tx,
  a: Bound & { rule: string; entry: string; people: readonly string[]; reason: string; now: Date },
): Promise<void> {
  await tx.run(sql.approve, [
    a.partnerId,
    a.orderId,
    a.depositId,
    a.rule,
    a.entry,
    a.destination,
    a.asset,
    a.units,
    [...new Set(a.people)],
    cutTyped(a.reason, LONGEST_REASON),
    a.now,
  ]);
}

const LONGEST_REASON = 500;

/** Approvals for this destination and asset, of this order or this deposit, and the submissions that used them. */
export async function approvalsFor(
  tx: Tx,
  bound: Pick<Bound, 'orderId' | 'depositId' | 'destination' | 'asset'>,
): Promise<{ approvals: Approval[]; uses: ApprovalUse[] }> {
  const values = [bound.destination, bound.asset, bound.orderId, bound.depositId];
  const approvals = await tx.rows<Approval>(sql.approvals, values);
  if (approvals.length === 0) return { approvals, uses: [] };
  return { approvals, uses: await tx.rows<ApprovalUse>(sql.approvalUses, [approvals.map(({ id }) => id)]) };
}

/** Records that this payout's submission used these approvals. Idempotent per payout. */
export async function useApprovals(
  tx: Tx,
  ids: readonly bigint[],
  payout: { id: string; units: bigint },
  now: Date,
): Promise<void> {
  if (ids.length > 0) await tx.run(sql.useApprovals, [[...new Set(ids)], payout.id, payout.units, now]);
}
