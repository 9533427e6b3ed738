/**
 * Endpoints: where a partner receives events, in which format, of which types, and signed with which secret.
 *
 * An endpoint of the format `standard` has its own secret, shown when it is created and when it is rotated; after a rotation the
 * previous secret stays valid for one more day. The formats `whitelabel` and `flat` are signed with the secret of an API key: the
 * key with which the endpoint was last set. A removed endpoint receives nothing more; its log is kept. An endpoint that a
 * containment holds receives nothing meanwhile, and everything afterwards.
 *
 * Not here: whether an address may be called (address.ts), signing itself (standard.ts, the wire's own format).
 */
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { randomText } from '../base/ids.ts';
import { emit } from './emit.ts';
import { endpointSubject, type FormatName, OFF_EVENT, type PayloadForm, TEST_EVENT } from './format.ts';
import { newSecret } from './standard.ts';
import { sql as feed } from './store.ts';

export interface Endpoint {
  readonly id: string;
  readonly partnerId: bigint;
  readonly url: string;
  readonly format: FormatName;
  /** Event types; `order.*` matches all types of a kind. Empty means all types. */
  readonly filter: readonly string[];
  /** What the signed header carries, for formats that have one. */
  readonly payloadForm: PayloadForm;
  /** The key whose secret signs in the formats `whitelabel` and `flat`: the key with which the endpoint was last set. */
  readonly apiKey: string;
  /** The key that created the endpoint; null for an endpoint from before this was recorded. */
  readonly madeByKey: string | null;
  /** Set through the wire's `setWebhookUrl`: at most one per format. */
  readonly isWire: boolean;
  readonly enabled: boolean;
  /** Number of consecutive failed attempts. */
  readonly failures: number;
  readonly pausedUntil: Date | null;
  /** Since when every attempt has failed; null if the last one succeeded. */
  readonly failingSince: Date | null;
  /** When it was switched off because every attempt failed; null if it is on, or if its partner switched it off. */
  readonly switchedOffAt: Date | null;
  /** Since when a containment holds it: its deliveries wait until it is released. */
  readonly heldAt: Date | null;
  /** Until when the previous secret is valid. */
  readonly oldSecretUntil: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface EndpointRow {
  id: string;
  partnerId: bigint;
  url: string;
  format: FormatName;
  filter: string[];
  payloadForm: PayloadForm;
  secret: Buffer;
  oldSecret: Buffer | null;
  oldUntil: Date | null;
  apiKey: string;
  madeByKey: string | null;
  isWire: boolean;
  enabled: boolean;
  failures: number;
  pausedUntil: Date | null;
  failingSince: Date | null;
  switchedOffAt: Date | null;
  heldAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  removedAt: Date | null;
}

/** Maximum per partner: enough for all its systems, and a bound on the cost of one event. */
export const MOST = 16;
export const OVERLAP_MS = 24 * 3_600_000;

const COLUMNS = `id, partner_id, url, format, filter, payload_form, secret, old_secret, old_until, api_key, made_by_key, is_wire, enabled,
  failures, paused_until, failing_since, switched_off_at, held_at, created_at, updated_at, removed_at`;

const sql = {
  // Serializes two concurrent calls, of which each would otherwise count one too few. The lock is on the partner's id, because
  // neither call may lock the partner's row.
  lockPartner: `select pg_advisory_xact_lock(1702194541, hashint8($1))`,
  count: 'select count(*) as count from webhook_endpoints where partner_id = $1 and removed_at is null',
  insert: `insert into webhook_endpoints (id, partner_id, url, format, filter, secret, api_key, made_by_key, is_wire,
      created_at, updated_at, payload_form) values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $9, $10) returning ${COLUMNS}`,
  all: `select ${COLUMNS} from webhook_endpoints where partner_id = $1 and removed_at is null order by created_at, id`,
  list: `select ${COLUMNS} from webhook_endpoints
    where removed_at is null and ($1::bigint is null or partner_id = $1) and ($2::boolean is null or enabled = $2)
      and ($3::timestamptz is null or created_at >= $3) and ($4::timestamptz is null or created_at < $4)
      and ($5::text is null or (partner_id, created_at, id) > (select partner_id, created_at, id from webhook_endpoints where id = $5))
    order by partner_id, created_at, id limit $6`,
  // The index has an endpoint's attempts by event, so this is the last one at the newest event that was tried. An older event may
  // have been tried after it: the attempt that switched the endpoint off has the same time as the switch, and is found by time.
  lastAttempt: `select a.endpoint_id, a.at, a.status from unnest($1::text[], $2::timestamptz[]) as wanted (id, off_at),
    lateral (select * from (
        (select endpoint_id, id, at, status from webhook_attempts where endpoint_id = wanted.id
          order by event_id desc, id desc limit 1)
        union all
        select endpoint_id, id, at, status from webhook_attempts where at = wanted.off_at and endpoint_id = wanted.id
      ) found order by id desc limit 1) a`,
  byId: `select ${COLUMNS} from webhook_endpoints where id = $1 and removed_at is null`,
  wire: `select ${COLUMNS} from webhook_endpoints where partner_id = $1 and is_wire and removed_at is null
    order by format desc`,
  // A held endpoint later receives the events of this time even if it was switched off before: it is unknown who switched it off.
  listening: `select ${COLUMNS} from webhook_endpoints
    where partner_id = any($1::bigint[]) and (enabled or held_at is not null) and removed_at is null`,
  // A new address, or an endpoint that is switched on again, is tried at once.
  change: `update webhook_endpoints set url = coalesce($2, url), format = coalesce($3, format), filter = coalesce($4, filter),
      enabled = coalesce($5, enabled), api_key = coalesce($6, api_key), payload_form = coalesce($8, payload_form), failures = 0, paused_until = null, failing_since = null,
      switched_off_at = case when not coalesce($5, enabled) then switched_off_at end, updated_at = $7
    where id = $1 and removed_at is null returning ${COLUMNS}`,
  // Waiting deliveries are due at once, and have their three days again.
  wakeOrderingKeys: 'update webhook_ordering_keys set due_at = $2, tries = 0 where endpoint_id = $1',
  restart: `update webhook_deliveries set since = $2 where endpoint_id = $1 and state = 'waiting'`,
  rotate: `update webhook_endpoints set old_secret = secret, old_until = $3, secret = $2, updated_at = $4
    where id = $1 and removed_at is null returning ${COLUMNS}`,
  switchOff: `update webhook_endpoints set enabled = false, switched_off_at = $3, updated_at = $3
    where id = $1 and enabled and failing_since <= $2 returning ${COLUMNS}`,
  since: `select id, created_at, updated_at from webhook_endpoints
    where partner_id = $1 and removed_at is null and updated_at >= $2`,
  hold: `update webhook_endpoints set held_at = coalesce(held_at, $3) where partner_id = $1 and id = any($2)`,
  // The same as switching the endpoint on: waiting deliveries have their three days again, and earlier failures no longer count.
  free: `update webhook_endpoints set held_at = null, failures = 0, paused_until = null, failing_since = null
    where partner_id = $1 and id = any($2) and held_at is not null`,
  wakeAll: 'update webhook_ordering_keys set due_at = $2, tries = 0 where endpoint_id = any($1)',
  restartAll: `update webhook_deliveries set since = $2 where endpoint_id = any($1) and state = 'waiting'`,
  remove: `update webhook_endpoints set removed_at = $2, enabled = false, updated_at = $2
    where id = $1 and removed_at is null`,
  waits: `select from webhook_deliveries where endpoint_id = $1 and state = 'waiting' limit 1`,
  drop: `update webhook_deliveries set state = 'dropped', ended_at = $2 where endpoint_id = $1 and state = 'waiting'`,
} as const;

/** Maximum page size. */
export const MAX_ENDPOINTS = 200;

/**
 * An endpoint, with the attempt that switched it off, or with a later one: the last attempt at the newest event that was tried.
 */
export interface ListedEndpoint extends Endpoint {
  readonly lastAttempt: { at: Date; status: number | null } | null;
}

/** Endpoints of one partner or of all, by partner and age. @param input.after the last id of the previous page */
export async function listEndpoints(
  tx: Tx,
  input: {
    partnerId?: bigint | undefined;
    enabled?: boolean | undefined;
    from?: Date | undefined;
    until?: Date | undefined;
    after?: string | undefined;
    limit: number;
  },
): Promise<{ endpoints: ListedEndpoint[]; next: string | null }> {
  if (
    input.after !== undefined &&
    (await tx.row('select from webhook_endpoints where id = $1', [input.after])) === undefined
  )
    throw new Refusal('unknown_endpoint');
  const { partnerId = null, enabled = null, from = null, until = null, after = null, limit } = input;
  const rows = await tx.rows<EndpointRow>(sql.list, [partnerId, enabled, from, until, after, limit + 1]);
  const shown = rows.slice(0, limit).map(endpointOf);
  const attempts = await tx.rows<{ endpointId: string; at: Date; status: number | null }>(sql.lastAttempt, [
    shown.map(({ id }) => id),
    shown.map(({ switchedOffAt }) => switchedOffAt),
  ]);
  const last = new Map(attempts.map(({ endpointId, at, status }) => [endpointId, { at, status }]));
  return {
    endpoints: shown.map((one) => ({ ...one, lastAttempt: last.get(one.id) ?? null })),
    next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  };
}

const secretContext = (id: string): string => `webhook_endpoints.secret:${id}`;

/** @returns the endpoint and its secret, which is not shown again */
export async function addEndpoint(
  tx: Tx,
  vault: Vault,
  e: {
    partnerId: bigint;
    url: string;
    format: FormatName;
    filter: readonly string[];
    payloadForm?: PayloadForm | undefined;
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
    vault.encrypt(secret, secretContext(id)),
    e.apiKey,
    e.isWire ?? false,
    e.now,
    e.payloadForm ?? 'body',
  ]);
  assert(row !== undefined, 'the insert of an endpoint returned no row');
  return { endpoint: endpointOf(row), secret };
}

