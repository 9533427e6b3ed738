/** Emits an event: inserts its row in the transaction of its cause. */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { insertAlone, insertNext } from './store.ts';

/** A failed attempt means that another transaction committed, so this many concurrent writers get through. */
const ATTEMPTS = 1_000;

export interface Emitted {
  partnerId: bigint;
  type: string;
  /** The event's subject, such as `order:17`. A subject belongs to one partner. */
  subject: string;
  /** Plain data; bigint becomes text. */
  body: unknown;
  at: Date;
}

/**
 * Inserts an event about a subject that the caller has not locked. Two transactions may compute the same sequence number: the
 * second waits for the first to commit and computes again.
 */
export async function emit(tx: Tx, e: Emitted): Promise<void> {
  const body = textOf(e.body);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await insertNext(tx, { ...e, body })) return;
  }
  assert(false, `${e.subject} is the subject of another partner`);
}

/**
 * Inserts an event about a subject whose row the caller has locked or just created. No other transaction can compute the same
 * sequence number meanwhile, so nothing is awaited; if one did, the transaction would fail.
 */
export const emitAlone = (tx: Tx, e: Emitted): void => insertAlone(tx, { ...e, body: textOf(e.body) });

const textOf = (body: unknown): string =>
  JSON.stringify(body ?? {}, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
