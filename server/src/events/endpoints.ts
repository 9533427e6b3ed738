/**
 * Endpoints: where a partner wants to hear of events, in which format, of which kinds, and signed with what.
 *
 * Each has a secret of its own for the format `standard`, shown when it is made and when it is rotated; after a rotation the
 * one before is valid for a day more. The format `whitelabel` is signed with the secret of an API key: that of the key the
 * endpoint was last set with. A removed endpoint hears nothing more and keeps its log.
 *
 * Not here: whether an address may be called (address.ts), signing itself (standard.ts, the wire's own format).
 */
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { randomText } from '../base/ids.ts';
import { emit } from './emit.ts';
import { endpointSubject, type FormatName, OFF_EVENT, TEST_EVENT } from './format.ts';
import { newSecret } from './standard.ts';

export interface Endpoint {
  readonly id: string;
  readonly partnerId: bigint;
  readonly url: string;
  readonly format: FormatName;
  /** Types of events, `order.*` for all of a kind; none means all. */
  readonly filter: readonly string[];
  readonly apiKey: string;
  /** The one that the wire's `setWebhookUrl` sets. */
  readonly isWire: boolean;
  readonly enabled: boolean;
  /** Attempts that failed one after the other. */
  readonly failures: number;
  readonly pausedUntil: Date | null;
  /** From when on every attempt has failed; null where the last one did not. */
  readonly failingSince: Date | null;
  /** When it was switched off for that, and not by its partner. */
  readonly switchedOffAt: Date | null;
  /** Until when the secret before the present one is valid. */
  readonly oldSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface EndpointRow {
  id: string;
  partner_id: bigint;
  url: string;
  format: FormatName;
  filter: string[];
  secret: Buffer;
  old_secret: Buffer | null;
  old_until: Date | null;
  api_key: string;
  is_wire: boolean;
  enabled: boolean;
  failures: number;
  paused_until: Date | null;
  failing_since: Date | null;
  switched_off_at: Date | null;
  created_at: Date;
  updated_at: Date;
  removed_at: Date | null;
}

/** Of one partner: enough for every system it has, and a bound on what one event costs us. */
const MOST = 16;
const OVERLAP_MS = 24 * 3_600_000;

const COLUMNS = `id, partner_id, url, format, filter, secret, old_secret, old_until, api_key, is_wire, enabled, failures,
  paused_until, failing_since, switched_off_at, created_at, updated_at, removed_at`;

const sql = {
  // Two at once would each count one too few: the partner's own row is not theirs to lock, so the lock is on its number.
  lockPartner: `select pg_advisory_xact_lock(1702194541, hashint8($1))`,
  count: 'select count(*) as count from webhook_endpoints where partner_id = $1 and removed_at is null',
  insert: `insert into webhook_endpoints (id, partner_id, url, format, filter, secret, api_key, is_wire, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) returning ${COLUMNS}`,
  all: `select ${COLUMNS} from webhook_endpoints where partner_id = $1 and removed_at is null order by created_at, id`,
  byId: `select ${COLUMNS} from webhook_endpoints where id = $1 and removed_at is null`,
  wire: `select ${COLUMNS} from webhook_endpoints where partner_id = $1 and is_wire and removed_at is null`,
  listening: `select ${COLUMNS} from webhook_endpoints
    where partner_id = any($1::bigint[]) and enabled and removed_at is null`,
  // Another address, or one that is switched on again, is tried at once.
  change: `update webhook_endpoints set url = coalesce($2, url), format = coalesce($3, format), filter = coalesce($4, filter),
      enabled = coalesce($5, enabled), api_key = coalesce($6, api_key), failures = 0, paused_until = null, failing_since = null,
      switched_off_at = case when not coalesce($5, enabled) then switched_off_at end, updated_at = $7
    where id = $1 and removed_at is null returning ${COLUMNS}`,
  // What waits is due at once, and has its days before it once more.
  wakeLanes: 'update webhook_lanes set due_at = $2, tries = 0 where endpoint_id = $1',
  restart: `update webhook_deliveries set since = $2 where endpoint_id = $1 and state = 'waiting'`,
  rotate: `update webhook_endpoints set old_secret = secret, old_until = $3, secret = $2, updated_at = $4
    where id = $1 and removed_at is null returning ${COLUMNS}`,
  switchOff: `update webhook_endpoints set enabled = false, switched_off_at = $3, updated_at = $3
    where id = $1 and enabled and failing_since <= $2 returning ${COLUMNS}`,
  remove: `update webhook_endpoints set removed_at = $2, enabled = false, updated_at = $2
    where id = $1 and removed_at is null`,
  drop: `update webhook_deliveries set state = 'dropped', ended_at = $2 where endpoint_id = $1 and state = 'waiting'`,
} as const;

const secretContext = (id: string): string => `webhook_endpoints.secret:${id}`;

/** @returns the endpoint, and its secret: shown here and never again */
export async function addEndpoint(
  tx: Tx,
  vault: Vault,
  e: {
    partnerId: bigint;
    url: string;
    format: FormatName;
    filter: readonly string[];
    apiKey: string;
    isWire?: boolean;
    now: Date;
  },
): Promise<{ endpoint: Endpoint; secret: string }> {
  await tx.run(sql.lockPartner, [e.partnerId]);
  const { count = 0n } = (await tx.row<{ count: bigint }>(sql.count, [e.partnerId])) ?? {};
  if (count >= BigInt(MOST)) throw new Refusal('too_many_endpoints', { most: MOST });
  const id = `whe_${randomText(16)}`;
  const secret = newSecret();
  const row = await tx.row<EndpointRow>(sql.insert, [
    id,
    e.partnerId,
    e.url,
    e.format,
    e.filter,
    vault.seal(secret, secretContext(id)),
    e.apiKey,
    e.isWire ?? false,
    e.now,
  ]);
  assert(row !== undefined, 'an endpoint comes back');
  return { endpoint: endpointOf(row), secret };
}

/** Those of a partner, oldest first. */
export const endpoints = async (tx: Tx, partnerId: bigint): Promise<Endpoint[]> =>
  (await tx.rows<EndpointRow>(sql.all, [partnerId])).map(endpointOf);

/** @throws Refusal 'unknown_endpoint', for another partner's too */
export async function endpointById(tx: Tx, id: string): Promise<Endpoint> {
  return endpointOf(found(await tx.row<EndpointRow>(sql.byId, [id])));
}

/** Changes what is given and keeps the rest. @throws Refusal 'unknown_endpoint' */
export async function changeEndpoint(
  tx: Tx,
  id: string,
  to: {
    url?: string | undefined;
    format?: FormatName | undefined;
    filter?: readonly string[] | undefined;
    enabled?: boolean | undefined;
    apiKey?: string | undefined;
    now: Date;
  },
): Promise<Endpoint> {
  const values = [to.url ?? null, to.format ?? null, to.filter ?? null, to.enabled ?? null, to.apiKey ?? null, to.now];
  const row = found(await tx.row<EndpointRow>(sql.change, [id, ...values]));
  await tx.run(sql.wakeLanes, [id, to.now]);
  await tx.run(sql.restart, [id, to.now]);
  return endpointOf(row);
}

/** The one the wire's own call sets, made where there is none. */
export async function setWireUrl(
  tx: Tx,
  vault: Vault,
  e: { partnerId: bigint; url: string; apiKey: string; now: Date },
): Promise<Endpoint> {
  const { partnerId, url, apiKey, now } = e;
  await tx.run(sql.lockPartner, [partnerId]);
  const row = await tx.row<EndpointRow>(sql.wire, [partnerId]);
  if (row !== undefined) return await changeEndpoint(tx, row.id, { url, apiKey, enabled: true, now });
  const made = { partnerId, url, apiKey, format: 'whitelabel', filter: [], isWire: true, now } as const;
  return (await addEndpoint(tx, vault, made)).endpoint;
}

export async function wireEndpoint(tx: Tx, partnerId: bigint): Promise<Endpoint | undefined> {
  const row = await tx.row<EndpointRow>(sql.wire, [partnerId]);
  return row && endpointOf(row);
}

/**
 * A new secret; the one before stays valid for `overlapMs`. Of three, the oldest goes at once.
 *
 * @throws Refusal 'unknown_endpoint'
 */
export async function rotateSecret(
  tx: Tx,
  vault: Vault,
  r: { id: string; now: Date; overlapMs?: number },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const secret = newSecret();
  const until = later(r.now, r.overlapMs ?? OVERLAP_MS);
  const row = await tx.row<EndpointRow>(sql.rotate, [r.id, vault.seal(secret, secretContext(r.id)), until, r.now]);
  return { endpoint: endpointOf(found(row)), secret };
}

/** What waited for it is dropped. @throws Refusal 'unknown_endpoint' */
export async function removeEndpoint(tx: Tx, id: string, now: Date): Promise<void> {
  if ((await tx.run(sql.remove, [id, now])) === 0) throw new Refusal('unknown_endpoint');
  await tx.run(sql.drop, [id, now]);
}

/** An event to try it with, for this endpoint alone, on the same way as any other. */
export async function testEndpoint(tx: Tx, endpoint: Endpoint, now: Date): Promise<void> {
  const { id, partnerId } = endpoint;
  const body = { endpointId: id, message: 'This is a test event.' };
  await emit(tx, { partnerId, type: TEST_EVENT, subject: endpointSubject(id), body, at: now });
}

/** So long has every attempt failed when an endpoint is switched off: two days after the first event was given up. */
const SWITCH_OFF_AFTER_MS = 5 * 24 * 3_600_000;

/**
 * Switches an endpoint off that has taken nothing for five days, and says so to whoever else listens. What waits for it is
 * kept, and goes when it is switched on again.
 *
 * @returns whether it is off now
 */
export async function switchOffDead(tx: Tx, e: { id: string; partnerId: bigint; now: Date }): Promise<boolean> {
  const row = await tx.row<EndpointRow>(sql.switchOff, [e.id, later(e.now, -SWITCH_OFF_AFTER_MS), e.now]);
  if (row === undefined) return false;
  const body = { endpointId: e.id, failingSince: row.failing_since?.toISOString(), switchedOffAt: e.now.toISOString() };
  await emit(tx, { partnerId: e.partnerId, type: OFF_EVENT, subject: endpointSubject(e.id), body, at: e.now });
  return true;
}

export const listening = (tx: Tx, partnerIds: readonly bigint[]) => tx.rows<EndpointRow>(sql.listening, [partnerIds]);

/** The secrets valid now, newest first. */
export function secretsOf(row: EndpointRow, vault: Vault, now: Date): string[] {
  const open = (sealed: Buffer) => vault.open(sealed, secretContext(row.id));
  const isOverlap = row.old_secret !== null && row.old_until !== null && now < row.old_until;
  return [open(row.secret), ...(isOverlap && row.old_secret !== null ? [open(row.old_secret)] : [])];
}

function found(row: EndpointRow | undefined): EndpointRow {
  if (row === undefined) throw new Refusal('unknown_endpoint');
  return row;
}

const endpointOf = (row: EndpointRow): Endpoint => ({
  id: row.id,
  partnerId: row.partner_id,
  url: row.url,
  format: row.format,
  filter: row.filter,
  apiKey: row.api_key,
  isWire: row.is_wire,
  enabled: row.enabled,
  failures: row.failures,
  pausedUntil: row.paused_until,
  failingSince: row.failing_since,
  switchedOffAt: row.switched_off_at,
  oldSecretUntil: row.old_secret === null ? null : row.old_until,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
