/**
 * Idempotency: a request sent twice takes effect once and gets the same reply.
 *
 * In one transaction the key is locked and looked up, the work is done, and the reply is stored beside it: either both exist or
 * neither. A request that arrives while the first is still running is refused at once rather than made to wait. A Refusal rolls
 * everything back, so it is not stored.
 *
 * A key belongs to a partner and an endpoint for 24 hours. Each protocol defines when two bodies are equal.
 */
import { createHash } from 'node:crypto';
import type { Vault } from '../base/crypto.ts';
import { awaitAll, type Database, type Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { encryptText, openText, openTextOrNull } from '../base/texts.ts';
import { idempotencyRecords } from './idempotency.store.ts';
import type { Reply } from './protocol.ts';

export const KEPT_FOR_MS = 24 * 3_600_000;
export const MAX_KEY_CHARS = 255;

export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Runs `work` once per key.
 *
 * @param request.path the endpoint's own name, the same for all its aliases
 * @param request.key  hash of the key
 * @param request.body hash of the body: equal for requests that mean the same
 * @param request.as   the role that does the work; the system role only if the partner was checked before
 * @returns the reply of `work`, and whether it is a stored one
 * @throws Refusal 'idempotency_in_flight' | 'idempotency_conflict'
 */
export async function once(
  { db, vault }: { db: Database; vault: Vault },
  request: { partnerId: bigint; path: string; key: Buffer; body: Buffer; now: Date; as?: 'partner' | 'system' },
  work: (tx: Tx) => Promise<Reply>,
): Promise<{ reply: Reply; isReplay: boolean }> {
  const { partnerId, path, key, body, now, as = 'partner' } = request;
  const number = hashOf(`${partnerId} ${path} ${key.toString('hex')}`).readBigInt64BE(0);
  const transact = <T>(run: (tx: Tx) => Promise<T>): Promise<T> =>
    as === 'system' ? db.asSystem(run) : db.asPartner(partnerId, run);
  for (;;) {
    const done = await transact(async (tx) => {
      // The look-up runs after the lock: statements issued together run in this order.
      const [isFree, kept] = await awaitAll(
        idempotencyRecords.lock(tx, number),
        idempotencyRecords.find(tx, { partnerId, path, key }),
      );
      if (!isFree) throw new Refusal('idempotency_in_flight', { retryAfterMs: 1_000 });
      if (kept !== undefined) {
        if (now.getTime() - kept.keptAt.getTime() >= KEPT_FOR_MS) return 'lapsed' as const;
        if (!kept.body.equals(body)) throw new Refusal('idempotency_conflict');
        return { reply: JSON.parse(openText(vault, partnerId, kept.reply)) as Reply, isReplay: true };
      }
      const reply = await work(tx);
      const stored = encryptText(vault, partnerId, JSON.stringify(reply));
      idempotencyRecords.keep(tx, { partnerId, path, key, body, reply: stored, now });
      return { reply, isReplay: false };
    });
    if (done !== 'lapsed') return done;
    await purgeIdempotencyRecords(db, now);
  }
}

/** Deletes records older than a day. Harmless at any time; called for an expired key, and by the cleanup job. */
export async function purgeIdempotencyRecords(db: Database, now: Date): Promise<number> {
  return await db.asSystem((tx) => idempotencyRecords.forget(tx, new Date(now.getTime() - KEPT_FOR_MS)));
}

/** Rows per transaction of an erasure. */
const AT_ONCE = 500;

/** Finds a text as a whole within JSON: `1234` is not in `12345`, nor `shop` in `shops`. */
function inJson(mark: string): RegExp {
  const escaped = JSON.stringify(mark)
    .slice(1, -1)
    .replaceAll(/[^\p{L}\p{N}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'u');
}

/**
 * Empties the stored replies that contain a customer's id or data, with the hashes of their requests. A repeat of such a request is
 * refused as 'idempotency_conflict', and enrols nobody again. All others stay for their day.
 *
 * @param of.marks texts that show that a reply is about the customer
 * @returns number of emptied replies
 */
export async function eraseReplies(
  { db, vault }: { db: Pick<Database, 'asSystem'>; vault: Vault },
  of: { partnerId: bigint; marks: readonly string[] },
): Promise<number> {
  const { partnerId } = of;
  const marks = of.marks.filter((mark) => mark !== '').map(inJson);
  let after: { path: string; key: Buffer } = { path: '', key: Buffer.alloc(0) };
  for (let count = 0; ; ) {
    const page = await db.asSystem(async (tx) => {
      const rows = await idempotencyRecords.page(tx, { partnerId, after, limit: AT_ONCE });
      for (const { path, key, reply } of rows) {
        const text = openTextOrNull(vault, partnerId, reply) ?? '';
        if (marks.some((mark) => mark.test(text)))
          count += await idempotencyRecords.erase(tx, { partnerId, path, key });
      }
      return rows;
    });
    const last = page.at(-1);
    if (last === undefined || page.length < AT_ONCE) return count;
    after = { path: last.path, key: last.key };
  }
}
