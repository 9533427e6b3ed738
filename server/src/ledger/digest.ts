/**
 * Content hash of an entry: everything except the time of posting. Two entries with the same hash are the same entry. Computed
 * when posting, and again when verifying.
 */
import { hash } from 'node:crypto';

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
    JSON.stringify(step === 'post' || step === 'hold' ? [step, hold, debit, credit, units] : [step, hold]),
  );
  return Buffer.from(hexDigestOf(kind, String(orderId ?? ''), parts.join(',')), 'hex');
}

/**
 * The hash of `digestOf` in hexadecimal digits.
 *
 * @param orderId '' without an order
 * @param lines as JSON, separated by commas, as LINE_TEXT makes them
 */
export function hexDigestOf(kind: string, orderId: string, lines: string): string {
  return hash('sha256', `[${JSON.stringify(kind)},"${orderId}",[${lines}]]`, 'hex');
}

/** A line as JSON, of transfer `t` with its accounts `d` and `c`: the same text as of `digestOf`. */
export const LINE_TEXT = `'[' || to_json(t.step)::text || ',' || to_json(coalesce(t.hold, ''))::text ||
  case when t.step in ('post', 'hold')
       then ',' || to_json(d.code)::text || ',' || to_json(c.code)::text || ',"' || t.units || '"]' else ']' end`;
