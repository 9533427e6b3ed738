/**
 * Forms: a page's fields as data, and parsing of submitted forms.
 *
 * All missing or malformed fields are reported together, by name; the page ties each error to its input. Not here: which fields
 * (kyc.ts, bank.ts), their look (pages.ts).
 */
import { isPlain } from '../../base/fields.ts';
import type { Messages } from './messages.ts';

export type FieldName = keyof Messages['problems']['malformed'];

export interface Field {
  /** A name of the catalogue, or any name for a field that has its own fault messages. */
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  /** The stored value, or undefined when malformed. Never called with an empty text. */
  read(given: string): string | undefined;
  /** The fault of a malformed value; without it the catalogue's message is used. */
  readonly fault?: ((given: string) => string) | undefined;
  readonly hint?: string | undefined;
  /** `date`, or the choices of a select (value and label). Otherwise a line of text. */
  readonly kind?: 'date' | ReadonlyMap<string, string> | undefined;
  readonly autocomplete?: string | undefined;
  readonly numeric?: boolean | undefined;
  /** A number with places. */
  readonly decimal?: boolean | undefined;
  readonly mostChars?: number | undefined;
}

/** Field name → its fault. */
export type Problems = ReadonlyMap<string, string>;

export const MOST_CHARS = 128;

export function readForm(
  fields: readonly Field[],
  given: URLSearchParams,
  m: Messages,
): { values: Record<string, string>; problems: Problems } {
  const values: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const field of fields) {
    const text = given.get(field.name) ?? '';
    const most = field.mostChars ?? MOST_CHARS;
    const isChoice = field.kind instanceof Map;
    if (text.trim() === '') {
      if (field.required) problems.set(field.name, m.problems[isChoice ? 'missingChoice' : 'missing'](field.label));
      continue;
    }
    if (text.length > most) {
      problems.set(field.name, m.problems.tooLong(field.label, most));
      continue;
    }
    const value = isPlain(text) ? field.read(text) : undefined;
    if (value === undefined)
      problems.set(field.name, field.fault?.(text) ?? m.problems.malformed[field.name as FieldName]);
    else values[field.name] = value;
  }
  return { values, problems };
}
