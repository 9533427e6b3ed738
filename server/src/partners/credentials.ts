/**
 * Credentials: whose key it is, what it may do, and which secrets are valid for it at this moment.
 *
 * A secret is sealed rather than hashed, because checking an HMAC needs the secret itself; it is shown once, when it is
 * made. Rotation is an overlap: the new secret is valid at once, the old one until a time, so a partner changes over
 * without a gap.
 *
 * A key must be found before anybody knows whose it is, so this look-up goes through the system's door: the only one
 * that a request makes there.
 *
 * Not here: checking a signature, a scope or an address (where requests are read).
 */
import { type Clock, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { randomText } from '../base/ids.ts';
import { type Partner, partnerOf } from './partners.ts';
import { remember } from './remember.ts';
import { type KeyRow, keyByName, noteUse, type ShownKeyRow, sql } from './store.ts';

export const SCOPES = ['read', 'trade', 'customers', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Credential {
  readonly key: string;
  readonly partner: Partner;
  readonly scopes: readonly Scope[];
  /** Valid now: one, or two while rotating. */
  readonly secrets: readonly string[];
  /** Networks it may be used from, as CIDR text; none listed means any. */
  readonly addresses: readonly string[];
}

export interface Partners {
  /**
   * Who presents this key.
   *
   * @returns undefined when the key is unknown, revoked or expired. A suspended partner is returned as such.
   */
  credential(apiKey: string): Promise<Credential | undefined>;
  /** Keeps when a key was last used, to the minute. For after its signature was found right: not anybody who knows it. */
  noteUse(apiKey: string): Promise<void>;
}

/** How long a changed or revoked key may still be seen as it was. */
const REMEMBER_MS = 3_000;
const NOTE_USE_EVERY_MS = 60_000;
/** Keys that this process remembers something of. */
const MOST_NOTED = 10_000;
/** How long the old secret stays valid after a rotation, unless told otherwise. */
const ROTATION_MS = 24 * 3_600_000;
/** 43 letters and digits are 256 bits. */
const SECRET_CHARS = 43;

/** Read, and its secrets opened; what is valid of it is asked of the clock at each use. */
interface Known {
  row: KeyRow;
  partner: Partner;
  secret: string;
  nextSecret: string | undefined;
}

export function openPartners({ db, vault, clock }: { db: Database; vault: Vault; clock: Clock }): Partners {
  const known = remember<Known | undefined>({ forMs: REMEMBER_MS, most: MOST_NOTED });
  const noted = new Map<string, number>();

  const look = (apiKey: string) =>
    db.asSystem(async (tx): Promise<Known | undefined> => {
      const row = await keyByName(tx, apiKey);
      if (row === undefined) return undefined;
      const open = (sealed: Buffer) => vault.open(sealed, secretContext(apiKey));
      return {
        row,
        partner: partnerOf(row),
        secret: open(row.secret),
        nextSecret: row.next_secret === null ? undefined : open(row.next_secret),
      };
    });

  return {
    async credential(apiKey) {
      if (!/^[\x21-\x7e]{1,128}$/.test(apiKey)) return undefined;
      const found = await known.get(apiKey, () => look(apiKey));
      return found === undefined ? undefined : credentialAt(found, clock.now());
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
  };
}

function credentialAt({ row, partner, secret, nextSecret }: Known, now: Date): Credential | undefined {
  if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) return undefined;
  const rotating = row.next_until !== null && now < row.next_until;
  const secrets = nextSecret === undefined ? [secret] : rotating ? [secret, nextSecret] : [nextSecret];
  return { key: row.key, partner, scopes: row.scopes as Scope[], secrets, addresses: row.addresses };
}

/**
 * The secrets with which something is signed for whoever holds this key: one, or two while rotating, the old one first.
 * Looking does not count as a use of the key.
 *
 * @returns none where the key is unknown, revoked or expired
 */
export async function signingSecrets(tx: Tx, vault: Vault, key: string, now: Date): Promise<readonly string[]> {
  const row = await keyByName(tx, key);
  if (row === undefined) return [];
  const open = (sealed: Buffer) => vault.open(sealed, secretContext(key));
  const nextSecret = row.next_secret === null ? undefined : open(row.next_secret);
  return credentialAt({ row, partner: partnerOf(row), secret: open(row.secret), nextSecret }, now)?.secrets ?? [];
}

/**
 * Makes a key. The secret is in the reply and nowhere else.
 *
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
  },
): Promise<{ apiKey: string; apiSecret: string }> {
  const apiKey = k.key ?? randomText(32);
  const apiSecret = k.secret ?? randomText(SECRET_CHARS);
  await tx.run(sql.insertKey, [
    apiKey,
    k.partnerId,
    k.label,
    k.scopes,
    vault.seal(apiSecret, secretContext(apiKey)),
    k.addresses ?? [],
    k.expiresAt ?? null,
    k.now,
  ]);
  return { apiKey, apiSecret };
}

/**
 * Gives a key a new secret; the one it had stays valid for `overlapMs` (0 where it has leaked).
 * Rotated again within the overlap, the oldest of the three goes at once.
 */
export async function rotateKey(
  tx: Tx,
  vault: Vault,
  k: { key: string; now: Date; overlapMs?: number },
): Promise<{ apiSecret: string }> {
  const apiSecret = randomText(SECRET_CHARS);
  const until = later(k.now, k.overlapMs ?? ROTATION_MS);
  const changed = await tx.run(sql.rotateKey, [k.key, vault.seal(apiSecret, secretContext(k.key)), until]);
  assert(changed === 1, 'a key that is rotated is there and not revoked');
  return { apiSecret };
}

export async function revokeKey(tx: Tx, key: string, now: Date): Promise<void> {
  await tx.run(sql.revokeKey, [key, now]);
}

/** A key as it is shown: everything but its secrets. */
export interface ShownKey {
  key: string;
  partnerId: bigint;
  label: string;
  scopes: readonly string[];
  addresses: readonly string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Until when the secret before the newest is valid too; null where it was never rotated. */
  rotatingUntil: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
}

/** A partner's keys, the oldest first. */
export const keysOf = async (tx: Tx, partnerId: bigint): Promise<ShownKey[]> =>
  (await tx.rows<ShownKeyRow>(sql.keysOf, [partnerId])).map(shown);

export async function findKey(tx: Tx, key: string): Promise<ShownKey | undefined> {
  const row = await tx.row<ShownKeyRow>(sql.keyShown, [key]);
  return row === undefined ? undefined : shown(row);
}

const shown = (row: ShownKeyRow): ShownKey => ({
  key: row.key,
  partnerId: row.partner_id,
  label: row.label,
  scopes: row.scopes,
  addresses: row.addresses,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  rotatingUntil: row.next_until,
  lastUsedAt: row.last_used_at,
  createdAt: row.created_at,
});

/** Both secrets of a key share it, so that the new one becomes the old one without being opened. */
const secretContext = (apiKey: string): string => `api_keys.secret:${apiKey}`;
