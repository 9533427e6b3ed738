/** What makes two entries the same: everything but the time of posting. Computed when posting, and again when verifying. */
import { createHash } from 'node:crypto';

export interface DigestedLine {
  step: 'post' | 'hold' | 'settle' | 'void';
  /** '' where there is none. */
  hold: string;
  /** Codes of the accounts; those of a line that ends a hold are the hold's. */
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
