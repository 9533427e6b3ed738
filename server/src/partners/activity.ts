/**
 * Activity: what a partner's keys do, a row per request that changes something, written in the transaction that does it.
 *
 * There is nothing a key made without its row: endpoints made or changed, secrets rotated, links, customers, accounts, orders
 * with their destinations, destinations of refunds. Quotes and reads have none: they are the most of what is asked, and leave
 * nothing behind that money or events could go to.
 *
 * The row is also where a request ends that must not: a trigger refuses it once the partner is suspended or the key is revoked
 * or held, and all of the request is rolled back. So a server that remembers a revoked key for three seconds more answers its
 * reads and changes nothing for it.
 *
 * It costs one statement that nobody waits for. It is sent last, because of the lock that its trigger shares until the commit.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { type ActivityRow, sql } from './activity.store.ts';

export const ACTIVITIES = [
  'endpoint.made',
  'endpoint.changed',
  'endpoint.rotated',
  'endpoint.removed',
  'endpoint.resumed',
  'endpoint.tested',
  'endpoint.replayed',
  'link.made',
  'customer.enrolled',
  'customer.contact_changed',
  'account.added',
  'order.created',
  'order.payer_reference_named',
  'refund_destination.named',
] as const;
export type ActivityKind = (typeof ACTIVITIES)[number];

/** Through which a request came: a key that signed it, or a link to a hosted page and the key that made that. */
export interface Through {
  readonly partnerId: bigint;
  readonly apiKey: string | null;
  readonly link?: string | undefined;
}

export interface Activity {
  readonly id: bigint;
  readonly at: Date;
  readonly action: ActivityKind;
  readonly subject: string;
  /** Null of a link that was made before keys were recorded. */
  readonly apiKey: string | null;
  readonly link: string | null;
  readonly facts: Readonly<Record<string, unknown>>;
}

/**
 * Records that something was made or changed. Fails, with the transaction, where the partner is suspended by now or its key
 * is of no use any more; `cutOff` knows that failure again.
 */
export function recordActivity(
  tx: Tx,
  through: Through,
  done: { action: ActivityKind; subject: string; facts?: Readonly<Record<string, unknown>>; now: Date },
): void {
  const { partnerId, apiKey, link = null } = through;
  tx.defer(sql.insert, [
    partnerId,
    apiKey,
    link,
    done.action,
    done.subject,
    JSON.stringify(done.facts ?? {}),
    done.now,
  ]);
}

/** What PostgreSQL says where a request came too late for its partner or key, as a refusal; undefined for other errors. */
export function cutOff(error: unknown): Refusal | undefined {
  const { code } = error as { code?: unknown };
  if (code === 'CL001') return new Refusal('partner_suspended');
  if (code === 'CL002') return new Refusal('unauthenticated', { why: 'the key is not known' });
  return undefined;
}

/** Most that one page shows. */
export const MAX_ACTIVITY = 200;

/** What a partner, or one of its keys, did since a time, the newest first. */
export async function activityOf(
  tx: Tx,
  input: {
    partnerId: bigint;
    apiKey?: string | undefined;
    action?: ActivityKind | undefined;
    since?: Date | undefined;
    /** Those older than this one. */
    below?: bigint | undefined;
    limit: number;
  },
): Promise<Activity[]> {
  const { partnerId, apiKey = null, action = null, since = null, below = null, limit } = input;
  const rows = await tx.rows<ActivityRow>(sql.page, [partnerId, apiKey, action, since, below, limit]);
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    action: row.action as ActivityKind,
    subject: row.subject,
    apiKey: row.api_key,
    link: row.link,
    facts: row.facts,
  }));
}

/** Since when activity is recorded here. */
export async function recordedFrom(tx: Tx): Promise<Date> {
  const row = await tx.row<{ at: Date }>(sql.began);
  return row?.at ?? new Date(0);
}

/** Waits until whoever acts for this partner has committed, and keeps others from it until `tx` ends. */
export const closeActivity = (tx: Tx, partnerId: bigint): Promise<unknown> => tx.row(sql.close, [partnerId]);
