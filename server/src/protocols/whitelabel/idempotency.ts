/**
 * Idempotency: a request sent twice takes effect once and gets the same reply.
 *
 * The key is the `Idempotency-Key` header, or else the signed payload, whose text belongs to one request: a program that
 * resends what it signed, because a reply was lost, creates nothing new. In one transaction the key is locked and looked up,
 * the work is done, and the reply is stored beside it: either both exist or neither. A request that arrives while the first
 * is still running is refused at once rather than made to wait. A Refusal rolls everything back, so it is not stored.
 *
 * A key belongs to a partner and an endpoint (under any of its paths) for 24 hours. Bodies are compared by meaning.
 */
import { createHash } from 'node:crypto';
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Database, type Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { encryptText, openText } from '../../base/texts.ts';
import type { Reply } from '../protocol.ts';
import { type Body, canonical } from './body.ts';
import { malformedField } from './fields.ts';
import { idempotencyRecords } from './store.ts';

export const KEPT_FOR_MS = 24 * 3_600_000;
export const MAX_KEY_CHARS = 255;

/** @throws Refusal 'malformed_field' for a header that is too long to be a key */
export function idempotencyKey(header: string | undefined, payload: string): Buffer {
  if (header === undefined || header === '') return hash(`payload ${payload}`);
  if (header.length > MAX_KEY_CHARS)
    throw malformedField('Idempotency-Key', `must have at most ${MAX_KEY_CHARS} characters`);
  return hash(`header ${header}`);
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Runs `work` once per key.
 *
 * @param request.path the endpoint's own path, the same for all its aliases
 * @returns what `work` replied, now or when it ran
 * @throws Refusal 'idempotency_in_flight' | 'idempotency_conflict'
 */
export async function once(
  { db, vault }: { db: Database; vault: Vault },
  request: { partnerId: bigint; path: string; key: Buffer; body: Body; now: Date },
  work: (tx: Tx) => Promise<Reply>,
): Promise<Reply> {
  const { partnerId, path, key, now } = request;
  const body = hash(canonical(request.body));
  const number = hash(`${partnerId} ${path} ${key.toString('hex')}`).readBigInt64BE(0);
  for (;;) {
    const reply = await db.asPartner(partnerId, async (tx) => {
      // The look-up runs after the lock: statements issued together run in this order.
      const [isFree, kept] = await awaitAll(
        idempotencyRecords.lock(tx, number),
        idempotencyRecords.find(tx, { partnerId, path, key }),
      );
      if (!isFree) throw new Refusal('idempotency_in_flight', { retryAfterMs: 1_000 });
      if (kept !== undefined) {
        if (now.getTime() - kept.kept_at.getTime() >= KEPT_FOR_MS) return 'lapsed' as const;
        if (!kept.body.equals(body)) throw new Refusal('idempotency_conflict');
        return JSON.parse(openText(vault, partnerId, kept.reply)) as Reply;
      }
      const made = await work(tx);
      const reply = encryptText(vault, partnerId, JSON.stringify(made));
      idempotencyRecords.keep(tx, { partnerId, path, key, body, reply, now });
      return made;
    });
    if (reply !== 'lapsed') return reply;
    await purgeIdempotencyRecords(db, now);
  }
}

/** Deletes records older than a day. Harmless at any time; called for an expired key, and by the cleanup job. */
export async function purgeIdempotencyRecords(db: Database, now: Date): Promise<number> {
  return await db.asSystem((tx) => idempotencyRecords.forget(tx, new Date(now.getTime() - KEPT_FOR_MS)));
}