/** A partner's endpoints, oldest first. */
export const endpoints = async (tx: Tx, partnerId: bigint): Promise<Endpoint[]> =>
  (await tx.rows<EndpointRow>(sql.all, [partnerId])).map(endpointOf);

/** @throws Refusal 'unknown_endpoint', also for another partner's endpoint */
export async function endpointById(tx: Tx, id: string): Promise<Endpoint> {
  return endpointOf(found(await tx.row<EndpointRow>(sql.byId, [id])));
}

/** Changes the given fields and keeps the rest. @throws Refusal 'unknown_endpoint' */
export async function changeEndpoint(
  tx: Tx,
  id: string,
  to: {
    url?: string | undefined;
    format?: FormatName | undefined;
    filter?: readonly string[] | undefined;
    payloadForm?: PayloadForm | undefined;
    enabled?: boolean | undefined;
    apiKey?: string | undefined;
    now: Date;
  },
): Promise<Endpoint> {
  const values = [to.url ?? null, to.format ?? null, to.filter ?? null, to.enabled ?? null, to.apiKey ?? null, to.now];
  const row = found(await tx.row<EndpointRow>(sql.change, [id, ...values, to.payloadForm ?? null]));
  await tx.run(sql.wakeOrderingKeys, [id, to.now]);
  await tx.run(sql.restart, [id, to.now]);
  return endpointOf(row);
}

