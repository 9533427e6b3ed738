/**
 * Forms: the fields a page asks for, as data, and reading what came back.
 *
 * A field that is missing or malformed is told by name, all of them at once; the page ties each to its input. Not here:
 * what is asked (kyc.ts, bank.ts), how it looks (pages.ts).
 */
import type { Messages } from './messages.ts';

export type FieldName = keyof Messages['problems']['malformed'];

export interface Field {
  readonly name: FieldName;
  readonly label: string;
  readonly required: boolean;
  /** What is kept of it, or undefined where it is malformed. Gets no empty text. */
  read(given: string): string | undefined;
  readonly hint?: string | undefined;
  /** `date`, or a select's choices: value and what is shown. Otherwise a line of text. */
  readonly kind?: 'date' | ReadonlyMap<string, string> | undefined;
  readonly autocomplete?: string | undefined;
  readonly numeric?: boolean | undefined;
  readonly mostChars?: number | undefined;
}

/** By name of the field: what is wrong with it. */
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
    if (value === undefined) problems.set(field.name, m.problems.malformed[field.name]);
    else values[field.name] = value;
  }
  return { values, problems };
}

/** PostgreSQL keeps no NUL, and nobody has a control character in a name. */
const isPlain = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);
