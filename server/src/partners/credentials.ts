/**
 * Credentials: the partner of a key, its permissions, and its currently valid secrets.
 *
 * A secret is encrypted rather than hashed, because checking an HMAC needs the secret itself; it is shown once, when it is
 * created. Rotation overlaps: the new secret is valid at once, the old one until a time, so a partner changes over without a
 * gap.
 *
 * A key must be looked up before its partner is known, so this look-up uses the system role. A request makes no other look-up
 * there.
 *
 * Not here: checking a signature, a scope or an address (done where requests are read).
 */
import { createHmac } from 'node:crypto';
import { type Clock, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { randomText } from '../base/ids.ts';
import { closeActivity } from './activity.ts';
import { openLookups } from './lookups.ts';
import { type Partner, partnerOf } from './partners.ts';
import { remember } from './remember.ts';
import { type KeyRow, keysByName, noteUse, type ShownKeyRow, sql } from './store.ts';

export const SCOPES = ['read', 'trade', 'customers', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Credential {
  readonly key: string;
  readonly partner: Partner;
  readonly scopes: readonly Scope[];
  /** Valid now: one, or two during a rotation. */
  readonly secrets: readonly string[];
  /** Networks it may be used from, as CIDR text; an empty list means any. */
  readonly addresses: readonly string[];
  /** The dated version of the API that answers it; null until it is pinned. */
  readonly apiVersion: string | null;
  /** The operator lets it write in production without a signature. */
  readonly unsignedWrites: boolean;
}

export interface Partners {
  /**
   * The owner and rights of this key.
   *
   * A server that has just read a key may treat it as valid for REMEMBER_MS after it was revoked or held, or its partner
   * suspended: during that time it still answers reads, but the database rejects changes (activity.ts).
   *
   * @param mayLookUp called before the database is read for a key that was never found here; throws to refuse (lookups.ts)
   * @returns undefined when the key is unknown, revoked, held or expired. A suspended partner is returned as such.
   */
  credential(apiKey: string, mayLookUp?: () => void): Promise<Credential | undefined>;
  /**
   * Stores when a key was last used, to the minute. Called after its signature was verified, because knowing a key is not
   * using it.
   */
  noteUse(apiKey: string): Promise<void>;
  /** Stores the version that answers this key from now on, unless it has one. */
  pinVersion(apiKey: string, version: string): Promise<void>;
}

/** How long a changed or revoked key may still be treated as before. */
const REMEMBER_MS = 3_000;
const NOTE_USE_EVERY_MS = 60_000;
/** Number of keys this process caches. */
const MOST_NOTED = 10_000;
/** Default time for which the old secret stays valid after a rotation. */
const ROTATION_MS = 24 * 3_600_000;
/** 43 letters and digits are 256 bits. */
const SECRET_CHARS = 43;

/** A row with its secrets decrypted; their validity is checked against the clock at each use. */
interface Known {
  row: KeyRow;
  partner: Partner;
  secret: string;
  nextSecret: string | undefined;
}

export function openPartners({ db, vault, clock }: { db: Database; vault: Vault; clock: Clock }): Partners {
  const known = remember<Known | undefined>({ forMs: REMEMBER_MS, most: MOST_NOTED });
  const noted = new Map<string, number>();

  const lookups = openLookups<KeyRow>(
    async (keys) => new Map((await db.asSystem((tx) => keysByName(tx, keys))).map((row) => [row.key, row])),
  );

  async function look(apiKey: string, mayLookUp: (() => void) | undefined): Promise<Known | undefined> {
    const row = await lookups.find(apiKey, mayLookUp);
    if (row === undefined) return undefined;
    const open = (encrypted: Buffer) => vault.decrypt(encrypted, secretContext(apiKey));
    return {
      row,
      partner: partnerOf(row),
      secret: open(row.secret),
      nextSecret: row.nextSecret === null ? undefined : open(row.nextSecret),
    };
  }

  return {
    async credential(apiKey, mayLookUp) {
      if (!/^[\x21-\x7e]{1,128}$/.test(apiKey)) return undefined;
      const found = await known.get(db, apiKey, () => look(apiKey, mayLookUp));
      return found === undefined || found.row.heldAt !== null ? undefined : credentialAt(found, clock.now());
    },
    async noteUse(apiKey) {
      const now = clock.now();
      const before = noted.get(apiKey);
      if (before !== undefined && now.getTime() - before < NOTE_USE_EVERY_MS) return;
      noted.delete(apiKey);
      noted.set(apiKey, now.getTime());
      if (noted.size > MOST_NOTED) noted.delete(noted.keys().next().value ?? apiKey);
      await db.asSystem((tx) => noteUse(tx, apiKey, now, later(now, -NOTE_USE_EVERY_MS)));
    },
    async pinVersion(apiKey, version) {
      await db.asSystem((tx) => tx.run(sql.pinVersion, [apiKey, version]));
    },
  };
}

function credentialAt({ row, partner, secret, nextSecret }: Known, now: Date): Credential | undefined {
  if (row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) return undefined;
  const rotating = row.nextUntil !== null && now < row.nextUntil;
  const secrets = nextSecret === undefined ? [secret] : rotating ? [secret, nextSecret] : [nextSecret];
  return {
    ...{ key: row.key, partner, scopes: row.scopes as Scope[], secrets, addresses: row.addresses },
    ...{ apiVersion: row.apiVersion, unsignedWrites: row.unsignedWrites },
  };
}

/**
 * The secrets used to sign messages for the holder of this key: one, or two during a rotation, the old one first. Reading them
 * does not count as a use of the key. A held key cannot authenticate but still signs, because its older endpoints still receive
 * events.
 *
 * @returns none when the key is unknown, revoked or expired
 */
export async function signingSecrets(tx: Tx, vault: Vault, key: string, now: Date): Promise<readonly string[]> {
  const [row] = await keysByName(tx, [key]);
  if (row === undefined) return [];
  const open = (encrypted: Buffer) => vault.decrypt(encrypted, secretContext(key));
  const nextSecret = row.nextSecret === null ? undefined : open(row.nextSecret);
  return credentialAt({ row, partner: partnerOf(row), secret: open(row.secret), nextSecret }, now)?.secrets ?? [];
}

/**
 * The bearer token of a key: derived from its secret, and not the secret, so that a bearer's request does not reveal the means to
 * sign. It ends with the secret.
 */
export const bearerToken = (apiKey: string, secret: string): string =>
  `${apiKey}.${createHmac('sha256', secret).update(`cloverleaf bearer ${apiKey}`).digest('hex')}`;

/** Sets whether a key may write in production without a signature. */
export const setUnsignedWrites = (tx: Tx, key: string, allowed: boolean): Promise<number> =>
  tx.run(sql.setUnsignedWrites, [key, allowed]);

/** How long a secret waits to be collected. */
const COLLECTED_WITHIN_MS = 24 * 3_600_000;

/** Column values: the operator who may collect a secret, and until when. */
const waiting = (name: string | undefined, now: Date) =>
  name === undefined ? [null, null] : [name, later(now, COLLECTED_WITHIN_MS)];

/**
 * Creates a key. The secret is in the reply and, encrypted, in its row; the bearer token is derived from it.
 *
 * @param k.secretFor     the operator who collects it, if it is not in the reply
 * @param k.key,k.secret  given only by seeds and tests; otherwise random
 * @param k.addresses     networks as CIDR text; none means any
 */
export async function createKey(
  tx: Tx,
  vault: Vault,
  k: {
    partnerId: bigint;
    label: string;
    scopes: Scope[];
    now: Date;
    key?: string | undefined;
    secret?: string | undefined;
    addresses?: string[] | undefined;
    expiresAt?: Date | undefined;
    secretFor?: string | undefined;
  },
): Promise<{ apiKey: string; apiSecret: string; bearerToken: string }> {
  const apiKey = k.key ?? randomText(32);
  const apiSecret = k.secret ?? randomText(SECRET_CHARS);
  await tx.run(sql.insertKey, [
    apiKey,
    k.partnerId,
    k.label,
    k.scopes,
    vault.encrypt(apiSecret, secretContext(apiKey)),
    k.addresses ?? [],
    k.expiresAt ?? null,
    k.now,
    ...waiting(k.secretFor, k.now),
  ]);
  return { apiKey, apiSecret, bearerToken: bearerToken(apiKey, apiSecret) };
}

/**
 * Creates a new secret for a key; its present one stays valid for `overlapMs` (0 after a leak). Rotated again within the
 * overlap, the oldest of the three ends at once. A secret still waiting to be collected no longer can be.
 */
export async function rotateKey(
  tx: Tx,
  vault: Vault,
  k: { key: string; now: Date; overlapMs?: number; secretFor?: string | undefined },
): Promise<{ apiSecret: string; bearerToken: string }> {
  const apiSecret = randomText(SECRET_CHARS);
  const until = later(k.now, k.overlapMs ?? ROTATION_MS);
  const changed = await tx.run(sql.rotateKey, [
    k.key,
    vault.encrypt(apiSecret, secretContext(k.key)),
    until,
    ...waiting(k.secretFor, k.now),
  ]);
  assert(changed === 1, 'the key to rotate is missing or revoked');
  return { apiSecret, bearerToken: bearerToken(k.key, apiSecret) };
}

/** Changes a key's name, permissions and networks. Servers that have just read it know within REMEMBER_MS. */
export async function changeKey(
  tx: Tx,
  k: { key: string; label: string; scopes: readonly Scope[]; addresses: readonly string[] },
): Promise<void> {
  const changed = await tx.run(sql.changeKey, [k.key, k.label, k.scopes, k.addresses]);
  assert(changed === 1, 'the key to change is missing or revoked');
}

/**
 * Returns a key's newest secret to the operator it waits for, once.
 *
 * @throws Refusal 'unknown_key' | 'no_secret_waits' when it was collected, is for another operator, or a day has passed
 */
export async function collectSecret(tx: Tx, vault: Vault, c: { key: string; by: string; now: Date }): Promise<string> {
  const found = await findKey(tx, c.key);
  if (found === undefined || found.revokedAt !== null) throw new Refusal('unknown_key');
  const row = await tx.row<{ secret: Buffer; nextSecret: Buffer | null }>(sql.collectSecret, [c.key, c.by, c.now]);
  if (row === undefined) throw new Refusal('no_secret_waits');
  return vault.decrypt(row.nextSecret ?? row.secret, secretContext(c.key));
}

/** Once `tx` has committed, no request of the key is still running, and no server makes a change for it. */
export async function revokeKey(tx: Tx, key: string, now: Date): Promise<void> {
  const found = await findKey(tx, key);
  if (found === undefined) return;
  await closeActivity(tx, found.partnerId);
  await tx.run(sql.revokeKey, [key, now]);
}

/** A key as listed: everything but its secrets. */
export interface ShownKey {
  key: string;
  partnerId: bigint;
  label: string;
  scopes: readonly string[];
  addresses: readonly string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** When a containment began to hold it; a held key cannot authenticate. */
  heldAt: Date | null;
  /** End of the validity of the previous secret; null when the key was never rotated. */
  rotatingUntil: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
  /** The operator who may collect its newest secret, and until when; null when no secret waits. */
  secretFor: string | null;
  secretUntil: Date | null;
  /** It may write in production without a signature. */
  unsignedWrites: boolean;
}

/** A partner's keys, oldest first. */
export const keysOf = async (tx: Tx, partnerId: bigint): Promise<ShownKey[]> =>
  (await tx.rows<ShownKeyRow>(sql.keysOf, [partnerId])).map(shown);

export async function findKey(tx: Tx, key: string): Promise<ShownKey | undefined> {
  const row = await tx.row<ShownKeyRow>(sql.keyShown, [key]);
  return row === undefined ? undefined : shown(row);
}

const shown = (row: ShownKeyRow): ShownKey => ({
  key: row.key,
  partnerId: row.partnerId,
  label: row.label,
  scopes: row.scopes,
  addresses: row.addresses,
  expiresAt: row.expiresAt,
  revokedAt: row.revokedAt,
  heldAt: row.heldAt,
  rotatingUntil: row.nextUntil,
  lastUsedAt: row.lastUsedAt,
  createdAt: row.createdAt,
  secretFor: row.secretFor,
  secretUntil: row.secretUntil,
  unsignedWrites: row.unsignedWrites,
});

/** Encryption context. Both secrets of a key share it, so that the new one becomes the old one without being decrypted. */
const secretContext = (apiKey: string): string => `api_keys.secret:${apiKey}`;
