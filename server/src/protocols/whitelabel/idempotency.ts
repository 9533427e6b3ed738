/**
 * Idempotency on this wire (protocols/idempotency.ts): the key is the `Idempotency-Key` header, or else the signed payload,
 * which is unique to one request: a program that resends the signed payload after a lost reply creates nothing new. Bodies are
 * compared by meaning.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { hashOf, MAX_KEY_CHARS, once as onceByHash } from '../idempotency.ts';
import type { Reply } from '../protocol.ts';
import { type Body, canonical } from './body.ts';
import { malformedField } from './fields.ts';

/** @throws Refusal 'malformed_field' for a header that is too long to be a key */
export function idempotencyKey(header: string | undefined, payload: string): Buffer {
  if (header === undefined || header === '') return hashOf(`payload ${payload}`);
  if (header.length > MAX_KEY_CHARS)
    throw malformedField('Idempotency-Key', `must have at most ${MAX_KEY_CHARS} characters`);
  return hashOf(`header ${header}`);
}

/** Runs `work` once per key. @throws Refusal 'idempotency_in_flight' | 'idempotency_conflict' */
export async function once(
  deps: { db: Database; vault: Vault },
  request: { partnerId: bigint; path: string; key: Buffer; body: Body; now: Date },
  work: (tx: Tx) => Promise<Reply>,
): Promise<Reply> {
  const body = hashOf(canonical(request.body));
  const { reply, isReplay } = await onceByHash(deps, { ...request, body }, work);
  return { ...reply, ...(isReplay ? { isReplay } : {}) };
}
