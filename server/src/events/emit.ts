/** Emit: an event as a row, in the transaction of its cause. */
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { insertNext } from './store.ts';

/** Each attempt that fails has waited for another transaction to commit, so this many writers at once get through. */
const ATTEMPTS = 1_000;

/**
 * Writes an event.
 *
 * The caller usually holds the lock of the subject's row, and then the first number is free. Where it does not, two may
 * reckon the same number: the second waits for the first to commit and reckons again.
 *
 * @param e.subject what it is about, such as `order:17`; belongs to one partner
 * @param e.body    plain data; bigint becomes text
 */
export async function emit(
  tx: Tx,
  e: { partnerId: bigint; type: string; subject: string; body: unknown; at: Date },
): Promise<void> {
  const body = JSON.stringify(e.body ?? {}, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await insertNext(tx, { ...e, body })) return;
  }
  assert(false, `${e.subject} is the subject of one partner`);
}
