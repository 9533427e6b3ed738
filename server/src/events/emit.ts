/** Emit: an event as a row, in the transaction of its cause. */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { insertAlone, insertNext } from './store.ts';

/** Each failed attempt has waited for another transaction to commit, so this many concurrent writers get through. */
const ATTEMPTS = 1_000;

export interface Emitted {
  partnerId: bigint;
  type: string;
  /** What it is about, such as `order:17`; it belongs to one partner. */
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
  assert(false, `${e.subject} is the subject of one partner`);
}

/**
 * Inserts an event about a subject whose row the caller has locked or just created. No other transaction can compute the same
 * sequence number meanwhile, so nothing is awaited; if one did, the transaction would fail.
 */
export const emitAlone = (tx: Tx, e: Emitted): void => insertAlone(tx, { ...e, body: textOf(e.body) });

const textOf = (body: unknown): string =>
  JSON.stringify(body ?? {}, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
