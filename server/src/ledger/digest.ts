/**
 * Content hash of an entry: everything except the time of posting. Two entries with the same hash are the same entry. Computed
 * when posting, and again when verifying.
 */
import { createHash } from 'node:crypto';

export interface DigestedLine {
  step: 'post' | 'hold' | 'settle' | 'void';
  /** '' without a hold. */
  hold: string;
  /** Account codes; for a line that ends a hold, the accounts of the hold. */
  debit: string;
  credit: string;
  units: string;
}

export function digestOf(kind: string, orderId: bigint | null | undefined, lines: readonly DigestedLine[]): Buffer {
  const parts = lines.map(({ step, hold, debit, credit, units }) =>
    step === 'post' || step === 'hold' ? [step, hold, debit, credit, units] : [step, hold],
  );
  return createHash('sha256')
    .update(JSON.stringify([kind, String(orderId ?? ''), parts]))
    .digest();
}
