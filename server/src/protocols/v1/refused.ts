/**
 * Stores refusals of signed writes, so that a replayed copy of one has no effect later.
 *
 * A signature is valid for five minutes. A write that took effect is recognised by its Idempotency-Key. A refused one is not,
 * because the partner may correct it and send it under the same key. An attacker with a copy could send it again until it is no
 * longer refused, for instance when a price is back or a cap has room. So the reply is stored under the signature itself, and
 * repeated. A partner who wants to try again signs the request again.
 *
 * A reply with a Retry-After is not a decision and is not stored: the partner is asked to send the request again.
 */
import { encryptText, openText } from '../../base/texts.ts';
import { idempotencyRecords } from '../idempotency.store.ts';
import { hashOf } from '../idempotency.ts';
import type { Reply } from '../protocol.ts';
import type { Caller, V1Deps } from './handler.ts';

const PATH = 'v1 refused';
const keyOf = (signature: Buffer): Buffer => hashOf(`signature ${signature.toString('hex')}`);

/** The earlier refusal of the same signed request. */
export async function refusedBefore(
  { db, vault }: Pick<V1Deps, 'db' | 'vault'>,
  { partner, signature }: Caller,
  requestId: string,
): Promise<Reply | undefined> {
  if (signature === undefined) return undefined;
  const { id: partnerId } = partner;
  const found = await db.readOnlyAsPartner(partnerId, (tx) =>
    idempotencyRecords.find(tx, { partnerId, path: PATH, key: keyOf(signature) }),
  );
  if (found === undefined) return undefined;
  const { body, ...reply } = JSON.parse(openText(vault, partnerId, found.reply)) as Reply & { body: object };
  return { ...reply, body: { ...body, requestId } };
}

/** Stores the final refusal of a signed write. */
export async function keepRefused(
  { db, vault }: Pick<V1Deps, 'db' | 'vault'>,
  { partner, signature }: Caller,
  { reply, now }: { reply: Reply; now: Date },
): Promise<void> {
  const isFinal = reply.status >= 400 && reply.status < 500 && reply.headers?.['retry-after'] === undefined;
  if (signature === undefined || !isFinal) return;
  const { id: partnerId } = partner;
  const stored = encryptText(vault, partnerId, JSON.stringify(reply));
  const record = { partnerId, path: PATH, key: keyOf(signature), body: hashOf(''), reply: stored, now };
  await db.asPartner(partnerId, (tx) => idempotencyRecords.keepFirst(tx, record));
}