/** The formats of the endpoints of the wire, in display order. */
export const WIRE_FORMATS = ['whitelabel', 'flat'] as const;
export type WireFormat = (typeof WIRE_FORMATS)[number];

/**
 * Sets the wire's own address: one endpoint for each of `formats`, created if missing. An endpoint of a format that is no
 * longer wanted is removed if no delivery waits for it. Otherwise it is switched off and keeps its deliveries, until the
 * partner removes it or wants it again. A held endpoint stays until an operator has decided about it.
 *
 * @returns the endpoints of the address, each with its previous state
 */
export async function setWireUrl(
  tx: Tx,
  vault: Vault,
  e: { partnerId: bigint; url: string; formats: readonly WireFormat[]; apiKey: string; now: Date },
): Promise<{ before: Endpoint | undefined; after: Endpoint | undefined }[]> {
  const { partnerId, url, apiKey, now } = e;
  await tx.run(sql.lockPartner, [partnerId]);
  const known = await wireEndpoints(tx, partnerId);
  const changes: { before: Endpoint | undefined; after: Endpoint | undefined }[] = [];
  for (const before of known) {
    const isWanted = before.format === 'standard' || e.formats.includes(before.format);
    const goesOff = !isWanted && before.heldAt === null;
    if (goesOff && (await tx.row(sql.waits, [before.id])) === undefined) {
      await removeEndpoint(tx, before.id, now);
      changes.push({ before, after: undefined });
    } else {
      const after = await changeEndpoint(tx, before.id, {
        ...{ url, apiKey, now },
        ...(isWanted ? { enabled: true } : goesOff ? { enabled: false } : {}),
      });
      changes.push({ before, after });
    }
  }
  for (const format of e.formats.filter((one) => !known.some((endpoint) => endpoint.format === one))) {
    const made = { partnerId, url, apiKey, format, filter: [], isWire: true, now };
    changes.push({ before: undefined, after: (await addEndpoint(tx, vault, made)).endpoint });
  }
  return changes;
}

/** The endpoints that the wire has set: one per format. */
export const wireEndpoints = async (tx: Tx, partnerId: bigint): Promise<Endpoint[]> =>
  (await tx.rows<EndpointRow>(sql.wire, [partnerId])).map(endpointOf);

