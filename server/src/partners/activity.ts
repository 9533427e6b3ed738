/**
 * Activity: the requests of a partner's keys that change something, one row each, written in the transaction of the change.
 *
 * Everything a key created or changed has its row: endpoints, rotated secrets, links, customers, accounts, orders with their
 * destinations, refund destinations. Quotes and reads have none: they are most of the traffic, and create no destination for
 * money or events.
 *
 * The row also stops requests that came too late: a trigger rejects it once the partner is suspended or the key is revoked or
 * held, and the whole request is rolled back. So a server that still remembers a revoked key for three seconds answers its
 * reads and changes nothing for it.
 *
 * It costs one statement that no caller awaits. It is sent last, because its trigger holds a shared lock until the commit.
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
  'customer.identity_proved',
  'customer.number_passed_on',
  'account.added',
  'submission.given',
  'information.files_sent',
  'information.answered',
  'destination.added',
  'destination.code_sent',
  'destination.confirmed',
  'order.created',
  'order.payer_reference_named',
  'order.wallet_named',
  'order.cancelled',
  'refund_destination.named',
  'key.made',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'settings.changed',
  'branding.changed',
  'member.invited',
  'member.role_changed',
  'member.signed_out',
  'member.removed',
  'member.joined',
  'member.recovered',
  'member.passkey_enrolled',
  'member.passkey_revoked',
  'member.codes_made',
] as const;
export type ActivityKind = (typeof ACTIVITIES)[number];

/**
 * How a request came in: with a key that signed it; by the session of a member of the partner's team; or through a link to a hosted
 * page, with the key that created that link.
 */
export interface Through {
  readonly partnerId: bigint;
  readonly apiKey: string | null;
  readonly link?: string | undefined;
  readonly member?: bigint | undefined;
}

export interface Activity {
  readonly id: bigint;
  readonly at: Date;
  readonly action: ActivityKind;
  readonly subject: string;
  /** Null for a link created before keys were recorded. */
  readonly apiKey: string | null;
  readonly link: string | null;
  /** The team member who did it; null for a key. */
  readonly member: bigint | null;
  readonly facts: Readonly<Record<string, unknown>>;
}

/**
 * Records a creation or change. Throws, and so aborts the transaction, when the partner is suspended or its key is no longer
 * valid; `cutOff` recognises that error.
 */
export function recordActivity(
  tx: Tx,
  through: Through,
  done: { action: ActivityKind; subject: string; facts?: Readonly<Record<string, unknown>>; now: Date },
): void {
  const { partnerId, apiKey, link = null, member = null } = through;
  tx.defer(sql.insert, [
    partnerId,
    apiKey,
    link,
    done.action,
    done.subject,
    JSON.stringify(done.facts ?? {}),
    done.now,
    member,
  ]);
}

/** Converts PostgreSQL's error for a suspended partner or invalid key into a Refusal; undefined for other errors. */
export function cutOff(error: unknown): Refusal | undefined {
  const { code } = error as { code?: unknown };
  if (code === 'CL001') return new Refusal('partner_suspended');
  if (code === 'CL002') return new Refusal('unauthenticated', { why: 'the key is not known' });
  return undefined;
}

/** Maximum page size. */
export const MAX_ACTIVITY = 200;

/** The activity of a partner, or of one of its keys, in a span of time, newest first. */
export async function activityOf(
  tx: Tx,
  input: {
    partnerId: bigint;
    apiKey?: string | undefined;
    action?: ActivityKind | undefined;
    since?: Date | undefined;
    /** Exclusive end of the time span. */
    until?: Date | undefined;
    /** Only rows older than this id. */
    below?: bigint | undefined;
    limit: number;
  },
): Promise<Activity[]> {
  const { partnerId, apiKey = null, action = null, since = null, until = null, below = null, limit } = input;
  const rows = await tx.rows<ActivityRow>(sql.page, [partnerId, apiKey, action, since, below, limit, until]);
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    action: row.action as ActivityKind,
    subject: row.subject,
    apiKey: row.apiKey,
    link: row.link,
    member: row.memberId,
    facts: row.facts,
  }));
}

/** Time from which activity was recorded in this installation. */
export async function recordedFrom(tx: Tx): Promise<Date> {
  const row = await tx.row<{ at: Date }>(sql.began);
  return row?.at ?? new Date(0);
}

/** Waits until running requests of this partner have committed, and blocks new ones until `tx` ends. */
export const closeActivity = (tx: Tx, partnerId: bigint): Promise<unknown> => tx.row(sql.close, [partnerId]);