/**
 * Creates a new secret; the previous one stays valid for `overlapMs`. If there already were two, the oldest ends at once.
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
  const row = await tx.row<EndpointRow>(sql.rotate, [r.id, vault.encrypt(secret, secretContext(r.id)), until, r.now]);
  return { endpoint: endpointOf(found(row)), secret };
}

/** Removes an endpoint; its waiting deliveries are dropped. @throws Refusal 'unknown_endpoint' */
export async function removeEndpoint(tx: Tx, id: string, now: Date): Promise<void> {
  if ((await tx.run(sql.remove, [id, now])) === 0) throw new Refusal('unknown_endpoint');
  await tx.run(sql.drop, [id, now]);
}

/** A partner's endpoints that were created or changed since a time, without removed ones. */
export async function endpointsSince(
  tx: Tx,
  input: { partnerId: bigint; since: Date },
): Promise<{ id: string; createdAt: Date; changedAt: Date }[]> {
  const rows = await tx.rows<EndpointRow>(sql.since, [input.partnerId, input.since]);
  return rows.map((row) => ({ id: row.id, createdAt: row.createdAt, changedAt: row.updatedAt }));
}

/** Holds these endpoints: their deliveries are neither sent nor given up nor purged until they are released. */
export const holdEndpoints = (tx: Tx, e: { partnerId: bigint; ids: readonly string[]; now: Date }): Promise<number> =>
  tx.run(sql.hold, [e.partnerId, e.ids, e.now]);

/** Releases these endpoints: their waiting deliveries are due now, in order. */
export async function freeEndpoints(
  tx: Tx,
  e: { partnerId: bigint; ids: readonly string[]; now: Date },
): Promise<void> {
  if (e.ids.length === 0) return;
  await tx.run(sql.free, [e.partnerId, e.ids]);
  await tx.run(sql.wakeAll, [e.ids, e.now]);
  await tx.run(sql.restartAll, [e.ids, e.now]);
  tx.defer(feed.notify);
}

/** Emits a test event for this endpoint alone, delivered like any other. */
export async function testEndpoint(tx: Tx, endpoint: Endpoint, now: Date): Promise<void> {
  const { id, partnerId } = endpoint;
  const body = { endpointId: id, message: 'This is a test event.' };
  await emit(tx, { partnerId, type: TEST_EVENT, subject: endpointSubject(id), body, at: now });
}

/**
 * How long every attempt must have failed before an endpoint is switched off: two days more than until its first event is given
 * up.
 */
export const SWITCH_OFF_AFTER_MS = 5 * 24 * 3_600_000;

/**
 * Switches off an endpoint that has accepted nothing for five days, and tells the partner's other endpoints. Its waiting
 * deliveries are kept and are sent when it is switched on again.
 *
 * @returns whether it is off now
 */
export async function switchOffDead(tx: Tx, e: { id: string; partnerId: bigint; now: Date }): Promise<boolean> {
  const row = await tx.row<EndpointRow>(sql.switchOff, [e.id, later(e.now, -SWITCH_OFF_AFTER_MS), e.now]);
  if (row === undefined) return false;
  const body = { endpointId: e.id, failingSince: row.failingSince?.toISOString(), switchedOffAt: e.now.toISOString() };
  await emit(tx, { partnerId: e.partnerId, type: OFF_EVENT, subject: endpointSubject(e.id), body, at: e.now });
  return true;
}

export const listening = (tx: Tx, partnerIds: readonly bigint[]) => tx.rows<EndpointRow>(sql.listening, [partnerIds]);

/** The secrets that are valid now, newest first. */
export function secretsOf(row: EndpointRow, vault: Vault, now: Date): string[] {
  const open = (encrypted: Buffer) => vault.decrypt(encrypted, secretContext(row.id));
  const isOverlap = row.oldSecret !== null && row.oldUntil !== null && now < row.oldUntil;
  return [open(row.secret), ...(isOverlap && row.oldSecret !== null ? [open(row.oldSecret)] : [])];
}

function found(row: EndpointRow | undefined): EndpointRow {
  if (row === undefined) throw new Refusal('unknown_endpoint');
  return row;
}

const endpointOf = (row: EndpointRow): Endpoint => ({
  id: row.id,
  partnerId: row.partnerId,
  url: row.url,
  format: row.format,
  filter: row.filter,
  payloadForm: row.payloadForm,
  apiKey: row.apiKey,
  madeByKey: row.madeByKey,
  isWire: row.isWire,
  enabled: row.enabled,
  failures: row.failures,
  pausedUntil: row.pausedUntil,
  failingSince: row.failingSince,
  switchedOffAt: row.switchedOffAt,
  heldAt: row.heldAt,
  oldSecretUntil: row.oldSecret === null ? null : row.oldUntil,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
